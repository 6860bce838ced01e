"""Findings: each kind on an alignment built to show it; sentences; strong ones judged by hand; suspected errors."""

import dataclasses
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from attnviz import ExcludePosition, ForceWords, Trace
from attnviz.analysis.alignment_summary import step_attention_sentence, summarise, summary_sentence
from attnviz.analysis.findings import (
    Finding,
    FindingKind,
    cell_of,
    finding_sentence,
    findings_of,
    nothing_found_text,
)
from attnviz.analysis.labels import percent
from attnviz.analysis.measures import attended_words
from attnviz.analysis.stages import word_choice
from attnviz.analysis.suspected_errors import (
    LITTLE_WORD_PROBABILITY,
    MOST_UNSURE,
    least_sure_step,
    other_hypothesis,
    passing_step,
    suspected_errors_of,
)
from attnviz.analysis.what_if_effects import foils_of
from attnviz.architectures import narrate
from attnviz.text import EOS, SPACE
from attnviz.trace import Hypothesis
from attnviz.trace.what_ifs import translator_arguments
from attnviz.ui.examples import EXAMPLES
from tests.figures.synthetic import trace as make_trace
from tests.snapshots import without_numbers


def aligned(source: str, target: str, matrix: np.ndarray, probability: float = 0.9) -> Trace:
    """Return a trace of one-piece words, with `</s>` at both ends aligned to itself."""
    rows, columns = len(target.split()) + 1, len(source.split()) + 1
    alpha = np.full((rows, columns), 1e-6)
    alpha[: rows - 1, : columns - 1] = np.maximum(matrix, 1e-6)
    alpha[rows - 1, columns - 1] = 1
    alpha = (alpha / alpha.sum(axis=1, keepdims=True)).astype(np.float32)
    words = [(*(SPACE + word for word in text.split()), "</s>") for text in (source, target)]
    return dataclasses.replace(
        make_trace(),
        source_pieces=words[0],
        source_surfaces=words[0],
        target_pieces=words[1],
        alignment=alpha,
        energies=np.log(alpha),
        log_probabilities=np.full(rows, np.log(probability), dtype=np.float32),
    )


SOURCE, TARGET = "the small cat drinks cold milk", "le petit chat boit du lait"
DIAGONAL = (0, 1, 2, 3, 4, 5)


class Case(NamedTuple):
    """A translation whose words look at one source word each, and its findings."""

    looks: Sequence[int]
    """The source word, 0-based, that each target word looks at."""
    expected: Sequence[tuple[FindingKind, int | None, int | None, bool]] = ()
    """Kind, source word, target word, and whether it is strong."""
    target: str = TARGET
    source: str = SOURCE
    probability: float = 0.9
    of: Collection[FindingKind] = FindingKind
    """The kinds that are compared."""


