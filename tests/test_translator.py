"""`Translator` and `Detector`: input that they refuse, random input, batches, and damaged model folders."""

import json
import pickle
import re
import shutil
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from attnviz import AttnvizError, ReplaceWeights, Trace, Translator
from attnviz import translator as translator_module
from attnviz.analysis.judgement import JudgementVerifier
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.checkpoint import save_model
from attnviz.detector import Detector
from attnviz.devices import FEW_ROWS
from attnviz.model_folder import architecture, model_folders, read_weights, weights_digest
from attnviz.network import DecomposableConfig
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import LONGEST_SENTENCE, Tokenizer
from attnviz.trace.trace import RECORDED
from attnviz.training.preparation import start_from
from tests.conftest import SENTENCES
from tests.detectors import random_detector
from tests.snapshots import refusal
from tests.strategies import FEW, texts

REFUSED: dict[str, tuple[str, str | None]] = {
    **{f"blank {text!r}": (text, None) for text in ("", " ", "\n\t ", "\u200b", "\x00", "\u00a0\u3000")},
    "many words": ("dog " * (LONGEST_SENTENCE + 1), None),
    "many characters": ("x" * 10_000, None),
    "blank target": ("A dog.", "\u200b"),
    "many words of a target": ("A dog.", "chien " * (LONGEST_SENTENCE + 1)),
}


def test_blank_and_long_texts_are_refused(translator, snapshot) -> None:
    assert translator.translate(" ".join(["dog"] * LONGEST_SENTENCE), beam=1).source_pieces
    said = {name: _translate(translator, *texts)[1] for name, texts in REFUSED.items()}
    said["second of a batch"] = refusal(lambda: translator.translate_batch(["A dog.", "\u200b"], beam=1))
    assert said == snapshot


def test_unknown_characters_are_listed(translator) -> None:
    trace = translator.translate("A red \u5b57 bicycle \U0001f600.", beam=1)
    assert trace.unknown_characters == ("\u5b57", "\U0001f600")
    assert trace.source_pieces.count("<unk>") == 2
    assert trace.words().source == ("A", "red", "\u5b57", "bicycle", "\U0001f600", ".", "</s>")
    assert translator.translate("A red bicycle.", beam=1).unknown_characters == ()


def _translate(translator: Translator, text: str, target: str | None = None) -> tuple[Trace | None, str]:
    """Return the trace or the AttnvizError's message; any other exception fails the test."""
    try:
        return translator.translate(text, target=target), ""
    except AttnvizError as error:
        return None, str(error)


@given(text=texts)
@example(text="\ud800")
@example(text="x" * 10_000)
@example(text="\u0301" * 300)
@example(text="\ufdfa" * 200)
@example(text="</s>")
def test_any_string_is_translated_or_refused(quick, text) -> None:
    trace, refusal = _translate(quick, text)
    if trace is None:
        assert refusal.endswith(".")
        return
    assert trace.source_text == text
    assert np.allclose(trace.alignment.sum(axis=1), 1, atol=1e-4)
    assert np.allclose(trace.words().alignment.sum(axis=1), 1, atol=1e-4)


@pytest.fixture(scope="module")
def quick(make_network, tokenizer) -> Translator:
    """Return a translator whose network ends sentences early, so that thousands go through it in seconds."""
    network = make_network()
    network.decoder.output.bias[3] = 6.0
    return Translator(network, tokenizer)


