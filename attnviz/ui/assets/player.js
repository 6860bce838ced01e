// The two sentences and the buttons that move through the steps. A step is taken here, in the browser: the charts hear
// of it at once by an event, and the server afterwards, for the address and the numbers below. Words are set by
// textContent, so nothing typed is ever read as markup.

const PACE = 900; // milliseconds a step stays while playing
const LATE = 80; // milliseconds to wait for another key before the server is told
const PATIENCE = 5000; // milliseconds after which the server is believed again, whatever it says
const states = new WeakMap();

function element(tag, className, text) {
  const node = document.createElement(tag);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function build(root, data, go) {
  const source = root.querySelector(".source");
  const target = root.querySelector(".target");
  source.replaceChildren();
  target.replaceChildren();
  for (const word of data.source) {
    if (word.space) source.append(" ");
    source.append(element("span", word.end ? "word end" : "word", word.text));
  }
  for (const word of data.target) {
    if (word.space) target.append(" ");
    const button = element("button", word.end ? "word end" : "word");
    button.type = "button";
    for (const piece of word.pieces) {
      const span = element("span", "piece", piece.text);
      span.dataset.step = piece.step;
      button.append(span);
    }
    // A click chooses the piece under the pointer; the keyboard, which has no pointer, the first piece of the word.
    button.onclick = (event) => go(Number((event.target.closest(".piece") ?? button.firstElementChild).dataset.step));
    target.append(button);
  }
}

function paint(root, state) {
  const { data, step } = state;
  root.querySelectorAll(".source .word").forEach((word, j) => {
    const weight = data.weights[step - 1][j];
    word.style.setProperty("--weight", `${Math.round(Math.sqrt(weight) * 62)}%`);
    word.title = `α = ${weight.toFixed(4)}`;
  });
  for (const piece of root.querySelectorAll(".target .piece")) {
    piece.classList.toggle("chosen", Number(piece.dataset.step) === step);
    piece.classList.toggle("later", Number(piece.dataset.step) > step);
  }
  for (const word of root.querySelectorAll(".target .word")) {
    const current = word.querySelector(".chosen") !== null;
    word.classList.toggle("current", current);
    if (current) word.setAttribute("aria-current", "step");
    else word.removeAttribute("aria-current");
  }
  root.querySelector(".verb").textContent = state.playing ? "Pause" : "Play";
  root.querySelector(".previous").disabled = step <= 1;
  root.querySelector(".next").disabled = step >= data.weights.length;
  window.attnvizStep = step;
  window.dispatchEvent(new CustomEvent("attnviz:step", { detail: step }));
}

function controller(root, state) {
  const last = () => state.data.weights.length;
  const show = (step) => {
    state.step = Math.min(Math.max(step, 1), last());
    state.sent = state.step;
    state.sentAt = performance.now();
    paint(root, state);
    clearTimeout(state.late);
    state.late = setTimeout(() => state.tell("chosen", state.sent), LATE);
  };
  const pause = () => { clearTimeout(state.timer); state.playing = false; };
  const tick = () => {
    show(state.step + 1);
    if (state.step >= last()) { pause(); paint(root, state); } else state.timer = setTimeout(tick, PACE);
  };
  const go = (step) => { pause(); show(step); };
  const play = () => {
    if (state.playing) { pause(); paint(root, state); return; }
    state.playing = true;
    if (state.step >= last()) show(1);
    else paint(root, state);
    state.timer = setTimeout(tick, PACE);
  };
  return { go, play, pause };
}

const TYPING = [
  "input:not([type='checkbox'])", "textarea", "select", "[contenteditable='true']", "[role='slider']", "[role='listbox']",
  "[role='menu']", "[role='radio']",
].join();
const PRESSED = "button, a, summary, input"; // Space presses these themselves

function keys(event, state, { go, play }) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const focused = event.composedPath()[0];
  if (focused.closest?.(TYPING)) return;
  if (event.key === "ArrowRight") go(state.step + 1);
  else if (event.key === "ArrowLeft") go(state.step - 1);
  else if (event.key === " " && !focused.closest?.(PRESSED)) play();
  else return;
  event.preventDefault();
}

function release(event) {
  // The arrows of a radio group are for those who came to it by the keyboard; after the mouse they are to step again.
  // The press ends before the click and the choice is drawn anew after it: hence the wait.
  if (!event.target.closest?.("[role='radio'], [type='radio']")) return;
  setTimeout(() => document.activeElement?.matches("[role='radio'], [type='radio']") && document.activeElement.blur(), 0);
}

function start(root) {
  const state = { step: 1, sent: null, playing: false };
  const control = controller(root, state);
  const press = (name, act) => {
    const button = root.querySelector(name);
    button.onclick = (event) => {
      act();
      if (event.detail > 0) button.blur(); // after the mouse, Space is to play again, not to press this once more
    };
  };
  press(".previous", () => control.go(state.step - 1));
  press(".next", () => control.go(state.step + 1));
  press(".play", control.play);
  const onKey = (event) => keys(event, state, control);
  const onCell = (event) => control.go(event.detail);
  document.addEventListener("keydown", onKey);
  document.addEventListener("pointerup", release);
  window.addEventListener("attnviz:choose", onCell);
  state.stop = () => {
    control.pause();
    clearTimeout(state.late);
    document.removeEventListener("keydown", onKey);
    document.removeEventListener("pointerup", release);
    window.removeEventListener("attnviz:choose", onCell);
    states.delete(root);
  };
  return Object.assign(state, control);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".player");
  const state = states.get(root) ?? start(root);
  states.set(root, state);
  state.tell = setTriggerValue;
  const other = state.data?.identity !== data.identity;
  state.data = data;
  if (other) {
    state.pause();
    clearTimeout(state.late);
    state.sent = null;
    build(root, data, state.go);
  }
  // While the server has not caught up with the last step taken here, what it says is old.
  if (state.sent === null || state.sent === data.step || performance.now() - state.sentAt > PATIENCE) {
    state.sent = null;
    if (!state.playing || other) state.step = data.step;
    paint(root, state);
  }
  return state.stop;
}
