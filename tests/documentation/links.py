"""Check the links of a built site to other sites: `python -m tests.documentation.links SITE`.

MkDocs checks those within the site as it builds it.
"""

import sys
import urllib.error
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

SKIPPED = ("localhost",)
"""Parts of URLs that exist only on the reader's machine; they are not checked."""


class _Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        names = () if tag == "link" and given.get("rel") in ("preconnect", "canonical", "edit") else ("href", "src")
        self.found += [value for name in names if (value := given.get(name))]


def web_links(site: Path) -> list[str]:
    """Return the addresses of other sites that the pages link to, each once."""
    links = {link for path in site.rglob("*.html") for link in _Links(path.read_text(encoding="utf-8")).found}
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


if __name__ == "__main__":
    asked = {address: failure(address) for address in web_links(Path(sys.argv[1]))}
    broken = [f"{address}: {reason}" for address, reason in asked.items() if reason]
    print("\n".join(broken) or "No broken link.")
    sys.exit(bool(broken))
