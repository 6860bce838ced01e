// What the bench is given and what it keeps.

/** What a bench is drawn from, the same at every step. */
interface BenchPayload {
  language: string;
  words: Words;
  /** Source pieces, and the pieces of all steps, by the names the pictures give them. */
  pieces: string[];
  written: string[];
  /** Of each step, what divides its own energies; of all, what divides those of every step. */
  temperatures: Temperature[];
  temperature: Temperature;
  /** Whether the weights of a step were set: then they are the same at any temperature of all. */
  set: boolean[];
  /** Whether it is known what each look was about once its word was. */
  posterior: boolean;
}

interface BenchState extends Fetching<BenchPayload> {
  /** Of which models here a look can be borrowed, and whether there is a change to be taken back. */
  models: string[];
  undo: boolean;
  /** What has been written on the page. */
  payload?: BenchPayload;
  step: number | null;
  /** Whether a temperature was chosen by a key, and waits for Enter. */
  pending?: boolean;
}
