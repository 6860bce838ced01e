"""A translation as one HTML file for a lecture: heatmap, steps and keys, opened from disk without any network."""

from __future__ import annotations

import base64
import functools
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from attnviz.analysis.after_word import AfterWord, after_word
from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.grid import FACES, By, Face
from attnviz.analysis.ledger import Ledger, ledgers
from attnviz.analysis.recomputation import Weights
from attnviz.architectures import told as told_of
from attnviz.export.offline_page import in_every_language, offline_page, plain, variants
from attnviz.figures.heatmap import heatmap
from attnviz.figures.ledger import ledger_waterfall
from attnviz.figures.posterior import posterior_bars
from attnviz.figures.registry import StepFigure, step_figures
from attnviz.figures.subject import Subject
from attnviz.figures.translation import translation_figure
from attnviz.languages import LANGUAGES, language
from attnviz.palette import Colours, ThemeName
from attnviz.text import BLANK_NAME, SPACE, SPECIAL_PIECES, join_pieces, piece_name
from attnviz.trace import Aligned, Branches, Trace
from attnviz.wording.after_word import after_sentence, after_title
from attnviz.wording.faces import face_names
from attnviz.wording.labels import quote, shorten
from attnviz.wording.lecture import lecture_footer, lecture_words
from attnviz.wording.ledger import ledger_heading, ledger_sentence, ledger_title
from attnviz.wording.what_if import card_texts

PICTURES = ("attention", "context", "weights", "values", "look", "candidates")
"""The pictures of a step that the file shows, with the ledger: those that explain a word from where it was looked. The
first two are of a recurrent translator, the next of a transformer's head, then that of attention alone."""

POSTERIOR, LEDGER = "posterior", "ledger"

_STAGES = {"attention": 2, "context": 3, "weights": 2, "values": 3, "look": 2, "candidates": 5}
"""The stage whose sentence stands above a picture."""


@dataclass(frozen=True)
class _Lecture:
    """What is told and drawn, but for the language and the theme."""

    trace: Any
    by: By
    after: AfterWord | None
    """What the steps were about once their words were known; None without weights or attention."""
    colours: Colours
    root: bool
    end: bool
    margins: bool
    gold: GoldLinks | None
    """Links that people drew between the words of `trace`."""
    accounts: tuple[Ledger, ...]
    """The ledger of the word of each step, or none where there are no weights."""

    def figures(self, theme: ThemeName) -> dict[str, Any]:
        """Return the faces of the heatmap, and of each picture a list with one for each step."""
        drawn: dict[str, Any] = {"faces": {face: plain(self._grid(face, theme)) for face in self.faces}}
        for name, picture in self._pictures().items():
            drawn[name] = [plain(picture.draw(Subject(self.trace, i), theme=theme)) for i in self._steps()]
        if self.after:
            drawn[POSTERIOR] = [plain(posterior_bars(self.trace, self.after, i, theme=theme)) for i in self._steps()]
        if self.accounts:
            drawn[LEDGER] = [
                plain(ledger_waterfall(self.trace, account, ledger_title(self._name(i)), theme=theme))
                for i, account in enumerate(self.accounts)
            ]
        return drawn

    @property
    def faces(self) -> tuple[Face, ...]:
        """The faces of the heatmap that there are."""
        return FACES[:1] if self.after is None else FACES

    def _grid(self, face: Face, theme: ThemeName) -> go.Figure:
        """Return a face of the heatmap, or what a model without attention has instead."""
        look: dict[str, Any] = {
            "by": self.by,
            "colours": self.colours,
            "root": self.root,
            "end": self.end,
            "margins": self.margins,
            "theme": theme,
            "gold": self.gold,
        }
        if self.after is None or face == "before":
            return translation_figure(self.trace, **look)
        return heatmap(self.trace, face=face, posterior=self.after.reading, **look)

    def words(self) -> dict[str, Any]:
        """Return all that the page says, in the language in use."""
        pictures = self._pictures()
        steps = []
        for i in self._steps():
            told = {stage.number: stage.sentence for stage in told_of(self.trace).narrate(self.trace, i)}
            subject = Subject(self.trace, i)
            notes = {
                name: {"title": picture.title(subject), "note": told[_STAGES[name]]}
                for name, picture in pictures.items()
            }
            if self.after:
                notes[POSTERIOR] = {"title": after_title(), "note": after_sentence(self.trace, self.after, i)}
            if self.accounts:
                name = self._name(i)
                note = ledger_sentence(self.trace, self.accounts[i], name, None)
                notes[LEDGER] = {"title": ledger_heading(quote(name)), "note": note}
            steps.append(
                {"sentence": told_of(self.trace).step_sentence(self.trace, i, quote(BLANK_NAME)), "pictures": notes}
            )
        names = {face: name for face, name in face_names().items() if face in self.faces}
        return lecture_words() | {"steps": steps, "faces": names, "footers": self._footers()}

    def _footers(self) -> dict[str, str]:
        """Return what is said below all, for each face."""
        kind = told_of(self.trace)
        look: dict[str, Any] = {
            "root": self.root,
            "margins": self.margins,
            "ledgers": bool(self.accounts),
            "faces": len(self.faces) > 1,
            "whose": kind.whose(self.trace),
            "how": kind.how(self.trace),
        }
        return {face: lecture_footer(self.trace, self.by, face=face, **look) for face in self.faces}

    def _steps(self) -> range:
        return range(len(self.trace.target_pieces))

    def _name(self, step: int) -> str:
        return piece_name(self.trace.target_pieces[step])

    def _pictures(self) -> dict[str, StepFigure]:
        return {name: figure for name, figure in step_figures(Subject(self.trace, 0)).items() if name in PICTURES}


