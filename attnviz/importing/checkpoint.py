"""Read a folder with a seq2seq checkpoint: its tensors, without unpickling code, and its two vocabularies."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.importing.unsupported import classes_message
from attnviz.languages import gettext

LARGEST = 4 * 10**9
"""Largest checkpoint that is read, in bytes."""
MOST_TOKENS = 1_000_000
_SAFE = ".safetensors"
ENDINGS = (".pt", ".pth", ".ckpt", ".tar", _SAFE)
"""File name endings of checkpoints."""
_OPTIMIZER = "optimizer.pt"
"""File of eole without a model."""
_NESTED = ("model_state_dict", "state_dict", "model_state", "model")
"""Keys under which training scripts store the state dict."""
_HALVES = {"encoder": "encoder", "decoder": "decoder", "en": "encoder", "de": "decoder"}
"""Keys under which scripts store the state dicts of encoder and decoder, and the prefixes of their names here."""
_BEST = ("best.ckpt", "checkpoint_best.pt")
"""Names that Joey NMT and fairseq give to the best of the checkpoints that they save."""
_JOEYS = {"source": "src_vocab.txt", "target": "trg_vocab.txt"}
"""File names of Joey NMT's vocabularies."""
Array = NDArray[np.float64]


class Vocabulary(NamedTuple):
    """Tokens of one language, in the order of their ids."""

    tokens: Sequence[str]
    name: str
    """Path of its file, for error messages."""


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
    remarks: tuple[str, ...] = ()
    """Sentences about which of several checkpoints was read."""

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.resolve().name

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Return the vocabularies of source and target, as `read_vocabulary`."""
        return read_vocabulary(self.folder, "source"), read_vocabulary(self.folder, "target")


def read_checkpoint(path: Path, padded_length: int | None = None) -> Stored:
    """Return what the checkpoint at `path`, or one of the `checkpoints` of a folder, holds.

    Files are loaded with `weights_only=True`, so no code in them runs. Raise AttnvizError unless there is one
    checkpoint, or one that its program calls the best, with named floating-point tensors of finite values.
    """
    remarks: tuple[str, ...] = ()
    if path.is_dir():
        found = checkpoints(path)
        names = ", ".join(files[0].name for files in found[:8]) + (" …" if len(found) > 8 else "")
        if len(found) > 1 and (best := [files for files in found if files[0].name in _BEST]):
            remarks = (
                gettext(
                    "{folder} contains several checkpoints: {names}. attnviz read {best}. To read another checkpoint, "
                    "give its path instead of the folder.",
                    folder=path,
                    names=names,
                    best=best[0][0].name,
                ),
            )
            found = best[:1]
        if not found:
            raise AttnvizError(
                gettext(
                    "{folder} contains no checkpoint. A checkpoint is a file that ends in {endings}.",
                    folder=path,
                    endings=", ".join(ENDINGS),
                )
            )
        if len(found) > 1:
            raise AttnvizError(
                gettext(
                    "{folder} contains several checkpoints: {names}. Give the path of one checkpoint instead of the "
                    "folder.",
                    folder=path,
                    names=names,
                )
            )
        files = found[0]
    else:
        files = next((files for files in checkpoints(path.parent) if path in files), (path,))
    arrays, extras = dict[str, Array](), dict[str, Any]()
    for file in files:
        content, prefix = _loaded(file), _half(file) if len(files) > 1 else ""
        extras |= {str(name): value for name, value in content.items()} if isinstance(content, Mapping) else {}
        if len(files) > 1 and file.with_suffix(_SAFE) in files and file.suffix != _SAFE:
            continue  # OpenNMT-py stores the options in one file, and the tensors in another
        named = _named_arrays(file, content)
        arrays |= {f"{prefix}.{name}" if prefix else name: array for name, array in named.items()}
    return Stored(path if path.is_dir() else path.parent, arrays, extras, padded_length, remarks)


def checkpoints(folder: Path) -> list[tuple[Path, ...]]:
    """Return the files of each checkpoint in `folder`: one, or those of encoder and decoder, or options and tensors."""
    files = [
        path
        for path in sorted(folder.glob("*"), key=_natural_order)
        if path.suffix in ENDINGS and path.name != _OPTIMIZER
    ]
    by_name = {path.name: path for path in files}
    found = list[tuple[Path, ...]]()
    for path in files:
        if path.suffix == _SAFE and path.with_suffix(".pt") in files:
            continue
        if path.with_suffix(_SAFE) in files and path.suffix == ".pt":
            found.append((path, path.with_suffix(_SAFE)))
            continue
        if (half := _half(path)) == "decoder" and _other_half(path) in by_name:
            continue
        other = by_name.get(_other_half(path)) if half else None
        found.append((path, other) if other else (path,))
    return found


def _natural_order(path: Path) -> list[tuple[int, str]]:
    """Return a key that sorts step_9.pt before step_10.pt."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", path.name)]


