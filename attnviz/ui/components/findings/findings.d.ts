// Payload and state of the findings.

interface FindingPayload {
  text: string;
  kind: string;
  strong: boolean;
  /** The step of its cell, where it has one. */
  step?: number;
  source: number | null;
}

interface FindingsPayload {
  summary: string;
  findings: FindingPayload[];
  /** How many are shown at first, and the label of the button that shows all. */
  atOnce: number;
  more: string;
  /** A sentence about each step. */
  steps: string[];
}

interface FindingsState extends FetchingState<FindingsPayload> {
  drawn?: string;
}
