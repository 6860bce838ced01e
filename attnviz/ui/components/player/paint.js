// What of the sentences and buttons is marked at a step.

// The source piece on show: the chosen one, or the one of the largest weight.
function looked({ data, step, source }) {
  return source ?? data.orders[step][0];
}

// The weight of a source word at a step, and of how many of its pieces that is the sum.
function share({ source, weights }, step, k, places) {
  const { of } = source[k];
  return `α = ${number(weights[step][k], places)}${of && ` (${of})`}`;
}

function paintSource(root, { data, step, source: chosen }, source) {
  root.querySelectorAll(".source .word").forEach((word, k) => {
    const weight = data.weights[step][k];
    word.style.setProperty("--weight", `${Math.round(100 * MOST_GREEN * Math.sqrt(weight))}%`);
    word.title = share(data, step, k, 4);
    const current = data.source[k].pieces.includes(source);
    word.classList.toggle("current", current);
    word.classList.toggle("held", current && chosen !== null);
    word.setAttribute("aria-pressed", String(current && chosen !== null));
    for (const piece of word.children) piece.classList.toggle("seen", Number(piece.dataset.index) === source);
  });
}

function paintTarget(root, step) {
  for (const piece of root.querySelectorAll(".target .piece")) {
    piece.classList.toggle("chosen", Number(piece.dataset.index) === step);
    piece.classList.toggle("later", Number(piece.dataset.index) > step);
  }
  for (const word of root.querySelectorAll(".target .word")) {
    const current = word.querySelector(".chosen") !== null;
    word.classList.toggle("current", current);
    if (current) word.setAttribute("aria-current", "step");
    else word.removeAttribute("aria-current");
  }
}

// Which source piece is on show in the pictures, and why. One that was chosen stays, whether the step looks at it or not,
// and this is where to let go of it.
function paintShown(line, { data, source: chosen, step }, source) {
  const { words } = data;
  const held = chosen !== null;
  const k = data.source.findIndex(({ pieces }) => pieces.includes(source));
  const pieces = parts(data.source[k].parts, data.source[k].pieces);
  for (const piece of pieces) piece.classList.toggle("seen", Number(piece.dataset.index) === source);
  const seen = line.querySelector(".seen");
  seen.replaceChildren(...pieces);
  seen.classList.toggle("held", held);
  write(line.querySelector(".name"), held ? words.examined : words.looks);
  write(line.querySelector(".why"), held ? words.held : words.strongest);
  line.querySelector(".follow").hidden = !held;
  line.title = share(data, step, k, 4);
}

// A line at the top of the window, for those who have scrolled down to the stages: which word it is, and which source word.
function paintBar(bar, { data, step }, source) {
  const { words, weights } = data;
  const written = data.target.find(({ steps }) => steps.includes(step));
  const wrote = parts(written.parts, written.steps);
  for (const piece of wrote) piece.classList.toggle("chosen", Number(piece.dataset.index) === step);
  const k = data.source.findIndex(({ pieces }) => pieces.includes(source));
  bar.querySelector(".at").textContent = fill(words.at, { i: step + 1, n: weights.length });
  bar.querySelector(".wrote").replaceChildren(...wrote);
  bar.querySelector(".look").textContent = !data.looks ? "" : `${data.source[k].text}  ${share(data, step, k, 2)}`;
}

/** Marks the step and source piece of `state`, and tells the view of them. */
function paint(root, state) {
  const { data, step } = state;
  const source = looked(state);
  if (data.looks) paintSource(root, state, source);
  paintTarget(root, step);
  root.querySelector(".verb").textContent = state.playing ? data.words.pause : data.words.play;
  for (const button of root.querySelectorAll(".previous")) button.disabled = step <= 0;
  for (const button of root.querySelectorAll(".next")) button.disabled = step >= data.weights.length - 1;
  root.querySelector(".shown").hidden = !data.looks; // without attention no word is looked at
  if (data.looks) paintShown(root.querySelector(".shown"), state, source);
  paintBar(root.querySelector(".bar"), state, source);
  announce(root, { step, source, order: state.order });
}

function announce(root, { step, source, order }) {
  const now = shown(root);
  const before = { ...now };
  Object.assign(now, { step, source, order }); // all are in place before anybody hears of one
  send(root, "step", step);
  if (source !== before.source) send(root, "source", source);
  if (order !== before.order) send(root, "order", order);
}
