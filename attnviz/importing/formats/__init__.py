"""`FORMATS`: list of the supported formats of attention files. `lines` reads all whose lines have fields."""

from attnviz.importing.format import Format
from attnviz.importing.formats import (
    csv_table,
    json_formats,
    lines,
    numpy_arrays,
    opennmt,
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
FORMATS: tuple[Format, ...] = (*_STRICT, *lines.FORMATS, opennmt.FORMAT, csv_table.FORMAT)
"""All formats by name."""
DETECTED: tuple[Format, ...] = (*_STRICT, lines.ANY, opennmt.FORMAT, csv_table.FORMAT)
"""Formats in the order in which detection tries them: strict ones first, all line formats together."""
