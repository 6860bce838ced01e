// Payload and state of the controls of a training run's checkpoints.

interface TimelinePayload {
  /** Identifies these runs; another value resets the moment. */
  identity: string;
  language: string;
  /** Updates done at each moment. */
  updates: number[];
  /** A description of each moment, and the labels of both ends of the slider. */
  captions: string[];
  ends: [string, string];
  /** The moment at which a saved page opens; null for the last. */
  opened: number | null;
  /** Other address parameters; null removes one. */
  parameters: Record<string, string | null>;
  words: Words;
}

interface TimelineState extends ComponentState {
  data: TimelinePayload;
  /** The payload whose moment is shown. */
  shown?: TimelinePayload;
  moment: number;
  player: Player;
}
