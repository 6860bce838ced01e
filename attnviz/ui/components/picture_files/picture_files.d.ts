// Payload of the buttons that save picture files.

/** A drawing of the page: selector of its box, colours for print, lines of its title with colour, size and weight. */
interface PageDrawing {
  box: string;
  /** Pixels that the title needs. */
  narrowest: number;
  colours: Record<string, string>;
  title: [string, string, number, number][];
  alt: string;
}

/** A picture: its figure, as JSON until it is first used, or a drawing of the page, and its numbers as CSV. */
interface Picture {
  title: string;
  file: string;
  figure: string | Figure;
  table: string;
  drawing?: PageDrawing;
  /** Whether the server makes a PDF of it; otherwise the visitor prints it. */
  pdf: boolean;
}

/**
 * Messages: which pictures these are, that there are none, that they are being drawn, that characters have no font, and
 * that saving one failed.
 */
interface PictureWords {
  of: string;
  none: string;
  drawing: string;
  boxes: string;
  failed: string;
}

interface PictureFilesPayload {
  /** Address of the pictures of the current selection, and the key of the view's container. */
  at: string;
  container: string;
  words: PictureWords;
}

interface PictureFilesState extends ComponentState {
  data: PictureFilesPayload;
  /** The address of the pictures offered, or being fetched. */
  wanted?: string;
}
