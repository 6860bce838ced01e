// Data and state of a lesson; `attnviz/ui/lesson_view.py` writes the data.

interface LessonWord {
  text: string;
  space: boolean;
}

/** A question, and its answer. */
interface LessonItem {
  /** What is predicted; empty where nothing is. */
  kind: "attends" | "next" | "number" | "choice" | "";
  question: string;
  options: string[];
  /** In which unit a number is asked for, and the form of a number with its unit. */
  hint: string;
  unit: string;
  /** Largest difference from the right number that counts as right. */
  tolerance: number;
  source: LessonWord[];
  /** The French words that are known with the question. */
  target: LessonWord[];
  /** The French word that the question is about, from 0; -1 where it is about the whole translation. */
  word: number;
  /** Whether its pictures need the whole width. */
  wide: boolean;
  answer: LessonAnswer;
}

/** What appears with the answer. */
interface LessonAnswer {
  target: LessonWord[];
  note: string;
  /** The right answer as text. */
  text: string;
  /** The options that are right, from 0. */
  right: number[];
  /** The number that was asked for. */
  value: number;
}

interface LessonData {
  /** Digest of the lesson and its answers. */
  identity: string;
  language: string;
  words: Words;
  items: LessonItem[];
}

interface LessonState extends ComponentState {
  data: LessonData;
  /** Of the lesson whose answers are here. */
  identity: string;
  /** The current item, from 0; -1 is the introduction, and the number of items is the score. */
  place: number;
  /** Name on the answer sheet. */
  name: string;
  /** What is chosen or typed in the form, and not yet checked. */
  draft: string;
  /** What was answered, by item: the number of an option from 0, or a number; null where there is nothing to answer. */
  answers: Map<number, number | null>;
}
