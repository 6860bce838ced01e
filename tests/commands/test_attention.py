"""`attnviz attention`: report a file's format, draw one sentence pair, convert all pairs."""

import json
from pathlib import Path

import pytest

from attnviz import read_attention
from attnviz.commands.main import main
from tests.importing.attention_files import CONTENTS, LINKS, SOURCES, TARGETS, TEXTS
from tests.saved_pages import saved_view
from tests.snapshots import plain


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
