// What a chart is given and what it keeps.

interface ChartRecord {
  /** What the figures of all steps have in common, as JSON. */
  template: string;
  /** What fills it, as JSON by step, or once under "every". */
  values: Record<string, string>;
  /** Of a picture that can be laid out in several ways: what fills it, the widest first, and the width each needs. */
  fits?: { narrowest: number; values: string }[];
  /** Heading and sentence by step. */
  captions: Record<string, [string, string]>;
}

/** What was chosen at a step, by step: it stands in the place of what the record has. */
type ChosenAtSteps = Record<string, { values: string; caption: [string, string] }>;

/** The figure drawn last, of which step, source piece and order of rows. */
interface ChartState extends Fetching<ChartRecord> {
  chosen: ChosenAtSteps;
  /** How many steps there are, where the record of the next is fetched ahead. */
  steps: number;
  template?: string;
  text?: string;
  figure: Figure;
  /** The row of each source piece, where rows stand for them. */
  places: number[] | null;
  step: number | null;
  source: number | null;
  order: Order;
}
