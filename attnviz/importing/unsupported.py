"""Recognise checkpoints of programs that cannot be imported, and say how to export their attention instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from attnviz.languages import gettext


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


def _command_way_out(command: str) -> str:
    """Return that a `command` prints the attention."""
    return gettext(
        "{command} prints the attention. Save all that it prints in a file, and open this file with the command "
        "attnviz attention or with attnviz.read_attention().",
        command=command,
    )


fairseq_way_out = partial(_command_way_out, "fairseq-generate --print-alignment soft")
opennmt_way_out = partial(_command_way_out, "onmt_translate -verbose -attn_debug")
_eole_way_out = partial(_command_way_out, "eole predict -verbose -attn_debug")


def _eole_rnn_way_out() -> str:
    reason = gettext("An RNN of eole adds position encodings to its embeddings (position_encoding_type).")
    return f"{reason} {_eole_way_out()}"


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


_PROGRAMS: Mapping[str, tuple[Callable[[], str], *tuple[re.Pattern[str], ...]]] = {
    "Marian": (
        partial(_command_way_out, "marian-decoder --alignment soft"),
        re.compile(r"encoder_bi_U$"),
        re.compile(r"decoder_cell1_U$"),
    ),
    "a transformer of fairseq": (
        fairseq_way_out,
        re.compile(r"encoder\.embed_tokens\."),
        re.compile(r"encoder\.layers\..*self_attn"),
    ),
    "a transformer of OpenNMT-py": (
        opennmt_way_out,
        re.compile(r"encoder\.embeddings\.make_embedding\."),
        re.compile(r"(encoder|decoder)\.transformer"),
    ),
    "a transformer of eole": (
        _eole_way_out,
        re.compile(r"src_emb\.embeddings\."),
        re.compile(r"(encoder|decoder)\.transformer"),
    ),
    "eole": (_eole_rnn_way_out, re.compile(r"src_emb\.embeddings\."), re.compile(r"decoder\.rnn\.")),
    "a transformer": (
        way_out,
        re.compile(r".*(self_attn|SelfAttention|attention\.self|q_proj|src_src_att|attention\.attention)"),
    ),
}
"""Programs whose checkpoints cannot be imported.

Each has how to export its attention, and patterns, each of which the start of some tensor's name matches.
"""


def known_message(names: Collection[str]) -> str:
    """Return what program tensors of these names belong to, and how to export its attention; empty if unknown."""
    for program, (export, *patterns) in _PROGRAMS.items():
        if all(any(map(pattern.match, names)) for pattern in patterns):
            found = gettext("attnviz cannot import this checkpoint of {program}.", program=program)
            return f"{found} {export()}"
    return ""
