"""Checkpoints of d2l.ai, fairseq, OpenNMT-py and PyTorch's old tutorial: the imports compute the same numbers."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import sys
import types
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Translator
from attnviz.analysis.logit_attribution import logit_attributions
from attnviz.analysis.recomputation import recompute
from attnviz.architectures import narrate, step_texts, verifier_of
from attnviz.checkpoint import load_model, save_model
from attnviz.commands.main import main
from attnviz.importing.checkpoint_folder import read_checkpoint
from attnviz.importing.family import load_checkpoint, read_translator, write_checkpoint
from attnviz.importing.program import SPECIAL
from attnviz.importing.unsupported import RESAVED_VOCABULARIES, opennmt_way_out
from attnviz.model_folder import read_weights
from attnviz.text import EOS, PAD, UNK
from attnviz.trace import WhatIfs
from attnviz.trace.interventions import ForceWords
from tests.analysis.given import verified_names, verified_quantities
from tests.importing import d2l_book, fairseq_lstm, opennmt_py, pytorch_tutorial_2017
from tests.snapshots import plain, without_numbers


@dataclasses.dataclass(frozen=True)
class Case:
    """One form of a program's translator, and a pair of sentences in its vocabularies."""

    peer: Any
    """The module of the program in these tests."""
    kind: Any
    pair: tuple[str, str]
    closed: bool = True
    options: tuple[str, ...] = ()
    """Options of `attnviz import`."""

    @property
    def ids(self) -> tuple[list[int], list[int]]:
        """The sentences in the program's own ids, with its end tokens."""
        source, target = (text.split() for text in self.pair)
        end = [next(name for name in SPECIAL[EOS] if name in self.peer.TARGET)]
        return (
            [self.peer.SOURCE.index(token) for token in source + end * self.closed],
            [self.peer.TARGET.index(token) for token in target + end],
        )

    def write(self, folder: Path, seed: int = 0) -> Any:
        """Write a checkpoint to `folder`; return its model."""
        return self.peer.write_model(folder, self.kind, seed)


D2L = ("he is lost .", "il est perdu .")
CASES = (
    Case(d2l_book, d2l_book.Kind(), D2L),
    Case(d2l_book, d2l_book.Kind(layers=1, newer=False, length=10), D2L),
    Case(d2l_book, d2l_book.Kind(layers=3, length=4), D2L, options=("--padded-length", "4")),
    Case(d2l_book, d2l_book.Kind(length=30), D2L, options=("--padded-length", "30")),
)
JOINT = ("der hund schläft .", "the dog sleeps .")
CASES += tuple(
    Case(fairseq_lstm, kind, JOINT)
    for kind in (
        fairseq_lstm.Kind(),
        fairseq_lstm.Kind(bidirectional=True, layers=2, state=12, out=7),
        fairseq_lstm.Kind(bidirectional=True, state=16, out=16, shared=True, newer=False),
        fairseq_lstm.Kind(layers=2, out=5, shared=True),
    )
)
CASES += tuple(
    Case(opennmt_py, kind, JOINT, closed=False)
    for kind in (
        opennmt_py.Kind(),
        opennmt_py.Kind(rnn="GRU", attention="mlp", layers=2),
        opennmt_py.Kind(bidirectional=False, attention="dot", layers=2),
        opennmt_py.Kind(rnn="GRU", bidirectional=False, feeding=False, older=True),
        opennmt_py.Kind(attention="mlp", feeding=False, older=True),
        opennmt_py.Kind(attention="dot", start="</s>"),
        opennmt_py.Kind(safe=True),
        opennmt_py.Kind(layers=2, bridge=True),
        opennmt_py.Kind(rnn="GRU", attention="mlp", bridge=True, coverage=True),
        opennmt_py.Kind(bidirectional=False, layers=3, attention="dot", feeding=False, bridge=True),
    )
)
CASES += tuple(
    Case(pytorch_tutorial_2017, kind, ("il est fatigue .", "he is so tired ."))
    for kind in (pytorch_tutorial_2017.Kind(), pytorch_tutorial_2017.Kind(positions=5, size=6))
)
CASES += (Case(d2l_book, d2l_book.Kind(biased=True), D2L),)
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.peer.__name__}, {case.kind}")
every_program = pytest.mark.parametrize(
    "case", {case.peer: case for case in reversed(CASES)}.values(), ids=lambda case: case.peer.__name__
)


