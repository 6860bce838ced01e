"""Read a folder with a seq2seq checkpoint: its tensors, without unpickling code, and its two vocabularies."""

from __future__ import annotations

import argparse
import os.path
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from attnviz.errors import AttnvizError, user_error
from attnviz.importing.unsupported import classes_message
from attnviz.languages import gettext
from attnviz.reading import Limits, json_error, json_values, open_content, reading_errors
from attnviz.trace import Array

_LIMITS = Limits(bytes=4 * 10**9)
_SAFE = ".safetensors"
CHECKPOINT_ENDINGS = (".pt", ".pth", ".ckpt", ".tar", _SAFE)
"""File name endings of checkpoints."""
_NESTED = ("model_state_dict", "state_dict", "model_state", "model")
"""Keys under which training scripts store the state dict."""
_HALVES = {"encoder": "encoder", "decoder": "decoder", "en": "encoder", "de": "decoder"}
"""Keys under which scripts store the state dicts of encoder and decoder, and the prefixes of their names here."""
_BEST = ("best.ckpt", "checkpoint_best.pt")
"""Names that Joey NMT and fairseq give to the best of the checkpoints that they save."""
_JOEYS = {"source": "src_vocab.txt", "target": "trg_vocab.txt"}
"""File names of Joey NMT's vocabularies."""
_HARMLESS: list[Any] = [
    argparse.Namespace,
    np.dtype,
    *{type(np.dtype(kind)) for kind in (np.float64, np.float32, np.int64)},
    np.float64(0).__reduce__()[0],
]
"""Types, besides tensors and plain ones, that checkpoints may hold; loading them runs no code.

Lightning, OpenNMT-py and fairseq store their options as a namespace, and losses as NumPy numbers.
"""


class Vocabulary(NamedTuple):
    """Tokens of one language, in the order of their ids."""

    tokens: Sequence[str]
    name: str
    """Path of its file, for error messages."""
    start: str | None = None
    """Token with which the decoder begins, unless this is BOS."""


@dataclass(frozen=True, eq=False)
class Stored:
    """What a checkpoint and its folder hold."""

    folder: Path
    tensors: Mapping[str, Array]
    """Tensors by name, in float64."""
    extras: Mapping[str, Any]
    """Entries of the file beside the tensors, by their names, such as the options of the training."""
    padded_length: int | None = None
    """Length up to which the program pads source sentences, as the user gave it."""
    remarks: Sequence[str] = ()
    """Sentences about which of several checkpoints was read."""

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Return the vocabularies of source and target, as `read_vocabulary`."""
        return read_vocabulary(self.folder, "source"), read_vocabulary(self.folder, "target")


def read_checkpoint(path: Path, padded_length: int | None = None) -> Stored:
    """Return what the checkpoint at `path`, or one of the `checkpoints` of a folder, holds.

    Files are loaded with `weights_only=True`, so no code in them runs. Raise AttnvizError unless there is one
    checkpoint, or one that its program calls the best, with named floating-point tensors of finite values.
    """
    folder = path if path.is_dir() else path.parent
    found = checkpoints(folder)
    if folder != path:
        found = [files for files in found if path in files] or [[path]]
    if not found:
        raise user_error(
            "{folder} contains no checkpoint. A checkpoint is a file that ends in {endings}.",
            folder=folder,
            endings=", ".join(CHECKPOINT_ENDINGS),
        )
    remarks = list[str]()
    if len(found) > 1:
        several = gettext(
            "{folder} contains several checkpoints: {names}. To read one of them, give its path instead of the folder.",
            folder=folder,
            names=", ".join(files[0].name for files in found[:8]) + (" …" if len(found) > 8 else ""),
        )
        found = [files for files in found if files[0].name in _BEST]
        if not found:
            raise AttnvizError(several)
        remarks.append(f"{several} {gettext('attnviz read {best}.', best=found[0][0].name)}")
    files = found[0]
    arrays, extras = dict[str, Array](), dict[str, Any]()
    for file in files:
        content, half = _loaded(file), re.search("encoder|decoder", file.name.lower())
        extras |= option_fields(content)
        if file.suffix != _SAFE and file.with_suffix(_SAFE) in files:
            continue  # OpenNMT-py stores the options in one file, and the tensors in another
        prefix = f"{half[0]}." if half and len(files) > 1 else ""
        arrays |= {prefix + name: array for name, array in _named_arrays(file, content).items()}
    return Stored(folder, arrays, extras, padded_length, remarks)


def checkpoints(folder: Path) -> list[list[Path]]:
    """Return the files of each checkpoint in `folder`: one, or those of encoder and decoder, or options and tensors.

    Their names differ in nothing else.
    """
    found = dict[str, list[Path]]()
    for path in sorted(folder.glob("*"), key=_natural_order):
        if path.suffix in CHECKPOINT_ENDINGS and path.name != "optimizer.pt":  # of eole, without a model
            name = re.sub("(?i)(en|de)(?=coder)", "", path.name).replace(_SAFE, ".pt")
            found.setdefault(name, []).append(path)
    return list(found.values())


def _natural_order(path: Path) -> str:
    """Return a key that sorts step_9.pt before step_10.pt."""
    return re.sub(r"\d+", lambda number: number[0].zfill(20), path.name)


def _loaded(path: Path) -> object:
    """Return the content of a file; raise AttnvizError as `read_checkpoint` does."""
    _LIMITS.check(bytes=path.stat().st_size)
    try:
        if path.suffix == _SAFE:
            from safetensors.torch import load_file

            return load_file(path)
        with torch.serialization.safe_globals(_HARMLESS):
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file makes torch.load raise nearly any exception
        if classes := _foreign_classes(path, error):
            raise AttnvizError(classes_message(path, classes)) from error
        raise user_error(
            "{path} cannot be read as a checkpoint ({kind}). Save only the tensors: "
            "torch.save(model.state_dict(), path).",
            path=path,
            kind=type(error).__name__,
        ) from error


def _foreign_classes(path: Path, error: Exception) -> list[str]:
    """Return the names of the classes and functions in a file that torch refused to load, if this is why it failed."""
    try:
        with torch.serialization.safe_globals(_HARMLESS):
            return sorted(torch.serialization.get_unsafe_globals_in_checkpoint(path))
    except Exception:  # noqa: BLE001 - torch lists those of its zip files only; for others its error names one
        return re.findall(r"GLOBAL ([\w.]+)", str(error))


def _named_arrays(path: Path, content: object) -> dict[str, Array]:
    """Return the tensors of a loaded file in float64, without prefixes of wrappers.

    Raise AttnvizError where there are none, where an entry of the state dict cannot be read, or a value is not finite.
    """
    named = _entries(option_fields(content))
    tensors = {name: value for name, value in named.items() if isinstance(value, torch.Tensor)}
    if not any(tensor.is_floating_point() for tensor in tensors.values()):
        raise user_error("{path} contains no named tensors: save model.state_dict().", path=path)
    if unread := [name for name, value in named.items() if not _is_plain(value)]:
        raise user_error(
            "{path} contains {name}, which is no tensor of real numbers. attnviz does not read packed, quantized, "
            "sparse or expanded weights, nor weights without values (device “meta”).",
            path=path,
            name=unread[0][:80],
        )
    arrays = {name: tensor.detach().double().numpy() for name, tensor in tensors.items()}
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise user_error("{path} contains NaN or infinite values.", path=path)
    # DataParallel puts "module." before every name, torch.compile "_orig_mod.", a Lightning module the name of its
    # attribute. A file of the encoder or decoder alone keeps names such as "gru.weight_ih_l0".
    shared = os.path.commonprefix(list(arrays))  # noqa: RUF071 - no paths, but names with dots
    prefix = shared[: shared.rfind(".") + 1]
    return {name.removeprefix(prefix): array for name, array in arrays.items()}


def _entries(content: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the entries of the state dicts in a loaded file, by name, also those that are no tensors.

    Training scripts store other values beside the state dict. Where the file itself is the state dict, only its tensors
    are returned.
    """
    model = content
    for name in _NESTED:
        model = inner if isinstance(inner := model.get(name), Mapping) else model
    parts = {half: model[key] for key, half in _HALVES.items() if isinstance(model.get(key), Mapping)}
    if len(parts) == 2:
        known = {value.data_ptr() for part in parts.values() for value in part.values() if _is_plain(value)}
        for key in model.keys() - _HALVES.keys():
            further = {
                name: value for name, value in option_fields(model[key]).items() if isinstance(value, torch.Tensor)
            }
            parts[str(key)] = {
                name: value for name, value in further.items() if not _is_plain(value) or value.data_ptr() not in known
            }
    elif model is content:
        parts = {"": {name: value for name, value in model.items() if isinstance(value, torch.Tensor)}}
    else:
        parts = {"": model}
    # OpenNMT-py stores its output layer beside the model.
    if isinstance(generator := content.get("generator"), Mapping):
        parts["generator"] = generator
    return {f"{part}.{name}" if part else str(name): value for part in parts for name, value in parts[part].items()}


