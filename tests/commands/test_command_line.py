"""What all commands have in common: help, errors of the command line, `--quiet`, and options that Python has too."""

import dataclasses
import inspect
import io
import itertools
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from attnviz import TrainingConfig, read_attention
from attnviz.analysis.neighbours import MOST_VECTORS
from attnviz.analysis.posterior import POSTERIOR_KINDS
from attnviz.checkpoint import save_model
from attnviz.commands import main as module
from attnviz.commands.corpus import _Options as CorpusOptions
from attnviz.commands.main import attnviz_app, main
from attnviz.commands.options import HeadOptions, ReadingOptions
from attnviz.corpora import Settings
from attnviz.text import LONGEST_SENTENCE
from attnviz.training.training_config import TRAINING_GROUPS, TRAINING_PRESETS
from tests.conftest import REPOSITORY, SENTENCES
from tests.snapshots import plain

COMMANDS = [name for commands in module._COMMANDS.values() for name in commands]
MODEL_COMMANDS = {"translate", "align", "figure", "lesson", "corpus", "evaluate", "train", "app"}


def _parsed(*arguments: str) -> dict[str, Any]:
    _, bound, _ = attnviz_app().parse_args(arguments, exit_on_error=False, print_error=False)
    return bound.arguments


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_and_names_real_defaults(command, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: attnviz {command}")
    assert max(map(len, shown.splitlines())) == 80
    assert "None" not in shown
    assert "default: False" not in shown
    assert "--quiet" in shown
    assert ("--scorer" in shown) == (command in MODEL_COMMANDS)


def test_help_of_training_lists_every_setting_in_its_group(capsys) -> None:
    assert main(["train", "--help"]) == 0
    panels = {panel.split()[0]: panel for panel in capsys.readouterr().out.split("╭─ ")[1:]}
    assert [*panels] == [*TRAINING_GROUPS, "Options"]
    for field in dataclasses.fields(TrainingConfig):
        assert f"--{field.name.replace('_', '-')} " in panels[field.metadata["group"]]
    assert "--scorer " in panels["Model"]


FAULTS = """
translte 'A dog.'
translate --bem 3
translate --precision int3
translate --beam
translate --beam 0
translate --beam many
translate A dog.
translate nowhere.txt
translate .
translate 'A dog.' --model nowhere --scorer nowhere:Class
translate --model MODEL ''
translate --model MODEL 'LONG'
align --layer 0
align --threshold 2
align --model MODEL nowhere.tsv
align --model FIXED -
figure 'A dog.' -o x.gif
figure -o x.svg
figure 'A dog.' --trace x.json -o x.svg
figure --trace nowhere.json -o x.tex
figure --model MODEL 'A dog.' -o nowhere/x.tex
figure --model MODEL 'A dog.' --target 'Un chien.' -o x.tex --step 99
figure 'A dog.' -o x.csv --picture state
figure 'A dog.' -o x.tex --margins
figure 'A dog.' -o x.csv --picture state --step 1 --margins
corpus a.tsv
corpus a.tsv -o b.parquet --vectors 200001
corpus a.tsv -o b.parquet --model MODEL --actors 2
corpus a.tsv -o b.parquet --model MODEL --address auto
corpus a.tsv -o b.parquet --model MODEL --ray --workers 2
corpus a.tsv -o b.parquet --model MODEL --ray --device cpu
evaluate
evaluate --json --markdown
evaluate --beam 1,none
evaluate --model MODEL nowhere.tsv
evaluate --model MODEL nowhere.jsonl
evaluate nowhere.tsv --csv out.csv
evaluate nowhere.tsv --by-length --figure out.png
evaluate nowhere.jsonl --tune
evaluate nowhere.tsv --threshold-from nowhere.jsonl
score --gold x
attention x --scorer a:B
train
train --preset large
train --data a --validation b --output c --clip -1
train --data nowhere.tsv --validation nowhere.tsv --output unmade
app --runs nowhere
"""
"""Commands that are refused; LONG is a sentence beyond the limit, and FIXED a model without attention."""


def test_error_is_one_sentence(model_folder, make_network, tokenizer, tmp_path, monkeypatch, capfd, snapshot) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("A dog.\tUn chien.\n"))
    save_model(tmp_path / "fixed", make_network("none"), tokenizer)
    names = {"MODEL": str(model_folder), "FIXED": "fixed", "LONG": "dog " * (LONGEST_SENTENCE + 1)}
    errors = dict[str, str]()
    for command in FAULTS.strip().splitlines():
        arguments = [names.get(word, word) for word in shlex.split(command)]
        assert main(arguments) == 2, command
        out, error = capfd.readouterr()
        assert (out, error.count("\n")) == ("", 1), command
        assert error.startswith("attnviz"), command
        errors[command] = plain(error.rstrip("\n"), tmp_path, model_folder)
    assert errors == snapshot


