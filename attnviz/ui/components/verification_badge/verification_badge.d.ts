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

type VerificationState = FetchingState<VerificationPayload>;
