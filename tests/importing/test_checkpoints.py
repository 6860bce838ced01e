"""Checkpoints of seven programs: the imported models compute the programs' numbers; others are refused by name."""

import argparse
import contextlib
import dataclasses
import functools
import json
import pickle
import re
import shutil
import sys
import types
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from attnviz import AttnvizError, ExcludePosition, ForceWords, Translator
from attnviz.analysis import posterior
from attnviz.analysis.diagram import diagram_terms
from attnviz.analysis.logit_attribution import logit_attribution, logit_attributions
from attnviz.architectures import architecture_of, could_be_of, narrate, step_texts, verifier_of
from attnviz.checkpoint import load_model, save_model
from attnviz.commands.main import main
from attnviz.importing import checkpoint_folder
from attnviz.importing.checkpoint_folder import CHECKPOINT_ENDINGS, read_checkpoint
from attnviz.importing.family import load_checkpoint, read_translator, write_checkpoint
from attnviz.importing.program import SPECIAL, Checkpoint
from attnviz.importing.unsupported import RESAVED_VOCABULARIES, opennmt_way_out
from attnviz.model_folder import model_folders, read_weights
from attnviz.reading import Limits
from attnviz.text import EOS, PAD, UNK
from attnviz.trace import WhatIfs
from tests.analysis.given import verified_names, verified_quantities
from tests.analysis.test_equations import ALWAYS, drawn
from tests.conftest import REPOSITORY
from tests.equation_symbols import symbols_of
from tests.importing.peers import PEERS, D2l, Fairseq, Joey, Opennmt, Peer, Tutorial, Tutorial2017
from tests.snapshots import plain, refusal, without_numbers
from tests.whole_recomputation import recompute

FIXTURES = Path(__file__).parent / "fixtures"
TRAINED = ("tutorial", "joey", "pytorch", "d2l", "fairseq", "opennmt")
"""Folders of checkpoints that the programs themselves trained."""
every_peer = pytest.mark.parametrize("peer", PEERS, ids=str)
PROGRAMS = [*{type(peer): peer for peer in reversed(PEERS)}.values()]
"""The simplest checkpoint of each program."""
every_program = pytest.mark.parametrize("peer", PROGRAMS, ids=str)


@dataclasses.dataclass
class Imported:
    peer: Peer
    given: Path
    made: Path

    @functools.cached_property
    def translator(self) -> Translator[Any]:
        return Translator.load(self.made, device="cpu")

    @functools.cached_property
    def weights(self) -> dict[str, Any]:
        return read_weights(self.made)

    @functools.cached_property
    def trace(self) -> Any:
        return self.translator.translate(self.peer.PAIR[0], target=self.peer.PAIR[1])

    def logits(self, trace: Any) -> list[np.ndarray]:
        """Return the logits of attnviz's network and of its recomputation, (Ty, K)."""
        network, _ = load_model(self.made)
        ids = (torch.tensor([trace.source_ids]), torch.tensor([len(trace.source_ids)]))
        with torch.inference_mode():
            found = network.output(network(*ids, torch.tensor([trace.previous_ids]))[0])[0].numpy()
        return [found, recompute(self.weights, trace.config, trace.source_ids, trace.target_ids)["logits"]]


Import = Callable[[Peer], Imported]


@pytest.fixture(scope="session")
def imported(tmp_path_factory) -> Import:
    @functools.cache
    def make(peer: Peer) -> Imported:
        folder = tmp_path_factory.mktemp("peer")
        peer.write(folder)
        length = getattr(peer.kind, "length", 9)
        options = ["--padded-length", str(length)] if length not in (9, 10) else []
        assert main(["import", str(folder), "-o", str(folder / "models" / "mine"), *options]) == 0
        return Imported(peer, folder, folder / "models" / "mine")

    return make


@pytest.fixture(scope="session")
def tutorial(imported) -> Imported:
    return imported(PEERS[0])


def _order(tokens: Sequence[str]) -> list[int]:
    """Return the ids of the program's tokens in the order of attnviz, without tokens that the program lacks."""
    first = [next((tokens.index(name) for name in names if name in tokens), None) for names in SPECIAL]
    known = [place for place in first if place is not None]
    return known + [place for place in range(len(tokens)) if place not in known]


def _columns(tokens: Sequence[str], count: int) -> list[int]:
    """Return the ids in attnviz of tokens that the program has."""
    return [place for place in range(count) if place >= len(SPECIAL) or {*SPECIAL[place]} & {*tokens}]


