// Small heatmaps in groups, one of which is on show at large.

interface GalleryPayload {
  language: string;
  groups: GalleryGroup[];
  /** The code of the one that is on show; empty where none is chosen from. */
  chosen: string;
  /** The name of the request for another one. */
  request: string;
}

interface GalleryGroup {
  name: string;
  told: string;
  /** How many stand in a row where there is room. */
  across: number;
  cells: GalleryCell[];
}

interface GalleryCell {
  /** What the server calls it. */
  code: string;
  /** Written below it, and what is said of it to those who do not see it. */
  name: string;
  note: string;
  label: string;
  /** Numbers from 0 to 255, row after row, in base64. */
  bytes: string;
  columns: number;
  /** What rows and columns are words of; empty where they are not said. */
  rows_of: string[];
  columns_of: string[];
}

interface GalleryState {
  request: string;
  payload: string;
}
