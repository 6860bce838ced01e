// Payload and state of a field.

type FieldValue = string | boolean;

interface FieldPayload {
  /** The session state key of the value. */
  key: string;
  kind: "text" | "select" | "segments" | "switch" | "disclosure";
  /** The name of the view's display option that it sets; empty for a value of the server. */
  option: string;
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
  /** Height of a text box in pixels; 0 to fit its text. */
  height: number;
  single_line: boolean;
  /** The key of the button that Ctrl+Enter in a text box presses; empty where there is none. */
  button: string;
}

interface FieldComponent extends ComponentState {
  data: FieldPayload;
  field: FieldState;
  /** What shows the value in this mount. */
  show: FieldState["show"];
}

/** The value of a field as this tab knows it. */
interface FieldState {
  value: FieldValue;
  /** The last value from the server. */
  server: FieldValue;
  /** Whether it was edited since it was sent. */
  edited: boolean;
  /** Whether a visitor, not the server, set it. */
  own: boolean;
  /** The number of the request that sent it last; 0 where none did. */
  sent: number;
  /** Shows the value; null while the field is not on the page. */
  show: (() => void) | null;
  /** Sets the display option of the view, where the field is of one. */
  choose?: (value: FieldValue) => void;
}
