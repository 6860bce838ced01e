// The two sentences and the buttons that move through the steps. A step, or a source piece, is chosen here, in the browser:
// the other components of the view hear of it at once, and the server afterwards.

const PATIENCE = 30000; // milliseconds after which the server is believed again, whatever it says: longer than a busy machine is behind

// Buttons and names in the language of the page.
function say(root, words) {
  for (const node of root.querySelectorAll("[data-say]")) node.textContent = words[node.dataset.say];
  for (const node of root.querySelectorAll("[data-label]")) node.setAttribute("aria-label", words[node.dataset.label]);
}

// Streamlit names its slider by itself and by its label: "Step Step". One of both is taken away whenever it is drawn.
function nameSlider(root, state) {
  const box = viewOf(root).querySelector("[class*='st-key-slider']");
  if (!box || box === state.sliderBox) return;
  const name = () => {
    for (const slider of box.querySelectorAll("[aria-label][aria-labelledby]")) slider.removeAttribute("aria-labelledby");
  };
  state.sliderBox = box;
  state.naming?.disconnect();
  state.naming = new MutationObserver(name);
  state.naming.observe(box, { subtree: true, childList: true, attributeFilter: ["aria-labelledby"] });
  name();
}

// The line at the top of the window is there while the buttons are above it and something of their view is below.
function watchBar(root) {
  const seen = new Map();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) seen.set(entry.target, entry);
    const buttons = seen.get(transport), view = seen.get(viewOf(root));
    const above = buttons && !buttons.isIntersecting && buttons.boundingClientRect.top <= 0;
    root.querySelector(".bar").hidden = !(above && view?.isIntersecting);
  });
  const transport = root.querySelector(".transport");
  watch.observe(transport);
  watch.observe(viewOf(root));
  return watch;
}

// Listens to the page and to the view until the returned function is called.
function listen(root, state, control) {
  const view = viewOf(root);
  const touch = () => { shown(root).touched = performance.now(); };
  const heard = [
    [document, "keydown", (event) => { if (belongsTo(root, event)) keys(event, state, control); }],
    [document, "keydown", leave],
    [document, "pointerup", release],
    [window, "popstate", () => { state.wentBack = performance.now(); }],
    [view, "pointerdown", touch],
    [view, "focusin", touch],
    [view, "attnviz:choose", ({ detail }) => control.choose(detail)],
  ];
  for (const [where, name, hear] of heard) where.addEventListener(name, hear);
  return () => { for (const [where, name, hear] of heard) where.removeEventListener(name, hear); };
}

function start(root) {
  const state = { step: 0, source: null, order: "sentence", sent: null, playing: false };
  const control = controller(root, state);
  buttons(root, state, control);
  speeds(root);
  const bar = watchBar(root);
  const deafen = listen(root, state, control);
  state.stop = () => {
    control.pause();
    clearTimeout(state.late);
    bar.disconnect();
    state.naming?.disconnect();
    deafen();
    states.delete(root);
  };
  return Object.assign(state, control);
}

// Another translation: nothing of the one before is on its way any more.
function open(root, state, data) {
  state.pause();
  clearTimeout(state.late);
  state.sent = null;
  buildSentences(root, data, state.choose);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".player");
  const state = states.get(root) ?? start(root);
  states.set(root, state);
  state.tell = setTriggerValue;
  const other = state.data?.identity !== data.identity;
  state.data = data;
  say(root, data.words);
  if (other) open(root, state, data);
  // While the server has not caught up with what was chosen here last, what it says is old.
  const { sent } = state;
  const same = ([name, told]) => sent[name] === undefined || sent[name] === told;
  const caughtUp = sent === null || Object.entries({ step: data.step, source: data.chosen, order: data.order }).every(same);
  if (caughtUp || performance.now() - state.sentAt > PATIENCE) {
    state.sent = null;
    if (!state.playing || other) state.step = data.step;
    state.source = data.chosen;
    state.order = data.order;
    paint(root, state);
  }
  writeAddress(state, data.address);
  nameSlider(root, state);
  root.dataset.confirmed = data.step;
  return state.stop;
}
