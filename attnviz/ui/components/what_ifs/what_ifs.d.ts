// What the cards are given and what they keep.

interface WhatIfWord {
  text: string;
  kind: "same" | "other" | "gone";
  space: boolean;
}

/** The first translation, or what was tried on it. */
interface WhatIfCard {
  told: string;
  /** What it was tried on, where that is not the first. */
  on: string;
  words: WhatIfWord[];
  per_word: string;
  /** What the button says that removes it; empty for the first. */
  remove: string;
}

interface WhatIfsPayload {
  language: string;
  /** The first translation, and then a card for each what_if; none where nothing was tried. */
  cards: WhatIfCard[];
  /** Which is on show. */
  onShow: number;
  words: Words;
}

interface WhatIfsState {
  data: WhatIfsPayload;
  /** What is drawn, as text. */
  drawn?: string;
  /** Whether the server was asked for another card and has not answered. */
  asked?: boolean;
  stop(): void;
}
