"""Gold links in the step view: box to enter them, drawing on the heatmap, download, and findings of the alignment.

The browser edits the links and sends each edit as a request (`ui.selection.set_drawn_links`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from attnviz.analysis.alignment_summary import step_attention_sentence, summarise, summary_sentence
from attnviz.analysis.findings import FindingKind, cell_of, finding_sentence, findings_of, nothing_found_text
from attnviz.analysis.gold import (
    MOST_GOLD_LINKS,
    GoldLinks,
    LinkErrors,
    drawing_texts,
    false_link_sentence,
    gold_summary,
    hidden_links_message,
    link_errors,
    link_file_names,
    linkable_words,
    links_help,
    missed_link_sentence,
)
from attnviz.analysis.labels import face_names
from attnviz.errors import AttnvizError
from attnviz.export.attention_files import LINK_ENDINGS, attention_file_content, record_of_links
from attnviz.export.saved_files import file_name
from attnviz.languages import gettext, language
from attnviz.trace import Attention, Trace
from attnviz.trace.drawing import Face
from attnviz.ui.blocks import box, component, html, message, plain_text
from attnviz.ui.controls import popover, request_button, switch, text_box, uploader
from attnviz.ui.embedding import embedding, page_session
from attnviz.ui.inputs import linked_entry
from attnviz.ui.payloads import Payload, PayloadRequest, UnknownPayloadError, makes_payload, shown_address
from attnviz.ui.resources import cached_for_all, cached_posterior, has_posterior
from attnviz.ui.selection import (
    LINKS_OF_PAIRS,
    TEXT,
    drawn_identity,
    gold_entries,
    gold_of,
    has_links_for_other_words,
    links_of_pair,
    links_of_pairs,
    problem_of,
    set_links,
    take_links,
)
from attnviz.ui.view import View

_MOST_MEGABYTES = 16
"""Largest size of a file of links, in megabytes."""
SHOWN_LINKS = 6
"""Number of links shown before "more"."""


def gold_box(view: View) -> None:
    """Draw the box in which links are entered."""
    key, key_of_box = view.key(TEXT), view.key("gold_box")
    with popover(gettext("Links marked by hand"), key=key_of_box):
        html(f'<p class="explanation">{escape(links_help(of_file=not view.trace.translated))}</p>')
        for name, side in zip((gettext("Source"), gettext("Target")), linkable_words(view.trace.words()), strict=True):
            numbered = " ".join(
                f'<span style="white-space:nowrap"><small>{number}</small>\u00a0{escape(word)}</span>'
                for number, word in enumerate(side)
            )
            html(f'<p class="explanation"><b>{escape(name)}</b> {numbered}</p>')
        text = links.text() if (links := gold_of(view)) else ""
        text_box(gettext("Links"), key=key, default=text, height=90, placeholder="0-0 1-2 2?1", labelled=False)
        with box(view.key("gold_buttons"), row=True):
            request_button(
                gettext("Show them"),
                lambda: set_links(view, str(page_session().get(key) or "")),
                type="primary",
                key=view.key("gold_show"),
            )
            request_button(gettext("Take them off"), partial(take_links, view, GoldLinks()), key=view.key("gold_off"))
        if problem := problem_of(view):
            message(problem, view.key("gold_problem_within"))
        if view.open_gold:
            label = gettext("Or open a file of links, in any format")
            uploader(label, partial(view.open_gold, view), key=key_of_box, megabytes=_MOST_MEGABYTES)


def gold_panel(view: View, *, listed: bool) -> None:
    """Draw the problem of the gold links; if `listed`, also the errors of the links in the heatmap against them.

    Each error is a link to its cell.
    """
    with box(view.key("gold_panel")):  # always present: otherwise the parts below are mounted again
        if problem := problem_of(view):
            message(problem, view.key("gold_problem"))
        elif has_links_for_other_words(view):
            plain_text(hidden_links_message())
        if listed and gold_of(view) is not None:
            shown = {"view": view, "session": link_entries(view)}
            component("findings", view.key("gold_links"), {"at": shown_address("gold-links", shown, "{options}")})


@makes_payload("gold-links")
def gold_links_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the errors of the links against the gold links: their rate, and each link with its cell.

    Where both α and α′ are shown, the listed links are those of the posterior α′.
    """
    trace, gold, face = request.trace, gold_of(request.view) or GoldLinks(), _face(request)
    words, of_file, errors_by_face = trace.words(), not trace.translated, dict[Face, LinkErrors]()
    if face != "after":
        errors = errors_by_face["before"] = link_errors(words, gold)
    if face != "before":
        errors = errors_by_face["after"] = link_errors(words, gold, words.merged(cached_posterior(trace)))
    words = words.linkable
    listed = [(missed_link_sentence(words, errors, link, of_file=of_file), "missed", link) for link in errors.missed]
    listed += [(false_link_sentence(words, link, of_file=of_file), "false", link) for link in errors.false]
    links = [
        cell_link(text, kind, words.target_groups[i][0], words.source_groups[j][0]) for text, kind, (j, i) in listed
    ]
    return links_payload(gold_summary(gold, errors_by_face, of_file=of_file), links, SHOWN_LINKS)


