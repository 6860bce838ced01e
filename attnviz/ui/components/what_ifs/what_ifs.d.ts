// Payload and state of the cards of the what-ifs.

/** The first translation, or a what-if. */
interface WhatIfCard {
  description: string;
  /** The what-if that it derives from, unless that is the first translation. */
  on: string;
  words: ChangedWord[];
  per_word: string;
  /** Label of the button that removes it; empty for the first. */
  remove: string;
}

interface WhatIfsPayload {
  language: string;
  /** The first translation, then each what-if; empty where there are none. */
  cards: WhatIfCard[];
  /** Which is current. */
  current: number;
  /** Whether the drawer with the cards is closed until the visitor opens it. */
  folded: boolean;
  words: Words;
}

interface WhatIfsState extends ComponentState {
  data: WhatIfsPayload;
  /** Whether the visitor has opened or closed the drawer. */
  open?: boolean;
}
