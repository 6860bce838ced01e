"""Base class of everything with an alignment: records that are saved, and views of one attention matrix of a record."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from attnviz.arguments import checked_path
from attnviz.files import replace_text
from attnviz.palette import ThemeName
from attnviz.text import join_pieces, word_groups
from attnviz.trace.drawing import HeatmapOptions, StepFigureOptions, drawing, step_index
from attnviz.trace.interventions import Intervention
from attnviz.trace.parts import FloatArray, Words
from attnviz.trace.saved import SavedResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

MARKS = ("<pad>", "<s>", "</s>")
"""The special pieces that are no words."""
Groups = tuple[tuple[int, ...], ...]
"""The 0-based indices of the pieces of each word, in order."""


class AttentionMatrix:
    """Query pieces, key pieces and the weights between them: a translation, or one head of a transformer.

    In a translation, the query pieces are those that the steps write. In self-attention, both sides are the same
    sentence. A piece that begins a word starts with SentencePiece's visible space.
    """

    translated: ClassVar[bool] = True
    """Whether a network known to this program computed it; its words then have probabilities, its pieces ids."""
    recurrent: ClassVar[bool] = False
    """Whether a recurrent decoder computed it, with one attention distribution over the source at each step."""
    has_heads: ClassVar[bool] = False
    """Whether attention heads computed it."""
    attention_figure: ClassVar[str]
    """The figure of the attention of a step, the name of one of `figures.FIGURES`."""

    if TYPE_CHECKING:
        # For type checkers only: at run time, dataclasses would take a property for a field's default.
        @property
        def source_pieces(self) -> tuple[str, ...]:
            """The key pieces."""

        @property
        def target_pieces(self) -> tuple[str, ...]:
            """The query pieces, or those written at the querying steps."""

        @property
        def source_surfaces(self) -> tuple[str, ...]:
            """The source pieces, with the typed characters in place of each `<unk>` where they are known."""

        @property
        def alignment(self) -> FloatArray:
            """Attention alpha_ij, (Ty, Tx); rows sum to 1."""

    @property
    def imported(self) -> bool:
        """Whether the network was trained by another program."""
        return False

    @property
    def has_maxout(self) -> bool:
        """Whether logits are computed from a maxout layer."""
        return False

    @property
    def attends(self) -> bool:
        """Whether the model has attention."""
        return True

    @property
    def attends_once(self) -> bool:
        """Whether each step has one attention distribution, from a model that can be run again.

        Interventions and posterior attention need this.
        """
        return False

    @property
    def displayed(self) -> Any:
        """The attention that the stages of a step explain: this one, or of a transformer's translation that of a head.

        It has `queries`, `keys`, `energies`, `alignment` and `contexts`, where they are known.
        """
        return self

    @property
    def vocabulary_size(self) -> int:
        """Number of pieces that a step chooses from; 0 where it is unknown."""
        return 0

    @property
    def is_self_attention(self) -> bool:
        """Whether both sides are the same sequence."""
        return False

    @property
    def typed_target(self) -> tuple[str, ...]:
        """The target pieces, with the typed characters in place of each `<unk>` where they are known."""
        return self.target_pieces

    def visible_key_count(self, row: int) -> int:  # noqa: ARG002  the same for all rows
        """Return how many keys, from the first, a row may attend to.

        Args:
            row: Row of the alignment, 0-based.
        """
        return len(self.source_pieces)

    def word_groups(self) -> tuple[Groups, Groups]:
        """Return the indices of the pieces of each word, for source and target.

        An `<unk>` belongs to the word whose typed characters it stands for, where they are known.
        """
        return word_groups(self.source_surfaces), word_groups(self.typed_target)

    def words(self) -> Words:
        """Return the alignment by words: source words, target words and the (target words, source words) matrix."""
        return self._words

    def _links_between_words(self) -> tuple[tuple[int, int], ...]:
        """Return the links between words of a record that was made from links; empty where it has weights only."""
        return ()

    def _are_special(self) -> tuple[Sequence[bool], Sequence[bool]]:
        """Return of each source and target piece whether it is a special token instead of a part of a word."""
        return [piece in MARKS for piece in self.source_surfaces], [piece in MARKS for piece in self.typed_target]

    @cached_property
    def _words(self) -> Words:
        groups = self.word_groups()
        words = words_of(self.source_surfaces, self.typed_target, self.alignment, groups)
        source, target = (
            frozenset(n for n, group in enumerate(side) if marks[group[0]])
            for side, marks in zip(groups, self._are_special(), strict=True)
        )
        return dataclasses.replace(words, links=self._links_between_words(), special=(source, target))

    def heatmap(
        self,
        *,
        weights: Mapping[str, NDArray[Any]] | None = None,
        theme: ThemeName = "light",
        **choices: Unpack[HeatmapOptions],
    ) -> Any:
        """Return the alignment as a Plotly figure.

        Args:
            weights: Weights of the model that made the trace (`analysis.load_weights`), which a `face` other than
                "before" needs.
            theme: "light" or "dark".
            **choices: Fields of `figures.HeatmapChoices`. `gold`, such as "0-0 1?2", marks gold links.

        Returns:
            The figure.
        """
        return drawing().draw_heatmap(self, weights, theme, **choices)

    def step_figure(self, i: int, picture: str | None = None, **options: Unpack[StepFigureOptions]) -> Any:
        """Return the figure of a step.

        Args:
            i: Step, 0-based.
            picture: The name of one of `figures.FIGURES`; by default that of the attention. A transformer's figures
                show its `displayed` head.
            **options: Some figures need the model's `weights` (`analysis.load_weights`). "contrast" compares with the
                piece whose id is the `foil`, by default the likeliest other piece. Labels have at most `longest`
                letters.

        Returns:
            The figure.

        Raises:
            AttnvizError: There is no such step or figure.
        """
        return drawing().draw_step(self, step_index(self, i), picture or self.attention_figure, **options)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return the interactive view for notebooks with anywidget, and otherwise None: they show `_repr_html_`."""
        return drawing().mime_bundle(self, include, exclude)

    def _repr_html_(self) -> str:
        """Return the alignment as an HTML table without scripts, for notebooks that cannot show the view."""
        return str(drawing().table_html(self))