def lecture_html(
    trace: Aligned,
    *,
    by: By = "words",
    face: Face = "before",
    colours: Colours = "paper",
    root: bool = False,
    end: bool = True,
    margins: bool = False,
    step: int | None = None,
    weights: Weights | None = None,
    branches: Branches | None = None,
    gold: GoldLinks | None = None,
) -> str:
    """Return a whole HTML page that opens at 0-based `step`, the first unless given; choices as those of `heatmap`.

    It holds the figures of all steps, in both themes and every language: it opens in the language in use and has a
    switch, takes the theme from the browser, and asks nothing of the network (see `offline_page`). With the `weights`
    of the model that made the trace, every step has the logit ledger of its word, and where there is attention, the
    heatmap a switch between its faces, at first `face`, and every step its prior, likelihood and posterior; another
    `face` than "before" needs them. With the `branches` that `trace` is one of, or the first translation of, a card for
    each leads to it; their figures are packed, and unpacked by the browser. `gold`, links that people drew, is marked
    on the heatmap of `trace` alone: the words of the others may differ. Raise AttnvizError where the weights are not
    given for another face, and ValueError on an unknown choice.
    """
    if weights is None or not trace.attends:
        translation_figure(trace, by=by, face=face, weights=weights)  # says what is lacking of another face
    version = functools.partial(_version, weights, by=by, colours=colours, root=root, end=end, margins=margins)
    source = join_pieces(trace.source_surfaces[:-1])
    record = {
        "source": source,
        "step": 1 if step is None else step + 1,
        "face": face,
        "language": language(),
        "names": LANGUAGES,
    } | version(trace, gold=gold)
    if branches is not None and branches.branches:
        record |= _branches(branches, trace, version)
    title = f"attnviz: {shorten(source, 80)}"
    return offline_page("lecture.html", title, record, "lecture.js")


def _version(weights: Weights | None, trace: Aligned, *, gold: GoldLinks | None = None, **look: Any) -> dict[str, Any]:
    """Return what the page is drawn from while `trace` is on show."""
    accounts: tuple[Ledger, ...] = ()
    after = None
    if weights is not None and isinstance(trace, Trace):  # others have neither
        accounts = tuple(ledgers(trace, weights, list(enumerate(trace.target_ids))))
        after = after_word(trace, weights) if trace.attends else None
    lecture = _Lecture(trace=trace, after=after, accounts=accounts, gold=gold, **look)
    return {
        "target": [_word(trace, i) for i in range(len(trace.target_pieces))],
        "words": in_every_language(lecture.words),
    } | variants(lecture.figures)


def _branches(branches: Branches, shown: Aligned, version: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return the cards in every language, which of them is `shown`, and what the others lead to, packed."""
    traces = [branches.first, *branches.traces]
    on_show = [trace.fingerprint for trace in traces].index(shown.fingerprint)
    packed = [None if number == on_show else _packed(version(trace)) for number, trace in enumerate(traces)]
    return {"onShow": on_show, "others": packed, "cards": in_every_language(lambda: card_texts(branches))}


def _packed(version: dict[str, Any]) -> str:
    """Return what a page is drawn from as the browser unpacks it: JSON, by gzip, in base64."""
    text = json.dumps(version, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8"), mtime=0)).decode("ascii")


def _word(trace: Aligned, step: int) -> dict[str, Any]:
    """Return the piece of a step, and whether a blank goes before it."""
    piece = trace.target_pieces[step]
    return {
        "text": join_pieces([piece]) or BLANK_NAME,
        "space": step > 0 and (piece in SPECIAL_PIECES or piece.startswith(SPACE)),
    }
