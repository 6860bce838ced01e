// The alignment in words. A finding leads to its cell; the line about the step follows it without the server. Words are
// set by textContent, so nothing typed is ever read as markup.

function entry({ text, kind, strong, step, source }, index, most) {
  const item = document.createElement("li");
  item.hidden = index >= most;
  const button = document.createElement("button");
  button.type = "button";
  button.className = strong ? `${kind} strong` : kind;
  button.dataset.step = step;
  button.textContent = text;
  button.onclick = (event) => {
    chooseIn(button, { step, source });
    letGo(event);
  };
  item.append(button);
  return item;
}

function build(root, { findings, atOnce, more }) {
  const list = root.querySelector("ul");
  list.replaceChildren(...findings.map((finding, index) => entry(finding, index, atOnce)));
  const button = root.querySelector(".more");
  button.hidden = findings.length <= atOnce;
  button.textContent = fill(more, { n: findings.length - atOnce });
  button.onclick = () => {
    for (const item of list.children) item.hidden = false;
    list.children[atOnce].querySelector("button").focus();
    button.hidden = true;
  };
}

function show(root, { data }) {
  const { step } = shown(root);
  write(root.querySelector(".step"), data.steps[step] ?? "");
  for (const button of root.querySelectorAll("li button")) {
    if (Number(button.dataset.step) === step) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".words");
  let state = states.get(root);
  if (!state) {
    state = {};
    follow(root, state, ["step"], () => show(root, state));
  }
  state.data = data;
  const told = JSON.stringify([data.summary, data.findings]);
  if (told !== state.told) {
    state.told = told;
    write(root.querySelector(".summary"), data.summary);
    build(root, data);
  }
  show(root, state);
  return state.stop;
}
