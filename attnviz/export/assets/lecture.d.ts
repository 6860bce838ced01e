// What the page for a lecture is given: `attnviz/export/lecture.py` writes it.

/** What is told of a step, and of each of its pictures. */
interface LectureStep {
  sentence: string;
  pictures: Record<string, { title: string; note: string }>;
}

interface LectureWords {
  heading: string;
  labels: { previous: string; next: string; step: string; grid: string; faces: string };
  steps: LectureStep[];
  /** What each face of the heatmap is called, and how all is read with it. */
  faces: Record<string, string>;
  footers: Record<string, string>;
}

/** The faces of the heatmap, and of each picture the figures of all steps. */
interface LectureFigures {
  faces: Record<string, Figure>;
  pictures: Record<string, Figure[]>;
}

/** A translation of the sentence. */
interface LectureVersion {
  target: { text: string; space: boolean }[];
  words: Record<string, LectureWords>;
  /** In the language at first and light; in each other variant what `changed` makes of them. */
  figures: Json;
  changes: Record<string, Json | undefined>;
}

/** The translation on show at first, and the others there are. */
interface LecturePayload extends LectureVersion {
  source: string;
  /** The step on show at first, from 1. */
  step: number;
  /** The face of the heatmap on show at first. */
  face: string;
  language: string;
  /** Own name of each language. */
  names: Record<string, string>;
  /** Where something was tried by hand: the cards in each language, which is on show at first, and what the others lead
   * to, packed. */
  cards?: Record<string, { cards: LectureCard[]; words: Record<string, string> }>;
  onShow?: number;
  others?: (string | null)[];
}

/** The first translation, or what was tried on it. */
interface LectureCard {
  told: string;
  on: string;
  words: { text: string; kind: "same" | "other" | "gone"; space: boolean }[];
  per_word: string;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface StoryTable {
  head?: string[];
  rows?: string[][];
  /** Says how many rows are left out; nothing where none is. */
  more?: string;
}

interface StoryChapterTold {
  heading: string;
  paragraphs: string[];
  pictures: { title: string; notes: string[]; table: StoryTable }[];
  tables: (StoryTable & { title: string })[];
}

/** The figure of the first moment, and what each later one changes in it. */
interface StoryDrawn {
  first: Figure;
  others: { change: Json | null }[];
}

interface StoryChapterDrawn {
  equation: string;
  pictures: StoryDrawn[];
}

interface StoryWords {
  title: string;
  sentence: string;
  moments: string[];
  labels: { previous: string; next: string; step: string; numbers: string; references: string };
  chapters: StoryChapterTold[];
  references: string[];
  footer: string;
}

interface StoryPayload {
  language: string;
  names: Record<string, string>;
  opened: number;
  words: Record<string, StoryWords>;
  figures: Json;
  changes: Record<string, Json | undefined>;
}
