// What the badge of a step says and keeps.

interface ProofRecord {
  holds: boolean;
  told: string;
  /** What was proved, what of it is wrong, and a table of it. */
  about: string;
  wrong: string[];
  names: string[];
  rows: string[][];
}

interface ProofState extends Fetching<ProofRecord> {
  /** How many steps there are. */
  steps: number;
  /** What is written. */
  record?: ProofRecord;
}