OMITTED, OVERUSED, REPEATED = FindingKind.OMITTED, FindingKind.OVERUSED, FindingKind.REPEATED
COLLAPSED, SHIFTED, IDENTICAL = FindingKind.COLLAPSED, FindingKind.SHIFTED, FindingKind.IDENTICAL
AFTER = (*DIAGONAL, 5, 5, 5)
CITIES = "in Paris and Rome all sleep", "à Paris et Rome tous dorment"
CASES = {
    "a plain diagonal": Case(DIAGONAL),
    "an unattended word": Case((0, 2, 2, 3, 4, 5), [(OMITTED, 1, None, False)]),
    "an unattended function word": Case(
        (0, 2, 2, 3, 4, 5), (), "chats ne boivent lait bien froid", "cats do drink very cold milk"
    ),
    "an unattended comma": Case((0, 2, 2, 3, 4, 5), (), TARGET, "the , cat drinks cold milk"),
    "three improbable words for one": Case(
        AFTER, [(OVERUSED, 5, None, True)], f"{TARGET} vite et bien", SOURCE, 0.15, {OVERUSED}
    ),
    "three probable words for one": Case(AFTER, [(OVERUSED, 5, None, False)], f"{TARGET} vite et bien", of={OVERUSED}),
    "two improbable words for one": Case(
        AFTER[:-1], [(OVERUSED, 5, None, False)], f"{TARGET} vite bien", SOURCE, 0.15, {OVERUSED}
    ),
    "one word for another's": Case((*DIAGONAL, 0), (), f"{TARGET} vite", of={OVERUSED}),
    "a nearby repetition": Case(DIAGONAL, [(REPEATED, None, 3, True)], "le chat de chat du lait"),
    "a repetition that the source has": Case(DIAGONAL, (), "le chat de chat du lait", "the wire or wires cold milk"),
    "a repetition of a word that the source has twice": Case(
        (0, 1, 2, 1, 4, 5), (), "le chat et chat boit lait", "the cat and cat drinks milk", of={REPEATED}
    ),
    "a repetition far away": Case(DIAGONAL, (), "le chat boit du lait chat"),
    "a repetition that looks at the same word": Case((*DIAGONAL, 2), [(REPEATED, 2, 6, True)], f"{TARGET} Chat"),
    "a repetition that looks elsewhere": Case((*DIAGONAL, 4), (), f"{TARGET} Chat"),
    "a repeated function word": Case((*DIAGONAL, 4), (), f"{TARGET} du"),
    "another word at the same word": Case((*DIAGONAL, 2), (), f"{TARGET} chien"),
    "a pronoun doubled by grammar": Case(
        (0, 0, 2, 3, 4, 5), (), "vous vous devez rentrer chez toi", "you now must go home soon", of={REPEATED}
    ),
    "a noun doubled": Case(
        (0, 0, 2, 3, 4, 5),
        [(REPEATED, 0, 1, True)],
        "chat chat devez rentrer chez toi",
        "you now must go home soon",
        of={REPEATED},
    ),
    "a collapsed column": Case((4,) * 6, [(COLLAPSED, 4, None, False)]),
    "names at their own places": Case(DIAGONAL, [(IDENTICAL, 1, 1, False), (IDENTICAL, 3, 3, False)], *CITIES[::-1]),
    "all one word off": Case((1, 2, 3, 4, 5, 0), [(SHIFTED, 1, 1, False)], *CITIES[::-1]),
    "names at two distances": Case((0, 2, 1, 5, 3, 4), (), *CITIES[::-1], of={SHIFTED}),
}


def test_findings_of_alignments() -> None:
    for name, case in CASES.items():
        trace = aligned(case.source, case.target, np.eye(6)[[*case.looks]], case.probability)
        found = [(one.kind, one.source, one.target, one.strong) for one in findings_of(trace) if one.kind in case.of]
        assert found == [*case.expected], name


def test_dropped_clauses_unknown_words_and_uniform_rows() -> None:
    source, target = "the cat drinks milk . nobody came to the house .", "le chat boit du lait ."
    matrix = np.zeros((6, 11))
    matrix[np.arange(6), [0, 1, 2, 3, 3, 4]] = 1
    matrix[4, 5:10] = 0.1  # little attention for each, but not none
    (finding,) = findings_of(aligned(source, target, matrix))
    assert (finding.kind, finding.source, finding.last, finding.strong) == (OMITTED, 5, 9, True)
    assert cell_of(aligned(source, target, matrix), finding)[1] in range(5, 10)
    trace = aligned(SOURCE, TARGET, np.eye(6)[[0, 2, 2, 3, 4, 5]])
    (omitted,) = findings_of(trace)
    assert omitted.value < 0.01
    pieces = tuple("<unk>" if piece == SPACE + "small" else piece for piece in trace.source_pieces)
    assert findings_of(dataclasses.replace(trace, source_pieces=pieces)) == []
    matrix = np.eye(6)
    matrix[3] = np.ones(6) / 6
    (finding,) = findings_of(aligned(SOURCE, TARGET, matrix))
    assert (finding.kind, finding.target) == (FindingKind.UNIFORM, 3)