class Bomb:
    """Pickled, it makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


DAMAGE: dict[str, tuple[Any, ...]] = {
    "config.json": (
        *(None, b"", b"[]", b"7", b"\xff\xfe\x00", b"[" * 100_000, 0.5),
        lambda r: r.update(format="other"),
        lambda r: r.update(version=99),
        lambda r: r.pop("version"),
        lambda r: r.pop("model"),
        lambda r: r.update(model=None),
        lambda r: r["model"].update(heads=8),
        lambda r: r["model"].update(hidden_size="big"),
        lambda r: r["model"].update(attention=["additive"]),
    ),
    "model.safetensors": (
        *(None, b"", bytes(range(256)) * 10, 0.9, 0.01),
        lambda w: w.pop("decoder.attention.score"),
        lambda w: w.update(more=np.zeros(1, np.float32)),
        lambda w: w.update({"decoder.attention.score": np.zeros(99, np.float16)}),
        lambda w: w["decoder.output.bias"].fill(np.nan),
    ),
    "tokenizer.model": (None, b"", 0.5, Tokenizer.train(SENTENCES, 120).model),
}
"""Of each file of a model: it is missing, has another content, is cut to a share, or has what a function changes."""


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_model_folders_name_the_file(model_folder, tmp_path, name) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    whole, path = (folder / name).read_bytes(), folder / name
    for damage in DAMAGE[name]:
        if callable(damage):
            content = json.loads(whole) if name == "config.json" else load(whole)
            damage(content)
            path.write_bytes(json.dumps(content).encode() if name == "config.json" else save(content))
        elif damage is None:
            path.unlink()
        else:
            path.write_bytes(whole[: int(len(whole) * damage)] if isinstance(damage, float) else damage)
        with pytest.raises(AttnvizError, match=rf"{name}(.|\n)*\.$"):
            pytest.fail(f"{damage}: {Translator.load(folder, device='cpu')}")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.model"])
@pytest.mark.parametrize("write", [pickle.dump, torch.save], ids=["pickle", "torch"])
def test_loading_model_unpickles_nothing(model_folder, tmp_path, name, write) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    with (folder / name).open("wb") as file:
        write(Bomb(tmp_path / "exploded"), file)
    with pytest.raises(AttnvizError, match=name):
        Translator.load(folder, device="cpu")
    assert not (tmp_path / "exploded").exists()


KINDS = list(product(ATTENTION_KINDS, READOUT_STATES))
WORDS = sorted({word for sentence in SENTENCES for word in sentence.split()})
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join)


@pytest.fixture(scope="module")
def translators(make_network, tokenizer) -> dict[tuple[str, str], Translator]:
    return {kind: Translator(make_network(*kind), tokenizer, "tiny", "digest") for kind in KINDS}


SAME = (
    *("source_text", "translation", "source_pieces", "target_pieces", "source_ids", "target_ids", "source_surfaces"),
    *("unknown_characters", "search", "config", "model", "weights_digest", "device", "interventions"),
)


def assert_alike(one: Trace, other: Trace) -> None:
    """Assert that two traces tell of the same translation, to the accuracy of float32."""
    for name in SAME:
        assert getattr(one, name) == getattr(other, name), name
    for quantity in RECORDED:
        if quantity.name != "top_ids":  # the order of equally likely pieces may differ
            ours, theirs = getattr(one, quantity.name), getattr(other, quantity.name)
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=quantity.name)
    assert one.score == pytest.approx(other.score, abs=1e-4)
    assert [h.translation for h in one.hypotheses] == [h.translation for h in other.hypotheses]


@settings(max_examples=FEW)
@given(
    pairs=st.lists(st.tuples(sentences, sentences), max_size=6),
    beam=st.sampled_from([0, 1, 2, 5]),
    kind=st.sampled_from(KINDS),
)
def test_traces_of_a_batch_equal_single_ones(translators, pairs, beam, kind) -> None:
    """Forced to the second sentence of each pair where `beam` is 0."""
    translator, texts = translators[kind], [text for text, _ in pairs]
    how: dict[str, Any] = {"beam": beam, "length_penalty": 0.7} if beam else {}
    forced = {} if beam else {"targets": [target for _, target in pairs]}
    together = translator.translate_together(texts, **how, **forced)
    assert len(together) == len(pairs)
    for (text, target), trace in zip(pairs, together, strict=True):
        assert_alike(trace, translator.translate(text, target=None if beam else target, **how))


def test_traces_equal_single_ones_beyond_one_batch(translators, monkeypatch) -> None:
    """The bound is made so small that short sentences share a batch, and long ones keep no history at all."""
    translator, texts = translators[KINDS[0]], [*SENTENCES, *(word[:3] for word in WORDS[:8])]
    alone = [translator.translate(text, beam=2) for text in texts]
    monkeypatch.setattr(translator_module, "_LONGEST_HISTORY", 150)
    batches, search = [], translator_module.search
    noted = lambda *given, **more: batches.append(given[2:6:3]) or search(*given, **more)  # noqa: E731
    monkeypatch.setattr(translator_module, "search", noted)
    for one, other in zip(translator.translate_together(texts, beam=2), alone, strict=True):
        assert_alike(one, other)
    assert any(len(limits) > 1 and history is not None for limits, history in batches)
    assert any(len(limits) == 1 and history is None for limits, history in batches)


@pytest.fixture
def three_threads() -> Iterator[None]:
    usual = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(usual)


@pytest.mark.usefixtures("three_threads")
def test_few_rows_are_computed_in_one_thread_and_many_in_all(translator, monkeypatch) -> None:
    threads = list[int]()
    for name in ("greedy", "search"):
        found = getattr(translator_module, name)

        def counted(*arguments: Any, found: Any = found, **named: Any) -> Any:
            threads.append(torch.get_num_threads())
            return found(*arguments, **named)

        monkeypatch.setattr(translator_module, name, counted)
    text = SENTENCES[0]
    translator.translate(text, beam=1)
    translator.translate(text, beam=FEW_ROWS + 1)
    translator.beam_tree(text, beam=2)
    for count in (1, FEW_ROWS + 1):
        translator.translate_batch([text] * count, beam=1)
    translator.translate_together([text, text], beam=FEW_ROWS // 2)
    assert threads == [1, 3, 1, 1, 3, 1]
    with pytest.raises(AttnvizError):
        translator.translate(text, interventions=[ReplaceWeights((1.0,), 10_000)])
    assert torch.get_num_threads() == 3


def test_a_what_if_does_not_encode_its_sentence_again(make_network, tokenizer) -> None:
    translator = Translator(make_network(*KINDS[0]), tokenizer)
    with patch.object(translator.prepared, "memory", wraps=translator.prepared.memory) as encoded:
        trace = translator.translate(SENTENCES[0], beam=1)
        weights = tuple(1 / len(trace.source_ids) for _ in trace.source_ids)
        translator.translate(SENTENCES[0], interventions=[ReplaceWeights(step=0, weights=weights)], beam=1)
        assert encoded.call_count == 1
        translator.translate(SENTENCES[1], beam=1)
        assert encoded.call_count == 2


PAIRS = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))


@pytest.fixture(scope="module")
def folder(tokenizer, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("detectors") / "tiny"
    save_model(folder, random_detector(DecomposableConfig(len(tokenizer), 8, 10), 4), tokenizer)
    return folder


@pytest.fixture(scope="module")
def detector(folder) -> Detector:
    return Detector.load(folder, device="cpu")


def test_judgement_is_verified_or_refused_and_no_translator(detector, folder, snapshot, model_folder, tmp_path) -> None:
    judgement = detector.judge(*PAIRS[0])
    assert judgement.model == "tiny"
    assert judgement.weights_digest == weights_digest(folder)
    assert (judgement.source_text, judgement.target_text) == PAIRS[0]
    assert JudgementVerifier(judgement, read_weights(folder)).verify(0).holds
    for pair in ((" ", "Oui."), ("Yes.", "oui " * (LONGEST_SENTENCE + 1))):
        assert refusal(partial(detector.judge, *pair)) == snapshot
    assert refusal(lambda: detector.judge_batch([("Yes.", "Oui."), ("No.", "")])) == snapshot
    for each in (folder, model_folder):
        shutil.copytree(each, tmp_path / f"{each.parent.name}-{each.name}")
    assert architecture(folder) == "decomposable"
    (listed,) = model_folders(tmp_path)
    assert architecture(listed) == "rnnsearch"


def test_loaders_refuse_each_others_and_damaged_folders(folder, model_folder, tokenizer, tmp_path, snapshot) -> None:
    attempts = {
        "detector": (Translator.load, folder),
        "detector to train on": (lambda path: start_from(path, tokenizer, 0.0), folder),
        "translator": (Detector.load, model_folder),
    }
    for file in ("config.json", "model.safetensors", "tokenizer.model"):
        for state in ("damaged", "missing"):
            copy = shutil.copytree(folder, tmp_path / f"{file} {state}")
            (copy / file).write_bytes(b"{") if state == "damaged" else (copy / file).unlink()
            attempts[copy.name] = (Detector.load, copy)
    attempts["detector without weights"] = (Translator.load, tmp_path / "model.safetensors missing")
    messages = {}
    for name, (opens, path) in attempts.items():  # parentheses quote the library that reads the file
        messages[name] = re.sub(r"\(.*\)", "(…)", refusal(partial(opens, path), path.parent))
    assert messages == snapshot
