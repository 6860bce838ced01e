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

interface PictureFilesRecord {
  pictures: Picture[];
  words: { failed: string };
}
