"""The interface of attention scorers: no other module asks which kind of attention it has."""

from __future__ import annotations

import functools

import pytest
import torch
from torch import Tensor

from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import ModelConfig
from attnviz.network.scorers import Scorer
from tests.conftest import REPOSITORY, ModelFactory

PACKAGE = REPOSITORY / "attnviz"
FREE_OF_BRANCHES = [PACKAGE / "translator.py"]
# An imported model has one network for all kinds; its config and the shapes of its weights follow from the kind.
NAMING_KINDS = ("scorers.py", "numpy_scorers.py", "model_config.py", "weight_shapes.py")
for room in ("network", "decoding", "analysis"):
    FREE_OF_BRANCHES += (path for path in PACKAGE.glob(f"{room}/*.py") if path.name not in NAMING_KINDS)


@pytest.mark.parametrize("attention", ATTENTION_KINDS)
def test_scorer_tensors_have_declared_sizes(make_network: ModelFactory, attention: str) -> None:
    network = make_network(attention)
    scorer, n = network.decoder.attention, network.config.hidden_size
    annotations, state = torch.randn(2, 5, 2 * network.config.encoder_size), torch.randn(2, n)
    keys = scorer.keys(annotations)
    products = state @ scorer.query_weight.t() if scorer.query_weight is not None else state[:, :0]
    queries = scorer.queries(state, products)
    assert queries.shape == (2, keys.shape[-1])
    features = scorer.features(torch.rand(2, 5)) if scorer.reads_before else None
    assert scorer.energies(queries, keys, features).shape == (2, 5)
    weight = scorer.feature_weight
    assert (weight is not None) == scorer.reads_before
    assert weight is None or features is None or weight.shape == (keys.shape[-1], features.shape[-1])
    assert scorer.attends == (attention != "none")
    vector: Tensor | None = scorer.score_vector
    shapes = scorer_of({"attention": attention}).weight_shapes(n, keys.shape[-1], 5)
    assert (vector is not None) == ("attention.score" in shapes)
    assert vector is None or vector.shape == keys.shape[-1:]


@pytest.mark.parametrize("attention", ATTENTION_KINDS)
def test_step_by_step_unroll_equals_whole_target(make_network: ModelFactory, attention: str) -> None:
    network = make_network(attention).requires_grad_(True).train()
    scorer, generator = network.decoder.attention, torch.Generator().manual_seed(3)
    source, previous = (torch.randint(4, 50, shape, generator=generator) for shape in ((3, 9), (3, 5)))
    lengths, fast = torch.tensor([9, 2, 6]), type(scorer).unroll
    found = []
    for unroll in (fast, Scorer.unroll):
        network.zero_grad()
        scorer.unroll = functools.partial(unroll, scorer)
        readouts, alignment = network(source, lengths, previous)
        (readouts.square().sum() + (alignment.square() * torch.arange(9)).sum()).backward()
        gradients = {name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None}
        found.append({"readouts": readouts.detach(), "alignment": alignment.detach()} | gradients)
    assert found[0].keys() == found[1].keys()
    for name, values in found[0].items():
        assert torch.allclose(values, found[1][name], rtol=1e-4, atol=1e-5), name


def test_location_gives_no_weight_after_its_last_position(make_network: ModelFactory) -> None:
    network = make_network("location", alignment_size=3)
    alignment = network(torch.full((2, 6), 5), torch.tensor([6, 2]), torch.full((2, 4), 5))[1]
    assert (alignment[0, :, 3:] == 0).all()
    assert (alignment[0, :, :3] > 0).all()
    assert (alignment[1, :, 2:] == 0).all()


def test_location_keys_do_not_depend_on_words(make_network: ModelFactory) -> None:
    keys = make_network("location").decoder.attention.keys
    one, other = torch.randn(1, 4, 20), torch.randn(1, 4, 20)
    assert torch.equal(keys(one), keys(other))
    assert not torch.equal(keys(one)[0, 0], keys(one)[0, 1])


def test_location_aware_energies_depend_on_previous_weights(make_network: ModelFactory) -> None:
    scorer = make_network("location-aware").decoder.attention
    query, keys = torch.randn(1, 7), torch.randn(1, 12, 7)
    before = torch.zeros(1, 12)
    start = scorer.energies(query, keys, scorer.features(before))
    before[0, 2] = 1
    moved = scorer.energies(query, keys, scorer.features(before))
    changed = (moved != start)[0].nonzero()[:, 0].tolist()
    assert changed == [0, 1, 2, 3, 4, 5]  # three places to either side


@pytest.mark.parametrize("size", [7, 9])
def test_dot_needs_an_even_size(size: int) -> None:
    with pytest.raises(ValueError, match="hidden_size must be even"):
        ModelConfig(vocabulary_size=20, hidden_size=size, attention="dot")
    assert ModelConfig(vocabulary_size=20, hidden_size=size + 1, attention="dot").encoder_size == (size + 1) // 2


def test_mask_allows_all_pieces_or_only_the_last(make_network: ModelFactory) -> None:
    lengths = torch.tensor([3, 1])
    for attention in ATTENTION_KINDS:
        open_ = make_network(attention).decoder.attention.mask(lengths, 4) == 0
        last = [[False, False, True, False], [True, False, False, False]]
        pieces = [[True, True, True, False], [True, False, False, False]]
        assert open_.tolist() == (last if attention == "none" else pieces)
