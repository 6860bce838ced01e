// The choice of the words that a logit is compared for.

/** What is on show: the names of the likeliest pieces with their ids, what stands in both boxes, and what there is to say
 * of what was typed. */
interface WordsPayload {
  likeliest: { name: string; piece: number }[];
  word: string;
  foil: string;
  told: string[];
}

/** The piece that a text names, null where it names none, and what there is to say of it. */
interface NamedPiece {
  piece: number | null;
  told: string;
}

interface WordChoicePayload extends Place {
  /** Where that is of a typed text. */
  named: string;
  /** Whether a second word can be chosen. */
  both: boolean;
  words: Words;
}

interface WordChoiceState extends Fetching<WordsPayload> {
  /** Where that is of a typed text, and what the boxes are called. */
  named: string;
  words: Words;
  payload?: WordsPayload;
  stop(): void;
}