def _import(folder: Path, case: Case) -> tuple[Any, Path]:
    peer, made = case.write(folder), folder / "models" / "mine"
    assert main(["import", str(folder), "-o", str(made), *case.options]) == 0
    return peer, made


def _order(tokens: Sequence[str], known: int) -> list[int]:
    """Return the ids of the program's tokens in the order of attnviz, without tokens that the program lacks."""
    first = [next((tokens.index(name) for name in names if name in tokens), None) for names in SPECIAL]
    return [place for place in first if place is not None] + [place for place in range(known) if place not in first]


@every_case
def test_imported_model_computes_the_same_in_torch_and_numpy(tmp_path: Path, case: Case) -> None:
    peer, made = _import(tmp_path, case)
    expected, weights = peer.force_decode(*case.ids)
    order = _order(case.peer.TARGET, expected.shape[1])
    trace: Any = Translator.load(made, device="cpu").translate(case.pair[0], target=case.pair[1])
    assert len([place for place in trace.source_ids if place != PAD]) == len(case.ids[0])
    network, _ = load_model(made)
    previous = torch.tensor([trace.previous_ids])
    with torch.inference_mode():
        logits = network.logits(torch.tensor([trace.source_ids]), torch.tensor([len(trace.source_ids)]), previous)[0]
    again = recompute(read_weights(made), trace.config, trace.source_ids, trace.target_ids)
    columns = [place for place in range(len(again["logits"][0])) if not _is_added(case, place)]
    assert np.abs(logits.numpy()[:, columns] - expected.numpy()[:, order]).max() < 1e-5
    assert np.abs(again["logits"][:, columns] - expected.numpy()[:, order]).max() < 1e-5
    assert np.abs(trace.alignment - weights.numpy()).max() < 1e-5


def _is_added(case: Case, place: int) -> bool:
    """Return whether the program lacks the special token with this id."""
    return place < len(SPECIAL) and not {*SPECIAL[place]} & {*case.peer.TARGET}


@every_case
def test_sentences_of_a_batch_are_translated_as_alone(tmp_path: Path, case: Case) -> None:
    _, made = _import(tmp_path, case)
    translator, texts = Translator.load(made, device="cpu"), [case.pair[0], *case.pair[0].split()[:2]]
    for together, text in zip(translator.translate_together(texts, beam=1), texts, strict=True):
        alone = translator.translate(text, beam=1)
        assert together.target_ids == alone.target_ids
        assert np.abs(together.energies - alone.energies).max() < 1e-4


@every_case
def test_every_number_is_verified_and_saved(tmp_path: Path, case: Case) -> None:
    _, made = _import(tmp_path, case)
    translator, weights = Translator.load(made, device="cpu"), read_weights(made)
    for options in ({"beam": 3}, {"target": case.pair[1]}, {"interventions": [ForceWords((5,), 0)]}):
        trace: Any = translator.translate(case.pair[0], **options)
        assert trace.imported
        assert WhatIfs.from_json(trace.to_json()).first.fingerprint == trace.fingerprint
        verifier = verifier_of(trace, weights)
        for step in range(len(trace.target_pieces)):
            found = verifier.verify(step)
            assert found.holds, found.discrepancies
            assert found.largest_difference < 1e-5
            assert {check.quantity for check in found.checks} >= verified_quantities(trace)
            assert all(one.sentence for one in narrate(trace, step))
            assert step_texts(trace).texts_of_step(trace, step, "light")
        if trace.linear:
            logits = recompute(weights, trace.config, trace.source_ids, trace.target_ids)["logits"]
            cells = [(step, piece) for step in range(len(logits)) for piece in range(logits.shape[1])]
            found_logits = [account.logit for account in logit_attributions(trace, weights, cells)]
            assert np.abs(np.array(found_logits) - logits.flatten()).max() < 1e-5


