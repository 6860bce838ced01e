// Brings Plotly to the browser once: gzipped, from the Python package, so that no other server is ever asked.

/** @param {Mounted<Uint8Array<ArrayBuffer>>} mounted */
export default async function ({ data }) {
  if (window.attnvizLoading || window.Plotly) return;
  window.attnvizLoading = true;
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.src = URL.createObjectURL(new Blob([await new Response(stream).blob()], { type: "text/javascript" }));
  script.onload = () => {
    URL.revokeObjectURL(script.src);
    window.dispatchEvent(new Event("attnviz:plotly"));
  };
  document.head.append(script);
}
