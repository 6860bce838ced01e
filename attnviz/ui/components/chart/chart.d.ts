// Payload and state of a chart, with the sliders over its bars.

interface ChartPayload {
  /** What the figures of all steps have in common, as JSON. */
  template: string;
  /** The values that fill its slots, a list as JSON, by step or under "every". */
  values: Record<string, string>;
  /** For a figure with several layouts: the values of each, the widest first, and the width it needs. */
  fits?: { narrowest: number; values: string }[];
  /** Heading and sentences by step. */
  captions: Record<string, [string, ...string[]]>;
  /** What the browser fills the figure with, where it is of an energy. */
  operands?: PackedOperands;
}

/** A chart whose payload is fetched. */
interface FetchedChart extends PayloadAddress {
  /** What is shown while the payload is computed. */
  waiting?: string;
  /** Whether a link leads to the chart. */
  visited?: boolean;
  /** Labels of the sliders, where the bars can be dragged, and the address of the payload about dragged weights. */
  hand?: Words;
  consequence?: string;
}

/** The figure drawn last, with its step, source piece and order of rows. */
interface ChartState extends FetchingState<ChartPayload> {
  chart: Chart;
  template?: string;
  text?: string;
  figure: Figure;
  operands?: Operands;
  /** The row of each source piece, where rows stand for them. */
  places: number[] | null;
  step: number | null;
  source: number | null;
  order: Order;
  /** The stage gone to, where the figure shows several. */
  stage?: number | null;
  /** Its scale factor. */
  scale?: number;
  /** The shapes drawn, as JSON. */
  marks?: string;
  /** The greatest height of the chart's box in pixels, for which the figure was fitted. */
  limit?: number;
  /** Labels of the sliders, where the bars can be dragged. */
  words: Words | null;
  /** Address of the payload (Consequence) about weights that are being dragged, without parameters. */
  consequenceAddress: string | null;
  sliders?: Sliders;
}

/** Bars of weights that can be dragged. */
interface Sliders {
  /** The weights of the step, and those that the bars show. */
  stepWeights: number[];
  shownWeights: number[];
  /** A slider for each bar. */
  bars: HTMLElement[];
  /** The drag in progress. */
  drag?: Drag;
  /** Pixels from weight 0 to 1, and of weight 0 from the left or lower edge of a slider. */
  unit: number;
  zero: number;
  frame: number;
  /** Timer until the hand rests. */
  rest?: number;
}

/** What a what-if would do that is not made yet: `ui/step/what_if_panel.py`. */
interface Consequence {
  probability: string;
  /** The translation with what would change; empty where all words stay. */
  words: ChangedWord[];
}

interface Drag {
  piece: number;
  /** The weights before the drag, and whether it has moved. */
  startWeights: number[];
  hasMoved: boolean;
  /** Removes the listeners of the drag. */
  end(): void;
}
