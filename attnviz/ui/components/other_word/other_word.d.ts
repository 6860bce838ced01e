// What the choice of another word is given and what it keeps.

interface FoilsPayload {
  words: Words;
  /** By step: what is written there, as a sentence asks for another, and the likeliest others. */
  offers: Record<string, { instead: string; foils: Foil[] }>;
}

interface Foil {
  piece: number;
  name: string;
}

interface OtherWordState extends Fetching<FoilsPayload> {
  payload?: FoilsPayload;
  /** The piece that was clicked elsewhere, as it was taken over last. */
  clicked?: string | null;
  step: number | null;
}
