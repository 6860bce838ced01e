// Payload and state of the player: both sentences, and the controls of the steps.

/** A word of either sentence, with the text of each of its pieces. */
interface PlayerWord {
  parts: string[];
  space: boolean;
  end: boolean;
}

interface SourceWord extends PlayerWord {
  text: string;
  pieces: number[];
  /** Text on how many pieces its weight sums; empty for one. */
  of: string;
}

interface TargetWord extends PlayerWord {
  steps: number[];
}

/** A line of the card of a suspected error; its button chooses something or requests a what-if. */
interface CardLine {
  name: string;
  text: string;
  words: ChangedWord[];
  button?: string;
  choice?: Choice;
  whatIf?: WhatIf;
}

/** Words that are likely wrong, from the `first` to the `last`, and why. */
interface SuspectedError {
  line: "source" | "target";
  first: number;
  last: number;
  kind: string;
  strong: boolean;
  /** Whether its words are always struck through, and not only while its card is open. */
  struck: boolean;
  label: string;
  title: string;
  lines: CardLine[];
}

interface PlayerPayload {
  identity: string;
  language: string;
  source: SourceWord[];
  target: TargetWord[];
  /** The weights of the source pieces, a row for each step, packed. */
  alignment: string;
  /** Steps with uniform attention. */
  alike: number[];
  /** Whether the model has attention. */
  attends: boolean;
  /** The languages of the two sentences, and whether the second is written step by step. */
  spoken: [string, string];
  written: boolean;
  /** Whether only what the level Idea has is shown. */
  simple: boolean;
  suspectedErrors: SuspectedError[];
  words: Words;
}

interface PlayerState extends ComponentState {
  data: PlayerPayload;
  /** The payload drawn last. */
  shown?: PlayerPayload;
  player: Player;
  /** The weights of the source pieces by step. */
  alignment: Float32Array[];
  step: number;
  /** The source piece chosen, or null: then the strongest is shown. */
  source: number | null;
  order: Order;
  /** What rows and columns of the heatmap are: "steps" or "words". */
  by: string;
  /** What is hovered in the view. */
  pointed?: Pointed | null;
}
