// What the player is given and what it keeps.

/** A word of either sentence, with the text of each of its pieces. */
interface PlayerWord {
  parts: string[];
  space: boolean;
  end: boolean;
}

interface SourceWord extends PlayerWord {
  text: string;
  pieces: number[];
  /** Of how many pieces its weight is the sum, in words; empty where it is one. */
  of: string;
}

interface TargetWord extends PlayerWord {
  steps: number[];
}

interface PlayerPayload {
  identity: string;
  language: string;
  source: SourceWord[];
  target: TargetWord[];
  /** By step and source word. */
  weights: number[][];
  /** The steps that look at all source pieces alike. */
  alike: number[];
  /** Of each step the source pieces, strongest first. */
  orders: number[][];
  /** Whether the model has attention. */
  looks: boolean;
  by: "words" | "pieces";
  /** The languages of the two sentences, and whether the second is written step by step. */
  spoken: [string, string];
  written: boolean;
  words: Words;
}

/** What a visitor chose, or how it follows from what is on show. */
type Chosen = Choice | ((state: PlayerState) => Choice);

interface PlayerControl {
  choose(choice: Chosen): void;
  play(): void;
  pause(): void;
}

interface PlayerState extends PlayerControl {
  data: PlayerPayload;
  step: number;
  /** The source piece chosen, or null: then the strongest is on show. */
  source: number | null;
  order: Order;
  playing: boolean;
  /** What is pointed at in the view. */
  pointed?: Pointed | null;
  timer?: number;
  stop(): void;
}
