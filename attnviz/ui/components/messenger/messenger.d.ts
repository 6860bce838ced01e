// What goes between the browser and the server, and what is kept of it.

/** What the server is told at once: what a visitor chose, and the parts of the page it is to draw. */
interface Told {
  choice?: Choice;
  parts?: string[];
}

interface MessengerState {
  /** What it is to be told next. */
  told: Told;
  tell(name: string, value: unknown): void;
  late?: number;
  /** Whether it has not answered yet, when it must have heard, and the way to another page that was asked for meanwhile. */
  unanswered?: boolean;
  sent?: number;
  next?: HTMLElement;
  /** What the address is to have. */
  address: AddressRecord;
  /** The address written last, and when a visitor went back. */
  written?: string;
  wentBack?: number;
  stop(): void;
}
