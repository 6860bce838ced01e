// What a chart is given and what it keeps.

interface ChartPayload {
  /** What the figures of all steps have in common, as JSON. */
  template: string;
  /** What fills it, as JSON by step, or once under "every". */
  values: Record<string, string>;
  /** What fills it besides, whatever the step, as JSON. */
  common?: string;
  /** Of a picture that can be laid out in several ways: what fills it, the widest first, and the width each needs. */
  fits?: { narrowest: number; values: string }[];
  /** Heading and sentence by step. */
  captions: Record<string, [string, string]>;
}

/** The figure drawn last, of which step, source piece and order of rows. */
interface ChartState extends Fetching<ChartPayload> {
  /** How many steps there are, where the payload of the next is fetched ahead. */
  steps: number;
  template?: string;
  text?: string;
  figure: Figure;
  /** The row of each source piece, where rows stand for them. */
  places: number[] | null;
  step: number | null;
  source: number | null;
  order: Order;
  /** How many times as large as usual it is. */
  by?: number;
  /** What the sliders of its bars are called, where these can be pulled. */
  words: Words | null;
  hand?: Hand;
}

/** The bars of weights that can be pulled. */
interface Hand {
  /** The weights of the figure, and those on show. */
  own: number[];
  now: number[];
  /** A slider for each bar. */
  bars: HTMLElement[];
  /** The bar that is being pulled. */
  grip?: Grip;
  /** Pixels from weight 0 to 1, and of weight 0 from the left edge of a slider. */
  unit: number;
  zero: number;
  frame: number;
  /** Whether the sliders are being put in another order. */
  settling?: boolean;
}

interface Grip {
  piece: number;
  /** The weights before it was pulled, and whether it was. */
  before: number[];
  pulled: boolean;
  /** Ends listening to what pulls it. */
  end(): void;
}
