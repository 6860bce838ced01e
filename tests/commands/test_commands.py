"""The commands of `attnviz`, run as processes: their output, error messages and exit codes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attnviz import Trace, Translator, export, read_attention
from attnviz.analysis.gold import pharaoh
from attnviz.analysis.measures import links
from attnviz.analysis.posterior import posterior_words
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.evaluation.alignment import between_tokens
from attnviz.lessons import LessonSentence, read_lesson
from attnviz.model_folder import read_weights
from attnviz.text import LONGEST_SENTENCE
from attnviz.ui.lesson_view import answered, lesson_html
from tests.conftest import REPOSITORY, SENTENCES
from tests.importing.attention_files import CONTENTS, LINKS, SOURCES, TARGETS, TEXTS
from tests.saved_pages import saved_view
from tests.snapshots import plain


def _one_sentence(errors: str) -> bool:
    return errors.count("\n") == 1 and "Traceback" not in errors


@pytest.mark.parametrize(
    ("command", "variables", "said"),
    [
        ("models >&-", {}, "attnviz: Standard output "),
        ("models > /dev/full", {}, "attnviz: Standard output "),
        ("models > /dev/full", {"PYTHONUNBUFFERED": "1"}, "attnviz: Standard output "),
        ("translate --model MODEL <&-", {}, "attnviz: "),
        ("translate --model nowhere 'A dog.' 2>&-", {}, ""),
    ],
)
def test_closed_and_full_streams_of_a_shell(command, variables, said, model_folder) -> None:
    program = f"'{sys.executable}' -m attnviz {command.replace('MODEL', str(model_folder))}"
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    how = {"cwd": REPOSITORY, "env": kept | variables, "capture_output": True, "encoding": "utf-8", "timeout": 120}
    done = subprocess.run(["bash", "-c", program], **how, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", len(said) > 0)
    assert done.stderr.startswith(said)


LONG = "x" * 5000
PATHS = {
    "model": ("translate", "--model", "{path}", "A dog."),
    "lines": ("align", "{path}"),
    "figure": ("figure", "A dog.", "-o", "{path}.csv"),
    "attention": ("attention", "{path}"),
    "lesson": ("lesson", "{path}", "-o", "x.html"),
    "lesson page": ("lesson", "attention", "-o", "{path}.html"),
    "corpus": ("corpus", "{path}.tsv", "-o", "x.parquet"),
    "table": ("corpus", str(REPOSITORY / "attnviz" / "examples" / "pairs.tsv"), "-o", "{path}.parquet"),
    "checkpoint": ("import", "{path}", "-o", "x"),
    "models": ("models", "en-fr", "--to", "{path}"),
    "runs": ("app", "--runs", "{path}"),
    "gold": ("score", "{path}", "--gold", "{path}"),
    "data": ("train", "--data", "{path}", "--validation", "{path}", "--output", "{path}"),
}


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(LONG, id="long", marks=pytest.mark.nightly),
        pytest.param("a\0b", id="NUL"),
        pytest.param("\ud800", id="surrogate", marks=pytest.mark.nightly),
        pytest.param("s3://bucket/x", id="address", marks=pytest.mark.nightly),
    ],
)
def test_impossible_path_is_refused_in_one_sentence(name, path, tmp_path, monkeypatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([argument.format(path=path) for argument in PATHS[name]]) == 2
    errors = re.sub(r"\r[^\r\n]*\n?", "", capfd.readouterr().err).splitlines()
    assert errors[-1].startswith("attnviz: ")
    assert list(tmp_path.iterdir()) == []


def test_scorer_that_the_model_does_not_have_is_reported(run, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_SCORERS", "")  # the command adds to it
    code, _, errors = run("translate", "A dog.", "--scorer", "tests.own_scorers:Cosine")
    assert (code, _one_sentence(errors)) == (0, True)
    assert "tests.own_scorers:Cosine" in errors


def test_translate_reads_every_line_and_names_a_bad_one(run, translator) -> None:
    code, out, _ = run(
        "translate", "--json", "--beam", "2", given="Two dogs play.\r\nWhere is the \U0001f6b2 station?\n"
    )
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["source"] for record in records] == ["Two dogs play.", "Where is the \U0001f6b2 station?"]
    for record in records:
        assert set(record) == {"source", "translation", "source_pieces", "target_pieces", "alignment"}
        trace = translator.translate(record["source"], beam=2)
        assert record["translation"] == trace.translation
        assert tuple(record["source_pieces"]) == trace.source_pieces
        assert tuple(record["target_pieces"]) == trace.target_pieces
        np.testing.assert_allclose(record["alignment"], trace.alignment, atol=1e-6)
    for options in ([], ["--json"]):
        code, out, errors = run("translate", *options, given=f"A dog.\n{'a ' * (LONGEST_SENTENCE + 1)}\nA dog.\n")
        assert code == 2
        assert len(out.splitlines()) == 1
        assert errors.startswith("attnviz: Line 2: ")
        assert _one_sentence(errors)
    given = "A dog.\n\n \nTwo dogs play.\n"
    code, out, _ = run("translate", given=given)
    assert code == 0
    first, last = translator.translate_batch(["A dog.", "Two dogs play."], beam=5)
    assert out.split("\n") == [first, "", "", last, ""]
    code, out, _ = run("translate", "--json", given=given)
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["translation"] for record in records] == [first, "", "", last]
    assert records[1]["alignment"] == []


def test_unknown_words_are_those_of_the_source_vocabulary(run, tmp_path, capfd) -> None:
    mine = str(tmp_path / "mine")
    assert main(["import", str(REPOSITORY / "attnviz" / "examples" / "tut3"), "-o", mine]) == 0
    capfd.readouterr()
    single = run("translate", "der hund the .", "--model", mine)
    lines = run("translate", "--model", mine, given="der hund .\nder hund the .\n")
    assert [errors.rpartition(": ")[2] for _, _, errors in (single, lines)] == ["the\n", "the\n"]


@pytest.mark.parametrize("tokenised", [(), ("--tokenised",)])
def test_escapes_of_moses_are_reported_and_decoded(run, tokenised) -> None:
    given, plainly = "a man &apos;s well @-@ known dog &amp; cat", "a man 's well-known dog & cat"
    _, expected, unknown = run("translate", *tokenised, given=f"A dog .\n{plainly}\n")
    assert unknown.endswith("<unk>: &\n")
    assert run("translate", *tokenised, "--unescape", given=f"A dog .\n{given}\n") == (0, expected, unknown)
    code, _, errors = run("translate", *tokenised, given=f"A dog .\n{given}\n")
    assert code == 0
    assert errors.startswith("Line 2 ")
    assert "--unescape" in errors
    _, linked, errors = run("align", *tokenised, "--words", "--unescape", given=f"{given}\tun chien\n")
    assert errors == ""
    assert linked.partition("\t")[0] == (
        given.replace("&apos;", "'").replace("&amp;", "&").replace("@", "")
        if tokenised
        else plainly.replace("'s", "' s")
    )
    assert run("align", *tokenised, given=f"{given}\tun chien\n")[2].startswith("Line 1 ")


PAIRS = f"{SENTENCES[0]}\t{SENTENCES[1]}\n{SENTENCES[2]}\t{SENTENCES[3]}\n"


def test_align_leaves_out_pairs_that_are_too_long_on_request(run) -> None:
    first, last = PAIRS.splitlines(keepends=True)
    given = f"{first}{'a ' * (LONGEST_SENTENCE + 1)}\tun\n{last}a dog\t{'un ' * (LONGEST_SENTENCE + 1)}\n"
    assert run("align", given=given)[0] == 2
    code, out, errors = run("align", "--skip-malformed", given=given)
    assert code == 0
    one, two = run("align", given=PAIRS)[1].splitlines()
    assert out == f"{one}\n\n{two}\n\n"
    assert [line.split(" was skipped")[0] for line in errors.splitlines()] == ["Line 2", "Line 4"]


@pytest.mark.parametrize("when", [[], ["--before"]])
def test_align_prints_pharaoh_links_over_words(run, when, translator, model_folder) -> None:
    code, out, _ = run("align", *when, given=PAIRS)
    assert code == 0
    _, linked, _ = run("align", *when, "--threshold", "0.05", "--words", given=PAIRS)
    lines = out.splitlines()
    assert len(lines) == 2
    for line, source, target in zip(lines, SENTENCES[0:3:2], SENTENCES[1:4:2], strict=True):
        trace = translator.translate(source, target=target)
        words = trace.words() if "--before" in when else posterior_words(trace, read_weights(model_folder))
        assert re.fullmatch(r"(\d+-\d+( \d+-\d+)*)?", line)
        found = {tuple(map(int, link.split("-"))) for link in line.split()}
        best = words.alignment.argmax(axis=1)
        expected = {(int(j), i) for i, j in enumerate(best) if i < len(best) - 1 and words.source[j] != "</s>"}
        assert found == expected
        last, row = (len(side) - 1 for side in (words.source, words.target))
        several = " ".join(f"{j}-{i}" for j, i in links(words.alignment, 0.05) if i < row and j < last)
        text = [" ".join(words.source[:-1]), " ".join(words.target[:-1]), several]
        assert "\t".join(text) in linked.splitlines()


def test_align_links_the_tokens_of_tokenised_text(run, translator) -> None:
    source, target = "Two dogs do n't play .", "Deux chiens ne jouent pas ."
    code, out, _ = run(
        "align", "--tokenised", "--before", "--words", "--batch-size", "1", given=f"{source}\t{target}\n"
    )
    assert code == 0
    assert out.split("\t")[:2] == [source, target]
    words = translator.translate("Two dogs don't play.", target="Deux chiens ne jouent pas.").words()
    between = between_tokens(words, source.split(), target.split())
    assert np.allclose(between.alignment.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(between.alignment[:, 0], words.alignment[:, words.source.index("Two")], atol=1e-6)
    assert out.split("\t")[2].strip() == pharaoh(between)


def test_figure_of_sentence_and_of_saved_trace(run, tmp_path, translator) -> None:
    saved = tmp_path / "trace.json"
    given = ["--target", SENTENCES[1]]
    done = run("figure", SENTENCES[0], "-o", str(saved), *given)
    assert done == (0, "", "")
    trace = Trace.load(saved)
    assert trace.fingerprint == translator.translate(SENTENCES[0], target=SENTENCES[1]).fingerprint
    options = ["--by", "words", "--colors", "cividis", "--root", "--end", "--step", "2"]
    assert run("figure", SENTENCES[0], "-o", str(tmp_path / "x.tex"), *given, *options) == (0, "", "")
    expected = export.heatmap_tikz(trace, by="words", colors="cividis", root=True, end=True, step=1)
    assert (tmp_path / "x.tex").read_text(encoding="utf-8") == expected
    table = tmp_path / "x.csv"
    assert run("figure", "--trace", str(saved), "-o", str(table), "--picture", "state", "--step", "1")[0] == 0
    expected = export.table(trace, export.FigureOptions(picture="state", step=0)).to_csv()
    assert table.read_text(encoding="utf-8-sig") == expected


def test_figure_finds_the_installed_model_that_made_the_trace(
    tmp_path, model_folder, make_network, tokenizer, monkeypatch, capfd, snapshot
) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(models := tmp_path / "models"))
    save_model(models / "en-fr", make_network("general"), tokenizer)  # the default
    shutil.copytree(model_folder, models / "tiny")
    trace = Translator.load("tiny", device="cpu").translate(SENTENCES[0], target=SENTENCES[1])
    trace.save(saved := tmp_path / "trace.json")
    command = ["figure", "--trace", str(saved), "-o", str(links := tmp_path / "x.pharaoh")]
    assert main(command) == 0
    assert capfd.readouterr().err == ""
    assert links.read_text() == pharaoh(posterior_words(trace, read_weights(model_folder))) + "\n"
    shutil.rmtree(models / "tiny")
    assert main(command) == 0
    assert capfd.readouterr().err == snapshot(name="links")
    assert links.read_text() == pharaoh(trace.words()) + "\n"
    assert main([*command, "--face", "after"]) == 2
    assert capfd.readouterr().err == snapshot(name="face")
    assert main(["figure", "--trace", str(saved), "-o", str(page := tmp_path / "x.html")]) == 0
    assert capfd.readouterr().err == snapshot(name="page")
    assert saved_view(page.read_text(encoding="utf-8")).values_of("face") == ["before"]


class Started(Exception):
    pass


@pytest.mark.parametrize(
    ("arguments", "variable", "named", "own"),
    [
        ([], "", set(), False),
        (["--host", "example.org", "--host", "*.example.org"], "", {"example.org", "*.example.org"}, False),
        (["--address", "0.0.0.0"], "*.hf.space other.test", {"*.hf.space", "other.test"}, True),
    ],
)
def test_app_accepts_local_and_configured_host_names(arguments, variable, named, own, monkeypatch) -> None:
    command: list[str] = []

    def start(_program: str, given: list[str], _environment: object) -> None:
        command.extend(given)
        raise Started

    monkeypatch.setenv("ATTNVIZ_HOSTS", variable)
    monkeypatch.setattr(os, "execve", start)
    monkeypatch.chdir(Path.cwd())
    with pytest.raises(Started):
        main(["app", *arguments])
    hosts = {command[place + 1] for place, word in enumerate(command) if word == "--server.allowedHosts"}
    assert {"localhost", "127.0.0.1", "::1", *named} <= hosts
    assert "*" not in hosts
    if not own:
        assert hosts == {"localhost", "127.0.0.1", "::1", *named}


EXAMPLES = REPOSITORY / "attnviz" / "examples"


def test_examples_are_copied_and_files_of_the_working_directory_kept(tmp_path, monkeypatch, capsys) -> None:
    assert main(["examples", str(tmp_path / "new")]) == 0
    files = [path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert all((tmp_path / "new" / path).read_bytes() == (EXAMPLES / path).read_bytes() for path in files)
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("mine")
    assert main(["examples"]) == 0
    assert Path("pairs.tsv").read_text() == "mine"
    assert Path("my-model/config.json").is_file()
    assert capsys.readouterr().out == ""


LESSON = f"""
attnviz-lesson: 1
title: A lesson
sentences:
  - sentence: {SENTENCES[0]}
    questions:
      - question: Where?
        predict: attends
        step: 1
