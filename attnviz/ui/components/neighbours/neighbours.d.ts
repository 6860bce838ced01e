// Payload and state of the list of vectors near one of the current step.

interface NeighboursPayload {
  heading: string;
  /** The kind of the vectors, by its name in the palette. */
  kind: "decoder" | "context" | "encoder";
  /** The languages of the sentence that a vector is of, and of the other side. */
  spoken: [string, string];
  entries: NeighbourPayload[];
}

interface NeighbourPayload {
  near: string;
  /** The sentence in parts; the marked piece is that of the vector. */
  before: string;
  marked: string;
  after: string;
  /** The other side of the pair. */
  other: string;
  /** An address below the page. */
  to: string;
}

type NeighboursState = FetchingState<NeighboursPayload>;
