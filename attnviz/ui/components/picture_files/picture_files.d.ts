// What the buttons that make picture files are given.

/** A picture: its figure as JSON, once it was asked for as what that says, and its numbers as CSV. */
interface Picture {
  title: string;
  file: string;
  figure: string | Figure;
  table: string;
}

interface PictureFilesRecord {
  pictures: Picture[];
  words: { failed: string };
}