@pytest.mark.parametrize(
    ("source", "target", "place"),
    [
        ("about 42% agree", "environ 400 sont", 1),
        ("in 1991 it fell", "en 1992 il tomba", 1),
        ("about 42% agree", "environ 42 % sont", None),
        ("in 1991 it fell", "en 91 il tomba", None),
        ("some 2.5 million men", "quelque 2 500 000 hommes", None),
        ("it costs 3,000 euros", "il coûte 3 000 euros", None),
        ("at 3 he slept", "à 15 h il", None),
        ("two men sleep", "2 hommes dorment", None),
    ],
)
@pytest.mark.parametrize("attention", ["additive", "none"])
def test_only_another_number_is_reported(source: str, target: str, place: int | None, attention: str) -> None:
    trace = make_trace(source, target, attention=attention)
    found = [finding for finding in findings_of(trace) if finding.kind is FindingKind.NUMBER]
    assert [(one.target, one.strong) for one in found] == ([] if place is None else [(place, True)])
    assert all(any(digit.isdigit() for digit in trace.words().source[one.source or 0]) for one in found)


def test_summaries_match_hand_computed_values_and_uniform_attention_attends_to_no_word() -> None:
    """A word that is repeated, or spelled alike, has not looked at the first word, which is the first of equals."""
    found = summarise(aligned(SOURCE, TARGET, np.eye(6)[[0, 2, 1, 3, 3, 5]]))
    assert (found.moves, found.forward, found.identical) == (5, 4, 0)
    assert (found.perplexity, found.strongest) == pytest.approx((1, 1), abs=0.01)
    flat = summarise(aligned(SOURCE, TARGET, np.ones((6, 6))))
    assert (flat.perplexity, flat.strongest) == pytest.approx(((6 * 6 + 1) / 7, (6 / 6 + 1) / 7), rel=0.01)
    assert summarise(make_trace(attention="none")) is None
    uniform = aligned(SOURCE, "maison maison maison", np.ones((3, 6)))
    uniform = dataclasses.replace(uniform, alignment=np.full_like(uniform.alignment, 1 / 7))
    assert (attended_words(uniform) == -1).all()
    assert {finding.kind for finding in findings_of(uniform)} <= {FindingKind.UNIFORM, FindingKind.IMPROBABLE}
    summary = summarise(uniform)
    assert (summary.moves, summary.identical, summary.perplexity) == (0, 0, pytest.approx(7, rel=1e-3))


def test_cell_of_returns_step_and_source_piece_or_the_least_likely_piece() -> None:
    matrix = np.vstack([np.eye(6), 0.5 * np.eye(6)[[0, 0, 0]] + 0.5 * np.eye(6)[[1, 2, 3]]])
    trace = aligned(SOURCE, TARGET + " vite et bien", matrix)
    assert cell_of(trace, Finding(FindingKind.OVERUSED, 3.5, source=0)) == (0, 0)
    assert cell_of(trace, Finding(FindingKind.IDENTICAL, 0.9, target=3, source=4)) == (3, 4)
    assert cell_of(trace, Finding(FindingKind.UNIFORM, 0.9, target=7)) == (7, None)
    chances = np.log(np.array([0.9, 0.02, 0.9, 0.9], dtype=np.float32))
    trace = dataclasses.replace(make_trace("small cat", "extraordinaire chat"), log_probabilities=chances)
    (finding,) = [found for found in findings_of(trace) if found.kind is FindingKind.IMPROBABLE]
    assert (finding.target, cell_of(trace, finding)) == (0, (1, None))  # "extr" + "aordinaire"


