// What is written of the finished hypotheses of a search.

interface HypothesesPayload {
  /** What the numbers are. */
  unit: string;
  entries: HypothesisPayload[];
}

interface HypothesisPayload {
  text: string;
  /** The score with what it is reckoned from. */
  score: string;
  note: string;
  /** Whether it is the translation on show. */
  shown: boolean;
  /** Ids, that of the end last. */
  pieces: number[];
}

interface HypothesesState extends Fetching<HypothesesPayload> {
  /** What is written. */
  payload?: HypothesesPayload;
}
