"""`Translator`: a loaded model that translates, records every number, and computes beam trees and attributions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Generic, NamedTuple

import torch

from attnviz.arguments import check_number
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
    check_beam,
    forced_target,
    gradient_norms_of,
    greedy,
    longest_target,
    padded,
    search,
    sentence_ids,
    target_ids,
)
from attnviz.decoding.prepared import PreparedNetwork, RecordT, prepare_network
from attnviz.devices import resolve_device
from attnviz.errors import AttnvizError
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
MOST_PENALTY = 10.0
"""Largest length penalty."""


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

        `name` and `weights_digest`, the SHA-256 of the weights file, go into every trace.
        """
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
        cls, model: str | Path | None = None, device: str = "auto", precision: str = "auto"
    ) -> Translator[RecordT]:
        """Load a model of any architecture, by name or folder, to the device "auto", "cpu", "cuda", "cuda:1" or "mps".

        Type checkers take it for RNNsearch; for another architecture write `Translator[TransformerTrace].load`.

        On a CPU, `precision` "bf16" selects candidate pieces in bfloat16 and computes their logits in float32, with the
        same translations; "fp32" computes all logits in float32, and "auto" takes the faster of the two. Raise
        AttnvizError where the folder or a file of it is missing or damaged, or the device does not exist.
        """
        folder = find_model(model)
        network, tokenizer = load_model(folder)
        name, digest = Path(folder).resolve().name, weights_digest(folder)
        translator = cls(network.to(resolve_device(device)), tokenizer, name, digest)
        translator.prepared.decoder.output.set_precision(precision)
        return translator

    def translate(
        self,
        text: str,
        *,
        beam: int = 1,
        target: str | Sequence[int] | None = None,
        length_penalty: float = 1.0,
        interventions: Sequence[Intervention] = (),
    ) -> RecordT:
        """Translate one sentence and record every number.

        `beam` is the width of the search (1 is greedy); hypotheses are ranked by log probability divided by
        Ty^`length_penalty`. With a `target`, a text or the ids of its pieces, there is no search: the decoder is forced
        to write it.

        `interventions` change the attention or the word of their steps, in every hypothesis, and later steps follow
        from the change. In a `target`, only forced words are replaced.

        Raise AttnvizError for text that is blank or too long, for a beam outside 1 to 100 or together with a `target`,
        and for interventions that the model cannot apply.
        """
        started = time.perf_counter()
        self.check(text, beam=beam, target=target, length_penalty=length_penalty, interventions=interventions)
        interventions, source = tuple(interventions), sentence_ids(self.tokenizer, text)
        forced_ids = None if target is None else target_ids(self.tokenizer, target)
        with torch.inference_mode():
            memory = self._memory([source])
            if forced_ids is None:
                result = self._search(memory, [longest_target(len(source))], beam, length_penalty, interventions)[0]
            else:
                result = self._force(memory, forced_ids, self._typed(target, forced_ids), interventions)
            return self._trace(text, source, memory, result, started, interventions)

    def translate_together(
        self,
        texts: Sequence[str],
        *,
        targets: Sequence[str | Sequence[int]] | None = None,
        beam: int = 1,
        length_penalty: float = 1.0,
    ) -> list[RecordT]:
        """Translate many sentences in batches of similar length, and record for each what `translate` records.

        With `targets`, a translation of each sentence, there is no search: the decoder is forced to write them. Numbers
        differ from those of `translate` only by rounding in another order of summation. Raise as `translate_batch`, and
        where `targets` are not as many as `texts`.
        """
        started = time.perf_counter()
        sources = self._encode_all(texts, beam)
        forced = None if targets is None else all_target_ids(self.tokenizer, targets, len(sources))
        limits = [longest_target(len(source)) for source in sources] if forced is None else list(map(len, forced))
        lengths = [max(sizes) for sizes in zip(limits, map(len, sources), strict=True)]
        traces: dict[int, RecordT] = {}
        for places in batches(lengths, _LONGEST_HISTORY // beam):
            with torch.inference_mode():
                memory = self._memory([sources[place] for place in places])
                if targets is None or forced is None:
                    translations = self._search(memory, [limits[place] for place in places], beam, length_penalty)
                else:
                    paths = self.prepared.forced_paths(memory, [forced[place] for place in places])
                    typed = [self._typed(targets[place], forced[place]) for place in places]
                    translations = [
                        _Translation(path, text, Search("forced"), ()) for path, text in zip(paths, typed, strict=True)
                    ]
                for row, place in enumerate(places):
                    sentence_memory = memory.without_padding(row, len(sources[place]))
                    traces[place] = self._trace(
                        texts[place], sources[place], sentence_memory, translations[row], started
                    )
        return [traces[place] for place in range(len(texts))]

    def beam_tree(
        self, text: str, *, beam: int = 5, length_penalty: float = 1.0, interventions: Sequence[Intervention] = ()
    ) -> BeamTree:
        """Return every hypothesis that `translate` considers with the same arguments, and why it was dropped.

        Raise AttnvizError as `translate` does.
        """
        source = sentence_ids(self.tokenizer, text)
        check_beam(beam)
        self.prepared.check(interventions, len(source))
        growth: list[list[Candidate]] = []
        with torch.inference_mode():
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

        Interventions of `trace` are repeated. Raise AttnvizError where another model or a transformer made it.
        """
        return attributions_of(self.network, self._decoder, self.weights_digest, trace)

    def gradient_norms(self, trace: Trace) -> GradientNorms:
        """Return the norms of the gradient of each target piece by each source piece; raise as `attributions`."""
        return gradient_norms_of(self.network, self._decoder, self.weights_digest, trace)

    def check(
        self,
        text: str,
        *,
        beam: int = 1,
        target: str | Sequence[int] | None = None,
        length_penalty: float = 1.0,
        interventions: Sequence[Intervention] = (),
    ) -> None:
        """Raise AttnvizError where `translate` would with these arguments.

        Interventions at steps after the end of the translation pass.
        """
        source = sentence_ids(self.tokenizer, text)
        if target is not None:
            target_ids(self.tokenizer, target)
        check_beam(beam)
        if target is not None and beam != 1:
            raise AttnvizError(
                gettext(
                    "Forced decoding writes the given translation, so it uses no beam. Leave out the beam or the "
                    "translation."
                )
            )
        check_number(gettext("length penalty"), length_penalty, 0, MOST_PENALTY)
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
                path = self.prepared.forced_path(memory, best.ids, interventions)
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

    def _typed(self, target: str | Sequence[int] | None, ids: Sequence[int]) -> str:
        """Return the text of a given translation with these ids."""
        return " ".join(target.split()) if isinstance(target, str) else self.tokenizer.decode(ids)

    def _force(
        self, memory: Any, forced_ids: list[int], translation: str, interventions: tuple[Intervention, ...]
    ) -> _Translation:
        """Force the pieces `forced_ids` of `translation`, with forced words of `interventions` in their places."""
        ids = forced_target(forced_ids, interventions)
        if ids != forced_ids:
            translation = self.tokenizer.decode(ids)
        return _Translation(self.prepared.forced_path(memory, ids, interventions), translation, Search("forced"), ())

    def translate_batch(self, texts: Sequence[str], *, beam: int = 1, length_penalty: float = 1.0) -> list[str]:
        """Return the translations of many sentences, computed in batches of similar length.

        Raise AttnvizError, with the number of the sentence (from 1), where one is blank or too long.
        """
        if beam != 1:
            finished_by_sentence = self.search_batch(texts, beam=beam, length_penalty=length_penalty)
            return [self.tokenizer.decode(finished[0].ids) for finished in finished_by_sentence]
        sources = self._encode_all(texts, beam)
        translations = [""] * len(sources)
        for places, memory, limits in self._batches(sources, _BATCH_PIECES):
            for place, ids in zip(places, greedy(self._decoder, memory, limits, unk=self.unk), strict=True):
                translations[place] = self.tokenizer.decode(ids)
        return translations

    def search_batch(
        self, texts: Sequence[str], *, beam: int = 1, length_penalty: float = 1.0
    ) -> list[list[FinishedHypothesis]]:
        """Return the finished hypotheses of many sentences, best first; raise as `translate_batch`.

        The length penalty only orders them: the width of the beam alone decides which are found.
        """
        sources = self._encode_all(texts, beam)
        hypotheses: list[list[FinishedHypothesis]] = [[] for _ in sources]
        for places, memory, limits in self._batches(sources, _BATCH_PIECES // beam):
            found_hypotheses = search(self._decoder, memory, limits, beam, length_penalty, unk=self.unk)
            for place, finished in zip(places, found_hypotheses, strict=True):
                hypotheses[place] = finished
        return hypotheses

    def _batches(self, sources: Sequence[list[int]], most: int) -> Iterator[tuple[list[int], Any, list[int]]]:
        """Yield indices, memory and length limits of the sentences of each batch of at most `most` pieces."""
        for places in batches([len(source) for source in sources], most):
            with torch.inference_mode():
                memory = self._memory([sources[place] for place in places])
            yield places, memory, [longest_target(len(sources[place])) for place in places]

    def _encode_all(self, texts: Sequence[str], beam: int) -> list[list[int]]:
        check_beam(beam)
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
