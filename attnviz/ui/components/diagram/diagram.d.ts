// Payload, layout and state of the diagram.

/** What the layout depends on. */
interface Outline {
  /** A kind of attention, `"none"` without: see `attention_kinds.py`. */
  attention: string;
  /** The source pieces, and whether each continues the previous word. */
  sources: string[];
  joined: boolean[];
  /** The other symbols of the equations, by the part next to them; null where they are not drawn. */
  terms: DiagramTerms | boolean | null;
}

/** Numbers are float32 in base64, a row for each of `steps` or, of the annotations, for each source piece. */
interface DiagramPayload extends Outline {
  language: string;
  readout: "previous" | "current";
  /** The steps of the rows. */
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
  /** Whether all steps get the same context vector, a change by hand. */
  frozen: boolean;
  /** Description of the context vector of each of `steps`. */
  mixes: string[];
  alts: string[];
  /** How far the two highest energies are apart, and how many times one weight the other is; null where that says nothing. */
  leads: (string[] | null)[];
  /** The scenes of the step that is shown as it is computed. */
  scenes: SceneText[];
  /** The other symbols of the equations, by the part next to them; null where they are not drawn. */
  terms: DiagramTerms | null;
  words: Words;
}

/** Symbols and their indices; ⟦i⟧ and ⟦before⟧ are the numbers of the step and of the one before it. */
type Term = [letter: string, index: string][];

/** The weight matrices of a box's inputs. */
type InputTerms = Record<"state" | "context" | "word" | "bias", Term>;

/** Empty where a model has none. */
interface DiagramTerms {
  query: Term;
  key: Term;
  energy: Term;
  embedded: Term;
  inside: Term;
  moving: InputTerms;
  readout: InputTerms;
  scores: Term;
  chance: Term;
}

/** The numbers drawn at a step, or interpolated between two steps. */
interface Pose {
  energies: Float32Array;
  weights: Float32Array;
  context: Float32Array;
  before: Float32Array;
  after: Float32Array;
  readout: Float32Array;
}

/** A ribbon to the context vector: from where to where along the sentence, and how thick at its end and at its neck. */
interface Ribbon {
  from: number;
  to: number;
  thick: number;
  neck: number;
}

type SceneName = "query" | "energy" | "exponential" | "weight" | "context" | "state" | "word";

/** A scene of a step: its title, its sentence, and one that adds an example where the numbers give one. */
interface SceneText {
  name: SceneName;
  title: string;
  sentence: string;
  example: string;
}

/** A scene, and its time in milliseconds at speed 1. */
interface Scene extends SceneText {
  from: number;
  to: number;
}

/** What a step has computed at a moment. Shares are from 0 to 1. */
interface Moment {
  /** Share of the way of the query along the keys. */
  query: number;
  /** The energies as far as their bars have grown, and the share of that. */
  energies: Float32Array;
  grown: number[];
  /** Whether the row of the weights has begun. */
  copied: boolean;
  /** Which numbers stand in that row, how clearly (while they change), and the lengths of its bars. */
  row: "energies" | "powers" | "weights";
  numbers: Float32Array;
  clear: number;
  lengths: number[];
  /** How many pieces are in the mixture, how far the next one is, and how much of it has arrived. */
  added: number;
  way: number;
  arrived: number;
  /** The sum of the weighted annotations, and of their weights, so far. */
  context: Float32Array;
  gathered: number;
  /** Shares of the mixture, of the new state, and of the readout and the word. */
  mixed: number;
  moved: number;
  after: Float32Array;
  written: number;
}

/** The elements that only moments have. */
interface MomentParts {
  group: SVGElement;
  halo: SVGElement;
  beam: SVGElement;
  bars: SVGElement[];
  /** How much of each ribbon is drawn. */
  gone: number[];
  sum: SVGElement;
  /** The annotation on its way, with its squares and its weight. */
  carried: SVGElement;
  squares: SVGElement[];
  factor: SVGElement;
}

/** The step that is shown as it is computed. */
interface StepShow {
  isOpen: boolean;
  /** Whether it moves, or waits until a sentence is read. */
  playing: boolean;
  scenes: Scene[];
  titles?: string;
  /** The moment, in milliseconds. */
  time: number;
  /** The step that it shows. */
  step: number | null;
  /** Null where the still is drawn. */
  drawn: MomentParts | null;
  /** Lets the player go on, and the timer until it does. */
  then: (() => void) | null;
  resting?: number;
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
 * to the context vector. In a horizontal layout, along is x and across y; `vertical` swaps them. */
interface Plan {
  vertical: boolean;
  /** Whether the rows of a horizontal sentence have symbols without names. */
  compact: boolean;
  /** Pixels at the left of a horizontal sentence, for names or symbols. */
  gutter: number;
  width: number;
  height: number;
  /** Of each source piece the middle of its column, and how wide that is. */
  columns: { middle: number; width: number }[];
  /** Where the columns begin and end. */
  first: number;
  last: number;
  /** How long a vector of an annotation is, along. */
  cell: number;
  /** Pixels of the letters of the source pieces, and whether these stand aslant. */
  letters: number;
  slanted: boolean;
  /** Whether columns are too narrow for numbers of their own. */
  dense: boolean;
  across: Rows;
  /** Pixels of weight 1, the thickness of all ribbons together. */
  flow: number;
  decoder: DecoderPlan;
}

/** What the diagram is mounted with, besides its payload. */
type DiagramData = (DiagramPayload | PayloadAddress) & {
  stages: StageTitle[];
  formulas: boolean;
  outline: Omit<Outline, "terms">;
  caption: string;
};

/** Returns the width of a text in pixels, at a font size. */
type Measure = (text: string, letters: number) => number;

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
  /** The line of the query, and where it meets the keys. */
  query?: SVGElement;
  meetings: SVGElement[];
  /** The lines into the boxes. */
  lanes: SVGElement;
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
  /** The line of the initial state, from the backward half of the first annotation. */
  origin: SVGElement;
  /** Text elements by their content. */
  texts: Partial<Record<string, SVGTextElement[]>>;
}

/** A drawing of all steps of a sentence. */
interface DiagramDrawing {
  /** With the symbols of the equations or without. */
  payload: DiagramPayload;
  numbers: DiagramNumbers;
  plan: Plan;
  parts: DiagramParts;
}

interface DiagramState extends FetchingState<DiagramPayload> {
  diagram?: DiagramDrawing;
  /** What is drawn. */
  pose?: Pose;
  step: number | null;
  /** Width of its box in pixels, as drawn last, and whether it was thin. */
  boxWidth?: number;
  thin?: boolean;
  /** Both, whether with the symbols of the equations, and its scale factor, as drawn last. */
  drawn?: string;
  /** Of the show, and of the way from one step to another. */
  clock: Clock;
  /** The titles of the stages, and a key of them. */
  stages: StageTitle[];
  titles?: string;
  /** Whether every symbol of the equations is drawn. */
  formulas: boolean;
  /** The source piece that is pointed at. */
  pointed: number | null;
  show: StepShow;
  /** Whether weights that are being dragged are drawn. */
  dragged?: boolean;
}