def _is_plain(value: Any) -> bool:
    """Return whether a value is a tensor of real numbers, neither sparse nor quantized, all of which are stored."""
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided or value.is_quantized:
        return False
    # An expanded tensor of one number may claim any shape.
    return not value.is_complex() and not value.is_meta and value.nbytes <= value.untyped_storage().nbytes()


def read_vocabulary(folder: Path, side: str) -> Vocabulary:
    """Return the vocabulary of `side`, "source" or "target".

    It is read from `side`.txt, one token a line in the order of ids, from `side`.json, a list of tokens or an object
    from token to id, or from Joey NMT's file. Raise AttnvizError where the file is missing or damaged.
    """
    names = (f"{side}.txt", f"{side}.json", _JOEYS[side])
    path = next((path for name in names if (path := folder / name).is_file()), None)
    if path is None:
        raise user_error(
            "{folder} has no vocabulary {file}. Add this file, with one token a line, in the order of the ids.",
            folder=folder,
            file=names[0],
        )
    content = open_content(path)
    with reading_errors(path):
        if path.suffix != ".json":
            return Vocabulary(content.lines, str(path))
        if error := json_error(content):
            raise ValueError(error)
        values = json_values(content) or [None]
    return vocabulary_of(values[0], str(path))


def vocabulary_of(value: object, name: str) -> Vocabulary:
    """Return the vocabulary in a list of tokens, or in an object from token to id; raise AttnvizError for others."""
    if isinstance(value, Mapping):
        by_id = {place: token for token, place in value.items() if isinstance(place, int)}
        value = [by_id.get(place) for place in range(len(value))]
    if not isinstance(value, (list, tuple)) or not all(isinstance(token, str) for token in value):
        raise user_error(
            "The vocabulary {name} must be a list of tokens in the order of their ids, or an object with the id of "
            "each token, from 0.",
            name=name,
        )
    return Vocabulary(value, name)


def option_fields(options: object) -> Mapping[str, Any]:
    """Return the fields of options that a program stored as a mapping or namespace; empty for other values."""
    return options if isinstance(options, Mapping) else getattr(options, "__dict__", {})
