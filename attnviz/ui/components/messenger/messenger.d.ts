// What goes between the browser and the server, and what is kept of it.

interface MessengerState {
  tell(name: string, value: unknown): void;
  late?: number;
  /** The address written last, and when a visitor went back. */
  written?: string;
  wentBack?: number;
  stop(): void;
}
