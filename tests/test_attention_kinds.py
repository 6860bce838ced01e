"""Architectures, and attention scorers of a user: registered, trained, traced, drawn and verified."""

import dataclasses

import numpy as np
import pytest

from attnviz import Attention, Trace, Translator, attention, attention_kinds
from attnviz.analysis.verification import RecurrentVerifier
from attnviz.architectures import architecture_of, could_be_of, narrate, stage_numbered, step_texts, verifier_of
from attnviz.attention_kinds import full_name, kind_of, register
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.environment import ATTNVIZ_SCORERS
from attnviz.figures import Subject, heatmap, step_figures
from attnviz.figures.registry import ENERGY_DECOMPOSITION
from attnviz.model_folder import read_weights
from attnviz.ui.step.stage_panels import stage_figures
from tests.analysis.given import equations
from tests.conftest import SENTENCES
from tests.figures.synthetic import trace as make_trace
from tests.small_run import write_texts
from tests.snapshots import refusal

COSINE, FORWARD = "tests.own_scorers:Cosine", "tests.own_scorers:Forward"


@pytest.fixture(autouse=True)
def _nothing_registered(monkeypatch) -> None:
    monkeypatch.setenv(ATTNVIZ_SCORERS, "")


@pytest.mark.parametrize("place", [COSINE, FORWARD])
@pytest.mark.parametrize("how", [{"beam": 1}, {"beam": 3}, {"target": SENTENCES[1]}], ids=["greedy", "beam", "forced"])
def test_registered_kind_is_traced_drawn_and_verified(tmp_path, make_network, tokenizer, place, how) -> None:
    register(place)
    save_model(tmp_path, make_network(place), tokenizer)
    trace = Translator.load(tmp_path, device="cpu").translate(SENTENCES[0], **how)
    assert trace.config["attention"] == place
    assert np.ptp(trace.alignment, axis=1).max() > 0.05
    heatmap(trace)
    subject = Subject(trace, 1, read_weights(tmp_path))
    for figure in step_figures(subject).values():
        figure.draw(subject)
    assert len(narrate(trace, 1)) == len(equations(trace, 1)) == 5
    verification = RecurrentVerifier(trace, read_weights(tmp_path)).verify(1, with_heatmap_posterior=True)
    assert verification.holds
    checked = {check.quantity for check in verification.checks}
    assert {"alignment", "contexts", "states", "top_probabilities", "posterior", "heatmap_posterior"} <= checked
    assert ({"keys", "queries", "energies", "energy sums"} <= checked) == (place == COSINE)
    assert bool(verification.missing) == bool(ENERGY_DECOMPOSITION.missing(subject)) == (place == FORWARD)


def test_wrong_number_is_found_without_numpy_function(make_network, tokenizer) -> None:
    register(FORWARD)
    network = make_network(FORWARD)
    trace = Translator(network, tokenizer).translate(SENTENCES[0], beam=1)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    altered = dataclasses.replace(trace, energies=trace.energies + np.eye(*trace.energies.shape, dtype=np.float32))
    assert RecurrentVerifier(altered, weights).verify(0).discrepancies[0].quantity == "alignment"


def test_trace_opens_where_its_kind_is_not_registered(monkeypatch, make_network, tokenizer) -> None:
    register(COSINE)
    network = make_network(COSINE)
    trace = Translator(network, tokenizer).translate(SENTENCES[0], beam=1)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    monkeypatch.setenv(ATTNVIZ_SCORERS, "")
    again = Trace.from_json(trace.to_json())
    assert again.fingerprint == trace.fingerprint
    heatmap(again)
    assert RecurrentVerifier(again, weights).verify(0).missing


def test_model_folder_cannot_import_a_module(monkeypatch, tmp_path, make_network, tokenizer, capsys, snapshot) -> None:
    register(COSINE)
    save_model(tmp_path / "model", make_network(COSINE), tokenizer)
    monkeypatch.setenv(ATTNVIZ_SCORERS, "")
    assert refusal(lambda: Translator.load(tmp_path / "model", device="cpu")) == snapshot
    command = ["translate", "--model", str(tmp_path / "model"), SENTENCES[0]]
    assert main(command) == 2
    assert main([*command, "--scorer", COSINE]) == 0
    assert capsys.readouterr().out.strip()


def test_train_command_accepts_a_scorer(tmp_path, monkeypatch) -> None:
    train, validation = write_texts(tmp_path)
    command = ["train", "--data", str(train), "--validation", str(validation)]
    sizes = "--vocabulary-size 90 --embedding-size 8 --hidden-size 12 --maxout-size 8 --batch-tokens 120"
    rest = "--updates 30 --warmup 3 --validate-every 30 --snapshots 0 --bleu-sentences 2 --device cpu --threads 1"
    output = tmp_path / "own"
    done = main([*command, *sizes.split(), *rest.split(), "--output", str(output), "--scorer", FORWARD])
    assert done == 0
    trace = Translator.load(output / "model", device="cpu").translate("the cat sees a red house.", beam=1)
    assert trace.config["attention"] == FORWARD
    assert abs(float(read_weights(output / "model")["decoder.attention.pull"][0])) > 0  # it was learned
    monkeypatch.setenv(ATTNVIZ_SCORERS, "")
    assert main([*command, "--output", str(tmp_path / "other"), "--attention", FORWARD]) == 2


def test_entry_point_gives_a_short_name(monkeypatch) -> None:
    monkeypatch.setattr(attention_kinds, "_entry_points", lambda: {"cosine": COSINE})
    assert full_name("cosine") == COSINE
    assert full_name("additive") == "additive"
    assert kind_of(COSINE).recomputation == "tests.own_scorers:ExactCosine"


@pytest.mark.parametrize("kind", ["additive", "general", "none"])
def test_every_stage_has_an_equation_and_figures(kind) -> None:
    trace = make_trace(attention=kind)
    declared = architecture_of(trace).stages(trace)
    numbers = [stage.number for stage in declared]
    assert [equation.stage for equation in step_texts(trace).equation_templates(trace, "light")] == numbers
    for stage in declared:
        assert stage_numbered(trace, stage.number) is stage
        assert stage_figures(trace, stage)
        in_picture = trace.attends and stage.number in (2, 3)  # the picture of stage 1 shows them at Idea
        assert bool(stage_figures(trace, stage, "idea")) != in_picture


def test_results_are_told_apart_and_imported_attention_cannot_be_recomputed() -> None:
    trace = make_trace()
    imported = dataclasses.replace(trace, config={**trace.config, "architecture": "seq2seq"})
    assert [architecture_of(one).name for one in (trace, imported)] == ["rnnsearch", "seq2seq"]
    assert (trace.attends_once, imported.attends_once) == (True, False)
    given = attention(["a", "b"], ["c"], [[0.25, 0.75]])
    assert architecture_of(given).result is Attention
    assert not could_be_of(given, {})
    with pytest.raises(ValueError, match="cannot be recomputed"):
        verifier_of(given, {})
