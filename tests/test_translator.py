"""`Translator`: input that it refuses, random input, and damaged model folders."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from safetensors.numpy import load_file, save_file

from attnviz import AttnvizError, Trace, Translator
from attnviz.text import LONGEST_SENTENCE, Tokenizer
from tests.conftest import SENTENCES
from tests.snapshots import refusal
from tests.strategies import texts

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


def _edit_config(change: Callable[[dict], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "config.json"
        record = json.loads(path.read_text())
        change(record)
        path.write_text(json.dumps(record))

    return edit


def _edit_weights(change: Callable[[dict], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors")

    return edit


def _cut(name: str, share: float) -> Callable[[Path], None]:
    def cut(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(len(content) * share)])

    return cut


DAMAGE = {
    "config.json missing": lambda f: (f / "config.json").unlink(),
    "config.json empty": lambda f: (f / "config.json").write_text(""),
    "config.json a list": lambda f: (f / "config.json").write_text("[]"),
    "config.json a number": lambda f: (f / "config.json").write_text("7"),
    "config.json not text": lambda f: (f / "config.json").write_bytes(b"\xff\xfe\x00"),
    "config.json nested": lambda f: (f / "config.json").write_text("[" * 100_000),
    "config.json cut": _cut("config.json", 0.5),
    "config.json of another format": _edit_config(lambda r: r.update(format="other")),
    "config.json of a newer version": _edit_config(lambda r: r.update(version=99)),
    "config.json without version": _edit_config(lambda r: r.pop("version")),
    "config.json without model": _edit_config(lambda r: r.pop("model")),
    "config.json with a null model": _edit_config(lambda r: r.update(model=None)),
    "config.json with unknown field": _edit_config(lambda r: r["model"].update(heads=8)),
    "config.json with bad size": _edit_config(lambda r: r["model"].update(hidden_size="big")),
    "config.json with bad attention": _edit_config(lambda r: r["model"].update(attention=["additive"])),
    "model.safetensors missing": lambda f: (f / "model.safetensors").unlink(),
    "model.safetensors empty": lambda f: (f / "model.safetensors").write_bytes(b""),
    "model.safetensors cut": _cut("model.safetensors", 0.9),
    "model.safetensors cut in its header": _cut("model.safetensors", 0.01),
    "model.safetensors noise": lambda f: (f / "model.safetensors").write_bytes(bytes(range(256)) * 10),
    "model.safetensors without a tensor": _edit_weights(lambda w: w.pop("decoder.attention.score")),
    "model.safetensors with one too many": _edit_weights(lambda w: w.update(more=np.zeros(1, np.float32))),
    "model.safetensors of another size": _edit_weights(
        lambda w: w.update({"decoder.attention.score": np.zeros(99, np.float16)})
    ),
    "model.safetensors not a number": _edit_weights(lambda w: w["decoder.output.bias"].fill(np.nan)),
    "tokenizer.model missing": lambda f: (f / "tokenizer.model").unlink(),
    "tokenizer.model empty": lambda f: (f / "tokenizer.model").write_bytes(b""),
    "tokenizer.model cut": _cut("tokenizer.model", 0.5),
    "tokenizer.model of another vocabulary": lambda f: (f / "tokenizer.model").write_bytes(
        Tokenizer.train(SENTENCES, 120).model
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_model_folders_name_the_file(model_folder, tmp_path, name) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    DAMAGE[name](folder)
    with pytest.raises(AttnvizError) as raised:
        Translator.load(folder, device="cpu")
    assert name.split()[0] in str(raised.value)
    assert str(raised.value).endswith(".")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.model"])
@pytest.mark.parametrize("write", [pickle.dump, torch.save], ids=["pickle", "torch"])
def test_loading_model_unpickles_nothing(model_folder, tmp_path, name, write) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    with (folder / name).open("wb") as file:
        write(Bomb(tmp_path / "exploded"), file)
    with pytest.raises(AttnvizError, match=name):
        Translator.load(folder, device="cpu")
    assert not (tmp_path / "exploded").exists()
