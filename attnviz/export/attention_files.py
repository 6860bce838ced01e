"""Bytes of a file of attention records: JSON lines, word links, a Parquet table, or NumPy arrays of one record.

The parts of a record have the same names in a Parquet table and among NumPy arrays. Links are 0-based: `links` between
pieces, `sure` and `possible` between words.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from attnviz.analysis.gold import GoldLinks, linkable_words, links_text, word_links
from attnviz.errors import user_error
from attnviz.text import without_isolates
from attnviz.trace import Attention, Words
from attnviz.trace.attention_record import FURTHER, attention

LINK_ENDINGS = ("pharaoh", "naacl", "json", "csv")
"""Extensions of the files in which word links are saved; all keep which links are only possible."""
ATTENTION_FILE_ENDINGS = (*LINK_ENDINGS, "parquet", "npz")
"""Extensions of files of records; .npz holds one record, the others several."""


def attention_file_content(records: Sequence[Attention | None], ending: str, first: int = 1) -> bytes:
    """Return the content of a file with this `ending`, one of ENDINGS; raise AttnvizError for another.

    `first` is the number of the first record, which a .naacl file has. .json, .parquet and .npz hold the weights of
    every layer and head. .pharaoh, .naacl and .csv hold the links between words (`analysis.gold.word_links`). A
    blank pair, None, is a blank line in .pharaoh and is left out elsewhere; the numbers of other pairs count it.
    """
    numbered = [(number, record) for number, record in enumerate(records, first) if record is not None]
    if ending == "json":
        return "".join(record.to_json() + "\n" for _, record in numbered).encode("utf-8")
    if ending == "pharaoh":
        return "".join((links_text(one) if one is not None else "") + "\n" for one in records).encode("utf-8")
    if ending == "naacl":
        return "".join(_naacl(numbered)).encode("utf-8")
    if ending == "csv":
        return "\n".join(_link_table(record) for _, record in numbered).encode("utf-8-sig")
    if ending == "npz" and len(numbered) == 1:
        return _arrays(numbered[0][1])
    if ending != "parquet":
        raise user_error(
            "A .{ending} file holds one sentence pair, but there are {count} sentence pairs. Choose one pair with "
            "--sentence, or write another format: {endings}.",
            ending=ending,
            count=len(numbered),
            endings=", ".join(f".{one}" for one in ATTENTION_FILE_ENDINGS if one != "npz"),
        )
    return _table(numbered)


def record_of_links(words: Words, gold: GoldLinks) -> Attention:
    """Return the links of `gold` between `words`, without `</s>`, as a record whose tokens are the words."""
    source, target = linkable_words(words)
    linked = sorted(gold.sure | gold.possible)
    matrix = np.zeros((len(target), len(source)))
    for j, i in linked:
        matrix[i, j] = 1
    matrix /= np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    record = attention(source, target, matrix, sure=gold.sure, possible=gold.possible)
    return replace(
        record,
        links=tuple(linked),
        source_word_of=np.arange(len(source), dtype=np.int32),
        target_word_of=np.arange(len(target), dtype=np.int32),
    )


def _naacl(numbered: Sequence[tuple[int, Attention]]) -> Iterator[str]:
    """Yield the lines `pair source target S|P`, counted from 1; a pair without links has its first word linked to 0."""
    for number, record in numbered:
        links = word_links(record)
        if not links:
            yield f"{number} 0 1 S\n"
        for j, i, possible in links:
            yield f"{number} {j + 1} {i + 1} {'P' if possible else 'S'}\n"


def _link_table(record: Attention) -> str:
    """Return the links as a table: source words in the first row, target words in the first column, S or P in cells."""
    source, target = linkable_words(record.words())
    marks = {(j, i): "P" if possible else "S" for j, i, possible in word_links(record)}
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["target \\ source", *(f"{number} {word}" for number, word in enumerate(source, 1))])
    for i, word in enumerate(target):
        rows.writerow([f"{i + 1} {word}", *(marks.get((j, i), "") for j in range(len(source)))])
    return without_isolates(file.getvalue())


_PAIRS = ("links", "sure", "possible")
_PARTS = ("source_word_of", "target_word_of", *FURTHER, *_PAIRS, "kind", "origin", "remarks")
"""Parts of a record besides its tokens and weights."""


def _arrays(record: Attention) -> bytes:
    """Return all parts of a record as NumPy arrays, the weights of all its heads as (L, H, Ty, Tx) or (Ty, Tx)."""
    sink = io.BytesIO()
    parts: dict[str, Any] = {
        "format": record.saved_as.name,
        "source": record.source_pieces,
        "target": record.target_pieces,
        "matrix": record.head_weights if record.head_weights.size else record.alignment,
        **{name: number for name, number in asdict(record.heads).items() if number is not None},
        **{name: part for name in _PARTS if np.size(part := getattr(record, name))},
    }
    np.savez_compressed(sink, **parts)
    return sink.getvalue()


def _table(numbered: Sequence[tuple[int, Attention]]) -> bytes:
    """Return the content of a Parquet file with a row for each record and its number."""
    import pyarrow as pa  # here, since it takes 36 MiB
    from pyarrow import parquet

    links, matrix = pa.list_(pa.struct([("j", pa.int16()), ("i", pa.int16())])), pa.list_(pa.list_(pa.float32()))
    texts = dict.fromkeys(("source", "target", "kind", "origin"), pa.string())
    several = dict.fromkeys(("source_pieces", "target_pieces", "remarks"), pa.list_(pa.string()))
    words = dict.fromkeys(("source_word_of", "target_word_of"), pa.list_(pa.int16()))
    matrices = dict.fromkeys(("alignment", *FURTHER), matrix) | {"head_weights": pa.list_(pa.list_(matrix))}
    numbers = {"number": pa.int32(), "layer": pa.int16(), "head": pa.int16()}
    rows = [
        {"number": number, "source": record.source_text, "target": record.translation}
        | {"layer": record.heads.layer, "head": record.heads.head}
        | {name: _plain(getattr(record, name)) for name in (*several, *matrices, *_PARTS)}
        for number, record in numbered
    ]
    schema = pa.schema(numbers | texts | several | words | matrices | dict.fromkeys(_PAIRS, links))
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema), sink, write_page_checksum=True)
    return sink.getvalue()


def _plain(part: Any) -> Any:
    """Return a part of a record as Parquet has it: None for an empty matrix."""
    return (part.tolist() or None) if isinstance(part, np.ndarray) else part
