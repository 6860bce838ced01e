// Payload and state of the data tables of the current selection.

interface DataTable {
  name: string;
  /** Column headings, the first for the row names. */
  columns: string[];
  /** The cells as they are written; the first of each row is its name. */
  rows: string[][];
  /** Which columns hold text. */
  texts: boolean[];
}

interface TablesState extends FetchingState<{ tables: DataTable[]; none: string }> {
}
