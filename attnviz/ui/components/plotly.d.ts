// As much of Plotly as the programs use. What is inside a trace, a layout or an axis is Plotly's own and Python's, which
// draws the figures; here only what the programs read or change has a type.

interface PlotlyLibrary {
  react(chart: HTMLElement, data: Trace[], layout: Omit<Layout, "meta">, config: object): Promise<unknown>;
  relayout(chart: HTMLElement, change: Partial<Layout>): Promise<unknown>;
  purge(chart: HTMLElement): void;
  toImage(figure: Figure, options: { format: string; width: number; height: number }): Promise<string>;
}

declare const Plotly: PlotlyLibrary;
interface Window {
  Plotly?: PlotlyLibrary;
  attnvizLoading?: boolean;
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
  text?: string[];
  textposition?: string[];
  customdata?: unknown[];
  zmin?: number;
  zmax?: number;
  xaxis?: string;
}

interface Axis {
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
  margin?: { r?: number };
  shapes?: Shape[];
  meta: Meta;
}

/** What a figure says of itself, in `layout.meta`: `attnviz/figures` writes it, each picture what it has. */
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
  /** The row of each source piece. */
  entries?: number[];
  /** The same, where a click chooses none. */
  lines?: number[];
  /** Source pieces by weight. */
  order?: number[];
  /** Which trace has the bars of weights, against which axis, and what the source pieces of these are called; whether
   * they are told in per cent. */
  weights?: { trace: number; axis: "xaxis" | "xaxis2"; pieces: string[]; shares?: boolean };
  thinned?: { rows: number; height: number; more: string } | null;
  /** The axes of each of several heatmaps of the same rows and columns, by its name. */
  panels?: Record<string, PanelAxes>;
  /** Those of what stands beside them in the same rows. */
  beside?: PanelAxes[];
  /** Whether all panels stand under one another: their names of the rows stay in sight together. */
  stacked?: boolean;
  /** The point of each step, across and up. */
  points?: [number, number][];
  /** The edges of each step's column. */
  spans?: [number, number][];
  /** The hypotheses of a search, which a click shows. */
  tree?: TreeMeta;
  /** Addresses of sentences that a click opens, which points name by their place and the rest of it in `customdata`. */
  opens?: string[];
  /** Pieces of the vocabulary that a click takes apart. */
  words?: number[];
  /** Colours of the frames of the row and of the cell. */
  frame?: string;
  mark?: string;
}

/** The hypotheses of a beam search by their number, which the points have in `customdata`. */
interface TreeMeta {
  /** The hypothesis that each continues, -1 for none, and the id of its last piece. */
  parents: number[];
  pieces: number[];
  /** 1 where it has continuations. */
  inner: number[];
  /** The one that won. */
  winner: number;
  /** Ids of the translation on show, and of the piece that ends one. */
  shown: number[];
  end: number;
}

interface PanelAxes {
  xaxis: string;
  yaxis: string;
}

/** An axis with its place in pixels. */
interface DrawnAxis {
  _offset: number;
  _length: number;
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
    _size: { l: number; t: number; b: number };
  };
  on(name: "plotly_click" | "plotly_hover" | "plotly_unhover", hear: (event: { points: Point[] }) => void): void;
}

interface Point {
  data: Trace;
  curveNumber: number;
  /** Of a heatmap row and column, of other traces the place in it. */
  pointNumber: number | [number, number];
  customdata?: unknown;
  y: number;
}
