// The two sentences and the buttons that move through the steps. A step, or a source piece, is chosen here, in the browser:
// the charts hear of it at once by an event, and the server afterwards, for the address and the equations. Words are set
// by textContent, so nothing typed is ever read as markup.

const PACE = 900; // milliseconds a step stays while playing at speed 1
const LATE = 80; // milliseconds to wait for another key before the server is told
const MOST_GREEN = 48; // percent of green behind a word of weight 1: more, and the word is hard to read in the dark theme
const PATIENCE = 30000; // milliseconds after which the server is believed again, whatever it says: longer than a busy machine is behind

function element(tag, className, text) {
  const node = document.createElement(tag);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// Buttons and names in the language of the page.
function say(root, words) {
  for (const node of root.querySelectorAll("[data-say]")) node.textContent = words[node.dataset.say];
  for (const node of root.querySelectorAll("[data-label]")) node.setAttribute("aria-label", words[node.dataset.label]);
}

// A word as its pieces, so that they read as parts of one word.
function parts(texts, numbers) {
  return texts.map((text, k) => {
    const span = element("span", "piece", text);
    span.dataset.number = numbers[k];
    return span;
  });
}

function build(root, data, choose) {
  const source = root.querySelector(".source");
  const target = root.querySelector(".target");
  source.replaceChildren();
  target.replaceChildren();
  for (const word of data.source) {
    if (word.space) source.append(" ");
    const button = element("button", word.end ? "word end" : "word");
    button.type = "button";
    button.append(...parts(word.parts, word.pieces));
    const [first, last] = [word.pieces[0], word.pieces.at(-1)];
    // Of a word's pieces the one the step looks at most; a second click lets go of it.
    button.onclick = () => choose(({ step, source: chosen }) => ({
      source: chosen >= first && chosen <= last ? null : data.orders[step - 1].find((j) => j >= first - 1 && j < last) + 1,
    }));
    source.append(button);
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
    button.onclick = (event) => {
      const step = Number((event.target.closest(".piece") ?? button.firstElementChild).dataset.step);
      choose(() => ({ step }));
    };
    target.append(button);
  }
}

// The source piece on show: the chosen one, or the one of the largest weight.
function looked({ data, step, source }) {
  return source ?? data.orders[step - 1][0] + 1;
}

function paint(root, state) {
  const { data, step } = state;
  const source = looked(state);
  root.querySelectorAll(".source .word").forEach((word, k) => {
    const weight = data.weights[step - 1][k];
    word.style.setProperty("--weight", `${Math.round(Math.sqrt(weight) * MOST_GREEN)}%`);
    word.title = `α = ${weight.toFixed(4)}`;
    const current = data.source[k].pieces.includes(source);
    word.classList.toggle("current", current);
    word.classList.toggle("held", current && state.source !== null);
    word.setAttribute("aria-pressed", String(current && state.source !== null));
    for (const piece of word.children) piece.classList.toggle("seen", Number(piece.dataset.number) === source);
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
  root.querySelector(".verb").textContent = state.playing ? data.words.pause : data.words.play;
  for (const button of root.querySelectorAll(".previous")) button.disabled = step <= 1;
  for (const button of root.querySelectorAll(".next")) button.disabled = step >= data.weights.length;
  paintShown(root.querySelector(".shown"), state, source);
  paintBar(root.querySelector(".bar"), data, step, source);
  announce(step, source);
}

// Which source piece is on show in the pictures, and why; one that was chosen stays, and this is where to let go of it.
function paintShown(line, state, source) {
  const { source: words, words: told } = state.data;
  const held = state.source !== null;
  const word = words.find(({ pieces }) => pieces.includes(source));
  const pieces = parts(word.parts, word.pieces);
  for (const piece of pieces) piece.classList.toggle("seen", Number(piece.dataset.number) === source);
  const seen = line.querySelector(".seen");
  seen.replaceChildren(...pieces);
  seen.classList.toggle("held", held);
  write(line.querySelector(".why"), held ? told.held : told.strongest);
  line.querySelector(".follow").hidden = !held;
}

// A line at the top of the window, for those who have scrolled down to the stages: which word it is, and which source word.
function paintBar(bar, data, step, source) {
  const { pieces } = data.target.find((word) => word.pieces.some((piece) => piece.step === step));
  const wrote = parts(pieces.map(({ text }) => text), pieces.map((piece) => piece.step));
  for (const piece of wrote) piece.classList.toggle("chosen", Number(piece.dataset.number) === step);
  const k = data.source.findIndex((word) => word.pieces.includes(source));
  bar.querySelector(".at").textContent = data.words.at.replace("{i}", step).replace("{n}", data.weights.length);
  bar.querySelector(".wrote").replaceChildren(...wrote);
  bar.querySelector(".look").textContent = `${data.source[k].text}  α = ${data.weights[step - 1][k].toFixed(2)}`;
}

function announce(step, source) {
  const before = window.attnvizSource;
  window.attnvizStep = step;
  window.attnvizSource = source; // both are in place before anybody hears of one
  window.dispatchEvent(new CustomEvent("attnviz:step", { detail: step }));
  if (source !== before) window.dispatchEvent(new CustomEvent("attnviz:source", { detail: source }));
}

function controller(root, state) {
  const last = () => state.data.weights.length;
  const within = (number, most) => Math.min(Math.max(number, 1), most);
  const show = (choice) => {
    if (choice.step !== undefined) state.step = within(choice.step, last());
    if (choice.source !== undefined) {
      state.source = choice.source === null ? null : within(choice.source, state.data.orders[0].length);
    }
    // Of word and stage only the server keeps account; a word belongs to its step.
    const pending = choice.step === undefined ? state.sent : { ...state.sent, word: null };
    state.sent = { ...pending, ...choice, step: state.step, source: state.source };
    state.sentAt = performance.now();
    paint(root, state);
    clearTimeout(state.late);
    state.late = setTimeout(() => state.tell("chosen", state.sent), LATE);
  };
  const pause = () => { clearTimeout(state.timer); state.playing = false; };
  const pace = () => PACE / (window.attnvizSpeed ?? 1);
  const tick = () => {
    show({ step: state.step + 1 });
    if (state.step >= last()) { pause(); paint(root, state); } else state.timer = setTimeout(tick, pace());
  };
  const choose = (choice) => {
    const chosen = typeof choice === "function" ? choice(state) : choice;
    if (chosen.step !== undefined) pause();
    show(chosen);
  };
  const play = () => {
    if (state.playing) { pause(); paint(root, state); return; }
    state.playing = true;
    if (state.step >= last()) show({ step: 1 });
    else paint(root, state);
    state.timer = setTimeout(tick, pace());
  };
  return { choose, play, pause };
}

function speeds(root) {
  const buttons = [...root.querySelectorAll(".speed button")];
  const set = (speed) => {
    window.attnvizSpeed = speed;
    for (const button of buttons) button.setAttribute("aria-pressed", String(Number(button.value) === speed));
  };
  for (const button of buttons) {
    button.onclick = (event) => {
      set(Number(button.value));
      if (event.detail > 0) button.blur();
    };
  }
  set(window.attnvizSpeed ?? 1);
}

function start(root) {
  const state = { step: 1, source: null, sent: null, playing: false };
  const control = controller(root, state);
  const press = (name, act) => {
    for (const button of root.querySelectorAll(name)) {
      button.onclick = (event) => {
        act();
        if (event.detail > 0) button.blur(); // after the mouse, Space is to play again, not to press this once more
      };
    }
  };
  press(".previous", () => control.choose({ step: state.step - 1 }));
  press(".next", () => control.choose({ step: state.step + 1 }));
  press(".play", control.play);
  press(".follow", () => {
    // The button goes with what it lets go of: whoever came to it by the keyboard is not to lose the place.
    if (root.getRootNode().activeElement?.matches(".follow:focus-visible")) root.querySelector(".source .current").focus();
    control.choose({ source: null });
  });
  const onKey = (event) => keys(event, state, control);
  const onChoice = ({ detail }) => control.choose(typeof detail === "number" ? { step: detail } : detail);
  speeds(root);
  const above = new IntersectionObserver(([{ isIntersecting, boundingClientRect }]) => {
    root.querySelector(".bar").hidden = isIntersecting || boundingClientRect.top > 0;
  });
  above.observe(root.querySelector(".transport"));
  document.addEventListener("keydown", onKey);
  document.addEventListener("keydown", leave);
  document.addEventListener("pointerup", release);
  window.addEventListener("attnviz:choose", onChoice);
  state.stop = () => {
    control.pause();
    clearTimeout(state.late);
    above.disconnect();
    document.removeEventListener("keydown", onKey);
    document.removeEventListener("keydown", leave);
    document.removeEventListener("pointerup", release);
    window.removeEventListener("attnviz:choose", onChoice);
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
  say(root, data.words);
  if (other) {
    state.pause();
    clearTimeout(state.late);
    state.sent = null;
    state.source = data.source_piece;
    // A long sentence opens with the pieces that matter, unless the visitor has said otherwise.
    if (!window.attnvizOrderChosen) window.attnvizOrder = data.order;
    build(root, data, state.choose);
  }
  // While the server has not caught up with what was chosen here last, what it says is old.
  const { sent } = state;
  const caughtUp = sent === null || (sent.step === data.step && sent.source === data.source_piece);
  if (caughtUp || performance.now() - state.sentAt > PATIENCE) {
    state.sent = null;
    if (!state.playing || other) state.step = data.step;
    state.source = data.source_piece;
    paint(root, state);
  }
  root.dataset.confirmed = data.step;
  return state.stop;
}
