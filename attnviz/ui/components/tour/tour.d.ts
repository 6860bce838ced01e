// Payload and state of the guided tour and its quiz.

/** A part of a sentence, with the part of the model whose colour it has. */
type Span = ["" | "source" | "target" | "context", string];

interface PullPayload {
  /** Of all source pieces. */
  energies: number[];
  /** The pieces whose energies have sliders. */
  rows: { piece: number; name: string }[];
  /** Whether the page's own bars can follow. */
  shown: boolean;
}

interface ComparedShares {
  name: string;
  before: number;
  after: number;
  /** Both shares as texts. */
  texts: [string, string];
}

interface QuizQuestion {
  /** Index of the target word. */
  word: number;
  /** The source words with the largest attention, and those with the largest posterior attention. */
  attended: number[];
  meant: number[];
  /** Of all source words. */
  shares: number[];
  later: number[] | null;
  texts: string[];
  explained: Span[];
}

interface QuizPayload {
  /** The source words, and their names in sentences. */
  source: string[];
  names: string[];
  /** The target words, and whether a space goes before each. */
  target: { word: string; space: boolean }[];
  questions: QuizQuestion[];
  words: Words;
  chance: string;
}

interface TourStop {
  /** From 1. */
  number: number;
  title: string;
  texts: Span[][];
  place: string;
  step: number;
  missing: boolean;
  pull?: PullPayload;
  after?: ComparedShares[];
  quiz?: QuizPayload;
}

interface TourPayload {
  identity: string;
  language: string;
  words: Words;
  stops: TourStop[];
}

/** The answers to the questions of a translation, and the index of the current question. */
interface QuizAnswers {
  answers: number[];
  questionIndex: number;
}

interface TourState extends FetchingState<TourPayload> {
  /** The current stop, from 1; null outside the tour. */
  at: number | null;
  /** Key of the contents of the card. */
  written?: string;
  /** Scroll position and focused element before the tour. */
  scrolled: number | null;
  focused: HTMLElement | null;
  frame: number;
}
