"""How many multiplications the energies of a sentence take, additive or general: formulas and a sentence."""

from __future__ import annotations

from attnviz.analysis.multiplications import Multiplications
from attnviz.languages import gettext
from attnviz.wording.equations import Equation
from attnviz.wording.latex import aligned
from attnviz.wording.numbers import thousands


def work_equation(
    additive: Multiplications, dot: Multiplications, sizes: tuple[int, int], lengths: tuple[int, int]
) -> Equation:
    """Return both counts as formulas; `sizes` are the units of state and energy, `lengths` those of the sentences."""
    (state_size, key_size), (source, target) = sizes, lengths
    lines = (
        rf"\text{{{gettext('additive')}}} &= 2n n' T_x + n n' T_y + n' T_x T_y",
        rf"&= 2 \cdot {state_size} \cdot {key_size} \cdot {source} + {state_size} \cdot {key_size} \cdot {target}",
        rf"&\quad + {key_size} \cdot {source} \cdot {target}",
        rf"&= {_number(additive.total)}",
        rf"\text{{{gettext('general')}}} &= 2n n\, T_x + n\, T_x T_y",
        rf"&= 2 \cdot {state_size} \cdot {state_size} \cdot {source} + {state_size} \cdot {source} \cdot {target}",
        rf"&= {_number(dot.total)}",
    )
    note = gettext(
        "The state has n units, the additive energy n′; the English sentence has Tₓ pieces, the French sentence "
        "Tᵧ. An annotation has 2n numbers."
    )
    return Equation(1, aligned(*lines), note)


def work_sentence(additive: Multiplications, dot: Multiplications) -> str:
    """Return what general attention saves, and where."""
    return gettext(
        "All energies of this sentence take {additive} multiplications with additive attention, or {dot} with "
        "general attention. General attention uses the state directly as its query, which saves {queries} "
        "multiplications. It needs no tanh, while the additive energy needs {tanh}. With it, the energies of a "
        "step are a single product of a matrix and a vector.",
        additive=thousands(additive.total),
        dot=thousands(dot.total),
        queries=thousands(additive.queries),
        tanh=thousands(additive.tanh),
    )


def _number(count: int) -> str:
    return thousands(count).replace("\u202f", r"\ ").replace(",", "{,}")
