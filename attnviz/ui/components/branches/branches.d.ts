// What the cards are given and what they keep.

interface BranchWord {
  text: string;
  kind: "same" | "other" | "gone";
  space: boolean;
}

/** The first translation, or what was tried on it. */
interface BranchCard {
  told: string;
  /** What it was tried on, where that is not the first. */
  on: string;
  words: BranchWord[];
  per_word: string;
  /** What the button says that removes it; empty for the first. */
  remove: string;
}

interface BranchesRecord {
  language: string;
  /** The first translation, and then a card for each branch; none where nothing was tried. */
  cards: BranchCard[];
  /** Which is on show. */
  onShow: number;
  words: Words;
}

interface BranchesState {
  data: BranchesRecord;
  /** What is drawn, as text. */
  drawn?: string;
  /** Whether the server was asked for another card and has not answered. */
  asked?: boolean;
  stop(): void;
}
