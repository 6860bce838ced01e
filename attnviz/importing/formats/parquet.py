"""Read attention in Parquet files that this program wrote: by `attention -o FILE.parquet` or by `--table`.

The columns of the former are the parts of a record (`export.attention_table.SCHEMA`). A table of measures has the whole
record in its column `record`, as `Attention.to_json` writes it; its measures are not read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED
from attnviz.importing.format import Format
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import JSON_ERRORS, LIMITS, PARQUET, Content, cut_texts, opened_parquet, pause
from attnviz.trace import MOST_TOKENS, Attention
from attnviz.trace.link_text import MOST_LINKS

_RECORD = "record"
_NEEDED = ("source_pieces", "target_pieces", "alignment")
_ARRAYS = ("energies", "states", "gradient", "erased")
_COLUMNS = (
    _RECORD,
    *_NEEDED,
    *_ARRAYS,
    "number",
    "head_weights",
    "layer",
    "head",
    "source_word_of",
    "target_word_of",
    "kind",
    "links",
    "sure",
    "possible",
    "origin",
    "remarks",
)


def detect(content: Content) -> str | None:
    """Return why the file is Parquet with attention; None for other content."""
    names = _columns(content)
    if _RECORD in names:
        return gettext("The file is a Parquet table whose column “record” has the attention.")
    if {*_NEEDED} <= {*names}:
        return gettext("The file is a Parquet table with tokens and attention weights.")
    return None


def _columns(content: Content) -> list[str]:
    """Return the column names of a Parquet file; none for a damaged or another file."""
    if not content.data.startswith(PARQUET):
        return []
    try:
        with _opened(content) as file:
            return list(file.schema_arrow.names)
    except AttnvizError:
        return []


@contextmanager
def _refusing_damage() -> Iterator[None]:
    """Turn the exceptions that damaged files and unexpected types cause into an AttnvizError."""
    from pyarrow import ArrowException

    try:
        yield
    except (*DAMAGED, *JSON_ERRORS, ArrowException) as error:
        raise AttnvizError(
            gettext("This Parquet file is damaged, or not from attnviz ({error}).", error=str(error)[:80])
        ) from error


@contextmanager
def _opened(content: Content) -> Iterator[Any]:
    """Yield the file as a pyarrow.parquet.ParquetFile; raise AttnvizError where it is damaged or too large."""
    with _refusing_damage(), opened_parquet(io.BytesIO(content.data), _COLUMNS, content.limits) as (file, repeating):
        if repeating:
            raise ValueError("the encoding DELTA_BYTE_ARRAY")
        yield file


def read(content: Content) -> Sentences:
    """Return one sentence pair for each row; raise AttnvizError where the file is damaged or too large."""
    rows = list[tuple[Any, int]]()
    with _opened(content) as file:
        columns = [name for name in file.schema_arrow.names if name in _COLUMNS]
        # Arrow cannot join the nested dictionaries of row groups.
        for group in range(file.num_row_groups):
            for batch in file.read_row_group(group, columns, use_threads=False).to_batches():
                pause()
                rows += [(batch, row) for row in range(batch.num_rows)]
    return Sentences(rows, _pair)


def _pair(item: tuple[Any, int]) -> SentencePair:
    """Return the pair in a row of a record batch; raise AttnvizError where values have other types or are too many."""
    batch, row = item
    with _refusing_damage():
        cells = {
            name: cell
            for place, name in enumerate(batch.schema.names)
            if (cell := batch.column(place).slice(row, 1)).null_count == 0
        }
        number = cells["number"].to_pylist()[0] if "number" in cells else 0
        fields = _json_fields(cells[_RECORD]) if _RECORD in cells else _fields(cells)
        return SentencePair(fields, line=number - 1 if number > 0 else None)


def _json_fields(cell: Any) -> Mapping[str, Any]:
    """Return the fields of a record as JSON; raise ValueError where they are none."""
    (text,) = _texts(cell, LIMITS.bytes)
    fields = json.loads(text)
    if not isinstance(fields, Mapping):
        raise ValueError("the record is no object")
    return fields


def _fields(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the open format (`attnviz.trace.open_format`) in the columns of one row."""
    fields: dict[str, Any] = {
        "format": Attention.saved_as.name,
        "source": _texts(_inner(cells["source_pieces"])),
        "target": _texts(_inner(cells["target_pieces"])),
        "matrix": _array(cells["head_weights" if "head_weights" in cells else "alignment"]),
        "gold": {name: _links(cells[name]) for name in ("sure", "possible") if name in cells},
    }
    fields |= {name: _array(cells[name]) for name in _ARRAYS if name in cells}
    if "links" in cells:
        fields["links"] = _links(cells["links"])
    if "remarks" in cells:
        fields["remarks"] = _texts(_inner(cells["remarks"]))
    for name in ("kind", "origin"):
        if name in cells:
            (fields[name],) = _texts(cells[name])
    if "layer" in cells or "head" in cells:
        fields["heads"] = {name: cells[name].to_pylist()[0] if name in cells else None for name in ("layer", "head")}
    if "source_word_of" in cells and "target_word_of" in cells:
        fields["words"] = {side: _limited(_inner(cells[f"{side}_word_of"])) for side in ("source", "target")}
    return fields


