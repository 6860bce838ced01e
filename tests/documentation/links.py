"""Check the links of a built site: `python -m tests.documentation.links SITE [--web]`."""

from __future__ import annotations

import argparse
import sys
import urllib.error
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SKIPPED = ("localhost",)
"""Parts of URLs that exist only on the reader's machine; they are not checked."""


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        names = () if tag == "link" and found.get("rel") in ("preconnect", "canonical", "edit") else ("href", "src")
        self.links += [value for name in names if (value := found.get(name))]


def broken_links(site: Path) -> list[str]:
    """Return `PAGE: LINK` for each link of the site to a file or an anchor of it that is not there."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links begin at the root of a site that is published
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else set[str]()
            if not target.is_file() or (parts.fragment and target in pages and unquote(parts.fragment) not in anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken


def web_links(site: Path) -> list[str]:
    """Return the addresses of other sites that the pages link to, each once."""
    links = {link for path in site.rglob("*.html") for link in _Page(path.read_text(encoding="utf-8")).links}
    return sorted(
        link.partition("#")[0]
        for link in links
        if urlsplit(link).scheme in ("http", "https") and not any(part in link for part in SKIPPED)
    )


def failure(address: str, timeout: float = 20) -> str | None:
    """Return why an address cannot be read, or None if it can. A refusal of robots (403, 429) counts as there."""
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urllib.request.urlopen(request, timeout=timeout):
            return None
    except urllib.error.HTTPError as error:
        return None if error.code in (403, 429) else f"{error.code} {error.reason}"
    except OSError as error:
        return str(error)


def main() -> int:
    """Print the broken links; return 1 if there are any."""
    parser = argparse.ArgumentParser(description="Check the links of a built site.")
    parser.add_argument("site", type=Path)
    parser.add_argument("--web", action="store_true", help="ask other sites too")
    options = parser.parse_args()
    broken = broken_links(options.site.resolve())
    if options.web:
        asked = {address: failure(address) for address in web_links(options.site)}
        broken += [f"{address}: {reason}" for address, reason in asked.items() if reason]
    print("\n".join(broken) or "No broken link.")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
