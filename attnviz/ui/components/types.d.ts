// What the programs of the components say to one another, and what Streamlit hands them. Steps and source pieces count
// from 0; null where nobody chose.

/** What a view shows now. `state.js` keeps it, all components of the view read it. */
interface Shown {
  /** What the server says of the translation; null before the view is opened. */
  view: ViewPayload | null;
  /** What speaks for it: the mounted component that the server tells. */
  owner: Element | null;
  /** What was chosen. */
  now: Seen | null;
  /** Of each step the source pieces, strongest first, where that is known. */
  orders: number[][] | null;
  step: number | null;
  /** The source piece on show: the chosen one, or the one of the largest weight. */
  source: number | null;
  /** Order of the rows of stages 1 to 3. */
  order: Order;
  /** The compared words as text. */
  words: string;
  /** How many times as fast as usual the steps play. */
  speed: number;
  /** Whether a what-if holds the translation, and only its numbers change. */
  held: boolean;
  /** When a visitor last touched the view, in milliseconds: keys without a focus go to the view touched last. */
  touched: number;
  /** When a message was last sent in the view, in milliseconds. */
  changed: number;
  /** What fetches what is not in sight, one after the other. */
  queue: (() => Promise<void>)[];
  /** Pixels. */
  width: number;
}

/** What was chosen in a view. */
interface Seen {
  step: number;
  /** The source piece, or null: then the strongest is on show. */
  chosen: number | null;
  /** The pieces whose logits are compared, and what was typed for them. */
  word: number | null;
  foil: number | null;
  typedWord: string;
  typedFoil: string;
  /** The stage gone to, from 1. */
  stage: number | null;
  ordered: Order | null;
  /** The stop of the tour, from 1, and the step and source piece that were on show before it. */
  tour: { stop: number; step: number; source: number | null } | null;
}

interface Remembered {
  identity: string;
  family: string;
  seen: Seen;
}

/** A parameter of the address that belongs to the browser: see `attnviz/ui/page_state/parameters.py`. */
interface ViewParameter {
  name: string;
  /** Its name in the address. */
  key: string;
  /** A number is counted from `first` in the address and from 0 here, one that is a name is the same in both; of the
   * nearest kind one beyond the last is taken for the last. Of a text, `last` is the length. */
  kind: "number" | "nearest" | "name" | "choice" | "text";
  first: number;
  last: number;
  values: string[];
}

/** What the server says of the translation in a view. */
interface ViewPayload {
  id: string;
  /** The key of the room that its view stands in. */
  room: string;
  /** What tells its translation from others, and what all translations have in common that are shown at the same step. */
  identity: string;
  family: string;
  steps: number;
  sources: number;
  tourable: boolean;
  usualOrder: Order;
  parameters: ViewParameter[];
  /** Parameters of the address that the server gives: of the view, of its page where it leads that, and the sentence,
   * where the page leaves it out as long as nothing is chosen. */
  own: AddressParameters;
  page: PagePayload | null;
  sentence: AddressParameters | null;
  /** The page's own view, on a page that does not draw it. */
  main: ViewPayload | null;
}

type Order = "sentence" | "strongest";

/** The root element of a view. Messages are events on it: `shown`, and then `step`, `source`, `order` and `words` after a
 * change of those, `choose` where a visitor chose, `try` where he tries something by hand, `answered` once the server has
 * done that, `hint` with the pieces of a hypothesis that he points at in a list, or null, `preview` with a what-if whose
 * weights are to be shown before the server has answered, or null, `point` with what a visitor points at, or null, `weigh`
 * with weights that are shown instead of those of the step, or null, `visit` with a stage to go to. */
interface ViewRoot extends HTMLElement {
  attnvizView: Shown;
}

/** What a visitor chose; null undoes a choice. */
interface Choice {
  step?: number;
  source?: number | null;
  word?: number | null;
  foil?: number | null;
  typedWord?: string;
  typedFoil?: string;
  stage?: number;
  order?: Order;
  /** A stop of the tour, from 1; null ends it. */
  tour?: number | null;
}

/** A source piece, or a step, that a visitor points at by the mouse or has the focus of the keyboard on. */
interface Pointed {
  source?: number;
  step?: number;
}

/** As JSON holds it, which has no number for the temperature at which all weights are alike. */
type Temperature = number | "Infinity";

/** What a visitor tries by hand on the translation on show, or which of what he tried he wants to see. */
type WhatIf =
  | { kind: "weights"; step: number; weights: number[]; held: boolean }
  | { kind: "only" | "without"; step: number; source: number; held: boolean }
  | { kind: "alike"; step: number; held: boolean }
  | { kind: "temperature"; step: number | null; temperature: Temperature; held: boolean }
  | { kind: "words"; step: number; pieces: number[]; held: boolean }
  | { kind: "typed"; step: number; text: string; held: boolean }
  | {
    kind: "borrowed";
    step: number;
    from: "step" | "posterior" | "links" | "model";
    of: number | string;
    held: boolean;
  }
  | { kind: "hypothesis"; pieces: number[] }
  | { kind: "undo" }
  | { kind: "what_if" | "remove"; index: number };

/** What Streamlit calls a component with. */
interface Mounted<Data> {
  data: Data;
  parentElement: HTMLElement;
  setStateValue(name: string, value: unknown): void;
}

/** Parameters of the address; null for one that is not in it. */
type AddressParameters = Record<string, string | null>;

/** What the server wants in the address of a page; `entry` tells its entry of the history from others. */
interface PagePayload {
  entry: string;
  parameters: AddressParameters;
}

/** What the browser's history keeps of an entry: its name, and the translations on show by the ids of their views. */
interface HistoryEntry {
  attnvizEntry: string;
  views: Record<string, string>;
}

/** Names of sentences and their wording in the language of the page, with values to be filled in in braces. */
type Words = Record<string, string>;

/** What a component that follows its view keeps about its root element. */
interface Following {
  /** Whether it is in sight, and what draws it where it waits for that. */
  seen?: boolean;
  waiting?: () => void;
  /** Fetches at once what would be fetched in its turn. */
  hurry?: () => void;
  /** Whether it was told to draw before. */
  begun?: boolean;
  /** Whether what it draws is text, which goes before pictures. */
  light?: boolean;
  /** Width of its chart in pixels, as drawn last. */
  width?: number;
  size?: ResizeObserver;
  /** Ends when Plotly has drawn all that it was told to. */
  drawing?: Promise<unknown>;
  /** Ends it. */
  stop(): void;
}

interface Window {
  /** Where the browser has it: tasks by their priority. */
  scheduler?: { postTask(work: () => void, options: { priority: string }): Promise<void> };
}

/** Where a payload is, below the page; {step} and {word} stand for the step and the chosen word on show, {selection} for
 * all of it. */
interface Place {
  at: string;
  /** Where that is of what a visitor chose, in place of what each step shows by itself. */
  chosen?: string;
}

/** What a component keeps that may have to fetch what it draws from. */
interface Fetching<Numbers> extends Following {
  data: Numbers | Place;
  /** What was fetched last, and from where. */
  fetched?: { at: string; payload: Numbers };
  /** What was fetched ahead, for the step after the one on show. */
  ahead?: { at: string; payload: Numbers | null };
  /** Where that is which is to be drawn next, and whether something is on its way. */
  wanted?: string;
  loading?: boolean;
}
