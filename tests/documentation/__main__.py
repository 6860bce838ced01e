"""Run the code of pages and write what it prints into them: `python -m tests.documentation [PAGE ...]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.documentation.pages import GUIDES, blocks, outputs, prepare


def main() -> None:
    """Rewrite the output of every block that has one."""
    for page in [Path(name).resolve() for name in sys.argv[1:]] or GUIDES:
        text = page.read_text(encoding="utf-8")
        some = [block for block in blocks(text) if block.reason is None]
        if not some:
            continue
        with tempfile.TemporaryDirectory() as folder:
            printed = outputs(prepare(Path(folder)), some)
        for block, found in reversed(list(zip(some, printed, strict=True))):
            if block.output is not None:
                start, end = block.span
                before = text[start:end].removesuffix(f"```text\n{block.output}```\n")
                text = f"{text[:start]}{before}```text\n{found.rstrip()}\n```\n{text[end:]}"
        page.write_text(text, encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
