// Type of a request to the server.

interface AnyRequest {
  /** Counts from 1 in each tab. */
  seq: number;
  /** Of the control that the visitor used. */
  key: string;
  value: unknown;
}
