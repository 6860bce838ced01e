"""Turn batches of sentences or sentence pairs into rows of the table of a corpus, with measures of attention.

The rows do not depend on one another. `Analyser` has a model translate the sentences, or forces it to write the
given targets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from attnviz.corpora.columns import SCHEMA, Settings
from attnviz.corpora.corpus_lines import Line
from attnviz.corpora.forced_decoding import BatchPosterior, force_decode, pair_batches
from attnviz.corpora.row import AnalysedPair, pieces_of, row_of
from attnviz.decoding import sentence_ids, target_ids
from attnviz.errors import AttnvizError
from attnviz.evaluation.forced import with_end
from attnviz.text_files import Skipped
from attnviz.translator import Translator


@dataclass(frozen=True)
class _Encoded:
    """A line as ids."""

    line: Line
    source: list[int]
    target: list[int] | None
    """Ids of the target; None where the translator has to find it."""


class Analyser:
    """A translator that turns lines into rows. It has no state between calls, so threads and processes may share it."""

    def __init__(self, translator: Translator[Any], settings: Settings | None = None) -> None:
        """Take the translator; raise AttnvizError for invalid settings."""
        settings = settings or Settings()
        settings.check()
        self.settings = settings.with_precision_for(translator.device)
        self._translator = translator
        kind = self.settings.kind
        self._posterior = BatchPosterior(translator, kind) if kind and translator.network.attends_once else None

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._translator.name

    @property
    def weights_digest(self) -> str:
        """SHA-256 of the model's weights."""
        return self._translator.weights_digest

    @classmethod
    def load(cls, folder: str | Path, settings: Settings | None = None, device: str = "auto") -> Analyser:
        """Load the model of a folder; raise AttnvizError where it cannot be loaded."""
        settings = settings or Settings()
        settings.check()
        return cls(Translator.load(folder, device, settings.precision), settings)

    def __call__(self, lines: Sequence[Line]) -> tuple[pa.Table, list[Skipped]]:
        """Return a table with a row for each line, in order, and the skipped lines.

        Lines are skipped that are blank or too long for the tokenizer. Rows do not depend on the other lines, except
        for rounding in another order of summation.
        """
        encoded, skipped = self._encoded(lines)
        translations = self._translations([entry for entry in encoded if entry.target is None])
        targets = [entry.target or translations[entry.line.number] for entry in encoded]
        rows: dict[int, dict[str, Any]] = {}
        lengths = [len(entry.source) for entry in encoded], [len(target) for target in targets]
        for indices in pair_batches(*lengths, self.settings.batch_size):
            batch_rows = self._rows([encoded[index] for index in indices], [targets[index] for index in indices])
            rows.update(zip(indices, batch_rows, strict=True))
        return pa.Table.from_pylist([rows[index] for index in range(len(rows))], schema=SCHEMA), skipped

    def _encoded(self, lines: Sequence[Line]) -> tuple[list[_Encoded], list[Skipped]]:
        tokenizer, encoded, skipped = self._translator.tokenizer, [], []
        for line in lines:
            try:
                source = sentence_ids(tokenizer, line.source)
                target = None if line.target is None else target_ids(tokenizer, line.target)
            except AttnvizError as error:
                skipped.append(Skipped(line.number, str(error)))
                continue
            if self.settings.translate and line.gold is not None:
                line = dataclasses.replace(line, gold=None)
            encoded.append(_Encoded(line, source, None if self.settings.translate else target))
        return encoded, skipped

    def _translations(self, untranslated: Sequence[_Encoded]) -> dict[int, list[int]]:
        """Return the ids of the translations, by line number."""
        texts = [entry.line.source for entry in untranslated]
        hypotheses = self._translator.search_batch(texts, beam=self.settings.beam) if texts else []
        return {
            entry.line.number: list(finished[0].ids) for entry, finished in zip(untranslated, hypotheses, strict=True)
        }

    def _rows(self, encoded: Sequence[_Encoded], targets: list[list[int]]) -> list[dict[str, Any]]:
        sources = [entry.source for entry in encoded]
        decoded = force_decode(self._translator, sources, targets)
        posteriors = self._posterior(decoded, sources, targets) if self._posterior else [None] * len(encoded)
        rows = []
        for index, (entry, target) in enumerate(zip(encoded, targets, strict=True)):
            arrays = (
                with_end(decoded.alignment[index, : len(target), : len(entry.source)], entry.source),
                decoded.log_probabilities[index, : len(target)],
            )
            rows.append(self._row(entry, target, *arrays, posteriors[index]))
        return rows

    def _row(
        self, entry: _Encoded, target: list[int], alignment: Any, log_probabilities: Any, posterior: Any
    ) -> dict[str, Any]:
        translator, line = self._translator, entry.line
        forced = entry.target is not None
        text = line.target if forced else translator.tokenizer.decode(target)
        pair = AnalysedPair(
            *pieces_of(translator.tokenizer.source, entry.source, line.source),
            *pieces_of(translator.tokenizer, target, line.target if forced else None),
            alignment,
            log_probabilities,
            translator.network.attends,
            translator.network.attends_once,
        )
        search = "forced" if forced else "greedy" if self.settings.beam == 1 else f"beam {self.settings.beam}"
        row = row_of(line, pair, text or "", None if forced else line.target, posterior, self.settings.threshold)
        return {"model": translator.name, "search": search, **row}
