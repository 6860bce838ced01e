// What the badge of a step says and keeps.

interface VerificationPayload {
  holds: boolean;
  told: string;
  /** What was verified, what of it is wrong, and a table of it. */
  about: string;
  wrong: string[];
  names: string[];
  rows: string[][];
}

interface VerificationState extends Fetching<VerificationPayload> {
  /** How many steps there are. */
  steps: number;
  /** What is written. */
  payload?: VerificationPayload;
}
