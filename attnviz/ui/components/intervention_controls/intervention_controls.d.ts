// Payload and state of the controls that change the attention.

/** The same at every step. */
interface ControlsPayload {
  language: string;
  words: Words;
  /** Source pieces, and the pieces of all steps, as named in the figures. */
  pieces: string[];
  written: string[];
  /** The temperature of each step alone, and that of all steps. */
  temperatures: Temperature[];
  temperature: Temperature;
  /** Whether the weights of a step were set: then the temperature of all steps does not change them. */
  set: boolean[];
  /** Whether the posterior attention is known. */
  posterior: boolean;
}

interface ControlsState extends FetchingState<ControlsPayload> {
  /** With the models whose attention can be borrowed, whether there is a change to undo, and why a request failed. */
  data: PayloadAddress & { models: string[]; undo: boolean; problem: string };
  step: number | null;
  /** Whether a chosen temperature has not been requested yet. */
  pending?: boolean;
}
