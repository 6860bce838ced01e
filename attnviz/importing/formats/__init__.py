"""`FORMATS`: list of the supported formats of attention files. `lines` reads all whose lines have fields."""

from attnviz.importing.format import Format
from attnviz.importing.formats import (
    csv_table,
    json_formats,
    line_formats,
    numpy_arrays,
    opennmt_attention,
    parquet,
    soft_alignments,
    tensors,
)

_STRICT: tuple[Format, ...] = (
    tensors.TENSORS,
    numpy_arrays.NUMPY_ARRAYS,
    parquet.PARQUET_ATTENTION,
    *json_formats.JSON_FORMATS,
    soft_alignments.SOFT_ALIGNMENTS,
)
FORMATS: tuple[Format, ...] = (
    *_STRICT,
    *line_formats.LINE_FORMATS,
    opennmt_attention.OPENNMT_ATTENTION,
    csv_table.CSV_TABLE,
)
"""All formats by name."""
DETECTED: tuple[Format, ...] = (*_STRICT, line_formats.ANY, opennmt_attention.OPENNMT_ATTENTION, csv_table.CSV_TABLE)
"""Formats in the order in which detection tries them: strict ones first, all line formats together."""
