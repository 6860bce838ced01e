"""The kinds of attention keep to their interface: nothing outside the scorers asks which one it deals with."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor

from attnviz.attention_kinds import ATTENTION_KINDS
from tests.conftest import REPOSITORY, ModelFactory

PACKAGE = REPOSITORY / "attnviz"
ASKING = re.compile(r"attention(\"\])?\s*[!=]= |isinstance\([^)]*(Scorer|FixedContext)|getattr\([^)]*attention")
FREE_OF_BRANCHES = [PACKAGE / "translator.py"]
for room in ("network", "decoding", "analysis"):
    FREE_OF_BRANCHES += (path for path in PACKAGE.glob(f"{room}/*.py") if path.name != "scorers.py")


def test_only_the_scorers_know_the_kinds_of_attention() -> None:
    assert [path for path in FREE_OF_BRANCHES if ASKING.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("attention", ATTENTION_KINDS)
def test_the_sizes_a_scorer_promises(make_network: ModelFactory, attention: str) -> None:
    network = make_network(attention)
    scorer, n = network.decoder.attention, network.config.hidden_size
    annotations, state = torch.randn(2, 5, 2 * network.config.encoder_size), torch.randn(2, n)
    keys = scorer.keys(annotations)
    products = state @ scorer.query_weight.t() if scorer.query_weight is not None else state[:, :0]
    queries = scorer.queries(state, products)
    assert queries.shape == (2, keys.shape[-1])
    assert scorer.energies(queries, keys).shape == (2, 5)
    assert scorer.attends == (attention != "none")
    vector: Tensor | None = scorer.score_vector
    assert (vector is not None) == (attention == "additive")
    assert vector is None or vector.shape == keys.shape[-1:]


def test_a_mask_opens_the_pieces_or_the_last_one_alone(make_network: ModelFactory) -> None:
    lengths = torch.tensor([3, 1])
    for attention in ATTENTION_KINDS:
        open_ = make_network(attention).decoder.attention.mask(lengths, 4) == 0
        last = [[False, False, True, False], [True, False, False, False]]
        pieces = [[True, True, True, False], [True, False, False, False]]
        assert open_.tolist() == (last if attention == "none" else pieces)
