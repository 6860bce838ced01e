// Returns how many stretches of text the page shows, and those whose contrast with what lies behind them is below WCAG AA:
// 4.5, or 3 for large print. Backgrounds and opacities of all ancestors count, through shadow roots.
() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const pixel = canvas.getContext("2d", { willReadFrequently: true });
  const painted = (colour) => { // a colour in motion may stand in any space
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const numbers = (colour) => {
    const parts = colour.match(/^rgba?\(([^)]+)\)/)?.[1].split(/[\s,/]+/).map(Number);
    return parts ? [...parts.slice(0, 3), parts[3] ?? 1] : painted(colour);
  };
  const over = (top, below) => [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3]));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const texts = [];
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.shadowRoot) visit(node.shadowRoot);
      else if (node.nodeType === Node.TEXT_NODE && node.data.trim()) texts.push(node);
    }
  };
  visit(document.body);
  const paper = numbers(getComputedStyle(document.querySelector(".stApp")).backgroundColor);
  const offenders = [];
  let count = 0;
  for (const text of texts) {
    const element = text.parentElement;
    if (element.closest("style, script, noscript, .katex-mathml")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    const style = getComputedStyle(element);
    if (box.width < 1 || box.height < 1 || style.visibility !== "visible") continue;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const behind = [];
    let [opacity, where, shown] = [1, "", true];
    for (let node = element; node; node = node.parentElement ?? node.getRootNode().host) {
      const look = getComputedStyle(node);
      const area = node.getBoundingClientRect();
      const inside = x >= area.left && x <= area.right && y >= area.top && y <= area.bottom;
      opacity *= Number(look.opacity);
      shown &&= look.clipPath !== "inset(50%)";
      if (inside) behind.push(numbers(look.backgroundColor));
      where ||= String(node.className?.baseVal ?? node.className).match(/st-key-[\w-]+/)?.[0] ?? "";
    }
    if (!shown || opacity === 0) continue;
    count += 1;
    const back = behind.reverse().reduce((below, colour) => over(colour, below), paper.slice(0, 3));
    const svg = element instanceof SVGElement;
    const ink = numbers(svg ? style.fill : style.color);
    if (svg) opacity *= Number(style.fillOpacity);
    const found = contrast(over([...ink.slice(0, 3), ink[3] * opacity], back), back);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (found < needed) offenders.push(`${found.toFixed(2)} ${where} ${element.tagName} “${text.data.trim().slice(0, 40)}”`);
  }
  return { count, offenders };
}
