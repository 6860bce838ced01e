"""`Translator`: a loaded model that translates, records every number, and computes beam trees and attributions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, get_args

import torch

from attnviz.arguments import check_choice, check_each
from attnviz.bounds import COARSE_PRECISIONS
from attnviz.checkpoint import load_model
from attnviz.decoding import (
    Candidate,
    DecodingPath,
    FinishedHypothesis,
    SearchStep,
    all_sentence_ids,
    all_target_ids,
    attributions_of,
    batches,
    beam_nodes,
    check_search,
    forced_target,
    gradient_norms_of,
    greedy,
    longest_target,
    padded,
    search,
    sentence_ids,
    target_ids,
)
from attnviz.decoding.by_architecture import PreparedNetwork, RecordT, prepare_network
from attnviz.devices import resolve_device, threads_for
from attnviz.errors import user_error
from attnviz.installed_models import find_model
from attnviz.languages import gettext
from attnviz.model_folder import weights_digest
from attnviz.network import Network
from attnviz.text import UNK, Tokenizer
from attnviz.trace import BeamTree, Hypothesis, Search, Trace
from attnviz.trace.interventions import Intervention
from attnviz.trace.parts import Attributions, GradientNorms

_LONGEST_HISTORY = 3000
"""Steps times beam width up to which a search stores every step: 100 MB at a vocabulary of 8000."""
_BATCH_PIECES = 3000
_CACHED_SENTENCES = 4
"""Number of sentences whose encoding is cached for the next what-if: 1 MB each at 60 pieces."""


class _Translation(NamedTuple):
    """A translation that was found or forced."""

    path: DecodingPath
    translation: str
    search: Search
    hypotheses: tuple[Hypothesis, ...]
    """Finished hypotheses of a beam, best first; empty for forced translations."""


class Translator(Generic[RecordT]):
    """A network with its tokenizer. Threads may share one: translating changes only a thread-safe cache.

    Translating returns a `TransformerTrace` for a transformer, and a `Trace` for every other network.
    """

    def __init__(self, network: Network, tokenizer: Tokenizer, name: str = "unnamed", weights_digest: str = "") -> None:
        """Take a network in evaluation mode, on its device; its weights must not change afterwards.

        Args:
            network: The network.
            tokenizer: Its tokenizer.
            name: Name of the model in every trace.
            weights_digest: SHA-256 of the weights file, which goes into every trace.
        """
        check_each(gettext("networks"), (network,), get_args(Network))
        check_each(gettext("tokenizers"), (tokenizer,), (Tokenizer,))
        self.network, self.tokenizer, self.name, self.weights_digest = network, tokenizer, name, weights_digest
        self.device = network.output.weight.device
        self.prepared: PreparedNetwork[RecordT] = prepare_network(
            network
        )  # public for callers that run the decoder themselves
        self.unk = network.writes_unk
        """Whether a search may write `<unk>`, by default as the model's own program; set it before translating."""
        self._decoder: Any = self.prepared.decoder
        self._memory_of = lru_cache(_CACHED_SENTENCES)(partial(_memory_of, self.prepared, self.device))
        self._pieces = tokenizer.pieces(range(len(tokenizer)))

    @classmethod
    def load(
        cls, model: str | Path | None = None, device: str | torch.device = "auto", precision: str = "auto"
    ) -> Translator[RecordT]:
        """Load a model of any architecture.

        Type checkers take it for RNNsearch; for another architecture write `Translator[TransformerTrace].load`.

        Args:
            model: The name of an installed model (`attnviz.models`), or the path of a model folder; by default, the
                first installed model.
            device: "auto", "cpu", "cuda", "cuda:1" or "mps".
            precision: On a CPU, "int8" selects candidate pieces in 8 bits and computes their logits in float32, with
                the same translations; "fp32" computes all logits in float32, and "auto" takes the faster of the two.

        Returns:
            The translator.

        Raises:
            AttnvizError: There is no such model, a file of it is missing or damaged, or the device does not exist.
        """
        check_choice("precision", precision, COARSE_PRECISIONS)
        folder = find_model(model)
        network, tokenizer = load_model(folder)
        name, digest = folder.resolve().name, weights_digest(folder)
        translator = cls(network.to(resolve_device(device)), tokenizer, name, digest)
        translator.prepared.decoder.output.set_precision(precision)
        return translator

    def __repr__(self) -> str:
        """Return the name, the architecture and the device."""
        return f"<Translator: {self.name}, {type(self.network).__name__}, {self.device}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Raise AttnvizError: a translator is shared by threads, and loaded in each process."""
        raise user_error(
            "A translator cannot be copied or pickled. Threads may share one; in another process, load the model "
            "again with Translator.load."
        )

    def translate(
        self,
        text: str,
        *,
        beam: int = 5,
        target: str | Sequence[int] | None = None,
        length_penalty: float = 1.0,
        interventions: Sequence[Intervention] = (),
    ) -> RecordT:
        """Translate one sentence and record every number.

        Args:
            text: The sentence.
            beam: Width of the search, from 1 (greedy) to 100.
            target: A text, or the ids of its pieces. With a target there is no search: the decoder is forced to write
                it.
            length_penalty: Hypotheses are ranked by log probability divided by Ty^`length_penalty`.
            interventions: Changes of the attention or of the word of a step, in every hypothesis; later steps follow
                from the change. In a `target`, only forced words are replaced.

        Returns:
            A `TransformerTrace` for a transformer, a `Trace` for every other network.

        Raises:
            AttnvizError: The text is blank or too long, the beam is out of range, or the model cannot apply the
                interventions.
        """
        started = time.perf_counter()
        self.check(text, beam=beam, target=target, length_penalty=length_penalty, interventions=interventions)
        text, interventions, source = str(text), tuple(interventions), sentence_ids(self.tokenizer, text)
        forced_ids = None if target is None else target_ids(self.tokenizer, target)
        with torch.inference_mode(), threads_for(beam if target is None else 1):
            memory = self._memory([source])
            if target is None or forced_ids is None:
                found = self._search(memory, [longest_target(len(source))], beam, length_penalty, interventions)
            else:
                found = self._force(memory, [target], [forced_ids], interventions)
            return self._trace(text, source, memory, found[0], started, interventions)

    def translate_together(
        self,
        texts: Sequence[str],
        *,
        targets: Sequence[str | Sequence[int]] | None = None,
        beam: int = 5,
        length_penalty: float = 1.0,
    ) -> list[RecordT]:
        """Translate many sentences in batches of similar length, and record for each what `translate` records.

        Args:
            texts: The sentences.
            targets: A translation of each sentence, which the decoder is forced to write.
            beam: Width of the search, from 1 (greedy) to 100.
            length_penalty: As in `translate`.

        Returns:
            The record of each sentence. Its numbers differ from those of `translate` only by rounding in another order
            of summation.

        Raises:
            AttnvizError: A sentence is blank or too long (the message has its number, from 1), or `targets` are not as
                many as `texts`.
        """
        started = time.perf_counter()
        sources = self._encode_all(texts, beam, length_penalty)
        forced = None if targets is None else all_target_ids(self.tokenizer, targets, len(sources))
        limits = [longest_target(len(source)) for source in sources] if forced is None else list(map(len, forced))
        lengths = [max(sizes) for sizes in zip(limits, map(len, sources), strict=True)]
        traces: dict[int, RecordT] = {}
        for places in batches(lengths, _LONGEST_HISTORY // beam):
            with torch.inference_mode(), threads_for(len(places) * (beam if targets is None else 1)):
                memory = self._memory([sources[place] for place in places])
                if targets is None or forced is None:
                    translations = self._search(memory, [limits[place] for place in places], beam, length_penalty)
                else:
                    translations = self._force(
                        memory, [targets[place] for place in places], [forced[place] for place in places]
                    )
                for row, place in enumerate(places):
                    sentence_memory = memory.without_padding(row, len(sources[place]))
                    traces[place] = self._trace(
                        str(texts[place]), sources[place], sentence_memory, translations[row], started
                    )
        return [traces[place] for place in range(len(texts))]

    def beam_tree(
        self, text: str, *, beam: int = 5, length_penalty: float = 1.0, interventions: Sequence[Intervention] = ()
    ) -> BeamTree:
        """Return every hypothesis that `translate` considers with the same arguments, and why it was dropped.

        Args:
            text: The sentence.
            beam: Width of the search, from 1 (greedy) to 100.
            length_penalty: As in `translate`.
            interventions: As in `translate`.

        Returns:
            The tree of all hypotheses.

        Raises:
            AttnvizError: As in `translate`.
        """
        self.check(text, beam=beam, length_penalty=length_penalty, interventions=interventions)
        source = sentence_ids(self.tokenizer, text)
        growth: list[list[Candidate]] = []
        with torch.inference_mode(), threads_for(beam):
            memory, limit = self._memory([source]), longest_target(len(source))
            finished = search(
                self._decoder, memory, [limit], beam, length_penalty, None, interventions, growth, self.unk
            )[0]
        return BeamTree(
            source_text=text,
            nodes=beam_nodes(growth, self._pieces),
            hypotheses=self._decoded(finished),
            beam=beam,
            length_penalty=length_penalty,
            model=self.name,
            weights_digest=self.weights_digest,
            interventions=tuple(interventions),
        )

    def attributions(self, trace: Trace) -> Attributions:
        """Return the attribution of each target piece to each source piece, through encoder and decoder.

        Args:
            trace: A translation by this model. Its interventions are repeated.

        Returns:
            Gradient and erasure attributions, (Ty, Tx) each.

        Raises:
            AttnvizError: Another model or a transformer made the trace.
        """
        return attributions_of(self.network, self._decoder, self.weights_digest, trace)

    def gradient_norms(self, trace: Trace) -> GradientNorms:
        """Return the norms of the gradient of each target piece by each source piece.

        Args:
            trace: A translation by this model.

        Returns:
            Norms, (Ty, Tx), of the whole gradient and of each of its two paths into the encoder.

        Raises:
            AttnvizError: Another model or a transformer made the trace.
        """
        return gradient_norms_of(self.network, self._decoder, self.weights_digest, trace)

    def check(
        self,
        text: str,
        *,
        beam: int = 5,
        target: str | Sequence[int] | None = None,
        length_penalty: float = 1.0,
        interventions: Sequence[Intervention] = (),
    ) -> None:
        """Check the arguments of `translate` without translating.

        Interventions at steps after the end of the translation pass.

        Args:
            text: As in `translate`.
            beam: As in `translate`.
            target: As in `translate`.
            length_penalty: As in `translate`.
            interventions: As in `translate`.

        Raises:
            AttnvizError: `translate` would raise it with these arguments.
        """
        source = sentence_ids(self.tokenizer, text)
        if target is not None:
            target_ids(self.tokenizer, target)
        check_search(beam, length_penalty)
        self.prepared.check(interventions, len(source))

    def _search(
        self,
        memory: Any,
        limits: list[int],
        beam: int,
        length_penalty: float,
        interventions: tuple[Intervention, ...] = (),
    ) -> list[_Translation]:
        """Return the best translation of each sentence in `memory`, of at most `limits` pieces."""
        search_settings = Search("greedy" if beam == 1 else "beam", beam, length_penalty)
        if beam == 1:
            paths = self._greedy(memory, limits, interventions)
            return [_Translation(path, self.tokenizer.decode(path.ids), search_settings, ()) for path in paths]
        # A history stores the numbers of all hypotheses. Where that is too large, a second pass forces the winner.
        fits = beam * len(limits) * max(limits) <= _LONGEST_HISTORY
        history: list[SearchStep[Any]] | None = [] if fits and self.prepared.stores_steps else None
        hypotheses = search(self._decoder, memory, limits, beam, length_penalty, history, interventions, unk=self.unk)
        translations = []
        for sentence, finished in enumerate(hypotheses):
            best = finished[0]
            if history is None:
                path = self.prepared.forced_paths(memory, [best.ids], interventions)[0]
            else:
                path = self.prepared.path(history, sentence, best.ids, best.parent)
            decoded = self._decoded(finished)
            translations.append(_Translation(path, decoded[0].translation, search_settings, decoded))
        return translations

    def _decoded(self, finished: Sequence[FinishedHypothesis]) -> tuple[Hypothesis, ...]:
        return tuple(Hypothesis(self.tokenizer.decode(hypothesis.ids), hypothesis.score) for hypothesis in finished)

    def _greedy(self, memory: Any, limits: list[int], interventions: tuple[Intervention, ...]) -> list[DecodingPath]:
        history: list[SearchStep[Any]] | None = [] if self.prepared.stores_steps else None
        targets = greedy(self._decoder, memory, limits, history, interventions, self.unk)
        return [self.prepared.path(history or [], sentence, ids, 0) for sentence, ids in enumerate(targets)]

    def _force(
        self,
        memory: Any,
        targets: Sequence[str | Sequence[int]],
        given_ids: Sequence[list[int]],
        interventions: tuple[Intervention, ...] = (),
    ) -> list[_Translation]:
        """Force the pieces `given_ids` of each of the `targets`, with the forced words of `interventions`."""
        forced = [forced_target(ids, interventions) for ids in given_ids]
        paths = self.prepared.forced_paths(memory, forced, interventions)
        translations = [
            " ".join(target.split()) if isinstance(target, str) and ids == given else self.tokenizer.decode(ids)
            for target, given, ids in zip(targets, given_ids, forced, strict=True)
        ]
        return [_Translation(path, text, Search("forced"), ()) for path, text in zip(paths, translations, strict=True)]

    def translate_batch(self, texts: Sequence[str], *, beam: int = 5, length_penalty: float = 1.0) -> list[str]:
        """Translate many sentences in batches of similar length.

        Args:
            texts: The sentences.
            beam: Width of the search, from 1 (greedy) to 100.
            length_penalty: As in `translate`.

        Returns:
            The translations, as text.

        Raises:
            AttnvizError: A sentence is blank or too long; the message has its number, from 1.
        """
        if beam != 1:
            finished_by_sentence = self.search_batch(texts, beam=beam, length_penalty=length_penalty)
            return [self.tokenizer.decode(finished[0].ids) for finished in finished_by_sentence]
        sources = self._encode_all(texts, beam, length_penalty)
        translations = [""] * len(sources)
        for places, memory, limits in self._batches(sources, _BATCH_PIECES):
            with threads_for(len(places)):
                targets = greedy(self._decoder, memory, limits, unk=self.unk)
            for place, ids in zip(places, targets, strict=True):
                translations[place] = self.tokenizer.decode(ids)
        return translations

    def search_batch(
        self, texts: Sequence[str], *, beam: int = 5, length_penalty: float = 1.0
    ) -> list[list[FinishedHypothesis]]:
        """Return the finished hypotheses of many sentences.

        Args:
            texts: The sentences.
            beam: Width of the search, which alone decides which hypotheses are found.
            length_penalty: As in `translate`; it only orders the hypotheses.

        Returns:
            The hypotheses of each sentence, best first.

        Raises:
            AttnvizError: As in `translate_batch`.
        """
        sources = self._encode_all(texts, beam, length_penalty)
        hypotheses: list[list[FinishedHypothesis]] = [[] for _ in sources]
        for places, memory, limits in self._batches(sources, _BATCH_PIECES // beam):
            with threads_for(len(places) * beam):
                found_hypotheses = search(self._decoder, memory, limits, beam, length_penalty, unk=self.unk)
            for place, finished in zip(places, found_hypotheses, strict=True):
                hypotheses[place] = finished
        return hypotheses

    def _batches(self, sources: Sequence[list[int]], most: int) -> Iterator[tuple[list[int], Any, list[int]]]:
        """Yield indices, memory and length limits of the sentences of each batch of at most `most` pieces."""
        for places in batches([len(source) for source in sources], most):
            with torch.inference_mode(), threads_for(len(places)):
                memory = self._memory([sources[place] for place in places])
            yield places, memory, [longest_target(len(sources[place])) for place in places]

    def _encode_all(self, texts: Sequence[str], beam: int, length_penalty: float) -> list[list[int]]:
        check_search(beam, length_penalty)
        return all_sentence_ids(self.tokenizer, texts)

    def _memory(self, sources: Sequence[Sequence[int]]) -> Any:
        """Return the encoder's output; that of a single sentence is cached, since each what-if needs it again."""
        if len(sources) == 1:
            return self._memory_of((tuple(sources[0]),))
        return _memory_of(self.prepared, self.device, sources)

    def _trace(
        self,
        text: str,
        source: Sequence[int],
        memory: Any,
        result: _Translation,
        started: float,
        interventions: tuple[Intervention, ...] = (),
    ) -> RecordT:
        """Return the trace of one translation; `memory` holds its sentence alone."""
        ids, search_settings = result.path.ids, result.search
        arrays = self.prepared.recorded_arrays(source, memory, result.path)
        numbers = {name: tensor.cpu().numpy() for name, tensor in arrays.items()}
        score = float(numbers["log_probabilities"].sum()) / len(ids) ** search_settings.length_penalty
        record: RecordT = self.prepared.record(
            source_text=text,
            translation=result.translation,
            source_pieces=self.tokenizer.source.pieces(source),
            target_pieces=self.tokenizer.pieces(ids),
            source_ids=tuple(source),
            source_surfaces=self.tokenizer.source.sentence_surfaces(text),
            target_ids=ids,
            unknown_characters=self.tokenizer.source.unknown_characters(text) if UNK in source else (),
            **numbers,
            top_pieces=tuple(tuple(map(self._pieces.__getitem__, row)) for row in numbers["top_ids"].tolist()),
            search=search_settings,
            score=score,
            hypotheses=result.hypotheses or (Hypothesis(result.translation, score),),
            config=self.network.config.to_dict(),
            model=self.name,
            weights_digest=self.weights_digest,
            device=str(self.device),
            seconds=time.perf_counter() - started,
            interventions=interventions,
        )
        return record


def _memory_of(prepared: PreparedNetwork[Any], device: torch.device, sources: Sequence[Sequence[int]]) -> Any:
    """Return the encoder's output of sentences, given as ids of their pieces."""
    lengths = torch.tensor([len(source) for source in sources])
    return prepared.memory(padded(sources).to(device), lengths.to(device))
