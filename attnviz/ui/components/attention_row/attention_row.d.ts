// Payload and state of one row of attention weights in several forms of attention.

interface RowPayload {
  language: string;
  /** Where KaTeX is, below the page. */
  katex: string;
  /** The English pieces. */
  sources: string[];
  /** The French pieces, each with its name and whether a blank precedes it. */
  targets: { text: string; space: boolean; name: string }[];
  /** By name, in order. */
  forms: Record<string, RowForm>;
  words: Words;
}

/** Arrays are float32 in base64, a row for each step. */
interface RowForm {
  model: string;
  latex: string;
  text: string;
  /** That the numbers are not from the model of the form before; empty where they are. */
  modelChange: string;
  /** The English piece whose query each step shows, where that is not the French piece. */
  askers: string[] | null;
  /** One for each step. */
  sentences: string[];
  weights: string;
  energies: string | null;
  heads: string[];
  /** The exhibit behind the form, and its title. */
  exhibit: string;
  title: string;
}

interface RowState extends FetchingState<RowPayload> {
  /** The exhibit that is open, or empty. */
  opened: string;
  /** The payload drawn last. */
  payload: RowPayload | null;
  /** The form and step drawn last. */
  drawn: string;
  latex?: string;
}
