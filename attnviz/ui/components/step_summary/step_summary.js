// The step on show in short: what it wrote, and the outcome of each of its stages, which leads to that stage.

const stageOf = (root, stage) => viewOf(root).querySelector(`[class*="st-key-stage_${stage}"]`);

function visit(root, stage, smooth) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  stageOf(root, stage)?.scrollIntoView({ block: "start", behavior: smooth && !calm ? "smooth" : "auto" });
}

// Marks the stage that was gone to, here and where it stands.
function mark(root, chosen) {
  root.querySelectorAll("li button").forEach((button) => {
    const stage = Number(button.dataset.stage);
    if (stage === chosen) button.setAttribute("aria-current", "location");
    else button.removeAttribute("aria-current");
    stageOf(root, stage)?.toggleAttribute("data-chosen", stage === chosen);
  });
}

function entry({ number, place, title }) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.stage = number;
  for (const [name, text] of [["number", place], ["title", title], ["outcome", ""]]) {
    const span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    button.append(span);
  }
  button.onclick = (event) => {
    const root = button.closest(".facts");
    mark(root, number);
    chooseIn(root, { stage: number });
    visit(root, number, true);
    letGo(event);
  };
  item.append(button);
  return item;
}

function show(root, { data }) {
  const facts = data.steps[shown(root).step];
  if (!facts) return;
  write(root.querySelector("h2"), facts.heading);
  write(root.querySelector(".part"), facts.part);
  write(root.querySelector("p"), facts.sentence);
  root.querySelectorAll(".outcome").forEach((node, k) => write(node, facts.outcomes[k]));
}

// A link may name a stage: gone to once, when the pictures above it have taken their room.
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

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".facts");
  let state = states.get(root);
  if (!state) {
    state = {};
    follow(root, state, ["step"], () => show(root, state));
    if (data.stage) arrive(root, data.stage);
  }
  state.data = data;
  const titles = data.stages.map(({ title }) => title).join();
  if (titles !== state.titles) {
    state.titles = titles;
    root.querySelector("ol").replaceChildren(...data.stages.map(entry));
  }
  show(root, state);
  mark(root, data.stage);
  return state.stop;
}