@every_peer
def test_every_number_is_that_of_the_program_verified_and_saved(imported, peer) -> None:
    found = imported(peer)
    logits, weights = peer.outputs(*peer.PAIR)
    assert len([place for place in found.trace.source_ids if place != PAD]) == len(peer.ids(*peer.PAIR)[0])
    for own in found.logits(found.trace):
        columns = _columns(peer.TARGET, own.shape[1])
        assert np.abs(own[:, columns] - logits[:, _order(peer.TARGET)]).max() < 1e-5
    assert np.abs(found.trace.alignment - weights).max() < 1e-5
    translator, weights = found.translator, found.weights
    for options in ({"beam": 3}, {"target": peer.PAIR[1]}, {"interventions": [ForceWords((5,), 0)]}):
        trace: Any = translator.translate(peer.PAIR[0], **options)
        assert trace.imported
        assert WhatIfs.from_json(trace.to_json()).first.fingerprint == trace.fingerprint
        assert could_be_of(trace, weights)
        verifier = verifier_of(trace, weights)
        for step in range(len(trace.target_pieces)):
            verified = verifier.verify(step)
            assert verified.holds, verified.discrepancies
            assert verified.largest_difference < 1e-5
            assert {check.quantity for check in verified.checks} >= verified_quantities(trace)
            sentences = narrate(trace, step)
            assert all(one.sentence for one in sentences)
            assert [one.number for one in sentences] == [one.number for one in architecture_of(trace).stages(trace)]
            assert step_texts(trace).texts_of_step(trace, step, "light")
        if trace.linear:
            logits = recompute(weights, trace.config, trace.source_ids, trace.target_ids)["logits"]
            cells = [(step, piece) for step in range(len(logits)) for piece in range(logits.shape[1])]
            accounts = logit_attributions(trace, weights, cells)
            assert np.abs(np.array([one.logit for one in accounts]) - logits.flatten()).max() < 1e-5
            assert accounts[0].source.shape == (len(trace.source_pieces),)


@pytest.mark.parametrize("name", TRAINED)
def test_numbers_and_translations_equal_those_of_the_training_program(name, tmp_path) -> None:
    assert main(["import", str(FIXTURES / name), "-o", str(tmp_path / "mine")]) == 0
    found = Imported(PEERS[0], FIXTURES / name, tmp_path / "mine")
    with np.load(FIXTURES / name / "peer.npz") as arrays:
        for n in range(3):
            logits, weights = arrays[f"logits{n}"], arrays[f"attention{n}"]
            trace = found.translator.translate(str(arrays[f"source{n}"]), target=str(arrays[f"target{n}"]))
            order = [*ORDERS[name], *range(len(ORDERS[name]), logits.shape[1])]
            assert trace.alignment.shape == weights.shape
            assert np.abs(trace.alignment - weights).max() < 1e-5
            assert verifier_of(trace, found.weights).verify(1).holds
            own, _ = found.logits(trace)
            assert np.abs(own[:, -len(order) :] - logits[:, order]).max() < 1e-5
            assert np.exp(own[:, : -len(order)]).sum() < 1e-30
            if f"greedy{n}" in arrays:
                written = found.translator.translate(str(arrays[f"source{n}"]), beam=1).target_ids
                added = len(found.translator.tokenizer) - len(order)
                assert [order[place - added] for place in written] == arrays[f"greedy{n}"].tolist()


ORDERS = {
    "tutorial": [1, 0],
    "joey": [1, 0],
    "pytorch": [],
    "d2l": [3, 4, 1, 2, 0],
    "fairseq": [1, 3, 0, 2],
    "opennmt": [1, 0],
}
"""Ids in the program of the first tokens in attnviz; the tutorial on pytorch.org has neither PAD nor UNK."""


