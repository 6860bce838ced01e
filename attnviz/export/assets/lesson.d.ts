// Payload of the page of a lesson, which `attnviz/export/lesson_page.py` writes.

/** What several figures (or pages) have in common, and by their names what is different (`figures/encoding.py`). */
interface Shared {
  template: unknown;
  values: Record<string, unknown[]>;
}

interface LessonWord {
  text: string;
  space: boolean;
}

interface LessonPictures {
  /** Each picture with a figure, 0, by theme and language. */
  figures: Shared;
}

interface LessonPictureTexts {
  pictures: { title: string; note: string }[];
}

/** A question, with the pictures that appear with it. */
interface LessonItem extends LessonPictures {
  /** What is predicted; empty where nothing is. */
  kind: "attends" | "next" | "number" | "choice" | "";
  tolerance: number;
  source: LessonWord[];
  /** The French words that are known with the question. */
  target: LessonWord[];
  /** The French word that the question is about, from 0; -1 where it is about the whole translation. */
  word: number;
  words: Record<string, LessonPictureTexts & { question: string; options: string[]; hint: string; unit: string }>;
  /** The packed `LessonAnswer`. */
  answer: string;
}

/** What appears with the answer. */
interface LessonAnswer extends LessonPictures {
  target: LessonWord[];
  words: Record<string, LessonPictureTexts & { note: string; right: string }>;
  /** The options that are right, from 0. */
  right: number[];
  /** The number that was asked for. */
  value: number;
}

interface LessonPayload {
  language: string;
  /** Own name of each language of the lesson. */
  names: Record<string, string>;
  words: Record<string, Record<string, string>>;
  items: LessonItem[];
}
