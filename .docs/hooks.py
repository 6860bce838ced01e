"""What MkDocs does besides: equations as MathML, tables of quantities, and pages from elsewhere in the repository.

Run `python -m mkdocs` in the root of the repository: it imports the package from there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from attnviz.trace.quantity import Quantity
from attnviz.trace.trace import RECORDED
from attnviz.trace.transformer_trace import TRANSFORMER_ARRAYS

REPOSITORY = Path(__file__).resolve().parent.parent

ELSEWHERE = {
    ".github/CONTRIBUTING.md": "develop/contributing.md",
    ".github/CHANGELOG.md": "develop/changelog.md",
    **{
        path.relative_to(REPOSITORY).as_posix(): path.relative_to(REPOSITORY).as_posix().replace("README", "card")
        for path in sorted((REPOSITORY / "models").rglob("README.md"))
    },
}
"""Pages that are read where they lie in the repository too, and where they stand in the documentation."""
_PLACEHOLDER = re.compile(r"^<!-- quantities: (\w+) -->$", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]*)\]\((?![a-z]+:)([^)#\s]+)(#[^)\s]*)?\)")
TABLES = {"rnnsearch": RECORDED, "transformer": TRANSFORMER_ARRAYS}


class _Equation(InlineProcessor):
    """`$…$` in a line."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # type: ignore[override]
        return self.md.htmlStash.store(convert(m[1])), m.start(), m.end()


class _Display(BlockProcessor):
    """A paragraph that begins and ends with `$$`."""

    def test(self, parent: Element, block: str) -> bool:
        return block.startswith("$$") and block.rstrip().endswith("$$")

    def run(self, parent: Element, blocks: list[str]) -> None:
        text = convert(blocks.pop(0).strip().strip("$"), display="block")
        paragraph = Element("p")
        paragraph.text = self.parser.md.htmlStash.store(text)
        parent.append(paragraph)


class Equations(Extension):
    """LaTeX between dollars becomes MathML, which browsers draw without a script. GitHub draws the same source."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register both processors; code is recognised before them."""
        md.inlinePatterns.register(_Equation(r"\$([^$\s](?:[^$]*[^$\s])?)\$", md), "equation", 185)
        md.parser.blockprocessors.register(_Display(md.parser), "equation", 175)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the extension for equations, and name headings in addresses as GitHub does."""
    config.markdown_extensions.append(Equations())  # type: ignore[arg-type]
    config.mdx_configs.setdefault("toc", {})["slugify"] = _slug
    return config


def _slug(heading: str, separator: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere."""
    for path, uri in ELSEWHERE.items():
        files.append(File.generated(config, uri, abs_src_path=str(REPOSITORY / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in tables of quantities, rewrite links that leave the folder, and keep the changelog out of the search."""
    if page.file.src_uri == ELSEWHERE[".github/CHANGELOG.md"]:
        page.meta["search"] = {"exclude": True}
    markdown = _PLACEHOLDER.sub(lambda found: _table(TABLES[found[1]]), markdown)
    place = Path(str(page.file.abs_src_path)).parent
    uris = {Path(str(file.abs_src_path)).resolve(): file.src_uri for file in files if file.abs_src_path}
    here = posixpath.dirname(page.file.src_uri)

    def rewritten(link: re.Match[str]) -> str:
        text, target, anchor = link[1], (place / link[2]).resolve(), link[3] or ""
        if target in uris:
            return f"[{text}]({posixpath.relpath(uris[target], here or '.')}{anchor})"
        if target.is_relative_to(REPOSITORY) and target.exists():
            if not config.extra["repository"]:
                return text
            kind = "tree" if target.is_dir() else "blob"
            address = f"{config.extra['repository']}/{kind}/main/{target.relative_to(REPOSITORY).as_posix()}"
            return f"[{text}]({address}{anchor})"
        return link[0]

    return _LINK.sub(rewritten, markdown)


def _table(quantities: Sequence[Quantity]) -> str:
    rows = [_row(quantity) for quantity in quantities]
    return "\n".join(("| name | symbol | shape | equation | meaning |", "|---|---|---|---|---|", *rows))


def _row(quantity: Quantity) -> str:
    shape = ", ".join(quantity.shape) + ("," if len(quantity.shape) == 1 else "")
    cells = (f"`{quantity.name}`", _math(quantity.symbol), f"({shape})", _math(quantity.equation), quantity.meaning)
    return f"| {' | '.join(cells)} |"


def _math(latex: str) -> str:
    """Return LaTeX in dollars, as a cell of a table may hold it."""
    return "$" + latex.replace("|", r"\vert ") + "$"