@every_program
def test_altered_number_is_detected_and_a_step_described(imported, peer, snapshot) -> None:
    found = imported(peer)
    for name in ("initial_states", "energies", "alignment", "contexts", "layer_states", "readouts", "annotations"):
        array = getattr(found.trace, name).copy()
        array.flat[array.size // 2] += 0.01
        verifier = verifier_of(dataclasses.replace(found.trace, **{name: array}), found.weights)
        steps = range(len(found.trace.target_pieces))
        wrong = {one.quantity for step in steps for one in verifier.verify(step).discrepancies}
        assert verified_names(found.trace, name) & wrong
    trace = imported(peer).trace
    stages = [*narrate(trace, 1), *narrate(trace, 1, simple=True)]
    equations = step_texts(trace).equation_templates(trace, "light")
    assert [without_numbers(f"{one.title}: {one.sentence}") for one in stages] == snapshot
    assert [without_numbers(f"{one.latex} {one.note}") for one in equations] == snapshot


@pytest.mark.parametrize("peer", [PROGRAMS[0], Opennmt()], ids=str)
def test_imported_model_works_in_every_command(imported, peer, tmp_path, capsys) -> None:
    found = imported(peer)
    assert [folder.name for folder in model_folders(found.made.parent)] == ["mine"]
    pairs, model, source = str(tmp_path / "pairs.tsv"), ["--model", str(found.made)], peer.PAIR[0]
    Path(pairs).write_text("\t".join(peer.PAIR) + "\n", encoding="utf-8")
    step = ["figure", *model, source, "--step", "1", "--picture"]
    for command in (
        ["align", *model, "--words", pairs],
        ["evaluate", *model, pairs],
        ["figure", "--checkpoint", str(found.given), source, "--end", "-o", str(tmp_path / "made.csv")],
        ["corpus", *model, "-o", str(tmp_path / "made.parquet"), pairs],
    ):
        assert main(command) == 0, capsys.readouterr().err
    (row,) = parquet.read_table(tmp_path / "made.parquet").to_pylist()
    assert row["source_words"] == source.split()
    assert row["target_length"] == len(row["target_words"])
    assert "</s>" in (tmp_path / "made.csv").read_text(encoding="utf-8-sig")
    if found.trace.linear:
        assert main([*step, "logit-attribution", "-o", str(tmp_path / "logits.csv")]) == 0
        assert "bias" in (tmp_path / "logits.csv").read_text(encoding="utf-8-sig")
    capsys.readouterr()
    assert main(["align", *model, "--after", pairs]) == 2
    assert main([*step, "maxout", "-o", str(tmp_path / "x.csv")]) == 2
    assert "imported" in capsys.readouterr().err


def test_start_mark_of_a_source_is_no_word_of_a_corpus(tutorial, tmp_path, capsys) -> None:
    pairs, model = tmp_path / "pairs.tsv", ["--model", str(tutorial.made)]
    source, target = "ein mann schläft .", "a man sleeps ."
    pairs.write_text(f"{source}\t{target}\n", encoding="utf-8")
    trace = tutorial.translator.translate(source, target=target)
    assert trace.source_pieces[0] == "<s>"
    assert main(["corpus", *model, "-o", str(tmp_path / "made.parquet"), str(pairs)]) == 0
    (row,) = parquet.read_table(tmp_path / "made.parquet").to_pylist()
    assert (row["source_words"], row["source_length"], row["length_ratio"]) == (source.split(), 4, 1)
    assert np.allclose(row["coverage"], trace.alignment[:, 1:-1].sum(axis=0), atol=1e-5)
    assert max(link["j"] for link in row["links_before"]) < 4
    capsys.readouterr()
    assert main(["align", "--words", *model, str(pairs)]) == 0
    links = {f"{j - 1}-{i}" for i, j in enumerate(trace.alignment[:-1].argmax(axis=1)) if 0 < j < 5}
    printed = capsys.readouterr().out.rstrip("\n").split("\t")
    assert printed[:2] == [source, target]
    assert links <= {*printed[2].split()}


def test_typed_text_is_split_and_every_equation_symbol_drawn(tutorial) -> None:
    trace = tutorial.translator.translate("Ein Hund, schläft zuhause im Park.", beam=1)
    assert trace.words().source == ("<s>", "ein", "hund", ",", "schläft", "zuhause", "im", "park", ".", "</s>")
    assert trace.unknown_characters == (",", "zuhause")
    special = tutorial.translator.translate("<s> <unk>", beam=1)
    assert set(special.source_ids[1:-1]) == {1}, "special tokens cannot be typed"
    for text in ("", "\u200b", "ein " * 300):
        with pytest.raises(AttnvizError):
            tutorial.translator.translate(text, beam=1)
    trace = tutorial.trace
    symbols = symbols_of(step_texts(trace).equation_templates(trace, "light"), 1)
    found = set(drawn(diagram_terms(trace), 1))
    inner = {one for one in symbols if one[0] not in ALWAYS - {"x"} or "\u0303" in one}
    assert {one for one in inner if not {one, one[0]} & found} == set(), "weights of one letter are that letter"
    assert {"Wa", "ba", "x2", "r2", "bo"} <= symbols & found


def test_what_an_imported_model_cannot_do_is_said(tutorial, imported, snapshot) -> None:
    trace, translator = tutorial.trace, tutorial.translator
    refused = {
        "posterior attention": refusal(lambda: posterior(trace, tutorial.weights)),
        "attributions": refusal(lambda: translator.attributions(trace)),
        "changed attention": refusal(lambda: translator.translate("ein", interventions=[ExcludePosition(0)], beam=1)),
    }
    through_tanh = imported(PEERS[1])
    with pytest.raises(ValueError, match="tanh") as error:
        logit_attribution(through_tanh.trace, through_tanh.weights, 0, 4)
    assert refused | {"logits through tanh": str(error.value)} == snapshot
    assert translator.translate("ein mann", interventions=[ForceWords((6,), 0)], beam=1).target_ids[0] == 6


@pytest.mark.parametrize("beam", [1, 3])
def test_no_search_ends_before_the_first_word_and_unknown_words_may_be_forbidden(tmp_path, beam, capsys) -> None:
    Joey().write(tmp_path)
    write_checkpoint(load_checkpoint(tmp_path), tmp_path / "mine")
    translator = Translator.load(tmp_path / "mine", device="cpu")
    network, source = translator.network, Joey.PAIR[0]
    with torch.inference_mode():
        network.output.bias[EOS] = 1e3
    assert len(translator.translate(source, beam=beam).target_ids) == 2
    with torch.inference_mode():
        network.output.bias[EOS], network.output.bias[UNK] = 10, 20
    for chosen in (True, False):
        assert translator.unk or not chosen
        translator.unk = chosen
        for trace in (translator.translate(source, beam=beam), *translator.translate_together([source], beam=beam)):
            assert (UNK in trace.target_ids) is chosen
        assert ("<unk>" in translator.translate_batch([source], beam=beam)[0]) is chosen
    save_model(tmp_path / "mine", network, translator.tokenizer)
    for options, expected in (([], True), (["--unk"], True), (["--no-unk"], False)):
        assert main(["translate", "--model", str(tmp_path / "mine"), "--beam", str(beam), *options, source]) == 0
        assert ("<unk>" in capsys.readouterr().out) is expected


def test_half_option_rounds_weights_to_float16(tutorial, tmp_path) -> None:
    assert main(["import", str(tutorial.given), "-o", str(tmp_path / "mine"), "--half"]) == 0
    weights = read_weights(tmp_path / "mine")
    assert {array.dtype for array in weights.values()} == {np.dtype(np.float16)}
    trace = Translator.load(tmp_path / "mine", device="cpu").translate("ein mann", beam=1)
    assert verifier_of(trace, weights).verify(0).holds
    large = load_checkpoint(tutorial.given)
    large.weights["decoder.output.bias"][0] = -1e5
    with pytest.raises(AttnvizError, match=r"decoder\.output\.bias"):
        write_checkpoint(large, tmp_path / "large", half=True)
    large.weights["decoder.output.bias"][0] = 65504
    write_checkpoint(large, tmp_path / "large", half=True)


def _change(name: str, old: str, new: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text((folder / name).read_text("utf-8").replace(old, new, 1), "utf-8")


DAMAGED_MODELS: Mapping[str, Callable[[Path], object]] = {
    "no vocabularies": lambda folder: (folder / "vocabularies.json").unlink(),
    "empty vocabularies": lambda folder: (folder / "vocabularies.json").write_text("{}"),
    "one token more": _change("vocabularies.json", '"ein"', '"ein","noch"'),
    "readout": _change("config.json", '"joined"', '"tanh"'),
    "lstm": _change("config.json", '"cell": "gru"', '"cell": "lstm"'),
    "layers": _change("config.json", '"layers": 1', '"layers": 65'),
    "hidden size": _change("config.json", '"hidden_size": 12', '"hidden_size": 13'),
}


def test_damaged_model_folders_are_refused_and_own_models_kept(tutorial, tmp_path, snapshot, capsys) -> None:
    refused = {}
    for name, damage in DAMAGED_MODELS.items():
        folder = shutil.copytree(tutorial.made, tmp_path / "mine", dirs_exist_ok=True)
        damage(folder)
        refused[name] = refusal(lambda folder=folder: Translator.load(folder, device="cpu"), tmp_path)
    assert refused == snapshot
    record = {"format": "attnviz-model", "version": 2, "model": {"vocabulary_size": 10}}
    (tmp_path / "config.json").write_text(json.dumps(record))
    assert main(["import", str(tutorial.given), "-o", str(tmp_path)]) == 2
    assert "was not imported" in capsys.readouterr().err


State = dict[str, Any]


def _halves(state: State) -> State:
    return {
        half: {name.removeprefix(f"{half}."): one for name, one in state.items() if name.startswith(half)}
        for half in ("encoder", "decoder")
    }


def _same_weights(one: Checkpoint, other: Checkpoint) -> bool:
    names = {*one.weights} | {*other.weights}
    return all(np.array_equal(one.weights[name], other.weights[name]) for name in names)


WRAPPED: Mapping[str, Callable[[State], State]] = {
    "older names": lambda state: {
        "epoch": 3,
        "model_state_dict": {
            "module." + name.replace("attn_fc", "attn").replace("v_fc", "v"): one for name, one in state.items()
        },
    },
    "compiled and parallel": lambda state: {f"_orig_mod.module.{name}": one for name, one in state.items()},
    "lightning": lambda state: {
        "state_dict": {f"model.{name}": one for name, one in state.items()},
        "hyper_parameters": argparse.Namespace(size=3),
        "epoch": 1,
    },
    "one dictionary of both": _halves,
    "a part listed twice": lambda state: state | {"attention.v.weight": state["decoder.attention.v_fc.weight"]},
    "a shared part beside both": lambda state: {
        **_halves(state),
        "embedding": {"weight": state["encoder.embedding.weight"]},
        "optimizer": {"state": {}, "param_groups": []},
    },
}


@pytest.mark.parametrize("name", WRAPPED)
def test_wrapped_checkpoints_are_read(name, tmp_path) -> None:
    peer = Tutorial()
    peer.write(tmp_path)
    expected = load_checkpoint(tmp_path)
    torch.save(WRAPPED[name](dict(peer.state)), tmp_path / "tut3-model.pt")
    assert _same_weights(load_checkpoint(tmp_path), expected)


def test_encoder_and_decoder_in_two_files_are_read(tmp_path) -> None:
    peer = Tutorial()
    peer.write(tmp_path)
    expected = load_checkpoint(tmp_path)
    whole = (tmp_path / "tut3-model.pt").rename(tmp_path / "decoder-of-mine.pt")
    assert _same_weights(load_checkpoint(tmp_path), expected)
    whole.unlink()
    for name, half in _halves(peer.state).items():
        torch.save(half, tmp_path / f"EN-{name if name == 'decoder' else 'Encoder'}.pt")
    for path in (tmp_path, tmp_path / "EN-Encoder.pt", tmp_path / "EN-decoder.pt"):
        assert _same_weights(load_checkpoint(path), expected)


def test_one_of_several_checkpoints_can_be_chosen(tmp_path, capsys, snapshot) -> None:
    Fairseq().write(tmp_path)
    for number in (1, 2, 10):
        (tmp_path / f"checkpoint{number}.pt").write_bytes(b"another")
    capsys.readouterr()
    assert main(["import", str(tmp_path), "-o", str(tmp_path / "made")]) == 0
    assert plain(capsys.readouterr().out, tmp_path) == snapshot(name="the best is read")
    (tmp_path / "checkpoint_best.pt").rename(tmp_path / "checkpoint3.pt")
    assert refusal(lambda: load_checkpoint(tmp_path), tmp_path) == snapshot(name="none is the best")
    for number in range(20, 30):
        (tmp_path / f"checkpoint{number}.pt").write_bytes(b"another")
    assert refusal(lambda: load_checkpoint(tmp_path), tmp_path) == snapshot(name="many")
    chosen, other = load_checkpoint(tmp_path / "checkpoint3.pt"), tmp_path / "other.pt"
    assert chosen.family == "fairseq"
    torch.save({"model": Fairseq(seed=1).state}, other)
    (tmp_path / "dict.de.txt").rename(tmp_path / "dict.src.txt")  # it names no languages
    (tmp_path / "dict.en.txt").rename(tmp_path / "dict.tgt.txt")
    assert {*load_checkpoint(other).source} == {*Fairseq.SOURCE}
    assert not _same_weights(load_checkpoint(other), chosen)


@pytest.mark.parametrize(
    "names", [{"encoder.": "enc."}, {"decoder.": "dec."}, {"encoder.": "a.", "decoder.": "b."}], ids=str
)
def test_renamed_attributes_are_compared_with_the_nearest_program_and_can_be_mapped(tmp_path, names, snapshot) -> None:
    peer = Tutorial()
    peer.write(tmp_path)
    expected, state = load_checkpoint(tmp_path), dict(peer.state)
    for old, new in names.items():
        state = {new + name.removeprefix(old) if name.startswith(old) else name: a for name, a in state.items()}
    torch.save(state, tmp_path / "tut3-model.pt")
    assert refusal(lambda: load_checkpoint(tmp_path), tmp_path) == snapshot
    back = {new: old for old, new in names.items()}
    assert _same_weights(load_checkpoint(tmp_path, rename=back), expected)
    with pytest.raises(AttnvizError, match=r"other\."):
        load_checkpoint(tmp_path, rename=back | {"other.": "encoder."})


@pytest.mark.parametrize("name", TRAINED)
def test_unknown_entry_of_state_dict_is_never_ignored(name, tmp_path) -> None:
    shutil.copytree(FIXTURES / name, tmp_path, dirs_exist_ok=True)
    path = next(path for path in sorted(tmp_path.iterdir()) if path.suffix in CHECKPOINT_ENDINGS)
    values = {
        "real": torch.ones(2, 2),
        "integers": torch.ones(2, 2, dtype=torch.int8),
        "truth": torch.tensor(True),
        "sparse": torch.eye(2).to_sparse(),
        "complex": torch.ones(2, dtype=torch.complex64),
        "expanded": torch.zeros(1).expand(10**6, 10**6),
        "meta": torch.zeros(2, device="meta"),
    } | ({"packed": (torch.ones(2), None)} if name in ("fairseq", "opennmt", "joey") else {})
    content = torch.load(path, weights_only=False)
    for entry, value in values.items():
        torch.save(_with_entries(content, {f"decoder.of_mine_{entry}": value}), path)
        with pytest.raises(AttnvizError, match=f"of_mine_{entry}"):
            load_checkpoint(tmp_path)


def _with_entries(content: State, entries: Mapping[str, Any]) -> State:
    """Return a loaded checkpoint with other entries in its state dict, or without those that are None."""
    for key in ("model", "model_state"):
        if key in content:
            return content | {key: _with_entries(content[key], entries)}
    return {name: value for name, value in {**content, **entries}.items() if value is not None}


Damage = Callable[[Path], object]


def _saved(peer: Peer, **changes: Any) -> Damage:
    """Return the damage of a checkpoint in which entries of the state dict are replaced, or taken out if None."""

    def damage(folder: Path) -> None:
        peer.write(folder)
        path = max(path for path in folder.iterdir() if path.suffix in CHECKPOINT_ENDINGS)
        torch.save(_with_entries(torch.load(path, weights_only=False), changes), path)

    return damage


def _file(peer: Peer, name: str, content: str | bytes | None) -> Damage:
    """Return the damage of a folder in which a file is replaced, or missing if None."""

    def damage(folder: Path) -> None:
        peer.write(folder)
        (folder / name).unlink(missing_ok=True)
        if name == "source.json":
            (folder / "source.txt").unlink()
        if content is not None:
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return damage


def _names(*names: str) -> Damage:
    return lambda folder: torch.save(dict.fromkeys((*names, "other.weight"), torch.ones(2)), folder / "model.pt")


_T, _J, _F = Tutorial(), Joey(), Fairseq()
MODEL = "tut3-model.pt"
GATES = (("weight_ih", 8), ("weight_hh", 8), ("bias_ih",), ("bias_hh",))
DAMAGED: Mapping[str, Damage] = {
    "lacks the readout": _saved(_T, **{"decoder.fc_out.weight": None}),
    "one tensor more": _saved(_T, **{"decoder.copy.weight": torch.zeros(2)}),
    "shape of the GRU": _saved(_T, **{"encoder.rnn.weight_ih_l0": torch.zeros(40, 8)}),
    "shape of the score": _saved(_T, **{"decoder.attention.v_fc.weight": torch.zeros(1, 5)}),
    "shape of the bridge": _saved(_T, **{"encoder.fc.weight": torch.zeros(3)}),
    "another part of the same name": _saved(_T, **{"attention.v.weight": torch.zeros(1, 12)}),
    "NaN": _saved(_T, **{"encoder.fc.bias": torch.full((12,), torch.nan)}),
    "infinite": _saved(_T, **{"encoder.fc.bias": torch.full((12,), torch.inf)}),
    "no tensors": _saved(_T, **dict.fromkeys(_T.state)),
    "no pickle": _file(_T, MODEL, b"?"),
    "a function in a pickle": _file(_T, MODEL, pickle.dumps(print)),
    "a fraction among the options": lambda folder: torch.save({"lr": Fraction(1, 2)}, folder / "model.pt"),
    "no checkpoint": _file(_T, MODEL, None),
    "no target vocabulary": _file(_T, "target.txt", None),
    "too few tokens": _file(_T, "target.txt", "a\n"),
    "not UTF-8": _file(_T, "target.txt", b"\xff"),
    "no <unk>": _file(_T, "source.txt", "\n".join(_T.SOURCE).replace("<unk>", "unk")),
    "vocabulary of numbers": _file(_T, "source.json", "[1, 2]"),
    "vocabulary with a gap": _file(_T, "source.json", '{"a": 0, "b": 2}'),
    "vocabulary with ids as text": _file(_T, "source.json", '{"a": "0"}'),
    "vocabulary as number": _file(_T, "source.json", "3"),
    "vocabulary of no JSON": _file(_T, "source.json", '["a"'),
    "Joey: lacks the bias of the bridge": _saved(_J, **{"decoder.bridge_layer.bias": None}),
    "Joey: lacks a recurrent weight": _saved(_J, **{"decoder.rnn.weight_hh_l0": None}),
    "Joey: shape of the embedding": _saved(_J, **{"trg_embed.lut.weight": torch.zeros(3)}),
    "Joey: model is a number": _file(_J, "config.yaml", "model: 3"),
    "Joey: embeddings are a number": _file(_J, "config.yaml", "model: {encoder: {embeddings: 3}, decoder: {}}"),
    "Joey: no encoder": _file(_J, "config.yaml", "model: {decoder: {}}"),
    "Joey: no YAML": _file(_J, "config.yaml", "{"),
    "Joey: activation": _file(_J, "config.yaml", "model: {encoder: {}, decoder: {activation: relu}}"),
    "Joey: first state is a list": _file(_J, "config.yaml", "model: {encoder: {}, decoder: {init_hidden: [1]}}"),
    "Joey: first state": _file(_J, "config.yaml", "model: {encoder: {}, decoder: {init_hidden: last}}"),
    "Joey: no configuration": _file(_J, "config.yaml", None),
    "Joey: no target vocabulary": _file(_J, "trg_vocab.txt", None),
    "fairseq: no target dictionary": _file(_F, "dict.en.txt", None),
    "fairseq: no counts": _file(_F, "dict.en.txt", "the\ndog\n"),
    "fairseq: too few tokens": _file(_F, "dict.en.txt", "the 3\ndog 2\n"),
    "fairseq: dictionary not UTF-8": _file(_F, "dict.en.txt", b"\xff 3\n"),
    "OpenNMT: no vocabulary": _file(Opennmt(older=True), "source.txt", None),
    "D2l: more layers of the encoder": _saved(
        D2l(), **{f"encoder.rnn.rnn.{name}_l2": torch.zeros(24, *into) for name, *into in GATES}
    ),
    "a transformer of d2l": _names("encoder.blks.block0.attention.attention.W_q.weight", "decoder.blks.block0.x"),
    "eole": _names("src_emb.embeddings.weight", "decoder.rnn.layers.0.weight_ih"),
    "a transformer of eole": _names("src_emb.embeddings.weight", "decoder.transformer_layers.0.weight"),
    "a transformer of fairseq": _names("encoder.embed_tokens.weight", "encoder.layers.0.self_attn.k_proj.weight"),
    "a transformer of OpenNMT-py": _names(
        "encoder.embeddings.make_embedding.emb_luts.0.weight", "encoder.transformer.0.self_attn.linear_keys.weight"
    ),
    "Marian": _names("encoder_bi_U", "decoder_cell1_U"),
    "a transformer": _names("encoder.layers.0.self_attn.k_proj.weight"),
} | {
    f"{type(peer).__name__}: {part}": _saved(peer, **{name: value})
    for peer, cell in (
        (D2l(), "decoder.rnn.weight_ih_l0"),
        (Fairseq(), "decoder.layers.0.weight_ih"),
        (Opennmt(), "decoder.rnn.layers.0.weight_ih"),
        (Tutorial2017(), "gru.weight_ih_l0"),
    )
    for part, name, value in (
        ("lacks a weight", cell, None),
        ("one tensor more", cell.replace("weight", "gate"), torch.zeros(2, 2)),
        ("another shape", cell, torch.zeros(6, 4)),
        ("another rank", cell, torch.zeros(6)),
    )
}
SHORT = re.compile(r"( If your copy of the program).*", re.DOTALL)
"""The end of the sentences about structure, the same for all: it is kept where a weight is lacking."""


def test_other_structures_and_damage_are_refused(tmp_path, snapshot) -> None:
    refused = {}
    for place, (name, damage) in enumerate(DAMAGED.items()):
        folder = tmp_path / str(place)
        folder.mkdir()
        damage(folder)
        message = refusal(lambda folder=folder: load_checkpoint(folder), folder)
        refused[name] = message if "lacks" in name else SHORT.sub(" …", message)
    assert refused == snapshot


@pytest.mark.parametrize(
    ("option", "value", "tensor"),
    [
        ("global_attention_function", "sparsemax", None),
        ("global_attention", "none", None),
        ("generator_function", "sparsemax", None),
        ("rnn_type", "SRU", "encoder.rnn.rnn_lst.0.weight"),
        ("encoder_type", "cnn", "encoder.cnn.layers.0.conv.conv.weight_v"),
        ("decoder_type", "cnn", "decoder.conv_layers.0.conv.weight_v"),
        ("context_gate", "both", "decoder.context_gate.context_gate.gate.weight"),
        ("copy_attn", True, "generator.linear_copy.weight"),
        ("position_encoding", True, "decoder.embeddings.make_embedding.pe.pe"),
        ("n_src_feats", 1, "encoder.embeddings.make_embedding.emb_luts.1.weight"),
        ("lora_layers", ["linear_in"], "decoder.attn.linear_in.lora_A"),
        ("quant_layers", ["linear_in"], "decoder.attn.linear_in.qweight"),
    ],
)
def test_option_that_changes_the_computation_is_refused_by_name(tmp_path, option, value, tensor) -> None:
    Opennmt().write(tmp_path)
    path = tmp_path / "model_step_3.pt"
    content = torch.load(path, weights_only=False)
    altered = [dict(content, opt=Namespace(**{option: value})), dict(content, opt={option: value})]
    if tensor:  # also where a file lacks the options
        altered.append({"model": {**content["model"], tensor: torch.ones(2, 2)}, "generator": content["generator"]})
    for stored in altered:
        torch.save(stored, path)
        with pytest.raises(AttnvizError, match=f"-{option}") as error:
            load_checkpoint(tmp_path)
        assert opennmt_way_out() in str(error.value)


def test_what_was_assumed_is_said(tmp_path, snapshot) -> None:
    D2l().write(tmp_path)
    older = {name.replace("rnn.rnn", "rnn"): one for name, one in D2l().state.items()}
    torch.save(older, tmp_path / "older.pt")
    Opennmt().write(tmp_path)
    path = tmp_path / "model_step_3.pt"
    assert not load_checkpoint(path).remarks
    content = torch.load(path, weights_only=False)
    torch.save({name: content[name] for name in ("model", "generator", "vocab")}, path)
    assert [load_checkpoint(tmp_path / name).remarks for name in (path.name, "model.pt", "older.pt")] == snapshot
    given = load_checkpoint(tmp_path / "model.pt", 12)
    assert (given.settings["source_length"], given.remarks) == (12, ())


@pytest.fixture
def field_of(monkeypatch) -> Callable[[Sequence[str]], Any]:
    """Return a function that makes the vocabulary of one side as OpenNMT-py 1 and 2 do, of stand-ins."""
    classes = {}
    for module, name in (("torchtext.data.field", "Field"), ("onmt.inputters.text_dataset", "TextMultiField")):
        classes[name] = type(name, (Namespace,), {"__module__": module})
        parents = module.split(".")
        for end in range(1, len(parents) + 1):
            path = ".".join(parents[:end])
            monkeypatch.setitem(sys.modules, path, types.ModuleType(path))
        monkeypatch.setattr(sys.modules[module], name, classes[name], raising=False)
    return lambda tokens: classes["TextMultiField"](base_field=classes["Field"](vocab=Namespace(itos=[*tokens])))


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "before-torch-1.6"])
def test_pickled_vocabularies_are_named_and_saved_as_lists_by_the_lines_given(
    tmp_path, zipped, field_of, monkeypatch, snapshot
) -> None:
    peer = Opennmt(rnn="GRU", bidirectional=False, feeding=False, older=True)
    peer.write(tmp_path)
    expected, path = load_checkpoint(tmp_path), tmp_path / "model_step_3.pt"
    content = torch.load(path, weights_only=False)
    content["vocab"] = {"src": field_of(peer.SOURCE), "tgt": field_of(peer.TARGET)}
    torch.save(content, tmp_path / "model.pt", _use_new_zipfile_serialization=zipped)
    for name in ("source.txt", "target.txt", path.name):
        (tmp_path / name).unlink()
    message = refusal(lambda: load_checkpoint(tmp_path), tmp_path)
    assert message == snapshot
    with monkeypatch.context() as older:
        older.chdir(tmp_path)
        older.setattr(torch, "load", functools.partial(torch.load, weights_only=False))  # as before torch 2.6
        exec(message.partition("\n\n")[2], {})
    found = load_checkpoint(tmp_path / "plain.pt")
    assert not found.remarks
    assert (found.source, found.target, _same_weights(found, expected)) == (expected.source, expected.target, True)
    guide = (REPOSITORY / ".docs/pages/model.md").read_text(encoding="utf-8")
    assert f"```python\n{RESAVED_VOCABULARIES}```" in guide


@given(
    peer=st.sampled_from(PEERS),
    changes=st.lists(st.tuples(st.integers(0, 40), st.lists(st.integers(0, 30), max_size=3)), min_size=1, max_size=2),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_tensor_shapes_translate_or_are_refused(imported, tmp_path, peer, changes) -> None:
    stored = read_checkpoint(imported(peer).given)
    tensors = dict(stored.tensors)
    for place, shape in changes:
        tensors[list(tensors)[place % len(tensors)]] = np.zeros(shape)
    with contextlib.suppress(AttnvizError):
        write_checkpoint(read_translator(dataclasses.replace(stored, tensors=tensors)), tmp_path / "made")
        Translator.load(tmp_path / "made", device="cpu").translate(peer.PAIR[0], beam=1)


def test_large_checkpoints_are_refused(tmp_path, monkeypatch) -> None:
    torch.save({"weight": torch.zeros(8)}, tmp_path / "model.pt")
    monkeypatch.setattr(checkpoint_folder, "_LIMITS", Limits(bytes=100))
    with pytest.raises(AttnvizError, match="MB"):
        read_checkpoint(tmp_path / "model.pt")
