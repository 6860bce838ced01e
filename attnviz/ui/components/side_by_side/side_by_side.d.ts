// Payload and state of translations side by side.

interface LanesPayload {
  language: string;
  /** Identifies these translations. */
  identity: string;
  /** The label of each step. */
  labels: string[];
  /** The sentence in clauses, one more at each step; empty where the sentence does not grow. */
  clauses: string[];
  lanes: Lane[];
  words: Words;
}

interface Lane {
  name: string;
  /** The model with its kind of attention. */
  model: string;
  summary: string;
  /** The source words, with their weights at each step; null without attention. */
  source: { text: string; space: boolean }[];
  weights: number[][] | null;
  /** The context vector, as signed bytes in base64: rows of `units` numbers, one for all steps or one for each. */
  strip: { bytes: string; units: number; caption: string } | null;
  /** The output after each step: the parts of one text, or a text for each step. */
  parts: string[];
  texts: string[];
  /** A note on each step. */
  notes: string[];
}

interface LanesState extends FetchingState<LanesPayload> {
  /** The payload drawn last. */
  payload: LanesPayload | null;
  step: number;
  playing: boolean;
  timer?: number;
}
