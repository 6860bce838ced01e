"""A translation as one HTML file for a lecture, which opens offline: heatmap, figures of all steps, what-ifs, texts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

from attnviz.analysis.attention_forms import face_explanation, face_names
from attnviz.analysis.grid import FACES
from attnviz.analysis.imported_file_texts import missing_values_reason, remark_sentences
from attnviz.analysis.labels import bracket_sentence, merged_words_sentence, quote, shorten
from attnviz.analysis.logit_attribution import (
    Cell,
    logit_attribution_heading,
    logit_attribution_sentence,
    logit_attributions,
)
from attnviz.analysis.posterior import (
    PosteriorAttention,
    posterior_attention,
    posterior_caption,
    posterior_sentence,
    posterior_title,
)
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.what_if_effects import what_ifs_payload
from attnviz.architectures import stage_numbered, step_texts
from attnviz.export.offline_page import compressed, in_every_language, offline_page, packed_figures, variants
from attnviz.figures.heatmap import heatmap
from attnviz.figures.registry import LOGIT_ATTRIBUTION, POSTERIOR, StepFigure, step_figures
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.languages import LANGUAGES, gettext, language
from attnviz.palette import ThemeName, is_dark_on_white
from attnviz.text import BLANK_NAME, SPACE, SPECIAL_PIECES, join_pieces, piece_name
from attnviz.trace import Aligned, Attention, WhatIfs
from attnviz.trace.drawing import Face, HeatmapChoices, HeatmapOptions, heatmap_choices


def lecture_labels() -> dict[str, str | dict[str, str]]:
    """Return the heading of a step, with `{i}` and `{n}` for the script to fill, and the labels of the controls."""
    return {
        "heading": gettext("Step {i} of {n}"),
        "labels": {
            "previous": gettext("Previous step"),
            "next": gettext("Next step"),
            "step": gettext("Step"),
            "grid": gettext("Alignment"),
            "faces": gettext("Attention before or after the word"),
        },
    }


def lecture_footer(
    trace: Aligned,
    choices: HeatmapChoices,
    *,
    logit_attributions: bool,
    heads_text: str,
    origin: str,
    faces: bool = False,
) -> str:
    """Return how to read the figures of `trace`, and how it was made.

    `heads_text` and `origin`: the architecture's clauses on which attention is displayed and how it was made.
    `logit_attributions`: there are logit attributions. `faces`: the heatmap has several faces.
    """
    shade = gettext("the square root of the weight") if choices.root else gettext("the weight")
    brighter = gettext("darker") if is_dark_on_white(choices.colours) else gettext("brighter")
    if not trace.attends:
        sentences = [
            gettext(
                "Without attention there is no alignment. Every step gets the same vector, the encoder’s last "
                "state, which summarises the whole sentence."
            )
        ]
    elif choices.face != "before":
        rows = (
            gettext("A row for each target word, a column for each source word.")
            if choices.unit == "words"
            else gettext("A row for each target piece, a column for each source piece.")
        )
        sentences = [rows, face_explanation(choices.face)]
    elif choices.unit == "words":
        sentences = [
            gettext(
                "Each row is a target word, each column a source word. The {brighter} a cell, the larger {shade} "
                "that its target word gives to its source word.",
                brighter=brighter,
                shade=shade,
            )
        ]
    else:
        sentences = [
            gettext(
                "Each row is a target piece, each column a source piece. The {brighter} a cell, the larger {shade} "
                "that its target piece gives to its source piece.",
                brighter=brighter,
                shade=shade,
            )
        ]
    groups = [group for groups in trace.word_groups() for group in groups if len(group) > 1]
    if trace.attends and groups:
        sentences.append(merged_words_sentence() if choices.unit == "words" else bracket_sentence())
    if heads_text:
        sentences.append(
            gettext(
                "A transformer has many attention distributions at each step. The heatmap shows one head, or the mean "
                "of several heads: {heads}.",
                heads=heads_text,
            )
        )
    if choices.margins and trace.attends:
        sentences.append(_margins_caption(choices.face))
    if faces:
        sentences.append(
            gettext(
                "Press B or a button above the heatmap to see the attention before the word is known, after the word "
                "is known, or the difference."
            )
        )
        sentences.append(posterior_caption())
    if isinstance(trace, Attention):
        sentences += [*remark_sentences(trace), missing_values_reason()]
    elif not logit_attributions and not heads_text:
        sentences.append(gettext("Without the model's weights, this page has no logit attribution."))
    sentences.append(gettext("The keys ← and → change the step. {how}; made with attnviz.", how=origin))
    return " ".join(sentences)


def _margins_caption(face: Face) -> str:
    """Return how to read the sums and entropies beside the heatmap."""
    if face == "after":
        return gettext(
            "Σ α′ is the sum of a column, roughly the number of steps aligned with the column. H is the entropy of a "
            "row of α′ (how widely its attention spreads)."
        )
    if face == "difference":
        return gettext(
            "Σ Δ is the sum of a column: how much attention the column gains or loses once the target words are known. "
            "ΔH is the entropy of a row of α′ minus the entropy of the same row of α."
        )
    return gettext(
        "Σ α is the sum of a column, all the attention that the column gets. H is the entropy of a row (how "
        "widely its attention spreads)."
    )


def stage_sentence(trace: Any, step: int, figure: StepFigure, *, simple: bool = False) -> str:
    """Return the sentence of the stage that `figure` belongs to; empty where there is none."""
    stage = stage_numbered(trace, figure.stage)
    return stage.text(trace, step, simple=simple).sentence if stage else ""


@dataclass(frozen=True)
class _Lecture:
    """Content of the page, except language and theme."""

    trace: Any
    choices: HeatmapChoices
    """How the heatmap is drawn, and the gold links between the words of `trace`."""
    posterior: PosteriorAttention | None
    """Posterior attention; None without weights or attention."""
    subjects: tuple[Subject, ...]
    """The steps, with what is computed of them."""

    def figures(self, theme: ThemeName) -> dict[str, Any]:
        """Return the faces of the heatmap, and the other figures by step, 0-based."""
        pictures = {"faces": packed_figures({face: self._heatmap(face, theme) for face in self.faces})}
        for figure in self._step_figures:
            subjects = (replace(subject, theme=theme) for subject in self.subjects)
            pictures[figure.name] = packed_figures({str(subject.step): figure.draw(subject) for subject in subjects})
        return pictures

    @property
    def faces(self) -> tuple[Face, ...]:
        """The available faces of the heatmap."""
        return FACES[:1] if self.posterior is None else FACES

    def _heatmap(self, face: Face, theme: ThemeName) -> Spec:
        """Return a face of the heatmap, or what replaces it without attention."""
        posterior = None if self.posterior is None else self.posterior.heatmap_posterior
        return heatmap(self.trace, self.choices, face=face, theme=theme, posterior=posterior)

    def words(self) -> dict[str, Any]:
        """Return all texts of the page in the current language."""
        steps = [
            {
                "sentence": step_texts(self.trace).step_sentence(self.trace, subject.step, quote(BLANK_NAME)),
                "pictures": {figure.name: self._texts(figure, subject) for figure in self._step_figures},
            }
            for subject in self.subjects
        ]
        names = {face: name for face, name in face_names().items() if face in self.faces}
        return lecture_labels() | {"steps": steps, "faces": names, "footers": self._footers()}

    def _texts(self, figure: StepFigure, subject: Subject) -> dict[str, str]:
        """Return the title of a figure and the sentence below it."""
        step = subject.step
        if figure is POSTERIOR and self.posterior is not None:
            return {"title": posterior_title(), "note": posterior_sentence(self.trace, self.posterior, step)}
        if figure is LOGIT_ATTRIBUTION:
            name = piece_name(self.trace.target_pieces[step])
            note = logit_attribution_sentence(self.trace, subject.logit_attribution, name, None)
            return {"title": logit_attribution_heading(quote(name)), "note": note}
        return {"title": figure.title(subject), "note": stage_sentence(self.trace, step, figure)}

    def _footers(self) -> dict[str, str]:
        """Return the footer for each face."""
        kind = step_texts(self.trace)
        arguments: dict[str, Any] = {
            "logit_attributions": LOGIT_ATTRIBUTION in self._step_figures,
            "faces": len(self.faces) > 1,
            "heads_text": kind.heads_text(self.trace),
            "origin": kind.made_by_search(self.trace),
        }
        return {face: lecture_footer(self.trace, replace(self.choices, face=face), **arguments) for face in self.faces}

    @cached_property
    def _step_figures(self) -> list[StepFigure]:
        """Return the figures of a step in the file: the first available one of each place."""
        by_place: dict[str, StepFigure] = {}
        for figure in step_figures(self.subjects[0]).values():
            if figure.lecture:
                by_place.setdefault(figure.lecture, figure)
        return list(by_place.values())


def lecture_html(
    trace: Aligned,
    choices: HeatmapChoices | None = None,
    *,
    weights: Weights | None = None,
    what_ifs: WhatIfs | None = None,
    **named: Unpack[HeatmapOptions],
) -> str:
    """Return an HTML page with the figures of all steps, in both themes and every language.

    It has a language switch, the theme is the browser's, and it needs no network (see `offline_page`).

    Args:
        trace: The record.
        choices: How the heatmap is drawn. The page opens at its `step`, 0-based, and its `face`; with weights and
            attention, a switch changes the latter. The heatmaps of what-ifs have no `gold` links, since their words
            may differ.
        weights: Weights of the model that made the trace (`load_weights`). With them, every step has the logit
            attribution of its word, and with attention also prior, likelihood and posterior.
        what_ifs: The what-ifs that `trace` belongs to; each gets a card that displays it. Their figures are compressed.
        **named: As in `figures.heatmap`.

    Returns:
        The page.

    Raises:
        AttnvizError: Another face lacks its weights.
        AttnvizError: A choice is unknown.
    """
    chosen = heatmap_choices(choices, **named)
    if weights is None or not trace.attends_once:
        heatmap(trace, chosen, weights=weights)  # raises where a face is not available
    drawn = replace(chosen, face="before", step=None)
    source = join_pieces(trace.source_surfaces[:-1])
    payload = {
        "source": source,
        "step": 1 if chosen.step is None else chosen.step + 1,
        "face": chosen.face,
        "language": language(),
        "names": LANGUAGES,
    } | _trace_payload(weights, drawn, trace)
    if what_ifs is not None and what_ifs.what_ifs:
        trace_payload = functools.partial(_trace_payload, weights, replace(drawn, gold=None))
        payload |= _what_ifs(what_ifs, trace, trace_payload)
    title = f"attnviz: {shorten(source, 80)}"
    return offline_page("lecture", title, payload)


def _trace_payload(weights: Weights | None, choices: HeatmapChoices, trace: Any) -> dict[str, Any]:
    """Return the payload of one trace."""
    posterior = None
    subjects = tuple(Subject(trace, step) for step in range(len(trace.target_pieces)))
    if weights is not None and trace.recurrent and trace.linear:  # other traces have no attributions
        words: list[Cell] = [(step, piece) for step, piece in enumerate(trace.target_ids)]
        words += [(step, None) for step in range(len(subjects))]
        known = dict(zip(words, logit_attributions(trace, weights, words), strict=True))
        posterior = posterior_attention(trace, weights) if trace.attends_once else None
        subjects = tuple(
            replace(subject, weights=weights, foil=word, known_logit_attributions=known, known_posterior=posterior)
            for subject, word in zip(subjects, trace.target_ids, strict=True)
        )
    lecture = _Lecture(trace, choices, posterior, subjects)
    return {
        "target": [_word(trace, i) for i in range(len(trace.target_pieces))],
        "words": in_every_language(lecture.words),
        "figures": variants(lecture.figures),
    }


def _what_ifs(what_ifs: WhatIfs, shown: Aligned, trace_payload: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return the what-ifs in every language, the index of the displayed one, and compressed payloads of the others."""
    traces = [what_ifs.first, *what_ifs.traces]
    shown_index = [trace.fingerprint for trace in traces].index(shown.fingerprint)
    others = [
        None if number == shown_index else compressed(trace_payload(trace)) for number, trace in enumerate(traces)
    ]
    return {
        "current": shown_index,
        "others": others,
        "cards": in_every_language(lambda: what_ifs_payload(what_ifs)),
    }


def _word(trace: Aligned, step: int) -> dict[str, Any]:
    """Return the piece of a step, and whether a space precedes it."""
    piece = trace.target_pieces[step]
    return {
        "text": join_pieces([piece]) or BLANK_NAME,
        "space": step > 0 and (piece in SPECIAL_PIECES or piece.startswith(SPACE)),
    }
