// The keys of the player: what each does, and when a key belongs to somebody else.

const TYPING = [
  "input:not([type='checkbox'])", "textarea", "select", "[contenteditable='true']", "[role='slider']", "[role='listbox']",
  "[role='menu']", "[role='radio']", "[role='dialog']",
].join();
const PRESSED = "button, a, summary, input"; // Space presses these themselves

// The source piece `by` stops further down, in the order the rows of the stages stand in. Where the heatmap is by pieces
// every piece is a stop; where it is by words, of each word the piece that the step looks at most: its frame moves.
function neighbour(state, by) {
  const { data, step } = state;
  const stopOf = new Map(data.source.flatMap(({ pieces }, k) => pieces.map((j) => [j, data.by === "words" ? k : j])));
  const pieces = new Map(); // of each stop, the strongest first
  for (const j of data.orders[step]) {
    if (!pieces.has(stopOf.get(j))) pieces.set(stopOf.get(j), j);
  }
  const stops = [...pieces.keys()];
  if (state.order !== "strongest") stops.sort((one, other) => one - other);
  const next = stops.indexOf(stopOf.get(looked(state))) + by;
  return pieces.get(stops[Math.min(Math.max(next, 0), stops.length - 1)]);
}

const KEYS = {
  ArrowRight: (state) => ({ step: state.step + 1 }),
  ArrowLeft: (state) => ({ step: state.step - 1 }),
  ArrowDown: (state) => ({ source: neighbour(state, 1) }),
  ArrowUp: (state) => ({ source: neighbour(state, -1) }),
  Home: () => ({ step: 0 }),
  End: (state) => ({ step: state.data.weights.length - 1 }),
};

// After Ctrl + Enter the arrows are to step: the caret leaves the sentence, once Streamlit has taken it.
function leave(event) {
  const box = event.composedPath()[0];
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && box.matches?.("textarea")) setTimeout(() => box.blur(), 0);
}

function keys(event, state, { choose, play }) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const focused = event.composedPath()[0];
  if (event.composedPath().some((node) => node.matches?.(TYPING))) return; // also from within a component of its own
  if (KEYS[event.key]) choose(KEYS[event.key](state));
  else if (event.key === " " && !focused.closest?.(PRESSED)) play();
  else if (event.key === "Escape" && state.source !== null) choose({ source: null });
  else return;
  event.preventDefault();
}

function release(event) {
  // A click on a blank spot gives the whole page the focus, and the next key would draw its frame.
  if (document.activeElement?.matches(".stMain")) document.activeElement.blur();
  // The arrows of a radio group are for those who came to it by the keyboard; after the mouse they are to step again.
  // The press ends before the click and the choice is drawn anew after it: hence the wait.
  if (!event.target.closest?.("[role='radio'], [type='radio'], label:has([type='radio'])")) return;
  setTimeout(() => document.activeElement?.matches("[role='radio'], [type='radio']") && document.activeElement.blur(), 0);
}
