// What the server tells a field.

type FieldValue = string | boolean;

interface FieldPayload {
  /** The name of the value in the session of the server. */
  key: string;
  kind: "text" | "select" | "segments" | "switch";
  value: FieldValue;
  label: string;
  /** Whether the label is shown, or only read out. */
  labelled: boolean;
  help: string;
  /** Accessible name of what shows the help. */
  helpName: string;
  disabled: boolean;
  /** Of a choice: its values in order, each with its label. */
  options: [value: string, label: string][];
  placeholder: string;
  /** Height of a text box in pixels; 0 for that of its text. */
  height: number;
  singleLine: boolean;
  /** The key of the button that Ctrl+Enter in a text box presses; empty where there is none. */
  button: string;
}

/** The value of a field as this tab knows it. */
interface FieldState {
  value: FieldValue;
  /** The value that the server told last. */
  told: FieldValue;
  /** Whether it was edited since it was sent. */
  edited: boolean;
  /** Whether a visitor set it, and not the server. */
  own: boolean;
  /** The number of the request that sent it last; 0 where none did. */
  sent: number;
  /** Shows the value; null while the field is not on the page. */
  show: (() => void) | null;
}
