// The step on show in short: what it wrote, and the outcome of each of its stages, which leads to that stage.

/**
 * The element of a stage, in the view of `root`.
 * @param {Element} root
 * @param {number} stage
 */
const stageOf = (root, stage) => viewOf(root).querySelector(`[class*="st-key-stage_${stage}"]`);

/**
 * @param {HTMLElement} root
 * @param {number} stage
 * @param {boolean} smooth
 */
function visit(root, stage, smooth) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  stageOf(root, stage)?.scrollIntoView({ block: "start", behavior: smooth && !calm ? "smooth" : "auto" });
}

/**
 * Marks the stage that was gone to, here and where it stands.
 * @param {HTMLElement} root
 * @param {number | null} chosen
 */
function mark(root, chosen) {
  findAll(root, "li button").forEach((button) => {
    const stage = Number(button.dataset.stage);
    if (stage === chosen) button.setAttribute("aria-current", "location");
    else button.removeAttribute("aria-current");
    stageOf(root, stage)?.toggleAttribute("data-chosen", stage === chosen);
  });
}

/** @param {StageTitle} title */
function entry({ number, place, title }) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.stage = String(number);
  for (const [name, text] of [["number", String(place)], ["title", title], ["outcome", ""]]) {
    const span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    button.append(span);
  }
  button.onclick = (event) => {
    const root = /** @type {HTMLElement} */ (button.closest(".facts"));
    mark(root, number);
    chooseIn(root, { stage: number });
    visit(root, number, true);
    letGo(event);
  };
  item.append(button);
  return item;
}

/**
 * @param {HTMLElement} root
 * @param {SummaryState} state
 */
function show(root, { data }) {
  const facts = data.steps[shown(root).step ?? -1];
  if (!facts) return;
  write(find(root, "h2"), facts.heading);
  write(find(root, ".part"), facts.part);
  write(find(root, "p"), facts.sentence);
  findAll(root, ".outcome").forEach((node, k) => write(node, facts.outcomes[k]));
}

/**
 * A link may name a stage: gone to once, when the pictures above it have taken their room.
 * @param {HTMLElement} root
 * @param {number} stage
 */
function arrive(root, stage) {
  let tries = 0;
  const wait = setInterval(() => {
    tries += 1;
    const drawn = viewOf(root).querySelectorAll("[class*='st-key-stages'] .js-plotly-plot").length;
    if (drawn < 5 && tries < 50) return;
    clearInterval(wait);
    visit(root, stage, false);
    mark(root, stage);
  }, 100);
}

/**
 * @param {HTMLElement} root
 * @returns {SummaryState}
 */
function start(root) {
  const state = /** @type {SummaryState} */ ({});
  return follow(root, state, ["step"], () => show(root, state));
}

/** @param {Mounted<SummaryRecord>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".facts");
  /** @type {SummaryState | undefined} */
  const before = states.get(root);
  const state = before ?? start(root);
  state.data = data;
  if (!before && data.stage) arrive(root, data.stage);
  const titles = data.stages.map(({ title }) => title).join();
  if (titles !== state.titles) {
    state.titles = titles;
    find(root, "ol").replaceChildren(...data.stages.map(entry));
  }
  show(root, state);
  mark(root, data.stage);
  return state.stop;
}
