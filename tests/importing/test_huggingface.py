"""Tiny models of Hugging Face: every head equals the model's own output, and attributions equal brute force."""

import json
import os
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import torch
from numpy.typing import NDArray

from attnviz import Attention, AttnvizError, from_huggingface, read_attention
from attnviz.analysis.gold import linkable_words, links_text
from attnviz.commands.main import main
from tests.conftest import REPOSITORY
from tests.saved_pages import saved_view
from tests.snapshots import refusal

try:
    import tokenizers
    import transformers
    from tokenizers.processors import TemplateProcessing
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("transformers is not installed", allow_module_level=True)

pytestmark = pytest.mark.nightly

WORDS = ("<pad>", "<unk>", "</s>", "▁the", "▁gre", "en", "▁house", "▁la", "▁maison", "▁ver", "te", "fr_XX", "<mask>")
TEXT, TARGET = "▁the ▁gre en ▁house", "▁la ▁maison ▁ver te"
SEQ2SEQ = ("t5", "bart", "marian", "m2m_100", "mbart")
DECODERS = ("gpt2", "llama")
LAYERS, HEADS = 2, 2

CODES = ("eng_Latn", "fra_Latn", "__en__", "__fr__", "en_XX", "fr_XX")
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "[CLS]", "[SEP]", *CODES)
PLAIN = ("the", "green", "house", "la", "maison", "verte")
FRAMES = {
    "marian": ("$A </s>", "$A </s>"),
    "bart": ("<s> $A </s>", "<s> $A </s>"),
    "nllb": ("eng_Latn $A </s>", "fra_Latn $A </s>"),
    "m2m_100": ("__en__ $A </s>", "__fr__ $A </s>"),
    "mbart": ("$A </s> en_XX", "$A </s> fr_XX"),
    "bert2bert": ("[CLS] $A [SEP]", "[CLS] $A [SEP]"),
}
"""What stands before and after a source and a target sentence, by the tokenizer of each kind."""


