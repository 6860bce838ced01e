"""`Prepared`: common interface of all architectures for decoding: encode, follow a search, record a trace.

Everything that depends on the architecture is here; `translator` is the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic

from torch import Tensor

from attnviz.decoding.forced import force, force_together
from attnviz.decoding.recording import recorded, recorded_import, recorded_pass
from attnviz.decoding.search import Course, SearchStep, course_of
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.network import Network, RNNsearch, Seq2Seq, Transformer
from attnviz.network.encoder import PreparedEncoder
from attnviz.network.searchable import SourceMemory, Stepping
from attnviz.network.seq2seq_stepping import Seq2SeqStepDecoder
from attnviz.network.stepping import StepDecoder
from attnviz.network.transformer_stepping import TransformerStepDecoder
from attnviz.trace import Record, Seq2SeqTrace, Trace, TransformerTrace
from attnviz.trace.interventions import ForceWord, Intervention, check_interventions

if TYPE_CHECKING:
    # `Translator` without a parameter means RNNsearch. mypy knows defaults of type variables, Python 3.11 does not.
    from typing_extensions import TypeVar

    RecordT = TypeVar("RecordT", bound=Record, default=Trace)
else:
    from typing import TypeVar

    RecordT = TypeVar("RecordT", bound=Record)


class Prepared(ABC, Generic[RecordT]):
    """A network of one architecture, prepared for decoding; its weights must not change afterwards."""

    record: type[RecordT]
    """Class of its traces."""
    stores_steps = True
    """Whether a trace is made of the steps of the search."""
    decoder: Stepping[Any, Any, Any]

    @abstractmethod
    def memory(self, source: Tensor, lengths: Tensor) -> Any:
        """Return the memory of `source` ids (S, Tx), of which row s has `lengths[s]` pieces."""

    @abstractmethod
    def check(self, interventions: Sequence[Intervention], source_pieces: int) -> None:
        """Raise AttnvizError unless the network can apply these interventions to a sentence of this length."""

    @abstractmethod
    def course(
        self, history: Sequence[SearchStep[Any]], sentence: int, ids: tuple[int, ...], hypothesis: int
    ) -> Course:
        """Return the steps that led to `ids`, as `decoding.course_of` does."""

    @abstractmethod
    def forced(self, memory: SourceMemory, ids: Sequence[int], interventions: Sequence[Intervention]) -> Course:
        """Return the course of the one sentence in `memory` with the pieces `ids`, EOS last, as its translation."""

    @abstractmethod
    def forced_together(self, memory: SourceMemory, targets: Sequence[Sequence[int]]) -> list[Course]:
        """Return the course of each sentence in `memory` with the pieces of its target, EOS last, as translation."""

    @abstractmethod
    def recorded(self, source: Sequence[int], memory: SourceMemory, course: Course) -> dict[str, Tensor]:
        """Return the arrays of the trace of the one sentence in `memory`."""


class _Stepped(Prepared[RecordT]):
    """An architecture whose traces are made of the steps of the search."""

    def course(
        self, history: Sequence[SearchStep[Any]], sentence: int, ids: tuple[int, ...], hypothesis: int
    ) -> Course:
        """Return the steps that led to `ids`."""
        return course_of(history, sentence, ids, hypothesis)

    def forced(self, memory: Any, ids: Sequence[int], interventions: Sequence[Intervention]) -> Course:
        """Force the decoder to write `ids`."""
        steps = force(self.decoder, memory, ids, interventions)
        return Course(tuple(ids), steps, [(0, 0)] * len(steps))

    def forced_together(self, memory: Any, targets: Sequence[Sequence[int]]) -> list[Course]:
        """Force the decoder to write all targets in one batch."""
        steps = force_together(self.decoder, memory, targets)
        return [Course(tuple(ids), steps[: len(ids)], [(row, 0)] * len(ids)) for row, ids in enumerate(targets)]


class PreparedRNNsearch(_Stepped[Trace]):
    """RNNsearch, prepared for decoding."""

    record = Trace

    def __init__(self, network: RNNsearch) -> None:
        """Take a network in evaluation mode."""
        self._network, self._encoder = network, PreparedEncoder(network.encoder)
        self.decoder = self._decoder = StepDecoder(network)

    def memory(self, source: Tensor, lengths: Tensor) -> Any:
        """Return the `stepping.Memory` of `source` ids (S, Tx), of which row s has `lengths[s]` pieces."""
        return self._decoder.memory(self._encoder(source, lengths), lengths)

    def check(self, interventions: Sequence[Intervention], source_pieces: int) -> None:
        """Raise AttnvizError unless the network can apply these interventions to a sentence of this length."""
        check_interventions(
            interventions,
            source_pieces=source_pieces,
            vocabulary_size=self._network.config.vocabulary_size,
            attends=self._network.attends_once,
        )

    def recorded(self, source: Sequence[int], memory: Any, course: Course) -> dict[str, Tensor]:
        """Return the arrays of a `Trace`."""
        return recorded(self._decoder, memory, course)


class PreparedSeq2Seq(_Stepped[Seq2SeqTrace]):
    """An imported recurrent translator, prepared for decoding."""

    record = Seq2SeqTrace

    def __init__(self, network: Seq2Seq) -> None:
        """Take a network in evaluation mode."""
        self._network = network
        self.decoder = self._decoder = Seq2SeqStepDecoder(network)

    def memory(self, source: Tensor, lengths: Tensor) -> Any:
        """Return the `Seq2SeqMemory` of `source` ids (S, Tx), of which row s has `lengths[s]` pieces."""
        annotations, ends = self._network.encoder(source, lengths)
        return self._decoder.memory(annotations, ends, lengths)

    def check(self, interventions: Sequence[Intervention], source_pieces: int) -> None:
        """Raise AttnvizError unless all interventions are forced words that the vocabulary has."""
        _check_only_words(
            interventions,
            source_pieces,
            self._network,
            gettext("This model was imported, so its attention cannot be changed. You can force words instead."),
        )

    def recorded(self, source: Sequence[int], memory: Any, course: Course) -> dict[str, Tensor]:
        """Return the arrays of a `Seq2SeqTrace`."""
        return recorded_import(self._decoder, memory, course)


def _check_only_words(
    interventions: Sequence[Intervention], source_pieces: int, network: Network, message: str
) -> None:
    """Raise AttnvizError, with the message `message`, unless all interventions are valid forced words."""
    if not all(isinstance(one, ForceWord) for one in interventions):
        raise AttnvizError(message)
    check_interventions(
        interventions, source_pieces=source_pieces, vocabulary_size=network.config.vocabulary_size, attends=False
    )


class PreparedTransformer(Prepared[TransformerTrace]):
    """A transformer, prepared for decoding; once the target is known, one pass over both sides records it."""

    record, stores_steps = TransformerTrace, False

    def __init__(self, network: Transformer) -> None:
        """Take a network in evaluation mode."""
        self._network = network
        self.decoder = self._decoder = TransformerStepDecoder(network)

    def memory(self, source: Tensor, lengths: Tensor) -> Any:
        """Return the `TransformerMemory` of `source` ids (S, Tx), of which row s has `lengths[s]` pieces."""
        return self._decoder.memory(self._network.encode(source, lengths).annotations, lengths)

    def check(self, interventions: Sequence[Intervention], source_pieces: int) -> None:
        """Raise AttnvizError unless all interventions are forced words: a transformer has many attentions to change."""
        _check_only_words(
            interventions,
            source_pieces,
            self._network,
            gettext(
                "This model is a transformer: its many attention distributions cannot be changed. You can force "
                "words instead."
            ),
        )

    def course(
        self,
        history: Sequence[SearchStep[Any]],
        sentence: int,
        ids: tuple[int, ...],
        hypothesis: int,
    ) -> Course:
        """Return `ids` without steps."""
        return Course(ids, [], [])

    def forced(
        self,
        memory: SourceMemory,
        ids: Sequence[int],
        interventions: Sequence[Intervention],
    ) -> Course:
        """Return `ids` without steps."""
        return Course(tuple(ids), [], [])

    def forced_together(self, memory: SourceMemory, targets: Sequence[Sequence[int]]) -> list[Course]:
        """Return the ids of each target without steps."""
        return [Course(tuple(ids), [], []) for ids in targets]

    def recorded(self, source: Sequence[int], memory: SourceMemory, course: Course) -> dict[str, Tensor]:
        """Return the arrays of a `TransformerTrace`; raise AttnvizError where they are too large."""
        return recorded_pass(self._network, self._decoder.output, source, course.ids)


def prepared(network: Network) -> Prepared[Any]:
    """Return `network`, in evaluation mode, prepared for decoding."""
    if isinstance(network, Seq2Seq):
        return PreparedSeq2Seq(network)
    return PreparedTransformer(network) if isinstance(network, Transformer) else PreparedRNNsearch(network)
