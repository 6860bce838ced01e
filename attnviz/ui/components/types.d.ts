// Types that several components share: the state of a view, its messages, and the arguments of Streamlit. Steps and source
// pieces count from 0; null where nobody chose.

/** State of a view. `state.js` sets it, all components of the view read it. */
interface ViewState {
  /** Unique on the page. */
  name: string;
  /** What the server sent of the translation; null before the view is opened. */
  view: ViewPayload | null;
  /** Root element of the component that has received the payload. */
  owner: Element | null;
  /** The selection. */
  now: ViewSelection | null;
  /** The weights of the source pieces by step, where known. */
  alignment: Float32Array[] | null;
  step: number | null;
  /** The current source piece: the chosen one, or the one of the largest weight. */
  source: number | null;
  /** Order of the rows of stages 1 to 3. */
  order: Order;
  /** The display options by name, each the chosen value or the default. */
  options: Record<string, string>;
  /** Playback speed, 1 is usual; null until one is chosen. */
  speed: number | null;
  /** Plays the computation of the current step before a callback, where the diagram shows that; false where it does not. */
  playStep: ((then: () => void) => boolean) | null;
  /** Whether what-ifs keep the translation, so that only its numbers change. */
  held: boolean;
  /** When a visitor last touched the view, in milliseconds: keys without a focus go to the view touched last. */
  touched: number;
  /** When a message was last sent in the view, in milliseconds. */
  changed: number;
  /** Fetches of components out of sight that wait for their turn, and the number of those under way. */
  queue: (() => Promise<void>)[];
  loading: number;
}

/** The selection in a view. */
interface ViewSelection {
  step: number;
  /** The source piece, or null: then the strongest is shown. */
  source: number | null;
  /** The pieces whose logits are compared, and what was typed for them. */
  word: number | null;
  foil: number | null;
  typedWord: string;
  typedFoil: string;
  /** The stage gone to, from 1. */
  stage: number | null;
  order: Order | null;
  /** The chosen display options by name. */
  options: Record<string, string>;
  /** The stop of the tour, from 1, and the step and source piece that were shown before it. */
  tour: { stop: number; step: number; source: number | null } | null;
}

interface StoredSelection {
  identity: string;
  family: string;
  selection: ViewSelection;
  /** Whether Back or Forward was pressed since. */
  left?: boolean;
}

/** A parameter of the address that belongs to the browser: see `attnviz/ui/selection.py`. */
interface ViewParameter {
  name: string;
  /** Its name in the address. */
  key: string;
  /** A "number" counts from `first` in the address and from 0 here; "nearest" also clamps it to the last. A "name" is a
   * number that is the same in both. The first value of an "option" is its default. For a text, `last` is the maximum
   * length. */
  kind: "number" | "nearest" | "name" | "choice" | "option" | "text";
  first: number;
  last: number;
  values: string[];
}

/** What the server sends of the translation in a view. */
interface ViewPayload {
  id: string;
  /** The key of its view's Streamlit container. */
  container: string;
  /** The level of detail: page.css lays the view out by it. */
  level: string;
  /** The key of requests for what-ifs. */
  request: string;
  /** Identifies the translation, and the group of translations that keep the same step. */
  identity: string;
  family: string;
  steps: number;
  /** The step at which the view opens. */
  firstStep: number;
  sources: number;
  hasTour: boolean;
  usualOrder: Order;
  parameters: ViewParameter[];
  /** Terms that the sentences of the view explain, and the label of the links to their stages. */
  terms: { cards: TermCard[]; visit: string };
  /** Address parameters of the server: of the view; of the page, where this view is its main one; and the sentence, where
   * the page omits it until something is chosen. */
  own: AddressParameters;
  page: PagePayload | null;
  sentence: AddressParameters | null;
  /** The page's own view, on a page that does not draw it. */
  main: ViewPayload | null;
}

type Order = "sentence" | "strongest";

/** The root element of a view. Messages are events on it: `shown` once the selection or the speed is set, `choose` where a visitor chose, `try` where he requests a what-if, `answered` once the server has
 * computed it, `hint` with the pieces of a hypothesis that he points at in a list, or null, `preview` with a what-if whose
 * weights are shown before the server has answered, or null, `pause` where he pauses the player, `point` with what a visitor points at, or null, `weigh` with
 * weights that are shown instead of those of the step, or null, `visit` with a stage to go to. */
interface ViewRoot extends HTMLElement {
  attnvizView: ViewState;
}

/** What a visitor chose; null undoes a choice. */
interface Choice {
  step?: number;
  source?: number | null;
  word?: number | null;
  foil?: number | null;
  typedWord?: string;
  typedFoil?: string;
  stage?: number | null;
  order?: Order;
  options?: Record<string, string>;
  /** A stop of the tour, from 1; null ends it. */
  tour?: number | null;
}

/** A source piece or step under the mouse or with the keyboard focus. */
interface Pointed {
  source?: number;
  step?: number;
}

/** JSON has no number for the infinite temperature, at which all weights are equal. */
type Temperature = number | "Infinity";

