"""A translation as one HTML file for a lecture, which opens offline: heatmap, figures of all steps, what-ifs, texts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from attnviz.analysis.attention_forms import face_explanation, face_names
from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.grid import FACES
from attnviz.analysis.imported_attention import missing_values_reason, remark_sentences
from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.logit_attribution import (
    LogitAttribution,
    centred_attributions,
    logit_attribution_heading,
    logit_attribution_sentence,
    logit_attribution_title,
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
from attnviz.architectures import stage_of_figure, step_texts
from attnviz.export.offline_page import compressed, in_every_language, json_objects, offline_page, variants
from attnviz.figures.attention_figure import posterior_bars
from attnviz.figures.figure_input import Subject
from attnviz.figures.heatmap import heatmap
from attnviz.figures.logit_attribution_figure import logit_attribution_waterfall
from attnviz.figures.registry import StepFigure, step_figures
from attnviz.figures.translation_figure import translation_figure
from attnviz.languages import LANGUAGES, gettext, language
from attnviz.palette import DEFAULT_COLOURS, Colours, ThemeName
from attnviz.text import BLANK_NAME, SPACE, SPECIAL_PIECES, join_pieces, piece_name
from attnviz.trace import Aligned, Attention, WhatIfs
from attnviz.trace.drawing import By, Face


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
    by: By,
    *,
    face: Face,
    root: bool,
    margins: bool,
    logit_attributions: bool,
    heads_text: str,
    origin: str,
    faces: bool = False,
) -> str:
    """Return how to read the figures of `trace`, by words or by pieces, and how it was made.

    `heads_text` and `origin`: the architecture's clauses on which attention is displayed and how it was made. `root`:
    brightness is the square root of the weight. `margins`: sums and entropies are displayed.
    `logit_attributions`: there are logit attributions. `faces`: the heatmap has several faces, and `face` is displayed.
    """
    shade = gettext("the square root of the weight") if root else gettext("the weight")
    if not trace.attends:
        sentences = [
            gettext(
                "Without attention there is no alignment. Every step gets the same vector, the encoder’s last "
                "state, which summarises the whole sentence."
            )
        ]
    elif face != "before":
        rows = (
            gettext("A row for each target word, a column for each source word.")
            if by == "words"
            else gettext("A row for each target piece, a column for each source piece.")
        )
        sentences = [rows, face_explanation(face)]
    elif by == "words":
        sentences = [
            gettext(
                "Each row is a target word, each column a source word. The brighter a cell, the larger {shade} "
                "that its target word gives to its source word.",
                shade=shade,
            )
        ]
    else:
        sentences = [
            gettext(
                "Each row is a target piece, each column a source piece. The brighter a cell, the larger {shade} "
                "that its target piece gives to its source piece.",
                shade=shade,
            )
        ]
    if heads_text:
        sentences.append(
            gettext(
                "A transformer has many attention distributions at each step. The heatmap shows one head, or the mean "
                "of several heads: {heads}.",
                heads=heads_text,
            )
        )
    if margins and trace.attends:
        sentences.append(_margins_caption(face))
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


WEIGHTS_PICTURES = ("attention", "look", "softmax")
"""Figures of the weights of a step: the first that is available is in the file."""
_PICTURES = ("context", "candidates")
"""The other figures of a step in the file, besides the logit attribution."""

POSTERIOR, _LOGIT_ATTRIBUTION = "posterior", "logit-attribution"


def stage_sentence(trace: Any, step: int, figure: str, *, simple: bool = False) -> str:
    """Return the sentence of the stage that `figure` belongs to; empty where there is none."""
    stage = stage_of_figure(trace, figure)
    return stage.text(trace, step, simple=simple).sentence if stage else ""


@dataclass(frozen=True)
class _Lecture:
    """Content of the page, except language and theme."""

    trace: Any
    by: By
    posterior: PosteriorAttention | None
    """Posterior attention; None without weights or attention."""
    colours: Colours
    root: bool
    end: bool
    margins: bool
    gold: GoldLinks | None
    """Gold links between the words of `trace`."""
    attributions: tuple[LogitAttribution, ...]
    """Logit attribution of each step's word; empty without weights."""

    def figures(self, theme: ThemeName) -> dict[str, Any]:
        """Return the faces of the heatmap, and for each other figure a list with one for each step."""
        by_name: dict[str, Any] = {"faces": {face: json_objects(self._heatmap(face, theme)) for face in self.faces}}
        for name, picture in self._pictures().items():
            by_name[name] = [json_objects(picture.draw(Subject(self.trace, i), theme=theme)) for i in self._steps()]
        if self.posterior:
            by_name[POSTERIOR] = [
                json_objects(posterior_bars(self.trace, self.posterior, i, theme=theme)) for i in self._steps()
            ]
        if self.attributions:
            by_name[_LOGIT_ATTRIBUTION] = [
                json_objects(
                    logit_attribution_waterfall(
                        self.trace, attribution, logit_attribution_title(self._name(i)), theme=theme
                    )
                )
                for i, attribution in enumerate(self.attributions)
            ]
        return by_name

    @property
    def faces(self) -> tuple[Face, ...]:
        """The available faces of the heatmap."""
        return FACES[:1] if self.posterior is None else FACES

    def _heatmap(self, face: Face, theme: ThemeName) -> go.Figure:
        """Return a face of the heatmap, or what replaces it without attention."""
        arguments: dict[str, Any] = {
            "by": self.by,
            "colours": self.colours,
            "root": self.root,
            "end": self.end,
            "margins": self.margins,
            "theme": theme,
            "gold": self.gold,
        }
        if self.posterior is None or face == "before":
            return translation_figure(self.trace, **arguments)
        return heatmap(self.trace, face=face, posterior=self.posterior.heatmap_posterior, **arguments)

    def words(self) -> dict[str, Any]:
        """Return all texts of the page in the current language."""
        pictures = self._pictures()
        steps = []
        for i in self._steps():
            subject = Subject(self.trace, i)
            notes = {
                name: {"title": picture.title(subject), "note": stage_sentence(self.trace, i, name)}
                for name, picture in pictures.items()
            }
            if self.posterior:
                notes[POSTERIOR] = {
                    "title": posterior_title(),
                    "note": posterior_sentence(self.trace, self.posterior, i),
                }
            if self.attributions:
                name = self._name(i)
                note = logit_attribution_sentence(self.trace, self.attributions[i], name, None)
                notes[_LOGIT_ATTRIBUTION] = {"title": logit_attribution_heading(quote(name)), "note": note}
            steps.append(
                {"sentence": step_texts(self.trace).step_sentence(self.trace, i, quote(BLANK_NAME)), "pictures": notes}
            )
        names = {face: name for face, name in face_names().items() if face in self.faces}
        return lecture_labels() | {"steps": steps, "faces": names, "footers": self._footers()}

    def _footers(self) -> dict[str, str]:
        """Return the footer for each face."""
        kind = step_texts(self.trace)
        arguments: dict[str, Any] = {
            "root": self.root,
            "margins": self.margins,
            "logit_attributions": bool(self.attributions),
            "faces": len(self.faces) > 1,
            "heads_text": kind.heads_text(self.trace),
            "origin": kind.made_by_search(self.trace),
        }
        return {face: lecture_footer(self.trace, self.by, face=face, **arguments) for face in self.faces}

    def _steps(self) -> range:
        return range(len(self.trace.target_pieces))

    def _name(self, step: int) -> str:
        return piece_name(self.trace.target_pieces[step])

    def _pictures(self) -> dict[str, StepFigure]:
        available = step_figures(Subject(self.trace, 0))
        of_weights = next((name for name in WEIGHTS_PICTURES if name in available), "")
        return {name: figure for name, figure in available.items() if name in (of_weights, *_PICTURES)}


