// What the timeline is given and what it keeps.

interface TimelinePayload {
  /** What tells these runs from others: with others it opens anew. */
  identity: string;
  language: string;
  /** Updates done at each moment. */
  updates: number[];
  /** What is said of each moment, and each end of the slider. */
  told: string[];
  ends: [string, string];
  /** The moment of the link, or null: the last. */
  opened: number | null;
  /** What else is to be in the address; null takes a parameter out. */
  parameters: Record<string, string | null>;
  words: Words;
}

interface TimelineState {
  data?: TimelinePayload;
  moment: number;
  playing: boolean;
  timer?: number;
  stop(): void;
}
