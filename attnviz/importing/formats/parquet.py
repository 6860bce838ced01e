"""Read attention in Parquet files that this program wrote: by `attention -o FILE.parquet` or by `--table`.

The columns of the former are the parts of a record (`export.attention_files`), named like NumPy arrays.
A table of measures has the whole record in its column `record`, as `Attention.to_json` writes it, and its measures are
not read.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from attnviz.errors import user_error
from attnviz.file_kinds import PARQUET
from attnviz.files import DAMAGED
from attnviz.importing.format import Format
from attnviz.importing.formats.json_formats import pair_from_json
from attnviz.importing.formats.numpy_arrays import PARTS, fields_of
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import LIMITS, Content, cut_texts, opened_parquet, pause
from attnviz.trace import MOST_TOKENS, Attention

_RECORD = "record"
_NEEDED = ("source_pieces", "target_pieces", "alignment")
_COLUMNS = (_RECORD, *_NEEDED, *PARTS, "head_weights", "number")


@contextmanager
def _refusing_damage() -> Iterator[None]:
    """Turn the exceptions that damaged files and unexpected types cause into an AttnvizError."""
    from pyarrow import ArrowException

    try:
        yield
    except (*DAMAGED, ArrowException) as error:
        raise user_error(
            "This Parquet file is damaged, or not from attnviz ({error}).", error=str(error)[:80]
        ) from error


def _read(content: Content, _: int | None = None) -> Sentences | None:
    """Return one sentence pair for each row; None for a file that is no Parquet.

    Raise AttnvizError where it is damaged or too large, or has no attention.
    """
    if not content.data.startswith(PARQUET):
        return None
    rows = list[tuple[Any, int]]()
    with _refusing_damage(), opened_parquet(io.BytesIO(content.data), _COLUMNS, content.limits) as (file, repeating):
        if repeating:
            raise ValueError("the encoding DELTA_BYTE_ARRAY")
        names = file.schema_arrow.names
        if _RECORD not in names and not {*_NEEDED} <= {*names}:
            raise user_error(
                "attnviz finds no attention in this Parquet file, which has the columns {found}. attnviz reads "
                "only Parquet files that it wrote itself. Save attention from other programs as .npz or JSON.",
                found=", ".join(map(str, names))[:80] or "–",
            )
        # Arrow cannot join the nested dictionaries of row groups.
        for group in range(file.num_row_groups):
            for batch in file.read_row_group(group, _COLUMNS, use_threads=False).to_batches():
                pause()
                rows += [(batch, row) for row in range(batch.num_rows)]
    return Sentences(rows, _pair, reason=gettext("The file is a Parquet table with attention that attnviz wrote."))


def _pair(item: tuple[Any, int]) -> SentencePair:
    """Return the pair in a row of a record batch; raise AttnvizError where values have other types or are too many."""
    batch, row = item
    with _refusing_damage():
        columns = zip(batch.schema.names, batch.slice(row, 1).columns, strict=True)
        cells = {name: cell for name, cell in columns if cell.null_count == 0}
        number = int(_value(cells["number"])) if "number" in cells else 0
        if _RECORD in cells:
            fields = json.loads(_value(cells[_RECORD], LIMITS.bytes))
        else:
            if "head_weights" in cells:
                cells["alignment"] = cells.pop("head_weights")  # the other is the mean of the heads
            fields = fields_of(cells, _value) | {"format": Attention.saved_as.name}
        return dataclasses.replace(pair_from_json(fields), line=number - 1 if number > 0 else None)


def _value(cell: Any, longest: int = LIMITS.cell) -> Any:
    """Return what a cell has: a text, a list of texts, or an array of numbers, (…, 2) for links.

    Raise ValueError where lists differ in length, texts are too many, or are longer than `longest` in all.
    """
    from pyarrow import compute, types

    shape = list[int]()
    while types.is_list(cell.type) or types.is_large_list(cell.type):
        lengths = compute.unique(compute.list_value_length(cell)).to_pylist()
        if len(lengths) != 1:
            raise ValueError("lists of different lengths")
        shape += lengths
        cell = cell.flatten()
    if types.is_struct(cell.type) and all(types.is_primitive(side.type) for side in cell.type):
        return np.stack([cell.field(side) for side in ("j", "i")], axis=-1)
    if types.is_primitive(cell.type):
        return np.asarray(cell).reshape(shape)
    if len(cell) > MOST_TOKENS + 1:
        raise ValueError(f"{len(cell):,} texts in a cell; at most {MOST_TOKENS + 1:,} are read")
    texts: list[str] = cut_texts(cell, longest + 1, "strict")  # type: ignore[assignment]
    if sum(map(len, texts)) > longest:
        raise ValueError("the texts are too long")
    return texts if shape else texts[0]


PARQUET_ATTENTION = Format(
    "parquet",
    "Parquet of attnviz",
    _read,
    example=(
        "a table with a row for each sentence pair: its tokens, weights, heads, links and all else that a record has"
    ),
    written_by="`attnviz attention … -o a.parquet`, `attnviz attention … --table a.parquet`",
)
