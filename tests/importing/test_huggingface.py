"""Hugging Face encoder-decoder models: the imported attention equals the model's own, by head, layer and mean."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import torch
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, from_huggingface

try:
    import transformers

    from tests.importing.tiny_models import TEXT, WORDS, tiny_tokenizer
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("transformers is not installed", allow_module_level=True)

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tiny_tokenizer()


def random_model(kind: str) -> Any:
    """Return a model of two layers and two heads, its weights at random."""
    torch.manual_seed(3)
    common = {"vocab_size": len(WORDS), "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0}
    if kind == "t5":
        config = transformers.T5Config(d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, **common)
        return transformers.T5ForConditionalGeneration(config).eval()
    sizes = {
        f"{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 32))
    }
    config = transformers.BartConfig(
        d_model=16,
        max_position_embeddings=48,
        bos_token_id=None,
        forced_eos_token_id=None,
        init_std=1.0,
        **sizes,
        **common,
    )
    return transformers.BartForConditionalGeneration(config).eval()


@pytest.fixture(scope="module", params=["t5", "bart"])
def model(request: pytest.FixtureRequest) -> Any:
    return random_model(request.param)


def cross_attention_of(model: Any, tokenizer: Any, written: list[int]) -> np.ndarray:
    """Return the cross-attention (L, H, Ty, Tx) that the model itself returns for what it wrote."""
    plain = random_model("t5" if "t5" in type(model).__name__.lower() else "bart")
    plain.set_attn_implementation("eager")
    given = tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        found = plain(
            **{name: given[name] for name in ("input_ids", "attention_mask")},
            decoder_input_ids=torch.tensor([[0, *written[:-1]]]),
            output_attentions=True,
        )
    return np.stack([layer[0].numpy() for layer in found.cross_attentions])


def test_attention_by_head_by_layer_and_mean(model: Any, tokenizer: Any) -> None:
    target = "▁la ▁maison ▁ver te"
    expected = cross_attention_of(model, tokenizer, tokenizer(target)["input_ids"])
    for layer in range(2):
        for head in range(2):
            found = from_huggingface(model, tokenizer, TEXT, target=target, layer=layer, head=head)
            assert np.allclose(found.alignment, expected[layer, head], atol=1e-5)
        mean = from_huggingface(model, tokenizer, TEXT, target=target, layer=layer)
        assert np.allclose(mean.alignment, expected[layer].mean(axis=0), atol=1e-5)
    last = from_huggingface(model, tokenizer, TEXT, target=target, layer=-1, head=0)
    assert np.allclose(last.alignment, expected[1, 0], atol=1e-5)
    whole = from_huggingface(model, tokenizer, TEXT, target=target)
    assert np.allclose(whole.alignment, expected.mean(axis=(0, 1)), atol=1e-5)
    assert whole.words().source == ("the", "green", "house", "</s>")
    assert whole.words().target == ("la", "maison", "verte", "</s>")
    assert whole.states.shape == (5, 16)


def test_generated_text_and_unchanged_model(model: Any, tokenizer: Any) -> None:
    before = model.config._attn_implementation
    model.train()
    for beam in (1, 2):
        found = from_huggingface(model, tokenizer, TEXT, beam=beam)
        ids = tokenizer.convert_tokens_to_ids([piece if piece in WORDS else piece[1:] for piece in found.target_pieces])
        assert np.allclose(found.alignment, cross_attention_of(model, tokenizer, ids).mean(axis=(0, 1)), atol=1e-5)
    assert model.training
    assert model.config._attn_implementation == before
    model.eval()


def test_imported_attention_is_saved_and_drawn(model: Any, tokenizer: Any) -> None:
    found = from_huggingface(model, tokenizer, TEXT, target="▁la fr_XX te", layer=0, head=1)
    assert type(found).from_json(found.to_json()).fingerprint == found.fingerprint
    assert found.target_pieces == ("▁la", "fr_XX", "te", "</s>")
    assert found.target_word_of.tolist() == [0, -1, 1, -1], "a language code is no word, and ends the word before it"
    assert "one-head" in found.remarks
    assert found.heatmap().layout.meta["alt"]


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param({"layer": 2}, id="layer-3"),
        pytest.param({"layer": -2}, id="layer-below-0"),
        pytest.param({"layer": 0, "head": 2}, id="head-3"),
        pytest.param({"head": 0}, id="head-without-layer"),
    ],
)
def test_missing_layers_and_heads_are_refused(
    model: Any, tokenizer: Any, chosen: dict[str, int], snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(AttnvizError) as error:
        from_huggingface(model, tokenizer, TEXT, target="▁la", **chosen)
    assert str(error.value) == snapshot


def test_unsupported_models_and_texts_are_refused(model: Any, tokenizer: Any, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        from_huggingface(model, tokenizer, " ")
    assert str(error.value) == snapshot
    for text, target in (("▁la " * 1001, None), (TEXT, "▁la " * 1001)):
        with pytest.raises(AttnvizError) as error:
            from_huggingface(model, tokenizer, text, target=target)
        assert str(error.value) == snapshot