@every_program
def test_sentences_of_a_step(tmp_path: Path, case: Case, snapshot: SnapshotAssertion) -> None:
    _, made = _import(tmp_path, case)
    trace: Any = Translator.load(made, device="cpu").translate(case.pair[0], target=case.pair[1])
    stages = [*narrate(trace, 1), *narrate(trace, 1, simple=True)]
    assert [without_numbers(f"{one.title}: {one.sentence}") for one in stages] == snapshot
    assert [
        without_numbers(f"{one.latex} {one.note}") for one in step_texts(trace).equation_templates(trace, "light")
    ] == snapshot


@every_program
@pytest.mark.parametrize("name", ["initial_states", "energies", "contexts", "layer_states", "readouts", "annotations"])
def test_altered_number_is_detected(tmp_path: Path, case: Case, name: str) -> None:
    _, made = _import(tmp_path, case)
    trace: Any = Translator.load(made, device="cpu").translate(*case.pair[:1], target=case.pair[1])
    array = getattr(trace, name).copy()
    array.flat[array.size // 2] += 0.01
    verifier = verifier_of(dataclasses.replace(trace, **{name: array}), read_weights(made))
    wrong = {one.quantity for step in range(len(trace.target_pieces)) for one in verifier.verify(step).discrepancies}
    assert verified_names(trace, name) & wrong


@every_program
def test_imported_model_works_in_every_command(tmp_path: Path, case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    _, made = _import(tmp_path, case)
    pairs, model = tmp_path / "pairs.tsv", ["--model", str(made)]
    pairs.write_text("\t".join(case.pair) + "\n", encoding="utf-8")
    capsys.readouterr()
    for command in (
        ["translate", *model, "--json", case.pair[0]],
        ["align", *model, "--words", str(pairs)],
        ["evaluate", *model, str(pairs)],
        ["figure", *model, case.pair[0], "-o", str(tmp_path / "made.html")],
        ["figure", "--checkpoint", str(tmp_path), case.pair[0], "-o", str(tmp_path / "made.csv")],
        ["corpus", *model, "-o", str(tmp_path / "made.parquet"), str(pairs)],
    ):
        assert main(command) == 0, capsys.readouterr().err
    row = pq.read_table(tmp_path / "made.parquet").to_pylist()[0]
    assert row["source_words"] == case.pair[0].split()
    assert row["target_length"] == len(row["target_words"])
    assert len(row["coverage"]) == len(row["source_words"])


@pytest.mark.parametrize("beam", [1, 4])
def test_unknown_word_is_written_as_by_the_program_unless_forbidden(
    tmp_path: Path, beam: int, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[0]
    _, made = _import(tmp_path, case)
    network, _ = load_model(made)
    network.output.bias.data[UNK] = 20.0
    for chosen in (True, False):
        translator = Translator(network, Translator.load(made, device="cpu").tokenizer)
        assert translator.unk
        translator.unk = chosen
        traces = (
            translator.translate(case.pair[0], beam=beam),
            *translator.translate_together([case.pair[0]], beam=beam),
        )
        assert all((UNK in trace.target_ids) is chosen for trace in traces)
        assert ("<unk>" in translator.translate_batch([case.pair[0]], beam=beam)[0]) is chosen
        assert all(trace.target_ids[-1] == EOS for trace in traces)
    save_model(made, network, translator.tokenizer)
    capsys.readouterr()
    for options, expected in (([], True), (["--unk"], True), (["--no-unk"], False)):
        assert main(["translate", "--model", str(made), "--beam", str(beam), *options, case.pair[0]]) == 0
        assert ("<unk>" in capsys.readouterr().out) is expected


def test_best_of_several_checkpoints_is_read_and_others_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    case = CASES[4]
    _, made = _import(tmp_path, case)
    for number in (1, 2, 10):
        (tmp_path / f"checkpoint{number}.pt").write_bytes(b"another")
    capsys.readouterr()
    assert main(["import", str(tmp_path), "-o", str(made)]) == 0
    assert plain(capsys.readouterr().out, tmp_path) == snapshot
    (tmp_path / "checkpoint_best.pt").rename(tmp_path / "checkpoint3.pt")
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot
    assert load_checkpoint(tmp_path / "checkpoint3.pt").family == "fairseq"


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda folder: (folder / "dict.en.txt").unlink(), id="no-target-dictionary"),
        pytest.param(lambda folder: (folder / "dict.en.txt").write_text("the\ndog\n"), id="no-counts"),
        pytest.param(lambda folder: (folder / "dict.en.txt").write_text("the 3\ndog 2\n"), id="too-few-tokens"),
        pytest.param(lambda folder: (folder / "dict.en.txt").write_bytes(b"\xff 3\n"), id="not-utf-8"),
    ],
)
def test_damaged_dictionary_of_fairseq_is_named(
    tmp_path: Path, damage: Callable[[Path], object], snapshot: SnapshotAssertion
) -> None:
    CASES[4].write(tmp_path)
    damage(tmp_path)
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot


