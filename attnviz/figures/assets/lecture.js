// Moves through the steps of one saved translation. Words are set by textContent, so that nothing is read as markup.

const record = JSON.parse(document.getElementById("record").textContent);
const CONFIG = { displayModeBar: false, doubleClick: false, showTips: false, responsive: false };
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const count = record.steps.length;
const at = (id) => document.getElementById(id);
let step = Math.min(Math.max(record.step, 1), count);

const figures = () => record.figures[dark.matches ? "dark" : "light"];

function draw(chart, { data, layout }, shapes) {
  const { alt, narrowest } = layout.meta;
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", alt);
  chart.style.minWidth = `${narrowest}px`;
  chart.style.height = `${layout.height}px`;
  return Plotly.react(chart, data, { ...layout, width: chart.clientWidth, shapes: shapes ?? layout.shapes }, CONFIG);
}

function frame({ meta, xaxis }) {
  const row = meta.rows[step - 1] ?? null;
  if (row === null) return [];
  const [x0, x1] = xaxis.range;
  return [{ type: "rect", x0, x1, y0: row - 0.5, y1: row + 0.5, line: { color: meta.frame, width: 2.5 } }];
}

function paint() {
  const { heatmap, pictures } = figures();
  draw(at("heatmap"), heatmap, frame(heatmap.layout));
  at("heading").textContent = record.heading.replace("{i}", step).replace("{n}", count);
  at("sentence").textContent = record.steps[step - 1].sentence;
  for (const [name, drawn] of Object.entries(pictures)) draw(at(`picture-${name}`), drawn[step - 1]);
  for (const word of at("target").querySelectorAll("button")) {
    const place = Number(word.dataset.step);
    word.classList.toggle("chosen", place === step);
    word.classList.toggle("later", place > step);
    if (place === step) word.setAttribute("aria-current", "step");
    else word.removeAttribute("aria-current");
  }
  at("step").value = step;
  at("count").textContent = `${step} / ${count}`;
  at("previous").disabled = step <= 1;
  at("next").disabled = step >= count;
}

function go(chosen) {
  step = Math.min(Math.max(chosen, 1), count);
  paint();
}

function build() {
  at("source").textContent = record.source;
  record.steps.forEach(({ text, space }, place) => {
    const word = document.createElement("button");
    word.type = "button";
    word.textContent = text;
    word.dataset.step = place + 1;
    word.onclick = () => go(place + 1);
    if (space) at("target").append(" ");
    at("target").append(word);
  });
  for (const [name, title] of Object.entries(record.titles)) {
    const heading = document.createElement("h2");
    heading.textContent = title;
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    const chart = document.createElement("div");
    chart.id = `picture-${name}`;
    chart.className = "chart";
    scroll.append(chart);
    at("pictures").append(heading, scroll);
  }
  at("step").max = count;
  at("step").oninput = (event) => go(Number(event.target.value));
  at("previous").onclick = () => go(step - 1);
  at("next").onclick = () => go(step + 1);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.target.id === "step") return;
  const chosen = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 1, End: count }[event.key];
  if (chosen === undefined) return;
  event.preventDefault();
  go(chosen);
}

build();
paint();
at("heatmap").on("plotly_click", ({ points: [point] }) => {
  go(figures().heatmap.layout.meta.steps[point.pointNumber[0]] + 1);
});
document.addEventListener("keydown", onKey);
dark.addEventListener("change", paint);
let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width === width) return; // a step may change the height, and needs no second drawing
  width = contentRect.width;
  paint();
}).observe(document.querySelector("main"));
