// What the findings are given and what they keep.

interface FindingPayload {
  text: string;
  kind: string;
  strong: boolean;
  step: number;
  source: number | null;
}

interface FindingsPayload {
  summary: string;
  findings: FindingPayload[];
  /** How many are shown before all are asked for, with the words that offer the others. */
  atOnce: number;
  more: string;
  /** What is said of each step. */
  steps: string[];
}

interface FindingsState extends Following {
  data: FindingsPayload;
  told?: string;
}
