// What the buttons that make picture files are given.

/** A drawing of the page: the box it is in, the colours of paper, the lines of its title with colour, size and weight. */
interface PageDrawing {
  box: string;
  /** Pixels that the title needs. */
  narrowest: number;
  colours: Record<string, string>;
  title: [string, string, number, number][];
  alt: string;
}

/** A picture: its figure as JSON, once it was asked for as what that says, or the drawing of the page that it is, and
 * its numbers as CSV. */
interface Picture {
  title: string;
  file: string;
  figure: string | Figure;
  table: string;
  drawing?: PageDrawing;
}

/** What is said: which pictures these are, that there are none, that they are being drawn, and that one was not saved. */
interface PictureWords {
  of: string;
  none: string;
  drawing: string;
  failed: string;
}

interface PictureFilesPayload {
  pictures: Picture[];
  /** Where they are, of what is on show in the view in that room. */
  at: string;
  room: string;
  words: PictureWords;
}