def test_tokens_are_lines_that_only_line_feeds_end(tmp_path: Path) -> None:
    CASES[0].write(tmp_path)
    tokens = ["go\u2028", *d2l_book.SOURCE[1:-2], "\xa0", "\x0c"]
    for marked, end in (("", "\n"), ("\ufeff", "\r\n")):
        (tmp_path / "source.txt").write_bytes((marked + end.join(tokens) + end).encode())
        assert set(tokens) - {*d2l_book.SPECIAL} <= {*load_checkpoint(tmp_path).source}


def test_dictionaries_of_unknown_languages_have_general_names(tmp_path: Path) -> None:
    CASES[4].write(tmp_path)
    content = torch.load(tmp_path / "checkpoint_best.pt", weights_only=False)
    torch.save({"model": content["model"]}, tmp_path / "checkpoint_best.pt")
    for language, side in (("de", "src"), ("en", "tgt")):
        (tmp_path / f"dict.{language}.txt").rename(tmp_path / f"dict.{side}.txt")
    assert {*load_checkpoint(tmp_path).source} == {*fairseq_lstm.SOURCE}


@pytest.mark.parametrize("case", [CASES[8], CASES[11]], ids=["vocabularies-in-file", "vocabularies-missing"])
def test_other_attention_of_opennmt_is_refused(tmp_path: Path, case: Case, snapshot: SnapshotAssertion) -> None:
    case.write(tmp_path)
    path = tmp_path / "model_step_3.pt"
    content = torch.load(path, weights_only=False)
    if case.kind.older:
        (tmp_path / "source.txt").unlink()
    else:
        content["opt"].global_attention_function = "sparsemax"
    torch.save(content, path)
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot


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
def test_option_that_changes_the_computation_is_refused_by_name(
    tmp_path: Path, option: str, value: object, tensor: str | None
) -> None:
    CASES[8].write(tmp_path)
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