def _array(cell: Any) -> NDArray[np.float64]:
    """Return the nested lists of numbers in a cell as an array; raise ValueError where lists differ in length."""
    from pyarrow import compute

    shape = list[int]()
    while _is_list(cell):
        lengths = compute.unique(compute.list_value_length(cell)).to_pylist()
        if len(lengths) != 1 or not lengths[0]:
            raise ValueError("lists of different lengths")
        shape.append(lengths[0])
        cell = _inner(cell)
    array: NDArray[np.float64] = cell.to_numpy(zero_copy_only=False).astype(np.float64).reshape(shape)
    return array


def _is_list(values: Any) -> bool:
    from pyarrow import types

    return bool(types.is_list(values.type) or types.is_large_list(values.type))


def _inner(cell: Any) -> Any:
    """Return the elements of the list in a cell; raise ValueError where it has no list."""
    if not _is_list(cell):
        raise ValueError(f"a column of {cell.type} instead of lists")
    return cell.flatten()


def _texts(values: Any, longest: int = LIMITS.cell) -> list[str]:
    """Return texts; raise ValueError where they are too many, or too long in all."""
    texts: list[str] = cut_texts(_checked(values), longest + 1, "strict")  # type: ignore[assignment]
    if sum(map(len, texts)) > longest:
        raise ValueError("the texts are too long")
    return texts


def _links(cell: Any) -> list[tuple[int, int]]:
    """Return the links in a cell, pairs (source, target)."""
    return [(link["j"], link["i"]) for link in _limited(_inner(cell), MOST_LINKS)]


def _limited(values: Any, most: int = MOST_TOKENS + 1) -> list[Any]:
    """Return the values of an Arrow array as a list; raise ValueError where there are more than `most`."""
    found: list[Any] = _checked(values, most).to_pylist()
    return found


def _checked(values: Any, most: int = MOST_TOKENS + 1) -> Any:
    """Return an Arrow array; raise ValueError where it has more than `most` values."""
    if len(values) > most:
        raise ValueError(f"{len(values):,} values in a cell; at most {most:,} are read")
    return values


def near_miss_message(content: Content) -> str | None:
    """Return what a Parquet file lacks; None for other content."""
    if not content.data.startswith(PARQUET):
        return None
    with _opened(content) as file:
        names = list(file.schema_arrow.names)
    return gettext(
        "attnviz finds no attention in this Parquet file, which has the columns {found}. attnviz reads only Parquet "
        "files that it wrote itself. Save attention from other programs as .npz or JSON.",
        found=", ".join(map(str, names))[:80] or "–",
    )


def _detected(content: Content, _: int | None) -> Sentences | None:
    reason = detect(content)
    return replace(read(content), reason=reason) if reason else None


FORMAT = Format("parquet", "Parquet of attnviz", _detected, near_miss_message)
