// Draws pictures once more, for print, and hands the visitor the files.

const DOTS = 3; // pixels of a PNG for each of the figure's
const FACE = "Source Sans";

const drawn = ({ figure }, format) => {
  const { width, height } = figure.layout;
  return window.Plotly.toImage(figure, { format, width, height });
};

// An SVG that is shown as an image sees none of the page's fonts, and a PNG is made from such an image.
let face;
function pageFont() {
  face ??= (async () => {
    const rules = [...document.styleSheets].flatMap((sheet) => {
      try { return [...sheet.cssRules]; } catch { return []; } // another origin's
    });
    const rule = rules.find((one) => one instanceof CSSFontFaceRule
      && one.style.getPropertyValue("font-family").replace(/["']/g, "") === FACE
      && !/italic/.test(one.style.getPropertyValue("font-style")));
    const path = rule?.style.getPropertyValue("src").match(/url\(["']?([^"')]+)/)?.[1];
    if (!path) return "";
    const answer = await fetch(new URL(path, rule.parentStyleSheet.href ?? document.baseURI));
    if (!answer.ok) return ""; // the picture then has the next of its fonts that the machine knows
    const blob = await answer.blob();
    const url = await new Promise((read) => {
      const reader = new FileReader();
      reader.onload = () => read(reader.result);
      reader.readAsDataURL(blob);
    });
    return `@font-face { font-family: "${FACE}"; font-weight: 100 900; src: url(${url}); }`;
  })();
  return face;
}

async function png(picture) {
  const svg = decodeURIComponent((await drawn(picture, "svg")).slice("data:image/svg+xml,".length));
  const styled = svg.replace(/<svg[^>]*>/, `$&<style>${await pageFont()}</style>`);
  const url = URL.createObjectURL(new Blob([styled], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = picture.figure.layout.width * DOTS;
  canvas.height = picture.figure.layout.height * DOTS;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return canvas.toDataURL("image/png");
}

const FORMS = {
  png,
  svg: (picture) => drawn(picture, "svg"),
  csv: ({ table }) => URL.createObjectURL(new Blob(["\ufeff", table], { type: "text/csv" })), // a mark for spreadsheets
};

async function save(button, picture, form) {
  picture.figure = typeof picture.figure === "string" ? JSON.parse(picture.figure) : picture.figure;
  const link = document.createElement("a");
  link.href = await FORMS[form](picture);
  link.download = `${picture.file}.${form}`;
  // Here rather than in the page's body (as Plotly.downloadImage does), where a click would close the box.
  button.after(link);
  link.click();
  link.remove();
}

export default function ({ data, parentElement }) {
  const list = parentElement.querySelector(".pictures");
  list.replaceChildren();
  for (const picture of data.pictures) {
    const row = document.createElement("div");
    row.className = "picture";
    const title = document.createElement("span");
    title.textContent = picture.title;
    row.append(title);
    for (const form of Object.keys(FORMS)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = form.toUpperCase();
      button.setAttribute("aria-label", `${picture.title}, ${form.toUpperCase()}`);
      button.onclick = () => save(button, picture, form);
      row.append(button);
    }
    list.append(row);
  }
}