def test_file_and_standard_input_are_translated_to_a_file(
    model_folder, translator, tmp_path, monkeypatch, capfd
) -> None:
    lines = "\n".join(SENTENCES) + "\n"
    (given := tmp_path / "sentences.txt").write_text(lines, encoding="utf-8")
    expected = translator.translate_batch(SENTENCES, beam=5)
    options = ["--model", str(model_folder), "--device", "cpu"]
    assert main(["translate", str(given), *options]) == 0
    assert capfd.readouterr().out.splitlines() == expected
    for source in (str(given), "-"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
        written = tmp_path / "out.txt"
        assert main(["translate", source, "-o", str(written), *options]) == 0
        assert capfd.readouterr().out == ""
        assert written.read_text(encoding="utf-8").splitlines() == expected
        written.unlink()


OUTPUT_AND_INPUT = """
translate in.txt -o OUTPUT
align in.txt -o OUTPUT
figure --trace in.json -o OUTPUT
figure --attention in.json -o OUTPUT
lesson in.html -o OUTPUT
attention in.json -o OUTPUT
attention i*.json -o OUTPUT
attention folder -o OUTPUT
attention x.json --source-file in.json -o OUTPUT
attention x.json --compare in.json -o OUTPUT
attention x.json --compare i*.json -o OUTPUT
attention in.json --table OUTPUT
attention i*.csv --table OUTPUT
attention x.json --table x.csv --gold in.json -o OUTPUT
score in.txt --gold x.json -o OUTPUT
score i*.csv --gold x.json -o OUTPUT
score x.json --gold in.txt -o OUTPUT
score x.json --gold x.json --reverse i*.txt -o OUTPUT
corpus in.parquet -o OUTPUT
corpus --attention i*.parquet -o OUTPUT
evaluate in.tsv -o OUTPUT
evaluate in.tsv --by-length --csv OUTPUT
evaluate in.tsv --by-length --figure OUTPUT
evaluate in.jsonl --heads --heads-csv OUTPUT
import in.pt -o OUTPUT
"""
"""Commands that read a file in.*, or those of a pattern or folder, and write the same file."""


def test_output_that_is_an_input_is_refused(tmp_path, monkeypatch, capfd, snapshot) -> None:
    """The output is the file itself, a link to it or a detour, in turns."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("x.json").write_text('{"attention": [[1.0]], "source": ["a"], "target": ["b"]}')
    errors = dict[str, str]()
    spellings = itertools.cycle(("itself", "link", "detour"))
    for command, spelling in zip(OUTPUT_AND_INPUT.split("\n")[1:-1], spellings, strict=False):
        read = next(word for word in command.split()[1:] if word[:2] in ("in", "i*", "fo"))
        given = Path(read.replace("*", "n").replace("folder", "folder/in.json"))
        given.write_text("kept")
        output = Path(f"link{given.suffix}") if spelling == "link" else given
        if spelling == "link":
            output.symlink_to(given)
        if spelling == "detour":
            output = Path("folder", "..", given)
        assert main(command.replace("OUTPUT", str(output)).split()) == 2, command
        errors[command] = capfd.readouterr().err.splitlines()[-1].replace(str(output), "OUTPUT")
        assert given.read_text() == "kept", command
        output.unlink()
        given.unlink(missing_ok=True)
    expected = errors["translate in.txt -o OUTPUT"]
    assert expected == snapshot
    assert {command: error for command, error in errors.items() if error != expected} == {}


def test_output_that_is_standard_input_is_refused(tmp_path, snapshot) -> None:
    (given := tmp_path / "in.txt").write_text("kept")
    with given.open() as file:
        program = [sys.executable, "-m", "attnviz", "translate", "-o", str(given)]
        how = {"cwd": REPOSITORY, "stdin": file, "capture_output": True, "text": True, "timeout": 120}
        done = subprocess.run(program, **how, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.replace(str(given), "OUTPUT") == snapshot
    assert given.read_text() == "kept"


def test_quiet_hides_remarks_and_not_errors(model_folder, capfd, tmp_path) -> None:
    options = ["--model", str(model_folder), "--device", "cpu"]
    assert main(["translate", "a &apos;dog", *options]) == 0
    out, errors = capfd.readouterr()
    assert "--unescape" in errors
    assert main(["translate", "a &apos;dog", "--quiet", *options]) == 0
    assert capfd.readouterr() == (out, "")
    assert main(["--quiet", "translate", "", *options]) == 2
    assert capfd.readouterr().err.startswith("attnviz: ")


def test_number_of_vectors_may_be_left_out() -> None:
    for words, number in (["--vectors"], 50_000), (["--vectors", "7"], 7):
        for arguments in (
            [*words, "-o", "b.parquet", "a.tsv"],
            ["-o", "b.parquet", *words],
            [*words, "a.tsv", "-o", "b"],
        ):
            _, bound, _ = attnviz_app().parse_args(
                [*module._completed(["corpus", *arguments, "c.tsv"])], exit_on_error=False, print_error=False
            )
            assert bound.arguments["options"].vectors == number


def test_options_have_the_spellings_numbers_and_defaults_of_python() -> None:
    files = ["attention", "x"]
    assert _parsed(*files, "--normalize") == _parsed(*files, "--normalise")
    figure = ["figure", "A dog.", "-o", "x.svg"]
    assert _parsed(*figure, "--colors", "cividis") == _parsed(*figure, "--colours", "cividis")
    score = ["score", "x", "--gold", "y", "--reverse", "z"]
    assert _parsed(*score, "--symmetrize", "union") == _parsed(*score, "--symmetrise", "union")
    assert _parsed("align", "--layer", "2", "--head", "1")["heads"] == HeadOptions(1, 0)
    assert _parsed("align", "--layer", "all")["heads"] == HeadOptions("all")
    assert _parsed("attention", "x", "--layer", "2", "--head", "1")["reading"] == ReadingOptions(layer=1, head=0)
    parameters = inspect.signature(read_attention).parameters
    for field in dataclasses.fields(ReadingOptions):
        assert field.default == parameters[field.name].default
    assert {*parameters} - {field.name for field in dataclasses.fields(ReadingOptions)} == {"path", "attributions"}
    options = {field.name: field.default for field in dataclasses.fields(CorpusOptions)}
    for field in dataclasses.fields(Settings):
        if field.name not in ("precision", "unescape"):
            assert options[field.name] == field.default
    hints = get_type_hints(CorpusOptions)
    assert get_args(hints["kind"]) == (*POSTERIOR_KINDS, "none")
    _parsed("corpus", "a", "-o", "b", "--vectors", str(MOST_VECTORS))


@pytest.mark.parametrize("preset", TRAINING_PRESETS)
def test_preset_gives_way_to_options(preset) -> None:
    files = {"data": ("a", "b"), "validation": ("c",), "output": "d"}
    arguments = ["train", "--data", "a", "b", "--validation", "c", "--output", "d", "--preset", preset]
    assert _parsed(*arguments)["config"] == TrainingConfig(**files, **TRAINING_PRESETS[preset])
    more = {"hidden_size": 40, "updates": 7}
    given = _parsed(*arguments, "--hidden-size", "40", "--updates", "7")["config"]
    assert given == TrainingConfig(**files, **(dict(TRAINING_PRESETS[preset]) | more))
