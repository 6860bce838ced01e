"""Recognise checkpoints of programs that cannot be imported, and say how to export their attention instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnviz.languages import gettext


@dataclass(frozen=True)
class _Program:
    """A program whose checkpoints cannot be imported."""

    name: str
    tensors: tuple[str, ...]
    """Regular expressions, each of which the name of some tensor matches."""
    way_out: Callable[[], str]
    """How to get the attention out of this program."""


def way_out() -> str:
    """Return how to export the attention of any model."""
    return gettext(
        "You can still look at the model’s attention: save source, target and attention weights of your sentences in "
        'a file, and open this file. In Python: attnviz.attention(source, target, matrix).save("a.json").'
    )


def tutorial_way_out() -> str:
    """Return how to export the attention of the tutorial on pytorch.org."""
    return gettext(
        "You can still look at the model’s attention: evaluate() returns the attention, and attnviz.attention(words, "
        "decoded_words, attentions[:, :len(words)], normalise=True) reads it."
    )


def d2l_way_out() -> str:
    """Return how to export the attention of the models of d2l.ai."""
    return gettext(
        "You can still look at the model’s attention: predict_step(…, save_attention_weights=True) returns the "
        "weights, and attnviz.attention(source, target, matrix) reads these weights."
    )


def fairseq_way_out() -> str:
    """Return how to export the attention of fairseq."""
    return gettext(
        "fairseq-generate --print-alignment soft writes the attention. Open the log of fairseq-generate with the "
        "command attnviz attention or with attnviz.read_attention()."
    )


def opennmt_way_out() -> str:
    """Return how to export the attention of OpenNMT-py."""
    return gettext(
        "onmt_translate -verbose -attn_debug writes the attention. Open the log of onmt_translate with the command "
        "attnviz attention or with attnviz.read_attention()."
    )


def eole_way_out() -> str:
    """Return how to export the attention of eole."""
    return gettext(
        "eole predict -verbose -attn_debug writes the attention. Open the log of eole predict with the command "
        "attnviz attention or with attnviz.read_attention()."
    )


def _eole_rnn_way_out() -> str:
    """Return why an RNN of eole cannot be imported, and how to export its attention."""
    reason = gettext("An RNN of eole adds position encodings to its embeddings (position_encoding_type).")
    return f"{reason} {eole_way_out()}"


RESAVED_VOCABULARIES = """\
import torch

checkpoint = torch.load("model.pt")
fields = {side: dict(checkpoint["vocab"])[side] for side in ("src", "tgt")}
vocab = {side: getattr(field, "base_field", field).vocab.itos for side, field in fields.items()}
plain = {name: checkpoint[name] for name in ("model", "generator", "opt")}
torch.save({**plain, "vocab": vocab}, "plain.pt")
"""
"""Program that saves the vocabularies of a checkpoint of OpenNMT-py 1 or 2 as lists."""


def classes_message(path: Path, classes: Sequence[str]) -> str:
    """Return that a checkpoint holds objects of these `classes`, which attnviz does not load, and how to save it."""
    found = gettext(
        "{path} contains objects that attnviz does not load, because loading them can run any code: {classes}.",
        path=path,
        classes=", ".join(name[:80] for name in classes[:8]) + (" …" if len(classes) > 8 else ""),
    )
    if not any(name.startswith(("onmt.", "torchtext.")) for name in classes):
        return f"{found} {gettext('Save only the tensors: torch.save(model.state_dict(), path).')}"
    way = gettext(
        "OpenNMT-py 1 and 2 store vocabularies as Python objects. Save the vocabularies as lists: run the lines below "
        "where OpenNMT-py is installed, then import plain.pt."
    )
    lines = RESAVED_VOCABULARIES.replace('"model.pt"', repr(path.name)).rstrip()
    return f"{found} {way}\n\n{lines}"


def option_message(option: str, export: str) -> str:
    """Return that models trained with this option cannot be imported, and how to `export` their attention."""
    return f"{gettext('attnviz does not support models that were trained with {option}.', option=option)} {export}"


_PROGRAMS = (
    _Program(
        "Marian",
        (r"encoder_bi_U", r"decoder_cell1_U"),
        lambda: gettext(
            "marian-decoder --alignment soft writes the attention. Open the output of marian-decoder with the command "
            "attnviz attention or with attnviz.read_attention()."
        ),
    ),
    _Program(
        "a transformer of fairseq",
        (r"encoder\.embed_tokens\..*", r"encoder\.layers\..*self_attn.*"),
        fairseq_way_out,
    ),
    _Program(
        "a transformer of OpenNMT-py",
        (r"encoder\.embeddings\.make_embedding\..*", r"(encoder|decoder)\.transformer.*"),
        opennmt_way_out,
    ),
    _Program("a transformer of eole", (r"src_emb\.embeddings\..*", r"(encoder|decoder)\.transformer.*"), eole_way_out),
    _Program("eole", (r"src_emb\.embeddings\..*", r"decoder\.rnn\..*"), _eole_rnn_way_out),
    _Program(
        "a transformer",
        (r".*(self_attn|SelfAttention|attention\.self|q_proj|src_src_att|attention\.attention).*",),
        way_out,
    ),
)


_TENSORS = {program.name: tuple(map(re.compile, program.tensors)) for program in _PROGRAMS}


def known_message(tensors: Iterable[str]) -> str:
    """Return what program the names of these tensors belong to, and how to export its attention; empty if unknown."""
    names = list(tensors)
    for program in _PROGRAMS:
        if all(any(map(pattern.fullmatch, names)) for pattern in _TENSORS[program.name]):
            found = gettext("attnviz cannot import this checkpoint of {program}.", program=program.name)
            return f"{found} {program.way_out()}"
    return ""
