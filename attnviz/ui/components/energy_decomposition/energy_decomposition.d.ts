// Payload and state of the energy decomposition.

interface EnergyDecompositionWords {
  heading: string;
  unit: string;
  mark: string;
  more: string;
  hover: string;
  sentence: string;
  product: string;
}

/** `queries`, `keys` and `score` are float32 in base64, rows of `width` numbers. */
interface EnergyDecompositionPayload {
  language: string;
  queries: string;
  keys: string;
  score: string;
  width: number;
  /** The strongest source piece of each step. */
  peaks: number[];
  sources: string[];
  targets: string[];
  /** A figure to fill, as JSON, with the operands and without. */
  wide: string;
  narrow: string;
  /** Whether units are tanh values, as in additive attention. */
  bounded: boolean;
  /** |tanh| from which a unit counts as saturated. */
  saturated: number;
  /** How many units have a row of their own. */
  named: number;
  words: EnergyDecompositionWords;
}

interface Operands extends Omit<EnergyDecompositionPayload, "queries" | "keys" | "score"> {
  queries: Float32Array[];
  keys: Float32Array[];
  score: Float32Array;
}

interface Unit {
  k: number;
  query: number;
  key: number;
  together: number;
  activation: number;
  score: number;
  adds: number;
}

/** The energy of a cell: all units, the largest ones, and the sum of the others. */
interface Cell {
  all: Unit[];
  top: Unit[];
  rest: number;
  energy: number;
}

interface EnergyDecompositionState extends FetchingState<EnergyDecompositionPayload> {
  chart: Chart;
  /** The contents of the payload read last. */
  operands: Operands;
  drawn?: string;
  wide: boolean;
}
