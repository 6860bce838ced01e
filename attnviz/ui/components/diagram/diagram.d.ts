// What the diagram is given and what it keeps.

/** Numbers are float32 in base64, a row for each of `steps` or, of the annotations, for each source piece. */
interface DiagramPayload {
  language: string;
  attention: "additive" | "dot" | "none";
  readout: "previous" | "current";
  /** Of the source pieces: their text, and whether each goes on with the word before it. */
  sources: string[];
  joined: boolean[];
  /** The steps that the rows stand for, of how many there are. */
  steps: number[];
  energies: string;
  weights: string;
  annotations: string;
  contexts: string;
  before: string;
  after: string;
  readouts: string;
  /** How many squares a vector of each kind has, and at which amount their colours end. */
  squares: { annotation: number; context: number; state: number; readout: number };
  limits: { annotation: number; state: number; readout: number };
  /** The least and the greatest energy of all steps, 0 among them. */
  range: [number, number];
  /** Of each of `steps`: the word before and the word written, how likely it was, and the likeliest others. */
  previous: string[];
  written: string[];
  likely: string[];
  foils: string[];
  /** Whether the weights of each step were changed by hand. */
  byHand: boolean[];
  /** What the context of each of `steps` is made of, in words. */
  mixes: string[];
  alts: string[];
  /** Of each of `steps` what came of each stage. */
  outcomes: string[][];
  /** What else the equations have, by the part beside which it stands; null where none of it is drawn. */
  terms: DiagramTerms | null;
  words: Words;
}

/** Symbols and their indices; ⟦i⟧ and ⟦before⟧ are the numbers of the step and of the one before it. */
type Term = [letter: string, index: string][];

/** The weights with which a box takes in each of these. */
type Taken = Record<"state" | "context" | "word" | "bias", Term>;

/** Empty where a model has none. */
interface DiagramTerms {
  query: Term;
  key: Term;
  energy: Term;
  embedded: Term;
  inside: Term;
  moving: Taken;
  readout: Taken;
  scores: Term;
  chance: Term;
}

/** What of a payload is drawn at a step: whole numbers but while one step becomes another. */
interface Pose {
  energies: Float32Array;
  weights: Float32Array;
  context: Float32Array;
  before: Float32Array;
  after: Float32Array;
  readout: Float32Array;
}

/** A payload whose numbers are unpacked. */
interface DiagramNumbers {
  annotations: Float32Array[];
  poses: Pose[];
}

type Spot = [x: number, y: number];

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where the parts are. `along` the sentence a place is a column; `across` it the rows follow one another, from the words
 * to the context vector. Lying, along is x and across y; standing, the other way round. */
interface Plan {
  standing: boolean;
  width: number;
  height: number;
  /** Of each source piece the middle of its column, and how wide that is. */
  columns: { middle: number; room: number }[];
  /** Where the columns begin and end. */
  first: number;
  last: number;
  /** How long a vector of an annotation is, along. */
  cell: number;
  /** Pixels of the letters of the source pieces, and whether these stand aslant. */
  letters: number;
  aslant: boolean;
  /** Whether columns are too narrow for numbers of their own. */
  dense: boolean;
  across: Rows;
  /** Pixels of weight 1, the thickness of all ribbons together. */
  flow: number;
  decoder: DecoderPlan;
}

/** Across the sentence, in pixels: where words stand, from where to where the other rows go. */
interface Rows {
  words: number;
  forward: [number, number];
  backward: [number, number];
  /** Where the key is named, 0 where it is not. */
  key: number;
  query: number;
  energy: [number, number];
  energyNumber: number;
  weight: number;
  ribbons: [number, number];
  context: [number, number];
}

interface DecoderPlan {
  before: Area;
  previous: Area;
  after: Area;
  readout: Area;
  word: Area;
  likely: Spot;
  foils: Spot;
  /** Where the lines of state, context and word run that lead to both boxes. */
  lanes: { state: number; context: number; word: number };
  /** Where the line of the query goes up, or along standing, and leaves the state. */
  queryFrom: Spot;
  titles: { 4: Spot; 5: Spot };
}

/** The elements that a step changes. */
interface DiagramParts {
  energies: SVGElement[];
  energyNumbers: SVGElement[];
  weightNumbers: SVGElement[];
  ribbons: SVGElement[];
  columns: SVGElement[];
  context: SVGElement;
  /** What stands beside the context vector: its symbol, and what it is made of. */
  contextNames: SVGElement[];
  contextSquares: SVGElement[];
  contextLine: SVGElement;
  before: SVGElement;
  beforeSquares: SVGElement[];
  afterSquares: SVGElement[];
  readoutSquares: SVGElement[];
  previous: SVGElement;
  made: SVGElement[];
  /** The way of the first state, from the backward half of the first annotation. */
  origin: SVGElement;
  /** What is written, by what it tells. */
  texts: Record<string, SVGElement[]>;
}

interface DiagramState extends Fetching<DiagramPayload> {
  payload?: DiagramPayload;
  numbers: DiagramNumbers;
  plan?: Plan;
  parts: DiagramParts;
  /** What is drawn. */
  pose?: Pose;
  step: number | null;
  room?: number;
  frame: number;
  /** What the stages are called, and what tells these names from others. */
  stages: StageTitle[];
  titles?: string;
  /** Whether every symbol of the equations is drawn. */
  formulas: boolean;
  /** The source piece that is pointed at. */
  pointed: number | null;
  /** Whether weights pulled by hand are drawn. */
  weighed?: boolean;
}
