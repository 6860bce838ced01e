// What is drawn of translations side by side.

interface LanesPayload {
  language: string;
  /** What tells these translations from others. */
  identity: string;
  /** What each step is called; as many as there are steps. */
  labels: string[];
  /** The sentence in stretches of which each step has one more; none where all of it is there from the beginning. */
  clauses: string[];
  lanes: Lane[];
  words: Words;
}

interface Lane {
  name: string;
  /** The model, and what it has to look with. */
  model: string;
  told: string;
  /** The source words, with the shares of the weights they have at each step of this lane, where it has any. */
  source: { text: string; space: boolean }[];
  weights: number[][] | null;
  /** The numbers a step is given, as signed bytes in base64: rows of `units`, one for all steps or one for each. */
  strip: { bytes: string; units: number; told: string } | null;
  /** What has been written after each step: the parts of one text, or a text for each step. */
  parts: string[];
  texts: string[];
  /** What is said of each step. */
  notes: string[];
}

interface LanesState extends Fetching<LanesPayload> {
  /** What is drawn. */
  payload: LanesPayload | null;
  step: number;
  playing: boolean;
  timer?: number;
}
