"""A folder with somebody's seq2seq checkpoint: its tensors, read without unpickling, and its two vocabularies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext

LARGEST = 4 << 30
"""Bytes of a checkpoint."""
MOST_TOKENS = 1_000_000
_NESTED = ("model_state_dict", "state_dict", "model_state", "model")
"""Where some keep the tensors inside what they save."""
_JOEYS = {"source": "src_vocab.txt", "target": "trg_vocab.txt"}
"""What Joey NMT calls its vocabularies."""
_WRAPPED = "module."
"""What training on several devices puts before every name."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The tokens of one side, in the order of their ids."""

    tokens: tuple[str, ...]
    ids: Mapping[str, int]
    name: str
    """Of its file."""

    def special(self, *names: str) -> int:
        """Return the id of the first of these tokens that there is; raise AttnvizError where there is none."""
        found = next((self.ids[name] for name in names if name in self.ids), None)
        if found is None:
            raise AttnvizError(
                gettext(
                    "The vocabulary {name} has none of the tokens {tokens}.", name=self.name, tokens=", ".join(names)
                )
            )
        return found

    def known(self, token: str) -> str | None:
        """Return a token as the vocabulary has it, in small letters if need be; None where it has it not."""
        return next((form for form in (token, token.lower()) if form in self.ids), None)


def read_tensors(folder: Path) -> dict[str, Array]:
    """Return the tensors of the one .pt, .pth or .ckpt file in `folder`, by their names; raise AttnvizError where there
    is none, or more than one, or it holds more than tensors: nothing in it is run."""
    import torch

    files = sorted(path for path in folder.glob("*") if path.suffix in (".pt", ".pth", ".ckpt"))
    files = [path for path in files if path.name == "best.ckpt"] or files  # Joey NMT keeps several
    if len(files) != 1:
        raise AttnvizError(
            gettext(
                "{folder} must hold one checkpoint, a file that ends in .pt, .pth or .ckpt; it has {count}.",
                folder=folder,
                count=len(files),
            )
        )
    if files[0].stat().st_size > LARGEST:
        raise AttnvizError(gettext("The file is larger than {most} MB.", most=LARGEST >> 20))
    try:
        found = torch.load(files[0], map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a damaged or foreign file does is one sentence here
        raise AttnvizError(
            gettext(
                "{path} is no checkpoint that can be read ({kind}). Save the tensors alone: "
                "torch.save(model.state_dict(), path).",
                path=files[0],
                kind=type(error).__name__,
            )
        ) from error
    return _plain(files[0], found)


def _plain(path: Path, found: object) -> dict[str, Array]:
    """Return the floating-point tensors among what was read, in float64; raise AttnvizError where there are none."""
    import torch

    for name in _NESTED:
        if isinstance(found, Mapping) and isinstance(found.get(name), Mapping):
            found = found[name]
    tensors = found.items() if isinstance(found, Mapping) else ()
    arrays = {
        str(name).removeprefix(_WRAPPED): tensor.detach().double().numpy()
        for name, tensor in tensors
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and not tensor.is_sparse
    }
    if not arrays:
        raise AttnvizError(gettext("{path} holds no tensors by name: save model.state_dict().", path=path))
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise AttnvizError(gettext("{path} holds numbers that are none.", path=path))
    return arrays


def read_vocabulary(folder: Path, side: str) -> Vocabulary:
    """Return the tokens of "source" or "target", from `side`.txt, one a line in the order of their ids, or `side`.json,
    a list of them or an object with the id of each; raise AttnvizError where there is none, or it is damaged."""
    several = (f"{side}.txt", f"{side}.json", _JOEYS[side])
    path = next((path for name in several if (path := folder / name).is_file()), None)
    if path is None:
        raise AttnvizError(
            gettext(
                "{folder} lacks the {side} vocabulary: write {side}.txt, one token a line in the order of their ids.",
                folder=folder,
                side=side,
            )
        )
    try:
        text = path.read_text(encoding="utf-8")
        tokens = _listed(json.loads(text)) if path.suffix == ".json" else text.removesuffix("\n").split("\n")
    except (OSError, ValueError, RecursionError) as error:
        raise AttnvizError(gettext("The vocabulary {name} is damaged ({error}).", name=path, error=error)) from error
    if len(tokens) > MOST_TOKENS or not all(isinstance(token, str) for token in tokens):
        raise AttnvizError(
            gettext("The vocabulary {name} is damaged ({error}).", name=path, error="tokens must be texts")
        )
    return Vocabulary(tuple(tokens), {token: i for i, token in reversed(list(enumerate(tokens)))}, str(path))


def _listed(found: Any) -> Sequence[str]:
    """Return tokens in the order of their ids; raise ValueError where ids do not run from 0."""
    if isinstance(found, dict):
        order = sorted(found, key=lambda token: (not isinstance(found[token], int), str(found[token]).zfill(9)))
        if [found[token] for token in order] != list(range(len(order))):
            raise ValueError("ids must run from 0, each once")
        return order
    if not isinstance(found, list):
        raise ValueError("a list of tokens, or an object with their ids")
    return found
