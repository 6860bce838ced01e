// Payload and state of the choice of another word.

interface FoilsPayload {
  words: Words;
  /** By step: the label with the word written there, and the likeliest others. */
  offers: Record<string, { instead: string; foils: Foil[] }>;
}

interface Foil {
  piece: number;
  name: string;
}

interface OtherWordState extends FetchingState<FoilsPayload> {
  /** The payload whose words are offered. */
  offered?: FoilsPayload;
  /** The piece clicked elsewhere that was preselected last. */
  clicked?: string | null;
  step: number | null;
}