def _half(path: Path) -> str:
    """Return whether a file's name is that of an "encoder" or "decoder"; empty for others."""
    return next((half for half in ("encoder", "decoder") if half in path.name.lower()), "")


def _other_half(path: Path) -> str:
    """Return the name that the file of the other half must have."""
    for one, other in (("encoder", "decoder"), ("Encoder", "Decoder"), ("ENCODER", "DECODER")):
        for half, replacement in ((one, other), (other, one)):
            if half in path.name:
                return path.name.replace(half, replacement)
    return ""


def _loaded(path: Path) -> object:
    """Return the content of a file; raise AttnvizError as `read_checkpoint` does."""
    import torch

    try:
        if path.stat().st_size > LARGEST:
            raise AttnvizError(gettext("The file is larger than {most} MB.", most=LARGEST // 10**6))
        if path.suffix == _SAFE:
            from safetensors.torch import load_file

            return load_file(path)
        with torch.serialization.safe_globals(_harmless()):
            return torch.load(path, map_location="cpu", weights_only=True)
    except AttnvizError:
        raise
    except Exception as error:  # a damaged file makes torch.load raise nearly any exception
        if classes := _foreign_classes(path, error):
            raise AttnvizError(classes_message(path, classes)) from error
        raise AttnvizError(
            gettext(
                "{path} cannot be read as a checkpoint ({kind}). Save only the tensors: "
                "torch.save(model.state_dict(), path).",
                path=path,
                kind=type(error).__name__,
            )
        ) from error


def _foreign_classes(path: Path, error: Exception) -> list[str]:
    """Return the names of the classes and functions in a file that torch refused to load, if this is why it failed."""
    import torch

    try:
        with torch.serialization.safe_globals(_harmless()):
            return sorted(torch.serialization.get_unsafe_globals_in_checkpoint(path))
    except Exception:  # noqa: BLE001 - torch lists those of its zip files only; for others its error names one
        return re.findall(r"GLOBAL ([\w.]+)", str(error))


def _harmless() -> list[Any]:
    """Return the types, besides tensors and plain ones, that checkpoints may hold; loading them runs no code.

    Lightning, OpenNMT-py and fairseq store their options as a namespace, and losses as NumPy numbers.
    """
    import argparse

    numbers = {type(np.dtype(kind)) for kind in (np.float64, np.float32, np.int64)}
    return [argparse.Namespace, np.dtype, *numbers, np.float64(0).__reduce__()[0]]


def _named_arrays(path: Path, content: object) -> dict[str, Array]:
    """Return the tensors of a loaded file in float64, without prefixes of wrappers.

    Raise AttnvizError where there are none, where an entry of the state dict cannot be read, or a value is not finite.
    """
    named = _entries(content) if isinstance(content, Mapping) else {}
    tensors = {name: value for name, value in named.items() if _is_tensor(value)}
    if not any(tensor.is_floating_point() for tensor in tensors.values()):
        raise AttnvizError(gettext("{path} contains no named tensors: save model.state_dict().", path=path))
    if unread := [name for name, value in named.items() if name not in tensors or not _is_plain(value)]:
        raise AttnvizError(
            gettext(
                "{path} contains {name}, which is no tensor of real numbers. attnviz does not read packed, quantized, "
                "sparse or expanded weights, nor weights without values (device “meta”).",
                path=path,
                name=unread[0][:80],
            )
        )
    arrays = {name: tensor.detach().double().numpy() for name, tensor in tensors.items()}
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise AttnvizError(gettext("{path} contains NaN or infinite values.", path=path))
    return _unwrapped(arrays)


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
        parts |= {str(key): part for key, part in model.items() if key not in _HALVES and _is_further(part, parts)}
    else:
        parts = {"": {name: value for name, value in model.items() if model is not content or _is_tensor(value)}}
    # OpenNMT-py stores its output layer beside the model.
    if isinstance(generator := content.get("generator"), Mapping):
        parts["generator"] = generator
    return {f"{part}.{name}" if part else str(name): value for part in parts for name, value in parts[part].items()}


def _is_further(part: object, halves: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether `part` is a state dict with tensors that neither half has."""
    if not isinstance(part, Mapping) or not part or not all(map(_is_tensor, part.values())):
        return False
    known = {value.data_ptr() for half in halves.values() for value in half.values() if _is_tensor(value)}
    return any(value.data_ptr() not in known for value in part.values())


def _is_tensor(value: object) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _is_plain(tensor: Any) -> bool:
    """Return whether a tensor holds real numbers, neither sparse nor quantized, each of which is in the file."""
    import torch

    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_complex() or tensor.is_meta:
        return False
    # An expanded tensor of one number may claim any shape.
    return bool(tensor.nbytes <= tensor.untyped_storage().nbytes())


def _unwrapped(arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the tensors without the prefix that all names share.

    DataParallel puts "module." before every name, torch.compile "_orig_mod.", a Lightning module the name of its
    attribute. A file of the encoder or decoder alone keeps names such as "gru.weight_ih_l0".
    """
    while len(heads := {name.partition(".")[0] for name in arrays}) == 1 and all("." in name for name in arrays):
        (head,) = heads
        arrays = {name.removeprefix(f"{head}."): array for name, array in arrays.items()}
    return arrays


def read_vocabulary(folder: Path, side: str) -> Vocabulary:
    """Return the vocabulary of `side`, "source" or "target".

    It is read from `side`.txt, one token a line in the order of ids, from `side`.json, a list of tokens or an object
    from token to id, or from Joey NMT's file. Raise AttnvizError where the file is missing or damaged.
    """
    names = (f"{side}.txt", f"{side}.json", _JOEYS[side])
    path = next((path for name in names if (path := folder / name).is_file()), None)
    if path is None:
        raise AttnvizError(
            gettext(
                "{folder} has no vocabulary {file}. Add this file, with one token a line, in the order of the ids.",
                folder=folder,
                file=names[0],
            )
        )
    if path.suffix != ".json":
        return vocabulary_of(read_lines(path), str(path))
    try:
        tokens = _tokens_in_order(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise AttnvizError(gettext("The vocabulary {name} is damaged ({error}).", name=path, error=error)) from error
    return vocabulary_of(tokens, str(path))


def read_lines(path: Path) -> list[str]:
    """Return the lines of a vocabulary's file; raise AttnvizError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, ValueError) as error:
        raise AttnvizError(gettext("The vocabulary {name} is damaged ({error}).", name=path, error=error)) from error


def vocabulary_of(tokens: Sequence[Any], name: str) -> Vocabulary:
    """Return the vocabulary of `tokens` in the order of ids; raise AttnvizError unless they are texts."""
    if len(tokens) > MOST_TOKENS or not all(isinstance(token, str) for token in tokens):
        raise AttnvizError(
            gettext("The vocabulary {name} is damaged ({error}).", name=name, error="tokens must be texts")
        )
    return Vocabulary(tokens, name)


def fields_of(options: object) -> Mapping[str, Any]:
    """Return the fields of options that a program stored as a mapping or namespace; empty for other values."""
    return options if isinstance(options, Mapping) else getattr(options, "__dict__", {})


def _tokens_in_order(value: Any) -> Sequence[str]:
    """Return the tokens of a JSON vocabulary in the order of their ids.

    Raise ValueError where the ids do not run from 0 without gaps.
    """
    if isinstance(value, dict):
        order = sorted(value, key=lambda token: (not isinstance(value[token], int), str(value[token]).zfill(9)))
        if [value[token] for token in order] != list(range(len(order))):
            raise ValueError("ids must run from 0, each once")
        return order
    if not isinstance(value, list):
        raise ValueError("a list of tokens, or an object with their ids")
    return value
