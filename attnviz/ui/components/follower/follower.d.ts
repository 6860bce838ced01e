// What the follower of a part of the page is given and what it keeps.

interface FollowerRecord {
  /** What the part was drawn for. */
  selection: string;
  /** The name of the part, and the key of its container. */
  part: string;
  container: string;
}

interface FollowerState {
  data: FollowerRecord;
  near?: boolean;
  /** What the server was asked to draw last. */
  asked?: string;
  stop(): void;
}
