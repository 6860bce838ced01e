// Payload and state of the figure of the context vector as a running sum.

/** A figure to fill, with the strips and their sum. */
interface GrowthFigure {
  data: [Trace, Trace];
  layout: GrowthLayout;
}

interface GrowthLayout extends Omit<Layout, "meta"> {
  meta: GrowthMeta;
  yaxis2: Axis;
}

interface GrowthMeta extends Omit<Meta, "rows"> {
  /** Of the source pieces. */
  names: string[];
  /** The largest number of rows. */
  rows: number;
  /** The unit after which the backward half begins. */
  hidden: number;
  paper_colour: string;
  context_colour: string;
  selection_colour: string;
}

/** `annotations` and `alpha` are float32 in base64, a row for each source piece and for each step. */
interface GrowthPayload {
  language: string;
  symbol: string;
  annotations: string;
  alpha: string;
  units: number;
  figure: string;
  thinned: string | null;
  captions: Record<string, string>;
  words: Words;
}

/** A row: its pieces, their weight, and the sum of their strips. */
interface Strip {
  pieces: number[];
  weight: number;
  strip: number[];
}

/** The strips of one step, and their sum. */
interface Growth {
  step: number;
  skeleton: GrowthFigure;
  lines: Strip[];
  /** The row of each source piece. */
  places: number[];
  total: number[];
  /** The number at which the colours end. */
  limit: number;
}

interface GrowthState extends FetchingState<GrowthPayload> {
  /** Its scale factor. */
  scale: number;
  chart: Chart;
  /** The payload read last, and its contents. */
  payload: GrowthPayload;
  annotations: Float32Array[];
  alpha: Float32Array[];
  skeletons: { figure: GrowthFigure; thinned: GrowthFigure | null };
  numbers?: Growth;
  places: number[] | null;
  /** How many strips are added. */
  added: number;
  clock: Clock;
  /** Identifies the step and its order, and what is drawn of it. */
  key: string | null;
  /** Of what the strips drawn show, whatever the frames. */
  stripsKey: string | null;
  drawnKey: string | null;
}