def lecture_html(
    trace: Aligned,
    *,
    by: By = "words",
    face: Face = "before",
    colours: Colours = DEFAULT_COLOURS,
    root: bool = False,
    end: bool = True,
    margins: bool = False,
    step: int | None = None,
    weights: Weights | None = None,
    what_ifs: WhatIfs | None = None,
    gold: GoldLinks | None = None,
) -> str:
    """Return an HTML page with the figures of all steps, in both themes and every language.

    It has a language switch, the theme is the browser's, and it needs no network (see `offline_page`).

    Args:
        trace: The record.
        by: As in `figures.heatmap`.
        face: Face of the heatmap at first. With weights and attention, a switch changes it.
        colours: As in `figures.heatmap`.
        root: As in `figures.heatmap`.
        end: As in `figures.heatmap`.
        margins: As in `figures.heatmap`.
        step: Step at which the page opens, 0-based; by default the first.
        weights: Weights of the model that made the trace (`load_weights`). With them, every step has the logit
            attribution of its word, and with attention also prior, likelihood and posterior.
        what_ifs: The what-ifs that `trace` belongs to; each gets a card that displays it. Their figures are compressed.
        gold: Gold links, marked on the heatmap of `trace` only, since words of the others may differ.

    Returns:
        The page.

    Raises:
        AttnvizError: Another face lacks its weights.
        AttnvizError: A choice is unknown.
    """
    if weights is None or not trace.attends_once:
        translation_figure(trace, by=by, face=face, weights=weights)  # raises where a face is not available
    trace_payload = functools.partial(
        _trace_payload, weights, by=by, colours=colours, root=root, end=end, margins=margins
    )
    source = join_pieces(trace.source_surfaces[:-1])
    payload = {
        "source": source,
        "step": 1 if step is None else step + 1,
        "face": face,
        "language": language(),
        "names": LANGUAGES,
    } | trace_payload(trace, gold=gold)
    if what_ifs is not None and what_ifs.what_ifs:
        payload |= _what_ifs(what_ifs, trace, trace_payload)
    title = f"attnviz: {shorten(source, 80)}"
    return offline_page("lecture", title, payload)


def _trace_payload(
    weights: Weights | None, trace: Any, *, gold: GoldLinks | None = None, **arguments: Any
) -> dict[str, Any]:
    """Return the payload of one trace."""
    attributions: tuple[LogitAttribution, ...] = ()
    posterior = None
    if weights is not None and trace.recurrent and trace.linear:  # other traces have no attributions
        attributions = tuple(centred_attributions(trace, weights, list(enumerate(trace.target_ids))))
        posterior = posterior_attention(trace, weights) if trace.attends_once else None
    lecture = _Lecture(trace=trace, posterior=posterior, attributions=attributions, gold=gold, **arguments)
    return {
        "target": [_word(trace, i) for i in range(len(trace.target_pieces))],
        "words": in_every_language(lecture.words),
    } | variants(lecture.figures)


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
