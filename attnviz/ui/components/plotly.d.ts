// Types of Plotly, as far as the components use it. Python makes the figures; here only the properties of traces, layouts
// and axes that the components read or change are declared.

interface PlotlyLibrary {
  react(chart: HTMLElement, data: Trace[], layout: Omit<Layout, "meta">, config: object): Promise<unknown>;
  relayout(chart: HTMLElement, change: Partial<Layout>): Promise<unknown>;
  purge(chart: HTMLElement): void;
  toImage(figure: Figure, options: { format: string; width: number; height: number }): Promise<string>;
}

declare const Plotly: PlotlyLibrary;
interface Window {
  Plotly?: PlotlyLibrary;
}

/** What `Figure.to_json` of Python writes. */
interface Figure {
  data: Trace[];
  layout: Layout;
}

interface Trace {
  type: string;
  name?: string;
  mode?: string;
  marker?: { opacity?: number | number[] };
  x?: number[];
  y?: (number | null)[];
  z?: ArrayLike<number>[];
  text?: string[] | string[][];
  textposition?: string[];
  customdata?: unknown[];
  zmin?: number;
  zmax?: number;
  xaxis?: string;
  yaxis?: string;
}

interface Axis {
  domain?: [number, number];
  range: [number, number];
  tickvals: number[];
  ticktext: string[];
  tickfont: { size: number };
}

interface Shape {
  type: string;
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  line: { color?: string; width: number; dash?: string };
  fillcolor?: string;
  opacity?: number;
  xref?: string;
  yref?: string;
  layer?: string;
  xsizemode?: string;
  ysizemode?: string;
  xanchor?: number;
  yanchor?: number;
}

interface Layout {
  width: number;
  height: number;
  xaxis: Axis;
  xaxis2?: Axis;
  yaxis: Axis;
  yaxis2?: Axis;
  yaxis3?: Axis;
  annotations?: { text: string }[];
  margin?: { l?: number; r?: number; t?: number; b?: number };
  shapes?: Shape[];
  meta: Meta;
}

/** `layout.meta` of a figure, as `attnviz/figures` writes it; each figure has the properties it needs. */
interface Meta {
  /** The text alternative. */
  alt: string;
  /** Pixels of width below which the chart scrolls, and above which it does not grow. */
  narrowest: number;
  widest?: number;
  /** The step of each row, and the source piece of each column, that a click chooses. */
  steps?: (number | null)[];
  sources?: (number | null)[];
  /** The row of each step, the column of each source piece; null where it has none. */
  rows?: (number | null)[];
  columns?: (number | null)[];
  /** The symbol of the number in a cell, such as α. */
  symbol?: string;
  /** The row of each source piece. */
  entries?: number[];
  /** The same, where a click chooses none. */
  lines?: number[];
  /** Source pieces by weight. */
  order?: number[];
  /** The trace with the bars of weights, their axis, the names of their source pieces, and whether they are in per cent. */
  weights?: { trace: number; axis: "xaxis" | "xaxis2" | "yaxis"; pieces: string[]; shares?: boolean };
  /** Whether source pieces are columns, with upright bars. */
  upright?: boolean;
  /** The part of the height that each stage has, from 0 at the bottom to 1, and the colour that marks the stage gone to. */
  stages?: Record<string, [number, number]>;
  stage_colour?: string;
  /** The source piece of each strip; null where it is of several. */
  strip_pieces?: (number | null)[];
  /** The trace with the strips of the weighted sum, a row of numbers and the label of each source piece, and that of the others. */
  mixture?: { trace: number; values: Float32Array[]; names: string[]; more: string };
  thinned?: { rows: number; height: number; more: string } | null;
  /** The axes of each of several heatmaps of the same rows and columns, by its name. */
  panels?: Record<string, PanelAxes>;
  /** The axes of panels beside them with the same rows. */
  beside?: PanelAxes[];
  /** Whether the panels are stacked: then all their row labels stay in sight. */
  stacked?: boolean;
  /** The point of each step, across and up. */
  points?: [number, number][];
  /** The edges of each step's column. */
  spans?: [number, number][];
  /** The hypotheses of a search, which a click shows. */
  tree?: TreeMeta;
  /** Beginnings of addresses that a click opens; `customdata` of a point has an index and the rest of the address. */
  opens?: string[];
  /** Pieces of the vocabulary whose logits a click attributes. */
  words?: number[];
  /** Colours of the frames of the row and of the cell. */
  frame?: string;
  selection_colour?: string;
}

/** The hypotheses of a beam search by their number, which the points have in `customdata`. */
interface TreeMeta {
  /** The hypothesis that each continues, -1 for none, and the id of its last piece. */
  parents: number[];
  pieces: number[];
  /** 1 where it has continuations. */
  inner: number[];
  /** The best one. */
  winner: number;
  /** Ids of the current translation, and of the end-of-sentence piece. */
  shown: number[];
  end: number;
}

interface PanelAxes {
  xaxis: string;
  yaxis: string;
}

/** Where a part of an axis begins, and how long it is, in pixels. */
interface PixelSpan {
  _offset: number;
  _length: number;
}

interface DrawnAxis extends PixelSpan {
  c2p(value: number): number;
}

/** An element that Plotly has drawn a figure in. */
interface Chart extends HTMLElement {
  data: Trace[];
  layout: Layout;
  _fullData?: Trace[];
  _fullLayout?: {
    width: number;
    height: number;
    xaxis: DrawnAxis;
    xaxis2?: DrawnAxis;
    yaxis: DrawnAxis;
    yaxis2?: DrawnAxis;
    _size: { l: number; r: number; t: number; b: number };
  };
  on(name: "plotly_click" | "plotly_hover" | "plotly_unhover", listener: (event: { points: Point[] }) => void): void;
}

interface Point {
  data: Trace;
  curveNumber: number;
  /** Row and column in a heatmap; the index in other traces. */
  pointNumber: number | [number, number];
  customdata?: unknown;
  y: number;
}