def test_findings_uniform_attention_and_improbable_foils_have_sentences(each_language, snapshot) -> None:
    trace = make_trace("In Paris about 42% agree", "À Paris extraordinaire 400 sont")  # "extr" + "aordinaire"
    found = [
        Finding(FindingKind.OMITTED, 0.05, source=2),
        Finding(FindingKind.OMITTED, 0.05, source=1, last=3, strong=True),
        Finding(FindingKind.OVERUSED, 3.4, source=1),
        Finding(FindingKind.OVERUSED, 3.4, source=1, strong=True),
        Finding(FindingKind.REPEATED, 2.0, target=1, source=1),
        Finding(FindingKind.REPEATED, 3.0, target=1),
        Finding(FindingKind.UNIFORM, 0.91, target=4),
        Finding(FindingKind.COLLAPSED, 0.7, source=1),
        *(Finding(FindingKind.SHIFTED, distance, target=1, source=1) for distance in (2.0, -1.0)),
        *(Finding(FindingKind.IDENTICAL, 0.83, target=target, source=1) for target in (1, 2)),
        Finding(FindingKind.NUMBER, 1.0, target=3, source=3),
        *(Finding(FindingKind.IMPROBABLE, 0.02, target=target) for target in (1, 2)),
    ]
    assert [finding_sentence(trace, finding) for finding in found] == snapshot
    assert {finding.kind for finding in found} == {*FindingKind}
    unreadable = nothing_found_text(dataclasses.replace(trace, unknown_characters=("😀", "🎉")))
    assert unreadable.removeprefix(nothing_found_text(trace)) == snapshot(name="unknown characters")
    trace = make_trace("one two three .", "un deux trois .")
    top = np.full_like(trace.top_probabilities, 0.0004)
    chances = np.log(np.full(5, 0.95, dtype=np.float32))
    sentence = step_attention_sentence(dataclasses.replace(trace, top_probabilities=top, log_probabilities=chances), 0)
    assert percent(0.0004) in sentence
    assert word_choice(trace, 0)[0] not in step_attention_sentence(trace, 0), "the stage of the word has this sentence"
    assert " 0\u00a0%" not in sentence
    uniform = dataclasses.replace(trace, alignment=np.full_like(trace.alignment, 1 / trace.alignment.shape[1]))
    stage = narrate(uniform, 1, simple=True)[1]
    others = [summary_sentence(summarise(uniform)), step_attention_sentence(uniform, 1), stage.outcome, stage.sentence]
    assert [without_numbers(text) for text in (sentence, *others)] == snapshot


JUDGED = json.loads(Path(__file__).with_name("findings.json").read_text(encoding="utf-8"))


def finding_key(trace: Trace, finding: Finding) -> tuple[str, str, str]:
    words = trace.words()
    first = finding.source
    source = "" if first is None else " ".join(words.source[first : (finding.last or first) + 1])
    return finding.kind.value, source, "" if finding.target is None else words.target[finding.target]


@pytest.mark.nightly
def test_nine_in_ten_strong_findings_are_right(shipped_translator) -> None:
    """Of every kind that the shipped model gives rise to, by the verdicts of a person."""
    verdicts, unjudged = dict[FindingKind, list[bool]](), []
    traces = shipped_translator.translate_together([item["sentence"] for item in JUDGED], beam=5)
    for item, trace in zip(JUDGED, traces, strict=True):
        known = {(one["kind"], one["source"], one["target"]): one["right"] for one in item["remarks"]}
        for finding in findings_of(trace):
            if finding.strong:
                key = finding_key(trace, finding)
                verdicts.setdefault(finding.kind, []).append(known.get(key, False))
                if key not in known:
                    unjudged.append(f"{item['sentence']}\n{trace.translation}\n{key}")
    assert not unjudged, "To judge, for findings.json:\n" + "\n".join(unjudged)
    for kind in (OMITTED, OVERUSED, REPEATED):
        right = verdicts[kind]
        assert sum(right) >= 0.9 * len(right), kind


BANK, GREETINGS, DEEDS = EXAMPLES["Mistakes, and why"]


def test_right_translations_have_no_suspected_errors(shipped_translator) -> None:
    right = [sentence for kind in list(EXAMPLES)[:4] for sentence in EXAMPLES[kind]]
    for beam in (1, 5):
        for trace in shipped_translator.translate_together(right, beam=beam):
            assert suspected_errors_of(trace) == [], trace.source_text


