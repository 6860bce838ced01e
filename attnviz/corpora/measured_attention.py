"""Make the table of a corpus from attention or word links of another program, one row for each sentence pair.

A row has the measures, on request with scores against gold links or another file, and the attention itself, which the
page *Corpus* opens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from attnviz.analysis.gold import word_links
from attnviz.analysis.measures import LinkScore, PairAgreement, coverage
from attnviz.corpora.columns import ATTENTION_SCHEMA
from attnviz.corpora.row import attention_measures, remarks_of, word_columns
from attnviz.corpora.table_metadata import MOST_NAMED, TableMetadata
from attnviz.importing.records import AttentionRecords
from attnviz.languages import gettext
from attnviz.trace import Attention


def table_of_attention(
    records: Sequence[Attention],
    scores: Sequence[LinkScore | None] = (),
    advance: Callable[[int], object] = lambda _: None,
    agreements: Sequence[PairAgreement | None] = (),
) -> Any:
    """Return the table of `records` (pyarrow.Table with the columns of a corpus, null where nothing can be measured).

    The column `record` has the attention itself, so that the page *Corpus* can open a pair of a stored table, and
    `file` the file of the pair if there are several. `scores` are those of each record's links against gold links
    (`alignment_error(...).sentences`), `agreements` compare them with those of another file
    (`link_agreement(...).pairs`); None for a pair that the other file lacks. Entropy and shares are of rows with
    attention; a row of zeros is counted as unlinked. Pairs of a file that are blank lines or damaged are skipped.
    `advance` gets the number of pairs after each.
    """
    rows, digest, blank = list[dict[str, Any]](), hashlib.sha256(), list[tuple[int, str]]()
    file = records if isinstance(records, AttentionRecords) else None
    for index in range(len(records)):
        record = file.filled(index) if file else records[index]
        if record is None:
            problem = file.problems.get(index) if file else None
            blank.append((index + 1, problem or gettext("it is blank")))
            continue
        row = _row(index + 1, record) | {
            "record": record.to_json(),
            "file": Path(file.place(index)[0]).name or None if file else None,
        }
        # the other file may lack a pair
        if index < len(scores) and (score := scores[index]):
            row["aer_before"] = score.aer
        if index < len(agreements) and (pair := agreements[index]):
            row |= {"aer_between": pair.aer, "only_one": len(pair.only_first) + len(pair.only_other)}
        rows.append(row)
        digest.update(record.fingerprint.encode())
        advance(len(rows))
    metadata = TableMetadata(digest.hexdigest(), "", {}, len(records), len(rows), len(blank), blank[:MOST_NAMED])
    return pa.Table.from_pylist(rows, ATTENTION_SCHEMA).replace_schema_metadata(metadata.encoded())


def plain_columns(table: Any) -> Any:
    """Return the columns of a table that hold one text or number, at least one of them known."""
    names = [field.name for field in table.schema if not pa.types.is_list(field.type) and field.name != "record"]
    return table.select([name for name in names if table[name].null_count < len(table)])


def _row(number: int, record: Attention) -> dict[str, Any]:
    words = record.words()
    shares = words.linkable.alignment
    return {
        "number": number,
        "source": record.source_text,
        "target": record.translation,
        "links_before": [{"i": i, "j": j, "weight": float(shares[i, j])} for j, i, _ in word_links(record)],
        **word_columns(words),
        **attention_measures(words, record.alignment, coverage(shares)),
        **remarks_of(record),
    }
