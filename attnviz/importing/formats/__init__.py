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
    tensors.FORMAT,
    numpy_arrays.FORMAT,
    parquet.FORMAT,
    *json_formats.FORMATS,
    soft_alignments.FORMAT,
)
FORMATS: tuple[Format, ...] = (*_STRICT, *line_formats.FORMATS, opennmt_attention.FORMAT, csv_table.FORMAT)
"""All formats by name."""
DETECTED: tuple[Format, ...] = (*_STRICT, line_formats.ANY, opennmt_attention.FORMAT, csv_table.FORMAT)
"""Formats in the order in which detection tries them: strict ones first, all line formats together."""
