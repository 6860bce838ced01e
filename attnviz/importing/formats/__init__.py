"""`FORMATS`: list of the supported formats of attention files; each module of the package reads one or two."""

from attnviz.importing.format import Format
from attnviz.importing.formats import (
    blocks,
    csv_table,
    ctranslate2,
    fairseq,
    fast_align,
    giza,
    inseq,
    json_object,
    marian,
    moses,
    naacl,
    nematus_json,
    numpy_arrays,
    opennmt,
    pharaoh,
    simalign,
    sockeye,
    soft_alignments,
    tensors,
)

FORMATS: tuple[Format, ...] = (
    tensors.FORMAT,
    numpy_arrays.FORMAT,
    inseq.FORMAT,
    ctranslate2.FORMAT,
    nematus_json.FORMAT,
    json_object.FORMAT,
    soft_alignments.FORMAT,
    fairseq.FORMAT,
    giza.FORMAT,
    blocks.NEMATUS,
    blocks.SOCKEYE,
    moses.FORMAT,
    fast_align.FORMAT,
    marian.FORMAT,
    opennmt.FORMAT,
    naacl.FORMAT,
    simalign.FORMAT,
    sockeye.FORMAT,
    pharaoh.FORMAT,
    csv_table.FORMAT,
)
"""Formats in the order in which detection tries them: strict ones first."""
