// Payload and state of the finished hypotheses of a search.

interface HypothesesPayload {
  /** What the scores are. */
  unit: string;
  entries: HypothesisPayload[];
  /** Number of pieces of the current translation, which a hypothesis replaces. */
  replaced: number;
}

interface HypothesisPayload {
  text: string;
  /** The score with its terms. */
  score: string;
  note: string;
  /** Whether it is the current translation. */
  shown: boolean;
  /** Ids, ending with that of the end-of-sentence piece. */
  pieces: number[];
}

type HypothesesState = FetchingState<HypothesesPayload>;
