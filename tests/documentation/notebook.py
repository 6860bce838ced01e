"""Build the notebook of the recipes from their pages, and run it with Jupyter's client.

`python -m tests.documentation.notebook` builds and runs it, and writes it with its outputs.
"""

import posixpath
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.documentation.pages import DOCUMENTATION, PYTHON, blocks, environment, log_plainly, prepare

NOTEBOOK = DOCUMENTATION / "pages" / "recipes.ipynb"
RECIPES = DOCUMENTATION / "pages" / "recipes"
_OPENING = """# Recipes

The [recipes](recipes/index.md) as a notebook. In a clone without `pip install .`, start Jupyter in the folder of the
clone.

A notebook shows a trace as the step view, or as a table where no script runs, as on GitHub:"""
_TRACE = """from attnviz import Translator

trace = Translator.load("small-additive").translate("The green house is old.")
trace"""
_FIGURE = """trace.step_figure(1, "softmax")"""


def build_notebook() -> Any:
    """Return the notebook of the pages, in the order of the list of recipes, without outputs."""
    cells = [nbformat.v4.new_markdown_cell(_OPENING), nbformat.v4.new_code_cell(_TRACE)]
    cells += [nbformat.v4.new_markdown_cell("Figures are Plotly's:"), nbformat.v4.new_code_cell(_FIGURE)]
    for name in re.findall(r"^- \[.+\]\((.+\.md)\)", (RECIPES / "index.md").read_text(encoding="utf-8"), re.MULTILINE):
        cells += _cells((RECIPES / name).read_text(encoding="utf-8"))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=kernel)


def _cells(text: str) -> list[Any]:
    cells, place = [], 0
    for block in blocks(text):
        if block.reason is not None:
            continue
        start, end = block.span
        cells += _text(text[place:start])
        code = block.code if block.language == "python" else f"%%bash\n{block.code}"
        cells.append(nbformat.v4.new_code_cell(code.strip()))
        place = end
    return cells + _text(text[place:])


def _text(markdown: str) -> list[Any]:
    """Return a cell of text, or none for blank text; its links lead from the folder of the notebook."""

    def moved(link: re.Match[str]) -> str:
        return f"]({posixpath.normpath(posixpath.join('recipes', link[1]))}"

    moved_links = re.sub(r"\]\((?![a-z]+:|#)([^)#\s]+)", moved, markdown.strip())
    return [nbformat.v4.new_markdown_cell(re.sub(r"^# ", "## ", moved_links))] if moved_links else []


def run(notebook: Any, folder: Path, python: Path = PYTHON) -> None:
    """Run all cells in `folder`; keep what they show and print, without widgets and progress on standard error."""
    log_plainly(folder)
    place = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        coalesce_streams=True,
        store_widget_state=False,  # megabytes
        resources=place,
    )
    client.execute(env=environment(python))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr" and _stays(output)]


def _stays(output: Any) -> bool:
    """Remove the widget of an output; return whether something else shows it, which nothing does for a progress bar."""
    data = output.get("data", {})
    return data.pop("application/vnd.jupyter.widget-view+json", None) is None or "text/html" in data


def printed_text(cell: Any) -> str:
    return "".join(output["text"] for output in cell.get("outputs", []) if output["output_type"] == "stream")


def main() -> None:
    notebook = build_notebook()
    with tempfile.TemporaryDirectory() as folder:
        run(notebook, prepare(Path(folder)))
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
