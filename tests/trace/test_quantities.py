"""The table of quantities, which the trace, the recomputation, the verification and the page share."""

import io
import pydoc
import types
import typing

import numpy as np
import pytest
from numpy.typing import NDArray

from attnviz.analysis.verification import RecurrentVerifier, quantity_names
from attnviz.trace import Attention, Judgement, Trace, TransformerTrace
from attnviz.trace.quantity import plain_equation
from attnviz.trace.storage import element_type
from attnviz.trace.trace import QUANTITIES, RECORDED
from attnviz.trace.transformer_trace import TRANSFORMER_QUANTITIES as of_transformers
from tests.conftest import SENTENCES
from tests.snapshots import without_numbers


def test_page_names_every_verified_quantity(translator) -> None:
    weights = {name: tensor.numpy() for name, tensor in translator.network.state_dict().items()}
    verified = {
        check.quantity
        for check in RecurrentVerifier(translator.translate(SENTENCES[0], beam=1), weights).verify(0).checks
    }
    assert verified <= set(quantity_names()) <= {*QUANTITIES, *of_transformers}


@pytest.mark.parametrize("kind", [Trace, TransformerTrace, Judgement, Attention])
def test_help_documents_every_quantity(kind: typing.Any) -> None:
    shown = [line.strip(" |") for line in pydoc.plain(pydoc.render_doc(kind)).splitlines()]
    for quantity in (*kind.arrays, *kind.derived):
        symbol, equation = plain_equation(quantity.symbol), plain_equation(quantity.equation)
        assert "\\" not in symbol + equation
        assert (symbol + equation).count("{") == (symbol + equation).count("}")
        line = next(
            at for at, line in enumerate(shown) if line.startswith(f"{quantity.name}  ") and quantity.meaning in line
        )
        assert symbol in shown[line]
        assert all(size in shown[line] for size in quantity.shape)
        assert shown[line].endswith(quantity.meaning)
        assert equation in (symbol, shown[line + 1])


def test_describe_prints_every_array_with_its_size(records, snapshot) -> None:
    trace, file = records[Trace], io.StringIO()
    trace.describe(file)
    shown = file.getvalue()
    for quantity in RECORDED:
        assert f" = {getattr(trace, quantity.name).shape}  " in shown
    assert max(map(len, shown.splitlines())) <= 140
    assert without_numbers(shown) == snapshot


def test_element_type_of_an_array_is_found_also_behind_a_type_alias() -> None:
    """From NumPy 2.5 on, `NDArray` is an alias as PEP 695 makes it, with Python 3.12 and later."""

    class Alias:
        __value__ = NDArray

    alias = types.GenericAlias(Alias, (np.float32,))
    assert element_type(NDArray[np.float32]) is np.float32
    assert element_type(alias) is np.float32
    assert element_type(tuple[int, ...]) is None
    assert element_type(int) is None


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\alpha_{ij} = \exp(e_{ij}) / \sum_k \exp(e_{ik})", "α_ij = exp(e_ij) / Σ_k exp(e_ik)"),
        (r"\tilde s_{i-1} \odot \overrightarrow{h}_1", "s\u0303_{i-1} ⊙ →h_1"),
        (r"\sqrt{d/H} + \sqrt{d}\, E", "√(d/H) + √(d) E"),
        (r"\operatorname{softmax}_j(W_a s) \text{ or } \log p(y \mid x)", "softmax_j(W_a s) or log p(y | x)"),
    ],
)
def test_plain_text_of_equations(latex: str, plain: str) -> None:
    assert plain_equation(latex) == plain
