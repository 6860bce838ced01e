// Payloads and state of the mode in which links are drawn on the heatmap.

type LinkKind = "sure" | "possible";

/** The kind of each link, by the link as text, such as "0-2": source word and target word, from 0. */
type DrawnLinks = Map<string, LinkKind>;

type LinkPair = [number, number];

interface LinkDrawingPayload extends PayloadAddress {
  language: string;
  request: string;
  identity: string;
  /** The key of the container with the heatmap. */
  heatmap: string;
  /** The links that the server has, as `GoldLinks.text` writes them. */
  links: string;
  /** The words that links may join. */
  source: string[];
  target: string[];
  /** The word of each piece. */
  sourceWords: number[];
  targetWords: number[];
  /** The largest number of links. */
  most: number;
  /** The files of this pair, then those of all pairs of its file, if there are several. */
  files: { label: string; at: string; file: string }[][];
  words: Words;
}

/** The links of the attention that the heatmap shows. */
interface AttentionLinks {
  links: LinkPair[];
  /** Name of the shown attention. */
  face: string;
}

interface LinkDrawingState extends FetchingState<AttentionLinks> {
  data: LinkDrawingPayload;
  /** Of the pair whose links are shown. */
  identity?: string;
  links: DrawnLinks;
  /** The links of the server that were read last, as text. */
  read?: string;
  /** Number of the last request. */
  asked: number;
  /** The index of the file to save once the server has all links. */
  saving: number | null;
  /** Puts cells and markers where the heatmap now has them. */
  placeCells(): void;
  /** The line with the score. */
  score: HTMLElement;
  /** The cell described last. */
  pointed?: { link: LinkPair; number: string };
}
