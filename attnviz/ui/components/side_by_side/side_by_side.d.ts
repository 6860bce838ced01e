// Payload and state of translations side by side.

interface LanesPayload {
  language: string;
  /** Identifies these translations. */
  identity: string;
  /** The label of each step. */
  labels: string[];
  /** A sentence about all lanes, or "". */
  result: string;
  /** What the shades of words mean: texts with their classes. Lanes with a legend are rows, below one another. */
  legend: [string, string][];
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
  /** The output after each step: the parts of one text, or a version for each step. */
  parts: string[];
  versions: Version[];
  /** A note on each step. */
  notes: string[];
}

interface LanesState extends FetchingState<LanesPayload> {
  /** The payload drawn last. */
  payload: LanesPayload | null;
  step: number;
  player: Player;
}

/** A translation, and the part of the sentence that it translates. */
interface Version {
  /** Words, each with the blank before it, the level of its shade, and a title. */
  words: [string, number, string][];
  /** Source words, each with the blank before it, and whether the translation leaves it out. */
  source: [string, boolean][];
}
