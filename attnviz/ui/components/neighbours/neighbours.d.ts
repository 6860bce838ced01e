// What is written of the vectors near one of the step on show.

interface NeighboursPayload {
  heading: string;
  /** What the vectors are, as the palette names it. */
  kind: "decoder" | "context" | "encoder";
  /** The languages of the sentence that a vector is of, and of the other side. */
  spoken: [string, string];
  entries: NeighbourPayload[];
}

interface NeighbourPayload {
  near: string;
  /** The sentence, in parts: the piece is that of the vector. */
  before: string;
  marked: string;
  after: string;
  /** The other side of the pair. */
  other: string;
  /** An address below the page. */
  to: string;
}

interface NeighboursState extends Fetching<NeighboursPayload> {
  /** What is written. */
  payload?: NeighboursPayload;
}
