"""Random networks and their forced translations, for tests that analyse single steps; equations filled in Python."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz import ExcludePosition, ForceWords, ReplaceEnergies, ReplaceWeights, Temperature, Trace, Translator
from attnviz.analysis.logit_attribution import LogitAttribution, logit_attributions
from attnviz.analysis.recomputation import RecurrentEquations, RecurrentState, softmax
from attnviz.analysis.step_equations import Equation, equation_templates, texts_of_cells, texts_of_source, texts_of_step
from attnviz.network.model_config import READOUT_STATES
from attnviz.palette import ThemeName
from attnviz.text import EOS, Tokenizer
from attnviz.trace.interventions import Intervention
from attnviz.trace.trace import GATES
from tests.conftest import SENTENCES, ModelFactory

Array = NDArray[np.float64]
Weights = dict[str, NDArray[Any]]

KINDS = list(product(("additive", "general"), READOUT_STATES))
SIZES = {
    "kind": st.sampled_from(KINDS),
    "hidden_size": st.integers(1, 16),
    "maxout_size": st.integers(1, 12),
    "alignment_size": st.integers(1, 12),
}


def drawn_interventions(pieces: int, vocabulary: int, *, attends: bool = True) -> st.SearchStrategy[list[Intervention]]:
    """Return a strategy for interventions on a source of `pieces`, at the first steps.

    Every search reaches these steps, since no hypothesis ends before a forced word.
    """
    steps, piece = st.integers(0, 1), st.integers(EOS + 1, vocabulary - 1)
    rows = st.lists(st.floats(0.01, 3), min_size=pieces, max_size=pieces)
    only = tuple(float(j == pieces - 1) for j in range(pieces))
    attention: st.SearchStrategy[Intervention] = st.one_of(
        st.builds(Temperature, st.sampled_from([0.2, 1.0, 3.0, math.inf]), st.none() | steps),
        st.builds(ExcludePosition, st.integers(0, pieces - 2), st.none() | steps),
        st.builds(ReplaceWeights, st.just(only) | rows, st.none() | steps),
        st.builds(ReplaceEnergies, rows, st.none() | steps),
    )
    words = st.lists(piece, min_size=1, max_size=2).map(lambda ids: [ForceWords(tuple(ids), 2)])
    changes = st.tuples(st.lists(attention, max_size=3 * attends), words).map(lambda both: [*both[0], *both[1]])
    return st.just([]) | changes


def forced_trace(
    make_network: ModelFactory, tokenizer: Tokenizer, kind: tuple[str, str], interventions: Any = (), **sizes: int
) -> tuple[Trace, Weights]:
    network = make_network(*kind, **sizes)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    trace = Translator(network, tokenizer).translate(SENTENCES[2], target=SENTENCES[3], interventions=(*interventions,))
    return trace, weights


def step_probabilities(trace: Trace, weights: Weights, step: int, row: Array) -> Array:
    """Return p(w), (K,), of one step of the recomputation's decoder under the attention weights `row`, (Tx,)."""
    network = RecurrentEquations(weights, trace.config)
    annotations = network.encode(trace.source_ids).annotations
    given = [ReplaceWeights(tuple(row.tolist()), step=step)]
    before, previous_id = state_before(trace, step), trace.previous_ids[step]
    arrays, _ = network.step(annotations, network.keys(annotations), before, previous_id, given)
    return softmax(network.logits(arrays["readouts"]))


def state_before(trace: Trace, step: int) -> RecurrentState:
    """Return the recorded state of the decoder of RNNsearch before a 0-based step."""
    state = trace.previous_states[[step]].astype(np.float64)
    return RecurrentState(state, state[:0], np.zeros(0), trace.previous_alignment[step].astype(np.float64))


def centred_attributions(trace: Trace, weights: Weights, cells: Sequence[tuple[int, int]]) -> list[LogitAttribution]:
    """Return the logit attributions of `cells`, each minus that of the mean logit at its step."""
    found = logit_attributions(trace, weights, [*cells, *((step, None) for step, _ in cells)])
    return [own - mean for own, mean in zip(found[: len(cells)], found[len(cells) :], strict=True)]


def deviation(values: NDArray[Any], expected: Array) -> float:
    """Return the largest difference of two arrays, of any shape, divided by the largest expected number.

    Infinite where their shapes differ or the positions of infinities do.
    """
    if values.shape != expected.shape or not np.array_equal(np.isfinite(values), np.isfinite(expected)):
        return float("inf")
    finite = np.isfinite(expected)
    if not finite.any():
        return 0.0
    scale = max(float(np.abs(expected[finite]).max()), float(np.finfo(np.float32).tiny))
    return float(np.abs(values[finite] - expected[finite]).max()) / scale


def verified_names(trace: Trace, array: str) -> set[str]:
    """Return the quantities by which verification names the numbers of an array of `trace`."""
    return {"gates": {*GATES[trace.form["cell"]]}, "layer_states": {"states"}}.get(array, {array})


def verified_quantities(trace: Trace) -> set[str]:
    """Return the quantities that verification must check: all arrays with numbers, but ids."""
    arrays = [one.name for one in trace.arrays if getattr(trace, one.name).size and one.name != "top_ids"]
    return {name for array in arrays for name in verified_names(trace, array)}


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
