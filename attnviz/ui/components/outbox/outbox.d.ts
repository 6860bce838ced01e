// Type of a request to the server.

interface AnyRequest {
  /** Counts from 1 in each tab. */
  seq: number;
  name: string;
  value: unknown;
}
