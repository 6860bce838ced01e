// What the programs of the components say to one another, and what Streamlit hands them. Steps and source pieces count
// from 0; null where nobody chose.

/** What a view shows now. The player keeps it, all other components of the view read it. */
interface Shown {
  step: number | null;
  /** The source piece on show: the chosen one, or the one of the largest weight. */
  source: number | null;
  /** Order of the rows of stages 1 to 3. */
  order: Order;
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
  /** What the server said last. */
  server: ServerRecord | null;
  /** Pixels. */
  width: number;
}

/** What the server knows to be on show. */
interface ServerRecord {
  /** The key of the room that its view stands in. */
  room: string;
  /** What tells its translation from others. */
  identity: string;
  step: number;
  /** The source piece chosen, or null: then the strongest is on show. */
  chosen: number | null;
  /** The piece whose logit is taken apart, where the visitor chose one. */
  word: number | null;
  order: Order;
  /** All that was chosen, in a text: another where anything was chosen otherwise. */
  selection: string;
  address: AddressRecord;
  /** The path of the page whose address it is; empty for the first. */
  path: string;
  /** The stop of the tour, from 1, and the step and source piece that were on show before it; null where it is not on. */
  tour: { stop: number; step: number; source: number | null } | null;
}

type Order = "sentence" | "strongest";

/** The root element of a view. Messages are events on it: `step`, `source` and `order` after a change of Shown, `choose`
 * where a visitor chose, `try` where he tries something by hand, `hint` with the pieces of a hypothesis that he points at
 * in a list, or null, `tell` with what the server is to hear of it, `behind` with a part of the page that the server is to
 * draw anew, `server` after the server has said what it knows, `preview` with a what-if whose weights are to be shown
 * before the server has answered, or null, `point` with what a visitor points at, or null, `weigh` with weights that are shown instead of those of the step, or
 * null, `visit` with a stage to go to. */
interface ViewRoot extends HTMLElement {
  attnvizView: Shown;
}

/** What a visitor chose, as the message `choose` and the server get it. */
interface Choice {
  step?: number;
  source?: number | null;
  word?: number | null;
  stage?: number;
  order?: Order;
  /** A stop of the tour, from 1; null ends it. */
  tour?: number | null;
  what_if?: WhatIf;
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
  | { kind: "branch" | "remove"; index: number };

/** What Streamlit calls a component with. */
interface Mounted<Data> {
  data: Data;
  parentElement: HTMLElement;
  setTriggerValue(name: string, value: unknown): void;
}

/** What the server wants in the address; null takes a parameter out. */
interface AddressRecord {
  entry: string;
  parameters: Record<string, string | null>;
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

/** Where a record is, below the page; {step} and {word} stand for the step and the chosen word on show. */
interface Place {
  at: string;
}

/** What a component keeps that may have to fetch what it draws from. */
interface Fetching<Numbers> extends Following {
  data: Numbers | Place;
  /** What was fetched last, and from where. */
  fetched?: { at: string; record: Numbers };
  /** What was fetched ahead, for the step after the one on show. */
  ahead?: { at: string; record: Numbers | null };
  /** Where that is which is to be drawn next, and whether something is on its way. */
  wanted?: string;
  loading?: boolean;
}