def _face(request: PayloadRequest) -> Face:
    return request.selection.choices.face if has_posterior(request.trace) else "before"


MOST_SAVED = 10_000
"""Largest number of pairs of a file whose links are saved together; a larger file would keep other visitors waiting."""
DRAW = "draw"
"""Session state key of the switch, and address parameter."""


def draws_links(view: View) -> bool:
    """Return whether the visitor draws links in `view`, which needs attention and the level *Numbers*."""
    if view.simple or not view.trace.attends or embedding() is not None:
        return False
    linked_entry(view.key(DRAW), False, offered=("0", "1"), parse="1".__eq__)
    return _is_drawing(view)


def _is_drawing(view: View) -> bool:
    return page_session().get(view.key(DRAW)) is True


def has_links(view: View) -> bool:
    """Return whether the heatmap of `view` has links between words: gold links, or those that the visitor draws."""
    return _is_drawing(view) or gold_of(view) is not None


def drawn_gold(view: View) -> GoldLinks | None:
    """Return the gold links in the heatmap; None while the visitor edits links, which the browser draws."""
    return None if _is_drawing(view) else gold_of(view)


def link_entries(view: View) -> dict[str, Any]:
    """Return the entries of the session state that the links on the heatmap of `view` depend on."""
    return {view.key(DRAW): True} if _is_drawing(view) else gold_entries(view)


def link_drawing_switch(view: View) -> None:
    """Draw the switch of the mode, which stands beside the title of the heatmap."""
    switch(
        gettext("Draw links yourself"),
        key=view.key(DRAW),
        parameter=view.key(DRAW),
        help=gettext(
            "Click a cell of the heatmap to link its English word with its French word. The page draws no links by "
            "itself. The page then shows how far the attention agrees with your links."
        ),
    )


def link_drawing(view: View) -> None:
    """Draw the bar below the heatmap; its script puts the cells over the heatmap."""
    words, gold = view.trace.words(), gold_of(view) or GoldLinks()
    source, target = linkable_words(words)
    payload = {
        "language": language(),
        "request": view.key("links"),
        "identity": drawn_identity(view),
        "heatmap": view.key("alignment"),
        "links": gold.text(),
        "source": source,
        "target": target,
        "sourceWords": _words_of_pieces(words.source_groups, words.places[0]),
        "targetWords": _words_of_pieces(words.target_groups, words.places[1]),
        "most": MOST_GOLD_LINKS,
        "at": shown_address("links-of-attention", {"view": view}, "{options}"),
        "files": _files(view),
        "words": drawing_texts(*_place(view), of_file=not view.trace.translated),
    }
    component("link_drawing", view.key("link_drawing_bar"), payload)


def _place(view: View) -> tuple[int, int]:
    """Return the number of the pair in its file, and the number of pairs."""
    return (view.file.number, len(view.file.file)) if view.file else (1, 1)


def _files(view: View) -> list[list[dict[str, str]]]:
    """Return the files of this pair and, where the view shows one of several pairs of a file, those of all pairs."""
    files = list[tuple[str, dict[str, Any], str]]()
    files.append(("links-of-pair", gold_entries(view), file_name(view.trace, "links")))
    if view.file and 1 < len(view.file.file) <= MOST_SAVED:
        name = f"attnviz-{Path(view.file.name).stem}-links"
        files.append(("links-of-file", {LINKS_OF_PAIRS: links_of_pairs()}, name))
    return [
        [
            {
                "label": link_file_names()[ending],
                "at": shown_address(name, {"view": view, "session": entries}, part=ending),
                "file": f"{file}.{ending}",
            }
            for ending in LINK_ENDINGS
        ]
        for name, entries, file in files
    ]


