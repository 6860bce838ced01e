"""Test pairs that also occur in training data."""

import lzma

from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.overlap import main, overlaps, sentence_key

TRAINING = "The cat sleeps on the sofa.\tLe chat dort sur le canapé.\nThank you !\tMerci !\n"
TESTS = (
    "the cat sleeps, on the sofa\tUn chat est couché sur le sofa.\n"
    "He said thanks.\tMERCI.\n"
    "Thank you.\tMerci…\n"
    "...\t!\n"
    "The dog sleeps.\tLe chien dort.\n"
)


def test_command_counts_and_writes_remaining_pairs(tmp_path, capfd) -> None:
    with lzma.open(tmp_path / "train.tsv.xz", "wt", encoding="utf-8") as file:
        file.write(TRAINING + "...\t!\nonly one column\n")
    (tmp_path / "test.tsv").write_text(TESTS, encoding="utf-8")
    arguments = [str(tmp_path / "test.tsv"), "--data", str(tmp_path / "train.tsv.xz")]
    assert main([*arguments, "-o", str(tmp_path / "clean")]) == 0
    cells = [cell.strip() for cell in capfd.readouterr().out.splitlines()[-1].strip("|").split("|")]
    assert cells[1:] == ["5", "2", "2", "1", "2"]
    assert (tmp_path / "clean" / "test.tsv").read_text(encoding="utf-8") == "...\t!\nThe dog sleeps.\tLe chien dort.\n"
    assert main([*arguments, "-o", str(tmp_path / "test.tsv")]) == 2  # itself


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=6), st.data())
def test_pairs_in_training_data_are_never_kept(pairs, data) -> None:
    drawn = data.draw(st.lists(st.sampled_from(pairs), max_size=4)) if pairs else []
    lines = ["\t".join(pair) for pair in drawn if not set("".join(pair)) & set("\t\r\n")]
    assert sentence_key("It’s  the CAT.") == sentence_key("it's the cat") == "itsthecat"
    assert sentence_key("Été") != sentence_key("Ete")
    (found,) = overlaps([pairs], lines)
    assert found.pairs == len(pairs)
    known = [{sentence_key(line.split("\t")[k]) for line in lines} - {""} for k in range(2)]
    for place, (source, target) in enumerate(pairs):
        assert (place in found.clean) == (sentence_key(source) not in known[0] and sentence_key(target) not in known[1])
    assert found.both <= min(found.source, found.target) <= found.pairs - len(found.clean)
