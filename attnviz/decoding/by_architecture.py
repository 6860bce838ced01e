"""`PreparedNetwork`: interface of networks for decoding (encode, search, record a trace), and the class of each one.

A transformer's search caches keys and values only. One pass over the whole target recomputes the numbers of its steps:
the causal mask hides later words, so that the numbers differ by rounding only.

Everything that depends on the architecture is here; `translator` is the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic

import torch
from torch import Tensor

from attnviz.decoding.applied_interventions import force
from attnviz.decoding.search import DecodingPath, SearchStep, largest, path_of
from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext
from attnviz.network import Network, RNNsearch, Seq2Seq, Transformer
from attnviz.network.encoder import PreparedEncoder
from attnviz.network.model_config import TransformerConfig
from attnviz.network.rnnsearch import Memory, StepDecoder
from attnviz.network.searchable import SourceMemory, Stepping
from attnviz.network.seq2seq import Seq2SeqMemory, Seq2SeqStepDecoder
from attnviz.network.transformer import AttentionOutput, TransformerMemory, TransformerStepDecoder
from attnviz.text import BOS
from attnviz.trace import STORED_CANDIDATES, Record, Trace, TransformerTrace
from attnviz.trace.interventions import ForceWords, Intervention, attended_positions, check_interventions
from attnviz.trace.storage import LARGEST


def _recurrent_arrays(
    decoder: StepDecoder | Seq2SeqStepDecoder, memory: Memory | Seq2SeqMemory, path: DecodingPath
) -> dict[str, Tensor]:
    """Return the arrays that both recurrent architectures have, of the one sentence in `memory`."""
    pieces, readouts, known = memory.annotations.shape[1], path.column("readout"), path.log_probabilities
    return {
        "annotations": memory.annotations[0],
        "keys": memory.keys[0],
        "queries": path.column("query"),
        "energies": path.column("energies")[:, :pieces],
        "alignment": path.column("alignment")[:, :pieces],
        "readouts": readouts,
    } | _chosen(decoder.output.log_probabilities(readouts) if known is None else path.rows(known), path.ids)


def _chosen(log_probabilities: Tensor, ids: Sequence[int]) -> dict[str, Tensor]:
    """Return the probabilities of the written pieces `ids` and of the likeliest, from those of all (Ty, K)."""
    top, top_ids = largest(log_probabilities, min(STORED_CANDIDATES, log_probabilities.shape[-1]))
    chosen = log_probabilities.gather(1, torch.tensor(ids, device=top.device)[:, None])[:, 0]
    return {"log_probabilities": chosen, "top_ids": top_ids.int(), "top_probabilities": top.exp()}


def _of_layers(kind: str, layers: Sequence[AttentionOutput]) -> dict[str, Tensor]:
    """Return the numbers of one kind of attention, with the layers stacked."""
    return {f"{kind}_{name}": torch.cat([getattr(one, name) for one in layers]) for name in AttentionOutput._fields}


def _check_size(config: TransformerConfig, source_pieces: int, target_pieces: int) -> None:
    """Raise AttnvizError where scores and weights of all heads, four bytes each, exceed half the limit of a trace."""
    cells = source_pieces**2 + target_pieces**2 + source_pieces * target_pieces
    if 8 * config.layers * config.heads * cells > LARGEST // 2:
        raise user_error(
            "The attention of all heads, over {source} source pieces and {target} target pieces, is too "
            "large to store. Shorten the sentence.",
            source=source_pieces,
            target=target_pieces,
        )


if TYPE_CHECKING:
    # `Translator` without a parameter means RNNsearch. mypy knows defaults of type variables, Python 3.11 does not.
    from typing_extensions import TypeVar

    RecordT = TypeVar("RecordT", bound=Record, default=Trace)
else:
    from typing import TypeVar

    RecordT = TypeVar("RecordT", bound=Record)


class PreparedNetwork(ABC, Generic[RecordT]):
    """A network of one architecture, prepared for decoding; its weights must not change afterwards."""

    record: type[RecordT]
    """Class of its traces."""
    stores_steps = True
    """Whether a trace is made of the steps of the search."""
    network: Network
    decoder: Stepping[Any, Any, Any]

    @property
    def fixed_attention(self) -> str:
        """Message that interventions cannot change the attention; empty where they can."""
        return ""

    @abstractmethod
    def memory(self, source: Tensor, lengths: Tensor) -> Any:
        """Return the memory of `source` ids (S, Tx), of which row s has `lengths[s]` pieces."""

    @abstractmethod
    def recorded_arrays(self, source: Sequence[int], memory: Any, path: DecodingPath) -> dict[str, Tensor]:
        """Return the arrays of the trace of the one sentence in `memory`."""

    def check(self, interventions: Sequence[Intervention], source_pieces: int) -> None:
        """Raise AttnvizError unless the network can apply these interventions to a sentence of this length."""
        if self.fixed_attention and not all(isinstance(one, ForceWords) for one in interventions):
            raise AttnvizError(self.fixed_attention)
        check_interventions(
            interventions,
            source_pieces=source_pieces,
            vocabulary_size=self.network.config.vocabulary_size,
            attends=self.network.attends_once,
            positions=attended_positions(vars(self.network.config)),
        )

    def path(
        self, history: Sequence[SearchStep[Any]], sentence: int, ids: tuple[int, ...], hypothesis: int
    ) -> DecodingPath:
        """Return the steps that led to `ids`, as `decoding.path_of` does, where a trace is made of them."""
        return path_of(history, sentence, ids, hypothesis) if self.stores_steps else DecodingPath(ids, [], [])

    def forced_paths(
        self, memory: SourceMemory, targets: Sequence[Sequence[int]], interventions: Sequence[Intervention] = ()
    ) -> list[DecodingPath]:
        """Return the path of each sentence in `memory` with the pieces of its target, EOS last, as translation."""
        if not self.stores_steps:
            return [DecodingPath(tuple(ids), [], []) for ids in targets]
        steps = force(self.decoder, memory, targets, interventions)
        return [DecodingPath(tuple(ids), steps[: len(ids)], [(row, 0)] * len(ids)) for row, ids in enumerate(targets)]


class PreparedRNNsearch(PreparedNetwork[Trace]):
    """RNNsearch, prepared for decoding."""

    record = Trace
    decoder: StepDecoder

    def __init__(self, network: RNNsearch) -> None:
        """Take a network in evaluation mode."""
        self.network, self.decoder = network, StepDecoder(network)
        self._encoder = PreparedEncoder(network.encoder)

    def memory(self, source: Tensor, lengths: Tensor) -> Memory:
        """Return the memory of `source` ids (S, Tx), of which row s has `lengths[s]` pieces."""
        return self.decoder.memory(self._encoder(source, lengths), lengths)

    def recorded_arrays(self, source: Sequence[int], memory: Memory, path: DecodingPath) -> dict[str, Tensor]:
        """Return the arrays of a `Trace`."""
        arrays, column, scorer = _recurrent_arrays(self.decoder, memory, path), path.column, self.decoder.attention
        alignment, initial = arrays["alignment"], self.decoder.decoder.initial_state(memory.annotations)
        gates = [column("reset_gate"), column("update_gate"), column("candidate")]
        none = memory.keys.new_zeros(0 if scorer.reads_before else (memory.keys.shape[-1], 0))
        return arrays | {
            "initial_states": initial,
            "initial_memories": initial[:0],
            "score_vector": torch.zeros(0) if scorer.score_vector is None else scorer.score_vector,
            "features": column("features")[:, : alignment.shape[1]]
            if scorer.reads_before
            else alignment.new_zeros(*alignment.shape, 0),
            "feature_weight": none if scorer.feature_weight is None else scorer.feature_weight,
            "contexts": alignment @ memory.annotations[0, :, : scorer.context_size],
            "gates": torch.stack(gates, dim=1)[:, None],
            "memories": gates[0][:, None][:, :0],
            "layer_states": column("state")[:, None],
        }


class PreparedSeq2Seq(PreparedNetwork[Trace]):
    """An imported recurrent translator, prepared for decoding."""

    record = Trace
    network: Seq2Seq
    decoder: Seq2SeqStepDecoder

    def __init__(self, network: Seq2Seq) -> None:
        """Take a network in evaluation mode."""
        self.network, self.decoder = network, Seq2SeqStepDecoder(network)

    @property
    def fixed_attention(self) -> str:
        """Message that interventions cannot change the attention."""
        return gettext("This model was imported: you cannot change its attention, but you can force words.")

    def memory(self, source: Tensor, lengths: Tensor) -> Seq2SeqMemory:
        """Return the memory of `source` ids (S, Tx), of which row s has `lengths[s]` pieces."""
        annotations, ends = self.network.encoder(source, lengths)
        return self.decoder.memory(annotations, ends, lengths)

    def recorded_arrays(self, source: Sequence[int], memory: Seq2SeqMemory, path: DecodingPath) -> dict[str, Tensor]:
        """Return the arrays of a `Trace`."""
        arrays, column = _recurrent_arrays(self.decoder, memory, path), path.column
        return arrays | {
            "initial_states": memory.states[0],
            "initial_memories": memory.memories[0],
            "score_vector": self.decoder.decoder.score_vector,
            "features": arrays["alignment"].new_zeros(*arrays["alignment"].shape, 0),
            "feature_weight": memory.keys.new_zeros(memory.keys.shape[-1], 0),
            "contexts": column("context"),
            "gates": column("gates"),
            "memories": column("memories"),
            "layer_states": column("states"),
        }


class PreparedTransformer(PreparedNetwork[TransformerTrace]):
    """A transformer, prepared for decoding; once the target is known, one pass over both sides records it."""

    record, stores_steps = TransformerTrace, False
    network: Transformer
    decoder: TransformerStepDecoder

    def __init__(self, network: Transformer) -> None:
        """Take a network in evaluation mode."""
        self.network, self.decoder = network, TransformerStepDecoder(network)

    @property
    def fixed_attention(self) -> str:
        """Message that interventions cannot change the attention: a transformer has many."""
        return gettext(
            "This model is a transformer: you cannot change its many attention distributions, but you can force words."
        )

    def memory(self, source: Tensor, lengths: Tensor) -> TransformerMemory:
        """Return the memory of `source` ids (S, Tx), of which row s has `lengths[s]` pieces."""
        return self.decoder.memory(self.network.encode(source, lengths).annotations, lengths)

    @torch.inference_mode()
    def recorded_arrays(self, source: Sequence[int], memory: SourceMemory, path: DecodingPath) -> dict[str, Tensor]:
        """Return the arrays of a `TransformerTrace`; raise AttnvizError where they are too large."""
        network, target = self.network, path.ids
        _check_size(network.config, len(source), len(target))
        device = network.output.weight.device
        lengths = torch.tensor([len(source)], device=device)
        encoded = network.encode(torch.tensor([list(source)], device=device), lengths)
        previous = torch.tensor([[BOS, *target[:-1]]], device=device)
        decoded = network.decode(encoded.annotations, lengths, previous)
        readouts = decoded.readouts[0]
        return {
            **_of_layers("encoder", encoded.attention),
            **_of_layers("decoder", decoded.attention),
            **_of_layers("cross", decoded.cross),
            "encoder_streams": torch.cat(encoded.streams),
            "annotations": encoded.annotations[0],
            "decoder_streams": torch.cat(decoded.streams),
            "readouts": readouts,
            **_chosen(self.decoder.output.log_probabilities(readouts), target),
        }


def prepare_network(network: Network) -> PreparedNetwork[Any]:
    """Return `network`, in evaluation mode, prepared for decoding."""
    if isinstance(network, Seq2Seq):
        return PreparedSeq2Seq(network)
    return PreparedTransformer(network) if isinstance(network, Transformer) else PreparedRNNsearch(network)
