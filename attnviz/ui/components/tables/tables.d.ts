// Tables that follow the step on show.

interface DataTable {
  name: string;
  /** The heads of the columns, the first that of the names of the rows. */
  columns: string[];
  /** The cells as they are written; the first of each row is its name. */
  rows: string[][];
  /** Which columns hold text. */
  texts: boolean[];
}

interface TablesState extends Fetching<{ tables: DataTable[]; none: string }> {
  payload?: { tables: DataTable[]; none: string };
}
