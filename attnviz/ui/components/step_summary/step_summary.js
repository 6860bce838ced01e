// The step on show in short: what it wrote, and the outcome of each of its stages, which leads to that stage.

function visit(stage, smooth) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const target = document.querySelector(`.st-key-stage_${stage}`);
  target?.scrollIntoView({ block: "start", behavior: smooth && !calm ? "smooth" : "auto" });
}

function entry({ number, title }) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  for (const [name, text] of [["number", number], ["title", title], ["outcome", ""]]) {
    const span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    button.append(span);
  }
  button.onclick = (event) => {
    window.dispatchEvent(new CustomEvent("attnviz:choose", { detail: { stage: number } }));
    visit(number, true);
    if (event.detail > 0) button.blur();
  };
  item.append(button);
  return item;
}

function show(root, { data }) {
  const facts = data.steps[window.attnvizStep];
  if (!facts) return;
  write(root.querySelector("h2"), facts.heading);
  write(root.querySelector(".part"), facts.part);
  write(root.querySelector("p"), facts.sentence);
  root.querySelectorAll(".outcome").forEach((node, k) => write(node, facts.outcomes[k]));
}

// A link may name a stage: gone to once, when the pictures above it have taken their room.
function arrive(stage) {
  let tries = 0;
  const wait = setInterval(() => {
    tries += 1;
    const drawn = document.querySelectorAll(".st-key-stages .js-plotly-plot").length;
    if (drawn < 5 && tries < 50) return;
    clearInterval(wait);
    visit(stage, false);
  }, 100);
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".facts");
  let state = states.get(root);
  if (!state) {
    state = {};
    follow(root, state, ["attnviz:step"], () => show(root, state));
    if (data.stage) arrive(data.stage);
  }
  state.data = data;
  const titles = data.stages.map(({ title }) => title).join();
  if (titles !== state.titles) {
    state.titles = titles;
    root.querySelector("ol").replaceChildren(...data.stages.map(entry));
  }
  show(root, state);
  return state.stop;
}