def _word_level(names: Sequence[str]) -> Any:
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel({name: n for n, name in enumerate(names)}, "<unk>"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return plain


def tiny_tokenizer(end: bool = True, words: Sequence[str] = WORDS[3:]) -> Any:
    """Return a tokenizer of blank-separated pieces with ids from 3 on, which ends a text with `</s>` if `end`."""
    names = (*WORDS[:3], *words)
    plain = _word_level(names)
    if end:
        plain.post_processor = TemplateProcessing("$A </s>", special_tokens=[("</s>", 2)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        unk_token="<unk>",
        eos_token="</s>",
        **({"mask_token": "<mask>", "additional_special_tokens": ["fr_XX"]} if "<mask>" in names else {}),
    )


class Framing(transformers.PreTrainedTokenizerFast):
    """A tokenizer whose targets have another frame than its sources."""

    frames: tuple[str, str] = ("$A", "$A")

    def _frame(self, text: str) -> None:
        special = [(one, SPECIAL.index(one)) for one in SPECIAL]
        self._tokenizer.post_processor = TemplateProcessing(text, special_tokens=special)

    def _switch_to_input_mode(self) -> None:
        self._frame(self.frames[0])

    def _switch_to_target_mode(self) -> None:
        self._frame(self.frames[1])


SIDES = ("encoder", "decoder")
SMALL = {"hidden_size": 16, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "initializer_range": 1.0}


def of_sides(**sizes: int) -> dict[str, int]:
    return {f"{side}_{name}": size for side in SIDES for name, size in sizes.items()}


def tiny_model(kind: str, **changes: Any) -> Any:
    """Return a model of this kind with two layers of two heads, whose weights are random but large."""
    torch.manual_seed(3)
    wide = of_sides(layers=LAYERS, attention_heads=HEADS, ffn_dim=32) | {"d_model": 16, "bos_token_id": None}
    wide |= {"max_position_embeddings": 48, "forced_eos_token_id": None, "init_std": 1.0}
    sizes = {
        "t5": {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": LAYERS, "num_heads": HEADS},
        "bart": wide,
        "marian": wide | {"scale_embedding": True, "forced_eos_token_id": 2},
        "m2m_100": wide | {"scale_embedding": True},
        "mbart": wide | {"scale_embedding": True},
        "gpt2": {"n_embd": 16, "n_layer": LAYERS, "n_head": HEADS, "n_positions": 48, "initializer_range": 1.0},
        "llama": SMALL | {"num_key_value_heads": 1, "intermediate_size": 32},
        "bert": SMALL | {"intermediate_size": 32},
    }[kind]
    common = {"vocab_size": len(WORDS), "pad_token_id": 0, "eos_token_id": 2}
    # The position embeddings of M2M-100 do not count padding, so its decoder must not begin with this token.
    common |= {"decoder_start_token_id": 2 if kind in ("m2m_100", "mbart") else 0} if kind in SEQ2SEQ else {}
    common |= {"bos_token_id": 2} if kind in DECODERS else {}
    auto = transformers.AutoModelForSeq2SeqLM if kind in SEQ2SEQ else transformers.AutoModelForCausalLM
    auto = transformers.AutoModelForMaskedLM if kind == "bert" else auto
    return auto.from_config(transformers.AutoConfig.for_model(kind, **common | sizes | changes)).eval()


def tiny_translator(kind: str) -> tuple[Any, Any]:
    """Return a random translator of this kind, and a tokenizer with the special tokens of the published models."""
    names = (*SPECIAL, *PLAIN)
    begin, end = ("[CLS]", "[SEP]") if kind == "bert2bert" else ("<s>", "</s>")
    tokenizer = Framing(
        tokenizer_object=_word_level(names),
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token=begin,
        eos_token=end,
        additional_special_tokens=[*CODES],
    )
    tokenizer.frames = FRAMES[kind]
    tokenizer._switch_to_input_mode()
    shared = {
        "vocab_size": len(names),
        "pad_token_id": 0,
        "eos_token_id": names.index(end),
        "bos_token_id": names.index(begin),
    }
    if kind != "bert2bert":
        changes = shared | {"decoder_start_token_id": names.index(end)}
        return tiny_model("m2m_100" if kind == "nllb" else kind, **changes), tokenizer
    torch.manual_seed(5)
    encoder, decoder = (transformers.BertConfig(intermediate_size=16, **SMALL, **shared) for _ in SIDES)
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.decoder_start_token_id, config.pad_token_id = names.index(begin), 0
    return transformers.EncoderDecoderModel(config).eval(), tokenizer


EXAMPLE = REPOSITORY / "attnviz/examples/my-model"


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tiny_tokenizer()


def ids_of(tokenizer: Any, text: str) -> torch.Tensor:
    found: torch.Tensor = tokenizer(text, return_tensors="pt")["input_ids"]
    return found


def shifted(kind: str, labels: torch.Tensor) -> torch.Tensor:
    """Return the ids that the decoder reads: the start token, and the labels without the last."""
    start = tiny_model(kind).config.decoder_start_token_id
    return torch.cat([torch.full_like(labels[:, :1], start), labels[:, :-1]], dim=1)


def outputs_of(kind: str, tokenizer: Any) -> Any:
    """Return what the model itself returns for the text, and of an encoder-decoder model for the target."""
    model = tiny_model(kind)
    model.set_attn_implementation("eager")
    inputs = {"input_ids": ids_of(tokenizer, TEXT)}
    if kind in SEQ2SEQ:
        labels = ids_of(tokenizer, TARGET)
        inputs["decoder_input_ids"] = shifted(kind, labels)
    with torch.no_grad():
        return model(**inputs, output_attentions=True)


def stacked(layers: Any) -> np.ndarray:
    return np.stack([layer[0].numpy() for layer in layers])


def target_of(kind: str) -> str | None:
    return TARGET if kind in SEQ2SEQ else None


@pytest.mark.parametrize("kind", SEQ2SEQ)
def test_every_head_of_an_encoder_decoder_model_is_in_one_record(kind, tokenizer) -> None:
    own = outputs_of(kind, tokenizer)
    record = from_huggingface(tiny_model(kind), tokenizer, TEXT, target=TARGET)
    expected = stacked(own.cross_attentions)
    assert record.head_weights.shape == expected.shape == (2, 2, 5, 5)
    assert np.abs(record.head_weights - expected).max() < 1e-6
    assert np.abs(record.alignment - expected.mean(axis=(0, 1))).max() < 1e-6
    assert np.abs(record.select_heads(1).alignment - expected[1].mean(axis=0)).max() < 1e-6
    assert np.abs(record.select_heads(-1, 0).select_heads(0, 1).alignment - expected[0, 1]).max() < 1e-6
    chosen = from_huggingface(tiny_model(kind), tokenizer, TEXT, target=TARGET, layer=-1, head=0)
    assert np.abs(chosen.alignment - expected[1, 0]).max() < 1e-6
    assert "one-head" in chosen.remarks
    assert record.states.shape == (5, 16)
    assert record.words().source == ("the", "green", "house", "</s>")
    assert record.words().target == ("la", "maison", "verte", "</s>")
    again = Attention.from_json(record.select_heads(0, 1).to_json())
    assert again.fingerprint == record.select_heads(0, 1).fingerprint
    assert again.select_heads().fingerprint == record.fingerprint
    for side, layers in (("encoder", own.encoder_attentions), ("decoder", own.decoder_attentions)):
        found = from_huggingface(tiny_model(kind), tokenizer, TEXT, target=TARGET, kind=side)
        assert np.abs(found.head_weights - stacked(layers)).max() < 1e-6
        assert found.kind == side
        assert found.source_pieces == found.target_pieces


@pytest.mark.parametrize("kind", [*DECODERS, "bert"])
def test_self_attention_is_of_one_sequence(kind, tokenizer) -> None:
    record = from_huggingface(tiny_model(kind), tokenizer, TEXT)
    expected = stacked(outputs_of(kind, tokenizer).attentions)
    assert np.abs(record.head_weights - expected).max() < 1e-6
    assert record.source_pieces == record.target_pieces == ("▁the", "▁gre", "en", "▁house", "</s>")
    assert record.kind == ("encoder" if kind == "bert" else "decoder")
    assert (np.triu(record.head_weights, 1) == 0).all() == (kind != "bert")
    assert len(record.to_frame()) == record.head_weights.size


def test_a_decoder_reads_the_text_and_the_target_after_it() -> None:
    tokenizer = tiny_tokenizer(end=False)
    joined = from_huggingface(tiny_model("gpt2"), tokenizer, f"{TEXT} {TARGET}")
    continued = from_huggingface(tiny_model("gpt2"), tokenizer, TEXT, target=TARGET)
    assert joined.fingerprint == continued.fingerprint
    record = from_huggingface(tiny_model("gpt2"), tiny_tokenizer(end=False), "▁the", attributions=True)
    assert np.array_equal(record.gradient, [[0]])
    assert np.array_equal(record.erased, [[0]])


def log_probabilities(kind: str, model: Any, ids: torch.Tensor, labels: torch.Tensor, embedded: Any) -> torch.Tensor:
    """Return log p of each target token where the model reads these embeddings, without attnviz's code."""
    inputs: dict[str, Any] = {"inputs_embeds": embedded[None]}
    if kind in SEQ2SEQ:
        inputs["decoder_input_ids"] = shifted(kind, labels)
    logits = model(**inputs).logits[0]
    if kind in DECODERS:
        logits, labels = logits[:-1], ids[:, 1:]
    likely = logits.log_softmax(-1)[range(labels.shape[1]), labels[0]]
    return torch.cat([torch.zeros(1), likely]) if kind in DECODERS else likely


@pytest.mark.parametrize("kind", [*SEQ2SEQ, *DECODERS, "bert"])
def test_attributions_equal_brute_force(kind, tokenizer) -> None:
    model = tiny_model(kind).double()  # the large weights of the tiny models amplify rounding
    record = from_huggingface(model, tokenizer, TEXT, target=target_of(kind), attributions=True)
    ids = ids_of(tokenizer, TEXT)
    labels = ids_of(tokenizer, TARGET) if kind in SEQ2SEQ else ids
    reader = model.get_encoder() if kind in SEQ2SEQ else model
    embedding = reader.get_input_embeddings()
    table = embedding(torch.arange(len(WORDS)))  # as embedded, with the model's scale
    scale = 4.0 if kind == "marian" else 1.0  # Marian scales embeddings itself, unless they are given
    mean, size = table[1:].mean(0).detach(), ids.shape[1]
    gradient, erased = np.zeros((2, labels.shape[1], size))
    for i in range(labels.shape[1]):

        def likely(vectors: torch.Tensor, i: int = i) -> torch.Tensor:
            return log_probabilities(kind, model, ids, labels, scale * vectors)[i]

        plain = table[ids[0]].detach().clone()
        if kind == "bert":
            plain[i] = table[WORDS.index("<mask>")].detach()
        vectors = plain.clone().requires_grad_()
        if likely(vectors).requires_grad:
            (slopes,) = torch.autograd.grad(likely(vectors), vectors)
            gradient[i] = (slopes * vectors).sum(-1).detach()
        with torch.no_grad():
            for j in range(size):
                without = plain.clone()
                without[j] = mean
                erased[i, j] = likely(plain) - likely(without)
    if kind == "bert":
        gradient, erased = (part * (1 - np.eye(size)) for part in (gradient, erased))
    near = 1e-4 if kind == "llama" else 1e-6  # its normalisation always computes in float32
    assert np.allclose(record.erased, erased, rtol=near, atol=near)
    assert np.allclose(record.gradient, gradient, rtol=near, atol=near)
    assert np.abs(erased).max() > 0.1
    again = Attention.from_json(record.to_json())
    assert np.array_equal(again.erased, record.erased)


@pytest.mark.parametrize("kind", ["t5", "gpt2", "bert"])
def test_a_folder_is_read_as_its_objects_are(kind, tokenizer, tmp_path) -> None:
    model, target = tiny_model(kind), target_of(kind)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    expected = from_huggingface(model, tokenizer, TEXT, target=target)
    found = from_huggingface(str(tmp_path), text=TEXT, target=target)
    assert np.abs(found.head_weights - expected.head_weights).max() < 1e-6
    records = read_attention(tmp_path, [TEXT, "▁the ▁house"], None if target is None else [target, "▁la ▁maison"])
    assert len(records) == 2
    assert records.format == "huggingface"
    assert np.abs(records[0].head_weights - expected.head_weights).max() < 1e-6
    chosen = read_attention(tmp_path, [TEXT], None if target is None else [target], layer=1, head=0)[0]
    assert np.array_equal(chosen.alignment, records[0].head_weights[1, 0])
    with pytest.raises(AttnvizError, match=r"Sentence pairs: 1; sentences given: 2\."):
        read_attention(tmp_path, [TEXT], [TEXT, TEXT])


def test_a_folder_reads_the_sentences_of_the_gold_file(tmp_path, capsys, snapshot) -> None:
    gold, scores, folder = *(str(tmp_path / name) for name in ("gold.jsonl", "scores.json")), str(EXAMPLE)
    words = {"source": ["The", "green", "house", "."], "target": ["La", "maison", "verte", "."]}
    Path(gold).write_text(json.dumps(words | {"S": [[0, 0], [1, 2]]}), encoding="utf-8")
    assert main(["score", folder, "--gold", gold, "-o", scores]) == 0
    assert json.loads(Path(scores).read_text())["sure"] == 2
    assert "sentences" in capsys.readouterr().err
    assert main(["attention", folder, "--gold", gold, "-o", str(tmp_path / "made.html")]) == 0
    heatmap = saved_view((tmp_path / "made.html").read_text(encoding="utf-8")).heatmap()
    assert "sure core" in [one.get("name") for one in heatmap["data"]]
    capsys.readouterr()
    (tmp_path / "source").write_text("The green house.", encoding="utf-8")
    (tmp_path / "links").write_text("0-0\n", encoding="utf-8")
    given = ["--source-file", str(tmp_path / "source"), "--gold", str(tmp_path / "links")]
    assert main(["score", folder, *given]) == 0
    assert capsys.readouterr().err.splitlines()[0] == snapshot


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("beam", [1, 2])
def test_generated_text_is_attended_as_if_given_and_the_model_is_left_as_it_was(
    implementation, beam, tokenizer
) -> None:
    model = tiny_model("bart")
    model.set_attn_implementation(implementation)
    model.train()
    found = from_huggingface(model, tokenizer, TEXT, beam=beam)
    assert model.training
    assert model.config._attn_implementation == implementation
    pieces = [piece if piece in WORDS else piece[1:] for piece in found.target_pieces]
    labels = torch.tensor([tokenizer.convert_tokens_to_ids(pieces)])
    plain = tiny_model("bart")
    plain.set_attn_implementation("eager")
    with torch.no_grad():
        own = plain(ids_of(tokenizer, TEXT), decoder_input_ids=shifted("bart", labels), output_attentions=True)
    assert np.abs(found.head_weights - stacked(own.cross_attentions)).max() < 1e-5


def test_language_codes_are_no_words_and_a_head_changes_no_attention(tokenizer) -> None:
    found = from_huggingface(tiny_model("t5"), tokenizer, TEXT, target="▁la fr_XX te")
    assert found.target_pieces == ("▁la", "fr_XX", "te", "</s>")
    assert found.target_word_of.tolist() == [0, -1, 1, -1]
    models = tiny_model("bart").model, tiny_model("bart")
    bare, whole = (from_huggingface(model, tokenizer, TEXT, target=TARGET).head_weights for model in models)
    assert np.allclose(bare, whole)


def test_attention_that_is_too_large_is_refused(tokenizer, monkeypatch) -> None:
    monkeypatch.setattr("attnviz.importing.huggingface.LARGEST", 2_000_000)
    model = tiny_model("gpt2")
    from_huggingface(model, tokenizer, TEXT)
    monkeypatch.setattr("attnviz.importing.huggingface.LARGEST", 0)
    with pytest.raises(AttnvizError, match="Give a shorter text"):
        from_huggingface(model, tokenizer, TEXT)


def test_refusals_are_sentences(tokenizer, tmp_path, snapshot, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # no retries
    model, gpt2, bert = tiny_model("bart"), tiny_model("gpt2"), tiny_model("bert")
    sides = of_sides(layers=1, attention_heads=1, ffn_dim=1)
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    whisper = transformers.WhisperForConditionalGeneration(
        transformers.WhisperConfig(d_model=8, vocab_size=16, **sides, **ids)
    )
    mamba = transformers.MambaForCausalLM(
        transformers.MambaConfig(vocab_size=len(WORDS), hidden_size=8, num_hidden_layers=1, state_size=4)
    )
    startless = tiny_model("bart")
    for one in (startless.config, startless.generation_config):
        one.decoder_start_token_id = None
    whisper.save_pretrained(tmp_path / "whisper")
    model.save_pretrained(tmp_path / "model")
    (tmp_path / "empty").mkdir()
    refused: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
        "speech": ((whisper, tokenizer, TEXT), {}),
        "speech in a folder": ((tmp_path / "whisper",), {"text": TEXT}),
        "list of texts": ((model, tokenizer, [TEXT, TEXT]), {}),
        "blank": ((model, tokenizer, " "), {}),
        "long text": ((model, tokenizer, "▁la " * 48), {}),
        "long target": ((model, tokenizer, TEXT), {"target": "▁la " * 48}),
        **{
            str(chosen): ((model, tokenizer, TEXT), {"target": "▁la", **chosen})
            for chosen in ({"layer": 2}, {"layer": -3}, {"layer": 0, "head": 2}, {"head": 0})
        },
        "list of targets": ((model, tokenizer, TEXT), {"target": [TARGET]}),
        "no tokenizer": ((model, None, TEXT), {}),
        "number as tokenizer": ((model, 3, TEXT), {}),
        "unknown name": (("a/b", tokenizer, TEXT), {}),
        "folder without tokenizer": ((tmp_path / "model",), {"text": TEXT}),
        "empty folder": ((tmp_path / "empty",), {"text": TEXT}),
        "no model": ((3, tokenizer, TEXT), {}),
        "no cross-attention": ((gpt2, tokenizer, TEXT), {"kind": "cross"}),
        "no encoder": ((gpt2, tokenizer, TEXT), {"kind": "encoder"}),
        "no decoder": ((bert, tokenizer, TEXT), {"kind": "decoder"}),
        "no such kind": ((gpt2, tokenizer, TEXT), {"kind": "self"}),
        "no head": ((gpt2.transformer, tokenizer, TEXT), {"attributions": True}),
        "attributions": ((model, tokenizer, TEXT), {"kind": "encoder", "attributions": True}),
        "no attention": ((mamba, tokenizer, TEXT), {}),
        "no target": ((model, tiny_tokenizer(end=False), TEXT), {"target": ""}),
        "a bare model without target": ((model.model, tokenizer, TEXT), {}),
        "attributions of a bare model": ((model.model, tokenizer, TEXT), {"target": TARGET, "attributions": True}),
        "no start token": ((startless, tokenizer, TEXT), {"target": TARGET}),
        "no start token to generate": ((startless, tokenizer, TEXT), {}),
    }
    said = {
        name: refusal(partial(from_huggingface, *given, **options)).replace(str(tmp_path), "")
        for name, (given, options) in refused.items()
    }
    for name in ("unknown name", "empty folder"):
        said[name] = said[name].partition(": ")[0]
    assert said == snapshot


@pytest.mark.parametrize(("kind", "first"), [("mbart", None), ("bart", 2)])
def test_a_target_begins_as_the_model_would_where_no_start_token_is_set(kind, first, tokenizer) -> None:
    model = tiny_model(kind)
    for one in (model.config, model.generation_config):
        one.decoder_start_token_id, one.bos_token_id = None, first
    for target in (TARGET, None)[: 1 + (kind == "bart")]:
        record = from_huggingface(model, tokenizer, TEXT, target=target, kind="decoder")
        assert record.source_pieces[0] == "</s>"


def generated(kind: str, tokenizer: Any, texts: list[str], **options: Any) -> Any:
    model = tiny_model(kind)
    model.set_attn_implementation("eager")
    encoded = tokenizer(texts, return_tensors="pt", padding=True, padding_side="left" if kind == "gpt2" else "right")
    return model.generate(
        input_ids=encoded["input_ids"],
        attention_mask=encoded["attention_mask"],
        max_new_tokens=7,
        do_sample=False,
        output_attentions=True,
        return_dict_in_generate=True,
        **options,
    )


def tokens_of(tokenizer: Any, ids: torch.Tensor) -> list[str]:
    tokens = tokenizer.convert_ids_to_tokens(ids.tolist())
    end = tokens.index("</s>") + 1 if "</s>" in tokens else len(tokens)
    return list(tokens[:end])


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("kind", ["t5", "bart", "m2m_100"])
def test_the_output_of_generate_is_read_right(kind, beams, tokenizer) -> None:
    """The weights are those of a forward pass over the translation that was chosen, of each sentence of a batch."""
    texts = [TEXT, "▁the ▁house"]
    output = generated(kind, tokenizer, texts, num_beams=beams)
    sources = [tokens_of(tokenizer, ids_of(tokenizer, text)[0]) for text in texts]
    targets = [tokens_of(tokenizer, ids[1:]) for ids in output.sequences]
    for part in (output, output.cross_attentions)[: 1 + (beams == 1)]:
        records = read_attention(part, source=sources, target=targets)
        for record, text, target in zip(records, texts, targets, strict=True):
            whole = from_huggingface(tiny_model(kind), tokenizer, text, target=" ".join(target)).head_weights
            assert np.abs(record.head_weights - whole[:, :, : len(target)]).max() < 1e-5


@pytest.mark.parametrize("beams", [1, 2])
def test_the_self_attention_of_generate_is_read_right(beams) -> None:
    tokenizer = tiny_tokenizer(end=False)
    output = generated("gpt2", tokenizer, [TEXT], num_beams=beams)
    tokens = tokens_of(tokenizer, output.sequences[0])
    count = min(len(tokens), output.sequences.shape[1] - 1)
    (record,) = read_attention(output, source=[tokens[:count]])
    expected = from_huggingface(tiny_model("gpt2"), tokenizer, " ".join(tokens[:count]))
    assert record.kind == "decoder"
    assert np.abs(record.head_weights - expected.head_weights).max() < 1e-5
    if beams == 1:
        assert np.array_equal(
            read_attention(output.attentions, source=[tokens[:count]])[0].head_weights, record.head_weights
        )


def _ids(tokenizer: Any, text: str = "the green house", target: str = "la maison verte") -> tuple[list[int], list[int]]:
    return tokenizer(text)["input_ids"], tokenizer(text_target=target)["input_ids"]


NO_WORDS = {*SPECIAL} - {"<unk>"}


def _links(weights: NDArray[np.float64], sides: Sequence[Sequence[str]]) -> str:
    """Return the links of each word to the word that it attends to most, where this is a word."""
    columns, rows = ([n for n, token in enumerate(side) if token not in NO_WORDS] for side in sides)
    own = weights.argmax(axis=1).tolist()
    links = [(columns.index(own[row]), i) for i, row in enumerate(rows) if own[row] in columns]
    return " ".join(f"{j}-{i}" for j, i in sorted(links))


@pytest.mark.parametrize("kind", FRAMES)
def test_words_are_counted_as_the_tokenizer_does(kind) -> None:
    model, tokenizer = tiny_translator(kind)
    source, target = _ids(tokenizer)
    read = [model.generation_config.decoder_start_token_id, *target[:-1]]
    texts, options = ("the green house", "la maison verte"), {"text": "the green house", "target": "la maison verte"}
    for side, given, words in (
        ("cross", (source, target), texts),
        ("encoder", (source, source), texts[:1] * 2),
        ("decoder", (read, read), texts[1:] * 2),
    ):
        record = from_huggingface(model, tokenizer, kind=side, **options)
        tokens = [tokenizer.convert_ids_to_tokens(ids) for ids in given]
        assert linkable_words(record.words()) == tuple(tuple(text.split()) for text in words)
        assert (record.source_text, record.translation) == words
        assert "special-tokens" not in record.remarks, "the tokenizer says which tokens are special"
        assert [word == -1 for word in record.source_word_of] == [token in NO_WORDS for token in tokens[0]]
        assert record.head_weights.shape[-2:] == (len(tokens[1]), len(tokens[0]))
        for layer, head in np.ndindex(record.head_weights.shape[:2]):
            shown = record.select_heads(layer, head)
            assert links_text(shown) == _links(shown.alignment, tokens)


@pytest.mark.parametrize("separate", [False, True])
def test_marian_spells_each_side_with_its_own_vocabulary(separate, tmp_path) -> None:
    texts = {"source": "the green house is old", "target": "la maison verte est vieille"}
    pieces = {}
    for side, line in texts.items():
        (tmp_path / side).write_text(f"{line}\n" * 30, encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            f"--input={tmp_path / side} --model_prefix={tmp_path / side} --vocab_size=60 --minloglevel=2 --bos_id=-1 "
            "--eos_id=1 --unk_id=0 --pad_id=-1 --hard_vocab_limit=false"
        )
        model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / f"{side}.model"))
        pieces[side] = [model.id_to_piece(n) for n in range(2, model.get_piece_size())]
    vocabularies = [pieces["source"], pieces["target"]] if separate else [pieces["source"] + pieces["target"]]
    for name, own in zip(("vocab.json", "target.json"), vocabularies, strict=False):
        tokens = dict.fromkeys(["</s>", "<unk>", *own, "<pad>"])
        (tmp_path / name).write_text(json.dumps({token: n for n, token in enumerate(tokens)}), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a package that normalises punctuation
        tokenizer = transformers.MarianTokenizer(
            source_spm=str(tmp_path / "source.model"),
            target_spm=str(tmp_path / "target.model"),
            vocab=str(tmp_path / "vocab.json"),
            source_lang="en",
            target_lang="fr",
            **({"target_vocab_file": str(tmp_path / "target.json"), "separate_vocabs": True} if separate else {}),
        )
    start = {"pad_token_id": tokenizer.pad_token_id, "decoder_start_token_id": tokenizer.pad_token_id}
    model = tiny_model("marian", vocab_size=200, decoder_vocab_size=200, eos_token_id=tokenizer.eos_token_id, **start)
    record = from_huggingface(model, tokenizer, texts["source"], target=texts["target"])
    assert record.source_pieces == (*tokenizer.tokenize(texts["source"]), "</s>")
    assert linkable_words(record.words()) == tuple(tuple(text.split()) for text in texts.values())
