"""Extract the symbols of equations from their LaTeX."""

import re
from collections.abc import Iterable

from attnviz.analysis.step_equations import Equation

_NUMBERED = {"⟦before⟧": "{before}", "⟦i⟧": "{i}", "⟦j⟧": "j", "⟦symbol⟧": "e", ",⟦unit⟧": ""}
_NO_SYMBOLS = re.compile(
    r"⟦\w+⟧|\\\\\[\w+\]|_\{[a-z]=1\}\^\{\d+\}|e(?=\^)|\\(?:begin|end|operatorname)\{\w+\}|\\textcolor\{#\w+\}|\\[a-zA-Z]+"
)
_SYMBOL = re.compile(r"(\w\u0303?)(?:_\{([\w,]*)\}|_(\w))?")


def symbols_of(templates: Iterable[Equation], step: int) -> set[str]:
    """Return the symbols in the equations of 0-based `step`, as in the diagram; source pieces have the index j."""
    found = set()
    for equation in templates:
        latex = equation.latex
        for place, text in _NUMBERED.items():
            latex = latex.replace(place, text.format(i=step + 1, before=step))
        latex = re.sub(r"\\tilde (\w)", "\\1\u0303", latex).replace(r"\alpha", "α")
        latex = re.sub(r"\\overrightarrow\{h\}_\{\d+\}", "h_j", latex)
        for letter, index, short in _SYMBOL.findall(_NO_SYMBOLS.sub(" ", latex)):
            if letter.rstrip("\u0303").isalpha():
                found.add(letter + (index or short).replace(",k", ",j"))
    return found
