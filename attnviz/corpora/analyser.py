"""Turn batches of sentences or sentence pairs into rows of the table of a corpus, with measures of attention.

The rows do not depend on one another. `Analyser` has a model translate the sentences, or forces it to write the
given targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch

from attnviz.corpora.batch_posterior import BatchPosterior
from attnviz.corpora.columns import SCHEMA, Settings
from attnviz.corpora.corpus_lines import Line
from attnviz.corpora.row import gold_measures, measures_of, scores_against
from attnviz.decoding import sentence_ids, target_ids
from attnviz.errors import AttnvizError
from attnviz.evaluation.forced import EncodedPair, ForcedPair, force_encoded
from attnviz.pair_files import Skipped
from attnviz.translator import Translator


class Analyser:
    """A translator that turns lines into rows. It has no state between calls, so threads and processes may share it."""

    def __init__(self, translator: Translator[Any], settings: Settings | None = None) -> None:
        """Take a translator.

        Args:
            translator: The translator.
            settings: What is computed; by default `Settings()`.

        Raises:
            AttnvizError: A setting is invalid.
        """
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
    def load(
        cls, folder: str | Path, settings: Settings | None = None, device: str | torch.device = "auto"
    ) -> Analyser:
        """Load the model of a folder.

        Args:
            folder: The model folder.
            settings: What is computed; by default `Settings()`.
            device: "auto", "cpu", "cuda", "cuda:1" or "mps".

        Returns:
            The analyser.

        Raises:
            AttnvizError: The model cannot be loaded.
        """
        settings = settings or Settings()
        settings.check()
        return cls(Translator.load(folder, device, settings.precision), settings)

    def __call__(self, lines: Sequence[Line]) -> tuple[pa.Table, list[Skipped]]:
        """Return a table with a row for each line, in order, and the skipped lines.

        Lines are skipped that are blank or too long for the tokenizer. Rows do not depend on the other lines, except
        for rounding in another order of summation.
        """
        tokenizer, skipped = self._translator.tokenizer, list[Skipped]()
        encoded: list[tuple[Line, list[int], list[int] | None]] = []
        for line in lines:
            try:
                source = sentence_ids(tokenizer, line.source)
                target = None if line.target is None else target_ids(tokenizer, line.target)
            except AttnvizError as error:
                skipped.append(Skipped(line.number, str(error)))
                continue
            encoded.append((line, source, None if self.settings.translate else target))
        texts = [line.source for line, _, target in encoded if target is None]
        found = iter(self._translator.search_batch(texts, beam=self.settings.beam) if texts else ())
        pairs = [
            EncodedPair(source, list(next(found)[0].ids), line.source, None)
            if target is None
            else EncodedPair(source, target, line.source, line.target)
            for line, source, target in encoded
        ]
        forced = force_encoded(self._translator, pairs, self._posterior, self.settings.batch_size)
        used = [line for line, *_ in encoded]
        return pa.Table.from_pylist(list(map(self._row, used, pairs, forced)), schema=SCHEMA), skipped

    def _row(self, line: Line, encoded: EncodedPair, pair: ForcedPair) -> dict[str, Any]:
        row = {
            "model": self._translator.name,
            "number": line.number,
            "source": line.source,
            **measures_of(pair, self.settings.threshold),
        }
        if encoded.target_text is not None:
            gold = gold_measures(line.gold, pair) if line.gold else {}
            return row | gold | {"search": "forced", "target": line.target}
        row["search"] = "greedy" if self.settings.beam == 1 else f"beam {self.settings.beam}"
        row["target"] = self._translator.tokenizer.decode(encoded.target)
        return row | ({} if line.target is None else scores_against(line.target, row["target"]))
