"""Convert the LaTeX of symbols and equations to plain text, for `help` and terminals."""

from __future__ import annotations

import re

_SYMBOLS = {
    r"\alpha": "α",
    r"\beta": "β",
    r"\sigma": "σ",
    r"\sum": "Σ",
    r"\sqrt": "√",
    r"\odot": "⊙",
    r"\cdot": "·",
    r"\cdots": "…",
    r"\mid": "|",
    r"\top": "T",
    r"\big": "",
    r"\bigl": "",
    r"\bigr": "",
    r"\textstyle": "",
}
_NAMES = re.compile(r"\\(?:operatorname|mathrm|text)\{([^{}]*)\}")
_ACCENTS = {
    r"\tilde": "{}\u0303",
    r"\bar": "{}\u0304",
    r"\overrightarrow": "→{}",
    r"\overleftarrow": "←{}",
}
_ACCENT = re.compile(r"\\(tilde|bar|overrightarrow|overleftarrow)(?: *([A-Za-z])|\{([A-Za-z])\})")
_SPACES = re.compile(r"\\(?:quad|,| )")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_BRACES = re.compile(r"\{([^{}]*)\}")


def plain_equation(latex: str) -> str:
    r"""Return LaTeX as text: `\alpha_{ij} = \exp(e_{ij})` becomes `α_ij = exp(e_ij)`.

    Subscripts of several symbols keep their braces (`s_{i-1}`); a root takes parentheses. Commands that are not in
    `_SYMBOLS` become their names, as `\tanh` does.
    """
    text = _SPACES.sub(" ", latex)
    text = _NAMES.sub(lambda match: match[1], text)
    text = _ACCENT.sub(lambda match: _ACCENTS["\\" + match[1]].format(match[2] or match[3]), text)
    text = _COMMAND.sub(lambda match: _SYMBOLS.get(match[0], match[0][1:]), text)
    text = re.sub(r"√\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", r"√(\1)", text)
    text = _BRACES.sub(lambda match: match[1] if match[1].isalnum() else match[0], text)
    return " ".join(text.split())
