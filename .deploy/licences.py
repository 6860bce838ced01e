"""Prints the licence of every package that the page needs and that is installed: `python .deploy/licences.py`."""

import re
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def needed(names: list[str]) -> list[metadata.Distribution]:
    """Return the installed packages of these names and all that they need, by name."""
    found: dict[str, metadata.Distribution] = {}
    while names:
        name = re.sub(r"[-_.]+", "-", names.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # needed elsewhere: on another system, or for an extra
        wanted = [requirement for requirement in found[name].requires or () if "extra ==" not in requirement]
        names.extend(re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in wanted)
    return [found[name] for name in sorted(found)]


def licence(package: metadata.Distribution) -> str:
    """Return a package's licence in a few words, as it tells of itself."""
    told = package.metadata
    if expression := told.get("License-Expression"):
        return expression
    classified = [line.split(" :: ")[-1] for line in told.get_all("Classifier", []) if line.startswith("License :: ")]
    return ", ".join(classified) or (told.get("License") or "not told").strip().splitlines()[0]


if __name__ == "__main__":
    asked = [line.split("==")[0] for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()]
    print("| package | version | licence |\n| ------- | ------- | ------- |")
    for package in needed(asked):
        print(f"| {package.metadata['Name']} | {package.version} | {licence(package)} |")
