// Runs Plotly's program, once a page. The browser has been told of it with the page itself, and keeps it.

const SECONDS = 2;

/** @param {Mounted<string>} mounted */
export default function ({ data }) {
  if (window.attnvizLoading || window.Plotly) return;
  window.attnvizLoading = true;
  load(data);
}

/**
 * Asks again until the program is here: without it the page has no pictures.
 * @param {string} address
 */
function load(address) {
  const script = document.createElement("script");
  script.src = address;
  script.onload = () => window.dispatchEvent(new Event("attnviz:plotly"));
  script.onerror = () => {
    script.remove();
    setTimeout(() => load(address), 1000 * SECONDS);
  };
  document.head.append(script);
}
