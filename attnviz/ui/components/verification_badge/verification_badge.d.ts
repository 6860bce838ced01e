// Payload and state of the verification badge.

interface VerificationPayload {
  holds: boolean;
  summary: string;
  /** Heading of the checks, the failed ones, and a table of all. */
  about: string;
  wrong: string[];
  names: string[];
  rows: string[][];
}

interface VerificationState extends FetchingState<VerificationPayload> {
  /** With the number of steps. */
  data: (PayloadAddress | VerificationPayload) & { steps: number };
}
