// The two sentences above the heatmap. Every word is set by textContent, so nothing typed is ever read as markup.

const PACE = 900; // milliseconds from one painted step to the next while playing
const timers = new WeakMap();

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function build(root, data, choose) {
  const source = root.querySelector(".source");
  const target = root.querySelector(".target");
  source.replaceChildren();
  target.replaceChildren();
  for (const word of data.source) {
    if (word.space) source.append(" ");
    source.append(element("span", word.end ? "word end" : "word", word.text));
  }
  data.target.forEach((word) => {
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
      const piece = event.target.closest(".piece") ?? button.firstElementChild;
      choose(Number(piece.dataset.step));
    };
    target.append(button);
  });
}

function mark(root, data) {
  root.querySelectorAll(".source .word").forEach((word, j) => {
    const weight = data.weights[j];
    word.style.setProperty("--weight", `${Math.round(Math.sqrt(weight) * 62)}%`);
    word.title = `α = ${weight.toFixed(4)}`;
  });
  root.querySelectorAll(".target .piece").forEach((piece) => {
    const chosen = Number(piece.dataset.step) === data.step;
    piece.classList.toggle("chosen", chosen);
    piece.classList.toggle("later", Number(piece.dataset.step) > data.step);
  });
  root.querySelectorAll(".target .word").forEach((word) => {
    const current = word.querySelector(".chosen") !== null;
    word.classList.toggle("current", current);
    if (current) word.setAttribute("aria-current", "step");
    else word.removeAttribute("aria-current");
  });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".sentences");
  if (root.dataset.text !== data.identity) {
    build(root, data, (step) => setTriggerValue("chosen", step));
    root.dataset.text = data.identity;
  }
  mark(root, data);
  clearTimeout(timers.get(root));
  if (data.playing) timers.set(root, setTimeout(() => setTriggerValue("tick", data.step), PACE));
  return () => clearTimeout(timers.get(root));
}
