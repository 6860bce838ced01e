"""The equations of a step of RNNsearch, filled with its numbers in Python as the browser fills them."""

from attnviz.analysis.step_equations import Equation, equation_templates, texts_of_cells, texts_of_source, texts_of_step
from attnviz.palette import ThemeName
from attnviz.trace import Trace


def equations(
    trace: Trace, step: int, source: int | None = None, *, theme: ThemeName = "light"
) -> tuple[Equation, ...]:
    """Return the equations of 0-based `step` in order: energy, softmax, context, state, word.

    Energy and softmax are those of 0-based source piece `source`, or of the piece with the largest weight. Without
    attention there are only the last three. Raise IndexError where there is no such step.
    """
    if not 0 <= step < len(trace.target_pieces):
        raise IndexError(f"there is no step {step} in a translation of {len(trace.target_pieces)} pieces")
    j = int(trace.alignment[step].argmax()) if source is None else source
    cells = {name: row[j] for name, row in texts_of_cells(trace, step).items()}
    texts = texts_of_step(trace, step, theme) | texts_of_source(trace, j) | cells
    return tuple(template.filled(texts) for template in equation_templates(trace, theme))