/** What is changed by hand, as `attnviz/trace/interventions.py` reads it. */
type Intervention =
  | { kind: "weights"; weights: number[]; step: number }
  | { kind: "temperature"; temperature: Temperature; step: number | null }
  | { kind: "exclusion"; position: number; step: number }
  | { kind: "words"; pieces: number[]; step: number; replaced?: number };

/** An intervention that the server completes: it splits the word into pieces, or looks up the weights. */
type Unfinished =
  | { kind: "typed"; text: string; step: number }
  | { kind: "borrowed"; lender: string; of: string; step: number };

/** A what-if that a visitor requests for the current translation, or an existing one that he opens or removes. */
type WhatIf =
  | { intervention: Intervention | Unfinished; held: boolean }
  | { kind: "undo" }
  | { kind: "what_if" | "remove"; index: number };

/** A word of a translation after a change; of a "gone" one only the translation before it has the word. */
interface ChangedWord {
  text: string;
  kind: "same" | "other" | "gone";
  space: boolean;
}

/** The explanation of a term: `attnviz/analysis/page_texts.py`. */
interface TermCard {
  name: string;
  /** Words that stand for it, separated by |. */
  forms: string;
  sentence: string;
  drawing: string;
  stage: number | null;
}

/** The argument with which Streamlit mounts a component. */
interface Mounted<Data> {
  data: Data;
  parentElement: HTMLElement;
  setStateValue(name: string, value: unknown): void;
}

/** Parameters of the address; null for one that is not in it. */
type AddressParameters = Record<string, string | null>;

/** Parameters of the query and of the fragment of an address, what is appended to the name of its entry, and the id of a
 * view with its translation. */
interface AddressParts {
  query?: AddressParameters;
  fragment?: AddressParameters;
  suffix?: string;
  identity?: [id: string, identity: string];
}

/** A value in the address that is not one of its parameter: a number from `first` to `last`, or one of the `values`. */
interface InvalidParameter {
  value: string;
  first: number;
  last: number;
  values: string[];
}

/** Address parameters of a page; `entry` is the name of its history entry. */
interface PagePayload {
  path: string;
  /** Path of the page that the browser is to request; null for none. */
  other: string | null;
  entry: string;
  parameters: AddressParameters;
}

/** State of a history entry: its name, and the current translations by the ids of their views. */
interface HistoryEntry {
  attnvizEntry: string;
  views: Record<string, string>;
}

/** Texts in the language of the page by name, with {placeholders} for values. */
type Words = Record<string, string>;

/** The time of an animation: see `clock.js`. */
interface Clock {
  playing: boolean;
  /** Calls `draw` with the time in milliseconds at speed 1, from one to another, in each frame. */
  play(from: number, until: number, draw: (time: number) => void): void;
  pause(): void;
}

/** The messages of a view, with what they say. */
interface ViewMessages {
  /** The selection or the speed is set. */
  shown: void;
  /** A visitor chose something. */
  choose: Choice;
  /** A visitor goes to a stage. */
  visit: number;
  /** A visitor points at a source piece or a step, or at a hypothesis, by its pieces. */
  point: Pointed | null;
  hint: number[] | null;
  /** Requests a what-if, a new one or one of its cards; and the server has answered. */
  try: WhatIf;
  answered: void;
  /** Previews the weights after an intervention; null for those of the step. */
  preview: Intervention | Unfinished | null;
  /** The weights that are previewed; null where the step's own are shown. */
  weigh: number[] | null;
  pause: void;
}

/** The messages of the page, with what they say. */
interface PageMessages {
  /** A request is about to be sent, with its key and number. */
  request: { key: string; number: number };
  /** A run has ended; the number of the last request handled before it. */
  handled: number;
  /** The connection is back; the id of the server before. */
  reconnected: string;
  /** The address was written. */
  address: void;
  /** Back or Forward was pressed. */
  history: void;
  /** Somebody wrote another fragment into the address. */
  fragment: void;
}

/** What a component is made of: see `component` in `component.js`. */
interface ComponentParts<State, Data> extends Pick<ComponentState, "isFigure"> {
  /** Its own part of a new state. */
  begin?(own: Pick<ComponentState, "root" | "signal">): Partial<State>;
  /** Begins to listen, with the first data. */
  start?(state: State, data: Data): void;
  /** Takes new data; true where they are to be drawn at once. */
  take?(state: State, data: Data): boolean | void;
  draw?(state: State): void;
  /** Takes a payload that is new. */
  read?(state: State, payload: NoInfer<PayloadFor<State>>): void;
  /** Draws what is selected of the payload. */
  show?(state: State, payload: NoInfer<PayloadFor<State>>): void;
}

type PayloadFor<State> = State extends { payload?: infer Payload } ? NonNullable<Payload> : never;

/** The component that opens a view. */
interface OpenedView extends ComponentState {
  data: ViewPayload;
  /** Whether the cards of its terms open. */
  explains?: boolean;
}

/** What plays the steps of a component: see `clock.js`. */
interface Player {
  playing: boolean;
  pause(): void;
  toggle(): void;
  /** Pauses, and goes to a step, clamped to those there are. */
  leap(step: number): void;
  /** Goes to the step of a key, or toggles the player. */
  onKey(event: KeyboardEvent): void;
  /** Writes into the buttons and the slider where it is; `text` names the step. */
  write(words: Words, text: string): void;
}

