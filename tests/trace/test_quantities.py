"""The table of quantities, which the trace, the recomputation, the verification and the page share."""

from __future__ import annotations

import io
import itertools
import pydoc
import types
import typing
import unicodedata
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from attnviz.analysis.verification import POSITION_QUANTITIES, RecurrentVerifier, quantity_names
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import Tokenizer
from attnviz.trace import Attention, Judgement, Trace, TransformerTrace
from attnviz.trace.quantity import plain_equation
from attnviz.trace.storage import element_type
from attnviz.trace.trace import DERIVED, GATES, QUANTITIES, RECORDED
from attnviz.trace.transformer_trace import TRANSFORMER_QUANTITIES as of_transformers
from attnviz.translator import Translator
from tests.conftest import SENTENCES, ModelFactory
from tests.whole_recomputation import recompute

every_kind = pytest.mark.parametrize(("attention", "readout_state"), list(product(ATTENTION_KINDS, READOUT_STATES)))


@every_kind
def test_arrays_have_shapes_of_the_table(
    make_network: ModelFactory, tokenizer: Tokenizer, attention: str, readout_state: str
) -> None:
    network = make_network(attention, readout_state)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    trace = Translator(network, tokenizer).translate(SENTENCES[2], beam=1)
    trace.check_shapes()
    recomputed = recompute(weights, trace.config, trace.source_ids, trace.target_ids)
    known = trace.sizes()
    for name, array in recomputed.items():
        assert array.shape == tuple(known[size] for size in QUANTITIES[name].shape), name
    shown = {check.quantity: check.numbers for check in RecurrentVerifier(trace, weights).verify(1).checks}
    for name, count in shown.items():
        quantity = QUANTITIES[name]
        if name not in ("attribution sums", "energy sums"):  # they cover only shown or unmasked pieces
            assert count == np.prod([known[size] for size in quantity.shape[quantity.per_step :]], dtype=int), name


def test_page_names_every_verified_quantity(translator: Translator) -> None:
    weights = {name: tensor.numpy() for name, tensor in translator.network.state_dict().items()}
    verified = {
        check.quantity
        for check in RecurrentVerifier(translator.translate(SENTENCES[0], beam=1), weights).verify(0).checks
    }
    assert verified <= set(quantity_names()) <= {*QUANTITIES, *of_transformers}
    assert {name for name, quantity in QUANTITIES.items() if quantity.of_positions} == set(POSITION_QUANTITIES)


@pytest.mark.parametrize("kind", [Trace, TransformerTrace, Judgement, Attention])
def test_help_documents_every_quantity(kind: typing.Any) -> None:
    shown = [line.strip(" |") for line in pydoc.plain(pydoc.render_doc(kind)).splitlines()]
    for quantity in (*kind.arrays, *kind.derived):
        symbol, equation = plain_equation(quantity.symbol), plain_equation(quantity.equation)
        line = next(
            at for at, line in enumerate(shown) if line.startswith(f"{quantity.name}  ") and quantity.meaning in line
        )
        assert symbol in shown[line]
        assert all(size in shown[line] for size in quantity.shape)
        assert shown[line].endswith(quantity.meaning)
        assert equation in (symbol, shown[line + 1])


def test_describe_prints_the_sizes_of_the_trace(translator: Translator) -> None:
    trace, file = translator.translate(SENTENCES[0], beam=1), io.StringIO()
    trace.describe(file)
    shown = file.getvalue().splitlines()
    for quantity in RECORDED:
        (line,) = [line for line in shown if line.startswith(f"{quantity.name} ")]
        assert f" = {getattr(trace, quantity.name).shape}  " in line
    for quantity in DERIVED:
        in_an_lstm = quantity.name in set(GATES["lstm"]) - set(GATES["gru"])
        is_shown = any(line.startswith(f"{quantity.name} ") and line.endswith(quantity.meaning) for line in shown)
        assert is_shown != in_an_lstm, quantity.name
    assert max(map(len, shown)) <= 140
    # A terminal draws a combining accent over the letter before it.
    letters = ["".join(c for c in line if not unicodedata.combining(c)) for line in shown]
    columns = {
        line.index(quantity.meaning)
        for line, quantity in itertools.product(letters, RECORDED)
        if line.endswith(quantity.meaning)
    }
    assert len(columns) == 1


def test_element_type_of_an_array_is_found_also_behind_a_type_alias() -> None:
    """From NumPy 2.5 on, `NDArray` is an alias as PEP 695 makes it, with Python 3.12 and later."""

    class Alias:
        __value__ = NDArray

    alias = types.GenericAlias(Alias, (np.float32,))
    assert element_type(NDArray[np.float32]) is np.float32
    assert element_type(alias) is np.float32
    assert element_type(tuple[int, ...]) is None
    assert element_type(int) is None
