"""Check the links of a built site to other sites: `python -m tests.documentation.links SITE`.

MkDocs checks those within the site as it builds it.
"""

import html
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path

_WEB_LINK = re.compile(r'<(?!link\b)[^>]*\s(?:href|src)="?(https?://[^"#\s>]+)')


def web_links(site: Path) -> list[str]:
    """Return the addresses of other sites that the pages link to, each once."""
    links = {link for path in site.rglob("*.html") for link in _WEB_LINK.findall(path.read_text(encoding="utf-8"))}
    return sorted(html.unescape(link) for link in links if "localhost" not in link)


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