def test_unread_repeated_and_judged_words_are_marked(shipped_translator) -> None:
    trace = shipped_translator.translate(GREETINGS, beam=5)
    (suspect,) = [suspect for suspect in suspected_errors_of(trace) if suspect.strong]
    assert suspect.finding.kind is FindingKind.OMITTED
    assert trace.target_ids[suspect.step] == EOS
    words = trace.words()
    assert suspect.source in words.source_groups[suspect.finding.source or 0]
    trace = shipped_translator.translate(DEEDS, beam=5)
    (suspect,) = suspected_errors_of(trace)
    assert (suspect.finding.kind, trace.words().target[suspect.finding.target or 0]) == (FindingKind.REPEATED, "pleuré")
    other = foils_of(trace, suspect.step)[0]
    for change in (ForceWords((other[0],), suspect.step), ExcludePosition(suspect.source or 0, suspect.step)):
        interventions, target = translator_arguments(trace, change, held=False)
        changed = shipped_translator.translate(DEEDS, beam=5, target=target, interventions=interventions)
        assert changed.translation.count("pleuré") < trace.translation.count("pleuré")
    trace = shipped_translator.translate(BANK, beam=5)
    assert suspected_errors_of(trace) == []
    target = trace.words().target.index("banque")
    (suspect,) = suspected_errors_of(trace, [target])
    assert suspect.strong
    assert (suspect.finding.target, suspect.source) == (target, trace.source_pieces.index("▁bank"))
    assert suspect.finding.value == pytest.approx(float(trace.probabilities[suspect.step]))


def test_unsure_words_are_few_and_the_least_sure_step_wrote_the_least_likely(shipped_translator) -> None:
    trace = shipped_translator.translate("The squirrel nibbled on a walnut.", beam=5)
    groups = trace.words().target_groups
    products = [float(np.prod(trace.probabilities[list(group)])) for group in groups]
    unsure = [suspect for suspect in suspected_errors_of(trace) if not suspect.strong]
    targets = [suspect.finding.target or 0 for suspect in unsure]
    assert 0 < len(unsure) <= MOST_UNSURE
    assert targets == sorted(targets)
    for suspect, target in zip(unsure, targets, strict=True):
        assert suspect.finding.value == pytest.approx(products[target])
        assert products[target] < LITTLE_WORD_PROBABILITY
        assert suspect.step == min(groups[target], key=trace.probabilities.__getitem__)
    trace = shipped_translator.translate("The green house at the end of the street is very old.", beam=1)
    step = least_sure_step(trace)
    content = ["maison", "verte", "fin", "rue", "vieille"]
    steps = {trace.words().target[k]: group[0] for k, group in enumerate(trace.words().target_groups)}
    assert step == min((steps[word] for word in content), key=trace.probabilities.__getitem__)
    no_content = shipped_translator.translate("It is.", target="Il est.")
    assert least_sure_step(no_content) == int(no_content.probabilities.argmin())


def test_passing_step_and_other_hypothesis_of_examples() -> None:
    trace = make_trace("one two three four five six", "un deux six six six six")
    weights = np.zeros_like(trace.alignment)
    for step, piece in enumerate((0, 1, 5, 5, 0, 5, 6)):  # one exception: step 4 goes back
        weights[step, piece] = 1
    trace = dataclasses.replace(trace, alignment=weights)
    assert passing_step(trace, Finding(FindingKind.OMITTED, 0.0, source=2, last=4, strong=True)) == 2
    texts = ["le chat noir dort.", "le chien noir dort.", "le chat noir mange.", "un gros chat dort.", "le noir dort."]
    trace = make_trace("the cat", "le chat noir dort .")
    hypotheses = [Hypothesis(text, -float(k)) for k, text in enumerate(texts)]
    assert other_hypothesis(trace.words(), hypotheses, 1) == hypotheses[1]
    assert other_hypothesis(trace.words(), hypotheses, 3) == hypotheses[2]
    assert other_hypothesis(trace.words(), [hypotheses[0], hypotheses[4]], 1) is None  # it only leaves the word out
    assert other_hypothesis(trace.words(), hypotheses[:1], 1) is None