/** The steps that a player plays. */
interface PlayedSteps {
  here(): number;
  last(): number;
  go(step: number): void;
  /** Goes to a step that a visitor chooses, where that is something else. */
  choose?(step: number): void;
  /** Draws whether it plays. */
  paint(): void;
  /** Milliseconds that a step stays. */
  pace(): number;
}

/** State of a component. */
interface ComponentState {
  root: HTMLElement;
  data: unknown;
  /** Aborts when the component ends, and `stop` makes it abort. */
  signal: AbortSignal;
  stop(): void;
  /** Draws soon: at once in sight, else later. */
  redraw(): void;
  /** Whether it is in sight, and the draw that waits for that. */
  inSight?: boolean;
  pendingDraw?: () => void;
  /** Fetches its payload at once, which is in the queue. */
  fetchNow?: () => void;
  /** Whether it has been drawn. */
  wasDrawn?: boolean;
  /** Whether it draws a figure, which comes after texts. */
  isFigure?: boolean;
  /** Whether each change draws its figure anew, so that other figures come before it. */
  isSlow?: boolean;
  /** Width of its chart in pixels, as drawn last. */
  width?: number;
  /** Whether its width is watched. */
  watched?: boolean;
  /** Resolves when Plotly has finished drawing. */
  drawing?: Promise<unknown>;
}

/** A component with a chart. */
interface ChartOwner extends ComponentState {
  chart: Chart;
}

interface Window {
  /** Not in every browser. */
  scheduler?: {
    postTask(work: () => void, options: { priority: string }): Promise<void>;
  };
}

/** Address of a payload, below the page; {step} and {word} stand for the step and the chosen word, {selection} for
 * all of it, {options} for the display options and the name of an option for its value. */
interface PayloadAddress {
  at: string;
  /** The payload at one of the addresses, sent with the page. */
  sent?: { at: string; payload: any };
  /** Address used once a visitor has chosen something. */
  chosen?: string;
  /** The number of steps, if the payload of the next is to be prefetched. */
  prefetch?: number;
}

/** State of a component that may fetch its payload. */
interface FetchingState<Numbers> extends ComponentState {
  data: NoInfer<Numbers> | PayloadAddress;
  /** The payload fetched last, and its address. */
  fetched?: { at: string; payload: Numbers };
  /** The payload drawn last. */
  payload?: Numbers | null;
  /** The prefetched payload of the next step. */
  prefetched?: { at: string; payload: Numbers | null };
  /** Address of the payload to draw next, and whether a fetch is running. */
  wanted?: string;
  loading?: boolean;
  /** Address of a payload that the server does not have, or refused. */
  absent?: string;
}

/** What an element is made with: see `element` in `elements.js`. */
type ElementProperties<Kind> = Omit<Partial<Kind>, "dataset" | "style"> & {
  dataset?: Record<string, string | number | undefined>;
  style?: Record<string, string>;
};

/** What a component gets as it is mounted: see `blocks.js`. */
interface ComponentFiles {
  /** Its markup. */
  html: string;
  /** Its style sheet. */
  css: string;
  /** Whether it is in a shadow root. */
  isolated: boolean;
}

/** A block of a view, as `blocks.py` writes it: a box, a text, or a component with its data. */
interface Block {
  kind: string;
  key: string;
  width?: number | "content";
  /** Of a component. */
  data?: unknown;
  /** Of a text, or of HTML. */
  text?: string;
  /** Of a box: what is in it, the distance in rem, and whether it stands side by side. */
  blocks?: Block[];
  gap?: number;
  row?: boolean;
  /** Of a box that is opened: its label, which is a heading where there is a lead, and whether a wide window opens it. */
  label?: string;
  lead?: string;
  wide?: boolean;
  /** Of columns: their shares of the width, and what is in them. */
  shares?: number[];
  columns?: Block[][];
}

/** A mounted component: its data as text, and what ends it. */
interface MountedComponent {
  text: string | undefined;
  cleanUp: (() => void) | undefined;
}

/** The exports of a module in a bundle: see `browser_modules.py`. */
declare function attnvizModule(path: string): any;

/** What a file has of a view: `embedded_view.py` writes it. */
interface OfflinePayload {
  /** Names of the languages, by code. */
  names: Record<string, string>;
  /** The language in which it opens. */
  language: string;
  /** How the numbers were made, by language. */
  footers: Record<string, string>;
  /** Numbers of the what-ifs, and the one at which it opens; 0 is the original translation. */
  what_ifs: number[];
  current: number;
  /** Blocks and payloads, packed, by language, theme and number. */
  drawn: Record<string, string>;
}

/** The model of a view in a page of others, as anywidget has it. */
interface GuestModel {
  get(name: "view" | "theme" | "request"): string;
  set(name: "theme" | "request", value: string): void;
  save_changes(): void;
  on(name: "change:view", callback: () => void): void;
  off(name: "change:view", callback: () => void): void;
}