"""


def test_page_is_that_of_the_model_and_given_answers_are_warned_of(tmp_path, model_folder, translator, capsys) -> None:
    path, page = tmp_path / "lesson.yaml", tmp_path / "lesson.html"
    path.write_text(LESSON, encoding="utf-8")
    assert main(["lesson", str(path), "-o", str(page), "--model", str(model_folder), "--device", "cpu"]) == 0

    def translate(sentence: LessonSentence) -> tuple[Trace, object]:
        return translator.translate(sentence.sentence, beam=1), read_weights(model_folder)

    assert page.read_bytes() == lesson_html(answered(read_lesson(path), translate))
    path.write_text(LESSON + LESSON[LESSON.index("      - question") :], encoding="utf-8")
    page.unlink()
    assert main(["lesson", str(path), "-o", str(page), "--model", str(model_folder), "--device", "cpu"]) == 0
    assert "Line 10: line 7" in capsys.readouterr().err
    assert page.exists()


FAULTS = {
    "no file": ("absent.yaml", "lesson.html", ""),
    "faulty file": ("lesson.yaml", "lesson.html", LESSON.replace("title", "titel")),
    "no such step": ("lesson.yaml", "lesson.html", LESSON.replace("step: 1", "step: 999")),
    "no such model": (
        "lesson.yaml",
        "lesson.html",
        LESSON.replace("    questions", "    model: absent\n    questions"),
    ),
    "another ending": ("lesson.yaml", "lesson.pdf", LESSON),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_one_sentence(name, tmp_path, model_folder, capsys, monkeypatch, snapshot) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(model_folder.parent))
    file, page, content = FAULTS[name]
    if content:
        (tmp_path / file).write_text(content, encoding="utf-8")
    arguments = ["lesson", str(tmp_path / file), "-o", str(tmp_path / page), "--model", str(model_folder)]
    assert main([*arguments, "--device", "cpu"]) == 2
    errors = plain(capsys.readouterr().err, tmp_path)
    assert re.sub(r"“[^”]*” has steps 1 to \d+", "“…” has steps 1 to #", errors) == snapshot
    assert not (tmp_path / page).exists()


@pytest.fixture
def folder(tmp_path) -> Path:
    for name in ("from-1.txt", "nematus.txt", "sockeye-matrix.txt", "moses.nbest"):
        (tmp_path / name).write_bytes(CONTENTS[name])
    (tmp_path / "src.txt").write_text("\n".join(SOURCES), encoding="utf-8")
    (tmp_path / "tgt.txt").write_text("\n".join(TARGETS), encoding="utf-8")
    return tmp_path


def _sides(folder: Path) -> list[str]:
    return ["--source-file", str(folder / "src.txt"), "--target-file", str(folder / "tgt.txt")]


def test_attention_reports_format_and_converts_all_pairs(folder, capsys, snapshot) -> None:
    assert main(["attention", str(folder / "from-1.txt"), *_sides(folder)]) == 0
    captured = capsys.readouterr()
    pairs = zip(SOURCES, TARGETS, TEXTS, strict=True)
    assert captured.out == "".join(f"{s}\t{t}\t{links}\n" for s, t, links in pairs)
    assert captured.err == snapshot
    path = folder / "from-1.txt"
    assert main(["attention", str(path), *_sides(folder), "-o", str(folder / "a.parquet")]) == 0
    assert [record.links for record in read_attention(folder / "a.parquet")] == [*LINKS]
    assert main(["attention", str(path), *_sides(folder), "--sentence", "2", "-o", str(folder / "one.json")]) == 0
    assert json.loads((folder / "one.json").read_text(encoding="utf-8"))["links"] == [[0, 0], [1, 1]]


def test_attention_draws_one_pair(folder, capsys, snapshot) -> None:
    command = ["attention", str(folder / "sockeye-matrix.txt"), "-o", str(folder / "a.csv")]
    assert main(command) == 0
    assert "rains" not in (folder / "a.csv").read_text(encoding="utf-8-sig")
    assert capsys.readouterr().err == snapshot(name="the first")
    assert main([*command, "--sentence", "2"]) == 0
    assert "rains" in (folder / "a.csv").read_text(encoding="utf-8-sig")
    capsys.readouterr()
    assert main([*command, "--sentence", "3"]) == 2
    assert plain(capsys.readouterr().err, folder) == snapshot(name="no such pair")
    assert main([*command[:-1], str(folder / "a.xyz")]) == 2
    assert plain(capsys.readouterr().err, folder) == snapshot(name="no such ending")


def test_gold_links_are_drawn_on_the_picture_of_their_pair(folder, capsys, snapshot) -> None:
    links, gold, page = folder / "links.txt", folder / "gold.jsonl", folder / "made.html"
    links.write_text("0-0 1-1\n0-0 1-1\n", encoding="utf-8")
    pairs = [(source.split(), target.split()) for source, target in zip(SOURCES, TARGETS, strict=True)]
    objects = [{"source": source, "target": target, "S": [[0, 0]], "P": [[0, 1]]} for source, target in pairs]
    gold.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    drawn = list[str]()
    for command in (
        ["attention", str(links), "--gold", str(gold)],
        ["attention", str(links), *_sides(folder), "--gold", "0-0 0?1"],
        ["figure", "--attention", str(links), "--gold", str(gold)],
    ):
        assert main([*command, "--sentence", "2", "-o", str(page)]) == 0
        drawn.append(page.read_text(encoding="utf-8"))
    heatmap = saved_view(drawn[0]).heatmap()
    assert SOURCES[1].split()[0] in heatmap["layout"]["xaxis"]["ticktext"]
    assert {"sure core", "possible edge"} <= {one["name"] for one in heatmap["data"] if "name" in one}
    assert drawn == drawn[:1] * 3
    assert main(["attention", str(links), *_sides(folder), "--level", "idea", "-o", str(page)]) == 0
    assert saved_view(page.read_text(encoding="utf-8")).mounted("view_state")[0]["level"] == "idea"
    capsys.readouterr()

    def refusal(*given: str, output: Path = page) -> str:
        assert main([*given, "-o", str(output)]) == 2
        return plain(capsys.readouterr().err, folder).splitlines()[-1]

    attention = ("attention", str(links), *_sides(folder))
    assert refusal(*attention, "--gold", "gold.json") == snapshot(name="not given")
    assert refusal(*attention, "--gold", "0-9") == snapshot(name="out of range")
    assert refusal(*attention, "--gold", str(gold), output=folder / "a.json") == snapshot(name="not drawn")
    gold.write_text('{"source": ["x"], "target": ["y"], "S": [[0, 0]]}\n', encoding="utf-8")
    one = ("figure", "--attention", str(folder / "sockeye-matrix.txt"))
    assert refusal(*one, "--gold", str(gold)) == snapshot(name="other words")


FAULTY: dict[str, object] = {
    "no tokens": [[0.5, 0.5], [0, 1]],
    "transposed": {"source": ["a", "b"], "target": ["c", "d", "e"], "matrix": [[0.2, 0.3, 0.5], [0.8, 0.7, 0.5]]},
    "columns add up to 1": {"source": ["a", "b"], "target": ["c", "d"], "matrix": [[0.2, 0.1], [0.8, 0.9]]},
    "scores": {"source": ["a", "b"], "target": ["c", "d"], "matrix": [[2, 3], [4, 5]]},
    "no number": {"source": ["a", "b"], "target": ["c", "d"], "matrix": [[0.5, 0.5], [0.5, "x"]]},
    "not finite": {"source": ["a", "b"], "target": ["c", "d"], "matrix": [[0.5, 0.5], [0.5, None]]},
}


def test_messages_name_the_options_that_help(tmp_path, capsys, snapshot) -> None:
    said = {}
    path = tmp_path / "given.json"
    for name, fields in FAULTY.items():
        path.write_text(json.dumps(fields if isinstance(fields, dict) else {"matrix": fields}), encoding="utf-8")
        assert main(["attention", str(path), "-o", str(tmp_path / "made.html")]) == 2
        said[name] = capsys.readouterr().err.splitlines()[-1]
        for option in ("--transpose", "--normalise"):
            if option in said[name]:
                assert main(["attention", str(path), option, "-o", str(tmp_path / "made.html")]) == 0
    assert said == snapshot