def words_of(
    source: tuple[str, ...], target: tuple[str, ...], alignment: FloatArray, groups: tuple[Groups, Groups] | None = None
) -> Words:
    """Return an alignment between pieces, (Ty, Tx), by words; `groups` are the pieces of each word of both sides.

    Without `groups`, words begin where pieces start with a space.
    """
    source_groups, target_groups = groups or (word_groups(source), word_groups(target))
    words = Words(
        tuple(join_pieces(source[j] for j in group) or "<unk>" for group in source_groups),
        tuple(join_pieces(target[i] for i in group) or "<unk>" for group in target_groups),
        alignment,
        source_groups,
        target_groups,
    )
    merged = words.merged(alignment)
    merged.setflags(write=False)
    return dataclasses.replace(words, alignment=merged)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Aligned(AttentionMatrix, SavedResult):
    """Two sentences in pieces, and the attention of each target piece to the source pieces: a record that is saved.

    Tx and Ty count pieces, `</s>` included where it is present.
    """

    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]

    if TYPE_CHECKING:
        # For type checkers only: at run time, dataclasses would take a property for a field's default.
        @property
        def source_text(self) -> str:
            """The source sentence."""

        @property
        def translation(self) -> str:
            """The target sentence."""

    def __repr__(self) -> str:
        """Return the class name and both sentences, each shortened to 80 characters."""
        source, target = (shorten(text, 80, placeholder=" …") for text in (self.source_text, self.translation))
        return f"<{type(self).__name__}: {source} → {target}>"

    def save(self, path: str | Path) -> None:
        """Write the record to a file.

        Args:
            path: The file. If its name ends in .html, it is a page with the step view (see `export.page_html`);
                otherwise, it is JSON, which `load` reads.
        """
        given = checked_path(path)
        if given.suffix.lower() == ".html":
            replace_text(given, drawing().draw_page(self))
        else:
            super().save(given)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each step and source piece, with every recorded number of such a pair.

        Returns:
            Columns `i` and `j`, the step and the source piece, 0-based; `target` and `source`, their pieces; `energy`
            e_ij where it is known; `weight` alpha_ij; `probability` p(y_i) of the target piece where it is known, the
            same in all rows of a step. A transformer, and a record with the attention of several heads, have such rows
            for each head, with `layer` and `head`, 0-based, as first columns.

        Raises:
            AttnvizError: There is no attention.
        """
        frame: pd.DataFrame = drawing().to_frame(self)
        return frame

    def links_frame(self, threshold: float | None = None) -> pd.DataFrame:
        """Return one row for each link between words, without `</s>`: what `.pharaoh` files hold, with the words.

        Each target word links to the source word with the largest weight. A record read from a file of links has those
        of the file.

        Args:
            threshold: Smallest weight, in [0, 1], of further links.

        Returns:
            Columns `i` and `j`, target and source word, 0-based; `target` and `source`, the words; `weight`;
            `possible`, whether the file marks the link as possible only.

        Raises:
            AttnvizError: There is no attention.
        """
        frame: pd.DataFrame = drawing().links_frame(self, threshold)
        return frame


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionView(AttentionMatrix):
    """One attention matrix of a record that has several, or its first rows: it is drawn as a record is."""

    interventions: ClassVar[tuple[Intervention, ...]] = ()
    """None: interventions change models with one attention distribution a step."""

    record: Any
    """The record that the matrix belongs to."""
    name: str
    """Name within the record, in addresses and files."""
    source_pieces: tuple[str, ...]
    source_surfaces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    alignment: FloatArray

    @property
    def config(self) -> Mapping[str, Any]:
        """Config of the model."""
        config: Mapping[str, Any] = self.record.config
        return config

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.record.model)

    @property
    def weights_digest(self) -> str:
        """Identifies the weights of the model, as in the record."""
        return str(self.record.weights_digest)

    @property
    def vocabulary_size(self) -> int:
        """Number of pieces of the model's vocabulary."""
        return int(self.config["vocabulary_size"])

    @property
    def source_text(self) -> str:
        """The source sentence as typed."""
        return str(self.record.source_text)

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the matrix of this record."""
        return f"{self.record.fingerprint}-{self.name}"

    def check_shapes(self) -> None:
        """Raise ValueError unless the arrays of the record have their shapes."""
        self.record.check_shapes()


def first_words(record: Any, count: int) -> AttentionView:
    """Return the rows of the first `count` target words of a translation, at least 1: what is known by then."""
    rows = record.words().target_groups[count - 1][-1] + 1
    return AttentionView(
        record=record,
        name=f"first-{count}",
        source_pieces=record.source_pieces,
        source_surfaces=record.source_surfaces,
        target_pieces=record.typed_target[:rows],
        alignment=record.alignment[:rows],
    )
