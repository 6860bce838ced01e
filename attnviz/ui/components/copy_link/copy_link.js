// Copies the address of what is on show, and says so for a while.

const TOLD = 2500; // milliseconds

// Where a page is not served safely a browser has no clipboard: then the old way is tried.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = document.createElement("textarea");
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("the browser copies nothing");
}

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector(".copy-link");
  let timer = null;
  write(button, data.copy);
  button.onclick = async (event) => {
    letGo(event);
    button.textContent = await copy(location.href).then(() => data.copied, () => data.failed);
    clearTimeout(timer);
    timer = setTimeout(() => { button.textContent = data.copy; }, TOLD);
  };
  return () => clearTimeout(timer);
}
