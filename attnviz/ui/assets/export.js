// Draws the heatmap once more, for print, and hands the visitor the file.

export default function ({ data, parentElement }) {
  const figure = JSON.parse(data.figure);
  const { width, height } = figure.layout;
  for (const button of parentElement.querySelectorAll("button")) {
    const format = button.dataset.format;
    button.onclick = async () => {
      const link = document.createElement("a");
      link.href = await window.Plotly.toImage(figure, { format, width, height, scale: format === "png" ? 3 : 1 });
      link.download = `attnviz-heatmap.${format}`;
      // Here rather than in the page's body (as Plotly.downloadImage does), where a click would close the box.
      button.after(link);
      link.click();
      link.remove();
    };
  }
}
