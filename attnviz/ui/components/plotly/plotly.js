// Loads Plotly's script once per page, and again if loading failed. The page preloads it, and the browser caches it.

const SECONDS = 2;

/** @param {Mounted<string>} mounted */
export default function ({ data }) {
  if (window.attnvizLoading || window.Plotly) return;
  window.attnvizLoading = true;
  load(data);
}

/** Loads the script, with retries: without it the page has no figures. @param {string} address */
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
