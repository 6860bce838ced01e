// The energy decomposition, a chart that the browser fills for each cell.

/** `queries`, `keys` and `score` are float32 in base64, rows of `width` numbers. */
interface PackedOperands {
  queries: string;
  keys: string;
  score: string;
  width: number;
  /** The strongest source piece of each step. */
  peaks: number[];
  sources: string[];
  targets: string[];
  /** Whether units are tanh values, as in additive attention. */
  bounded: boolean;
  /** |tanh| from which a unit counts as saturated. */
  saturated: number;
  /** How many units have a row of their own. */
  named: number;
  words: Words;
}

interface Operands extends Omit<PackedOperands, "queries" | "keys" | "score"> {
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