def _words_of_pieces(groups: tuple[tuple[int, ...], ...], places: list[int]) -> list[int]:
    """Return the number of the word of each piece, as links count words; that after the last for a special token."""
    numbers = {place: number for number, place in enumerate(places)}
    return [numbers.get(place, len(places)) for place, group in enumerate(groups) for _ in group]


@makes_payload("links-of-attention", needs_server=True)
def links_of_attention_payload(request: PayloadRequest) -> Payload:
    """Return the links of the attention that the heatmap shows; of the difference, those of the posterior."""
    words, shown = request.trace.words(), "before" if _face(request) == "before" else "after"
    shares = None if shown == "before" else words.merged(cached_posterior(request.trace))
    return {"links": link_errors(words, GoldLinks(), shares).found, "face": face_names()[shown]}


@makes_payload("links-of-pair", "links-of-file", needs_server=True)
def links_file(request: PayloadRequest) -> bytes:
    """Return the file of the links of the pair that is shown, or of all pairs of its file.

    Those are the links that the visitor drew, else those that the file has.
    """
    view, file, ending = request.view, request.view.file, request.part
    if ending not in LINK_ENDINGS:
        raise UnknownPayloadError(ending)
    if request.name == "links-of-pair":
        record = record_of_links(view.trace.words(), gold_of(view) or GoldLinks())
        return attention_file_content([record], ending, _place(view)[0])
    if file is None:
        raise UnknownPayloadError(request.name)
    records = list[Attention | None]([None] * len(file.file))
    for number in range(1, len(file.file) + 1):
        with suppress(AttnvizError):  # the page of the pair says why it cannot be read
            found = file.record(number)
            records[number - 1] = found and record_of_links(found.words(), links_of_pair(file, number, found))
    return attention_file_content(records, ending)


AT_ONCE = 5
"""Number of findings before "more"."""

SEVERITY = (
    FindingKind.COLLAPSED,
    FindingKind.SHIFTED,
    FindingKind.OMITTED,
    FindingKind.REPEATED,
    FindingKind.NUMBER,
    FindingKind.OVERUSED,
    FindingKind.UNIFORM,
    FindingKind.IMPROBABLE,
    FindingKind.IDENTICAL,
)
"""Order of the findings, most important first."""


def cell_link(text: str, kind: str, step: int | None, source: int | None, *, strong: bool = False) -> Payload:
    """Return a link to the cell of a step, where it has one, and of a source piece, None for the most attended one."""
    link = {"text": text, "kind": kind, "strong": strong, "source": source}
    return link if step is None else link | {"step": step}


def links_payload(summary: str, links: Sequence[Payload], at_once: int, steps: Sequence[str] = ()) -> Payload:
    """Return the payload of a list of `links`, so many `at_once` before "more"; `steps` are sentences about them."""
    more = gettext("{n} more")
    return {"summary": summary, "findings": [*links], "steps": [*steps], "atOnce": at_once, "more": more}


def findings_panel(view: View) -> None:
    """Draw the findings of the alignment and of the current step."""
    component("findings", view.key("reading"), findings_payload(view.trace))


@cached_for_all
def findings_payload(trace: Trace) -> Payload:
    """Return the payload of the findings, the same at every step."""
    ranked = sorted(findings_of(trace), key=lambda finding: (not finding.strong, SEVERITY.index(finding.kind)))
    links = [
        cell_link(finding_sentence(trace, finding), finding.kind.value, *cell_of(trace, finding), strong=finding.strong)
        for finding in ranked
    ]
    has_errors = any(finding.kind is not FindingKind.IDENTICAL for finding in ranked)
    summary = summary_sentence(summarise(trace)) + ("" if has_errors else f" {nothing_found_text(trace)}")
    steps = [step_attention_sentence(trace, step) for step in range(len(trace.target_pieces))]
    return links_payload(summary, links, AT_ONCE, steps)
