// What the choice of another word is given and what it keeps.

interface RivalsRecord {
  words: Words;
  /** By step: what is written there, as a sentence asks for another, and the likeliest others. */
  offers: Record<string, { instead: string; rivals: Rival[] }>;
}

interface Rival {
  piece: number;
  name: string;
}

interface OtherWordState extends Fetching<RivalsRecord> {
  record?: RivalsRecord;
  /** The piece that was clicked elsewhere, as it was taken over last. */
  clicked?: string | null;
  step: number | null;
}
