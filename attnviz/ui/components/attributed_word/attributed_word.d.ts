// Payloads and state of the text boxes for the attributed word and its foil.

/** Names and ids of the likeliest pieces, the texts of both boxes, and messages about typed text. */
interface WordsPayload {
  likeliest: { name: string; piece: number }[];
  word: string;
  foil: string;
  feedback: string[];
}

/** The first piece of a typed text, null where it has none, and a message about it. */
interface NamedPiece {
  piece: number | null;
  feedback: string;
}

interface WordChoicePayload extends PayloadAddress {
  /** Address of the piece of a typed text. */
  named: string;
  /** Whether a second word can be chosen. */
  both: boolean;
  words: Words;
}

interface WordChoiceState extends FetchingState<WordsPayload> {
  data: WordChoicePayload;
}
