// What several components need. It is put before the program of each, so that every one has its own copy, its own `states`
// included.

const CONFIG = { displayModeBar: false, doubleClick: false, showTips: false };
const states = new WeakMap();

function library() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return new Promise((found) =>
    window.addEventListener("attnviz:plotly", () => found(window.Plotly), { once: true }));
}

function rows(base64, width) {
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  const numbers = new Float32Array(bytes.buffer);
  return Array.from({ length: numbers.length / width }, (_, row) => numbers.subarray(row * width, (row + 1) * width));
}

const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// What the language of the page writes before a fraction.
function decimalMark() {
  return new Intl.NumberFormat(document.documentElement.lang || "en").format(0.5)[1];
}

// A number with so many places, as the language of the page writes it, with a true minus.
function number(value, places) {
  return value.toFixed(places).replace("-", "\u2212").replace(".", decimalMark());
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// What cannot be seen is drawn once what can be seen has been.
function soon(root, state, draw) {
  if (state.seen) { draw(root, state); return; }
  if (state.waiting) return;
  state.waiting = true;
  requestAnimationFrame(() => setTimeout(() => {
    state.waiting = false;
    if (states.has(root)) draw(root, state);
  }, 0));
}

// The width of a chart. To ask the page for it makes the browser lay out what has just been drawn elsewhere, and a step
// draws nine charts: it is asked once, and then told to `watch`.
function widthOf(chart, state) {
  state.width ||= chart.clientWidth;
  return state.width;
}

// Keeps `state.width`, and calls `onWidth` where it is no longer the one that was drawn.
function watch(chart, state, onWidth) {
  state.size = new ResizeObserver(() => {
    state.width = chart.clientWidth;
    if (state.width && state.width !== chart._fullLayout?.width) onWidth();
  });
  state.size.observe(chart);
}

// Calls `onChange` at each of the messages `names` of its view until `state.stop`, which also lets go of the chart that
// `state.size` watches.
function follow(root, state, names, onChange) {
  const ends = names.map((name) => listenIn(root, name, onChange));
  const sight = new IntersectionObserver((entries) => { state.seen = entries.at(-1).isIntersecting; });
  sight.observe(root);
  state.stop = () => {
    for (const end of ends) end();
    sight.disconnect();
    state.size?.disconnect();
    if (state.size) window.Plotly.purge(root.querySelector(".chart"));
    states.delete(root);
  };
  states.set(root, state);
  return state;
}

// After the mouse a button lets go of the focus: Space is to play again, not to press it once more.
function letGo(event) {
  if (event.detail > 0) event.currentTarget.blur();
}
