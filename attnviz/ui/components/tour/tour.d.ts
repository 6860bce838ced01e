// What the tour is given and what it keeps.

/** A part of a sentence, and whose colour it has. */
type Span = ["" | "source" | "target" | "context", string];

interface PullPayload {
  /** Of all source pieces. */
  energies: number[];
  /** Those that can be pulled. */
  rows: { piece: number; name: string }[];
  /** Whether the page's own bars can follow. */
  shown: boolean;
}

interface ComparedShares {
  name: string;
  before: number;
  after: number;
  /** Both, as they are written. */
  told: [string, string];
}

interface QuizQuestion {
  /** Which target word. */
  word: number;
  /** The source words it looked at most, and those that it was about most after the word. */
  looked: number[];
  meant: number[];
  /** Of all source words. */
  shares: number[];
  later: number[] | null;
  told: string[];
  explained: Span[];
}

interface QuizPayload {
  /** The source words, and what they are called in a sentence. */
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
  told: Span[][];
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

/** What was answered of the questions of a translation, in their order, and which is asked now. */
interface Played {
  answers: number[];
  asked: number;
}

interface TourState extends Fetching<TourPayload> {
  /** The stop on show, from 1; null where the tour is not on. */
  at: number | null;
  /** What is written on the card. */
  written?: string;
  /** Where the page was, and what had the focus, before the tour. */
  scrolled: number | null;
  focused: HTMLElement | null;
  frame: number;
}
