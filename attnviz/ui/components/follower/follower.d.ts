// What the follower of a part of the page is given and what it keeps.

interface FollowerRecord {
  /** What the part was drawn for. */
  selection: string;
  /** The key of the part's container. */
  part: string;
}

interface FollowerState {
  data: FollowerRecord;
  near?: boolean;
  /** What the server was asked to draw last. */
  asked?: string;
  late?: number;
  tell(name: string, value: unknown): void;
  stop(): void;
}
