// Payload and state of small heatmaps in groups, one of which is shown enlarged.

interface GalleryPayload {
  language: string;
  groups: GalleryGroup[];
  /** The code of the chosen one; empty where none can be chosen. */
  chosen: string;
  /** The name of the request for another one. */
  request: string;
}

interface GalleryGroup {
  name: string;
  caption: string;
  /** How many are in a row where they fit. */
  across: number;
  cells: GalleryCell[];
}

interface GalleryCell {
  /** Its id. */
  code: string;
  /** Texts below it, and its text alternative. */
  name: string;
  note: string;
  label: string;
  /** Numbers from 0 to 255, row after row, in base64. */
  bytes: string;
  columns: number;
  /** The words of rows and columns; empty where they are not shown. */
  rows_of: string[];
  columns_of: string[];
}

interface GalleryState extends ComponentState {
  data: GalleryPayload;
  payload: string;
}
