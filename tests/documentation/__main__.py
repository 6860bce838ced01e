"""Run the code blocks of pages and update the output that they show: `python -m tests.documentation [PAGE ...]`."""

import sys
import tempfile
from pathlib import Path

from tests.documentation.pages import FORMATS_PAGE, GUIDES, blocks, prepare, run_blocks, with_tables


def main() -> None:
    for page in [Path(name).resolve() for name in sys.argv[1:]] or GUIDES:
        text = page.read_text(encoding="utf-8")
        runnable = [block for block in blocks(text) if block.reason is None]
        if not runnable:
            continue
        with tempfile.TemporaryDirectory() as folder:
            printed = run_blocks(prepare(Path(folder)), runnable)
        for block, found in reversed(list(zip(runnable, printed, strict=True))):
            if block.output is not None:
                start, end = block.span
                before = text[start:end].removesuffix(f"```text\n{block.output}```\n")
                text = f"{text[:start]}{before}```text\n{found.rstrip()}\n```\n{text[end:]}"
        page.write_text(with_tables(text) if page == FORMATS_PAGE else text, encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