def test_missing_options_are_said(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    CASES[8].write(tmp_path)
    assert not load_checkpoint(tmp_path).remarks
    path = tmp_path / "model_step_3.pt"
    content = torch.load(path, weights_only=False)
    del content["opt"]
    torch.save(content, path)
    assert load_checkpoint(tmp_path).remarks == snapshot


@pytest.fixture
def field_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[str]], Any]:
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
    tmp_path: Path,
    zipped: bool,
    field_of: Callable[[Sequence[str]], Any],
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    case = next(case for case in CASES if case.peer is opennmt_py and case.kind.older)
    model = case.write(tmp_path)
    path = tmp_path / "model_step_3.pt"
    content = torch.load(path, weights_only=False)
    sides = {"src": opennmt_py.OLDER_SOURCE, "tgt": opennmt_py.TARGET}
    content["vocab"] = {side: field_of(tokens) for side, tokens in sides.items()}
    torch.save(content, tmp_path / "model.pt", _use_new_zipfile_serialization=zipped)
    for name in ("source.txt", "target.txt", path.name):
        (tmp_path / name).unlink()
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot
    lines = str(error.value).partition("\n\n")[2]
    with monkeypatch.context() as older:
        older.chdir(tmp_path)
        older.setattr(torch, "load", functools.partial(torch.load, weights_only=False))  # as before torch 2.6
        exec(lines, {})
    found = load_checkpoint(tmp_path / "plain.pt")
    assert not found.remarks
    logits = model.force_decode(*case.ids)[0].numpy()
    write_checkpoint(found, tmp_path / "made")
    trace: Any = Translator.load(tmp_path / "made", device="cpu").translate(case.pair[0], target=case.pair[1])
    again = recompute(found.weights, found.settings, trace.source_ids, trace.target_ids)
    order = _order(case.peer.TARGET, logits.shape[1])
    columns = [place for place in range(len(again["logits"][0])) if not _is_added(case, place)]
    assert np.abs(again["logits"][:, columns] - logits[:, order]).max() < 1e-5


def test_documentation_has_the_lines_that_save_vocabularies() -> None:
    assert f"```python\n{RESAVED_VOCABULARIES}```" in (Path(__file__).parents[2] / ".docs/pages/model.md").read_text(
        encoding="utf-8"
    )


def test_encoder_and_decoder_of_other_layers_are_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    model = d2l_book.Model(d2l_book.Kind())
    model.encoder = d2l_book.Encoder(d2l_book.Kind(layers=3), 6, 8)
    d2l_book.write_model(tmp_path, d2l_book.Kind())
    torch.save(model.state_dict(), tmp_path / "model.pt")
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot


@every_program
@pytest.mark.parametrize("part", ["lacks", "more", "shape", "rank"])
def test_misfit_checkpoint_is_refused_with_the_way_out(
    tmp_path: Path, case: Case, part: str, snapshot: SnapshotAssertion
) -> None:
    case.write(tmp_path)
    path = next(path for path in tmp_path.iterdir() if path.suffix in (".pt", ".safetensors"))
    content = torch.load(path, weights_only=False)
    tensors = content.get("model", content)
    name = next(name for name in tensors if "weight_ih" in name and not name.startswith("encoder."))
    change = {
        "lacks": lambda: tensors.pop(name),
        "more": lambda: tensors.update({"decoder.gate.weight": torch.zeros(2, 2)}),
        "shape": lambda: tensors.update({name: torch.zeros(6, 4)}),
        "rank": lambda: tensors.update({name: torch.zeros(6)}),
    }
    change[part]()
    torch.save(content, path)
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot


@given(
    st.sampled_from(CASES),
    st.lists(st.tuples(st.integers(0, 40), st.lists(st.integers(0, 30), max_size=3)), min_size=1, max_size=2),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_any_tensor_shapes_translate_or_are_refused(
    tmp_path: Path, case: Case, changes: list[tuple[int, list[int]]]
) -> None:
    folder = tmp_path / f"{CASES.index(case)}"
    if not folder.exists():
        folder.mkdir()
        case.write(folder)
    stored = read_checkpoint(folder)
    tensors = dict(stored.tensors)
    for place, shape in changes:
        tensors[list(tensors)[place % len(tensors)]] = np.zeros(shape)
    with contextlib.suppress(AttnvizError):
        write_checkpoint(read_translator(dataclasses.replace(stored, tensors=tensors)), folder / "made")
        Translator.load(folder / "made", device="cpu").translate(case.pair[0], beam=1)
