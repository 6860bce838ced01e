"""Read a folder with a seq2seq checkpoint: its tensors, without unpickling code, and its two vocabularies."""

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

LARGEST = 4 * 10**9
"""Largest checkpoint that is read, in bytes."""
MOST_TOKENS = 1_000_000
_NESTED = ("model_state_dict", "state_dict", "model_state", "model")
"""Keys under which training scripts store the state dict."""
_JOEYS = {"source": "src_vocab.txt", "target": "trg_vocab.txt"}
"""File names of Joey NMT's vocabularies."""
_WRAPPED = "module."
"""Prefix that DataParallel and DistributedDataParallel put before every parameter name."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Tokens of one language, in the order of their ids."""

    tokens: tuple[str, ...]
    ids: Mapping[str, int]
    name: str
    """Path of its file, for error messages."""

    def special(self, *names: str) -> int:
        """Return the id of the first of `names` in the vocabulary; raise AttnvizError where it has none of them."""
        token_id = next((self.ids[name] for name in names if name in self.ids), None)
        if token_id is None:
            raise AttnvizError(
                gettext(
                    "The vocabulary {name} must contain at least one of the tokens {tokens}.",
                    name=self.name,
                    tokens=", ".join(names),
                )
            )
        return token_id

    def known_token(self, token: str) -> str | None:
        """Return `token`, or its lowercase form, if the vocabulary has it; None otherwise."""
        return next((form for form in (token, token.lower()) if form in self.ids), None)


def read_tensors(folder: Path) -> dict[str, Array]:
    """Return the tensors of the one .pt, .pth or .ckpt file in `folder`, by name, in float64.

    The file is loaded with `weights_only=True`, so no code in it runs. Raise AttnvizError unless there is exactly one
    file (or a best.ckpt) that holds named floating-point tensors with finite values only.
    """
    import torch

    files = sorted(path for path in folder.glob("*") if path.suffix in (".pt", ".pth", ".ckpt"))
    files = [path for path in files if path.name == "best.ckpt"] or files  # Joey NMT saves several
    if len(files) != 1:
        raise AttnvizError(
            gettext(
                "{folder} must contain exactly one checkpoint (a file that ends in .pt, .pth or .ckpt), but it "
                "contains {count}.",
                folder=folder,
                count=len(files),
            )
        )
    if files[0].stat().st_size > LARGEST:
        raise AttnvizError(gettext("The file is larger than {most} MB.", most=LARGEST // 10**6))
    try:
        content = torch.load(files[0], map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file makes torch.load raise nearly any exception
        raise AttnvizError(
            gettext(
                "{path} cannot be read as a checkpoint ({kind}). Save only the tensors: "
                "torch.save(model.state_dict(), path).",
                path=files[0],
                kind=type(error).__name__,
            )
        ) from error
    return _named_arrays(files[0], content)


def _named_arrays(path: Path, content: object) -> dict[str, Array]:
    """Return the floating-point tensors of a loaded file in float64, without prefixes of wrappers.

    Raise AttnvizError where there are none, or where a value is not finite.
    """
    import torch

    for name in _NESTED:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
    tensors = content.items() if isinstance(content, Mapping) else ()
    arrays = {
        str(name).removeprefix(_WRAPPED): tensor.detach().double().numpy()
        for name, tensor in tensors
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and not tensor.is_sparse
    }
    if not arrays:
        raise AttnvizError(gettext("{path} contains no named tensors: save model.state_dict().", path=path))
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise AttnvizError(gettext("{path} contains NaN or infinite values.", path=path))
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
    try:
        text = path.read_text(encoding="utf-8")
        tokens = _tokens_in_order(json.loads(text)) if path.suffix == ".json" else text.removesuffix("\n").split("\n")
    except (OSError, ValueError, RecursionError) as error:
        raise AttnvizError(gettext("The vocabulary {name} is damaged ({error}).", name=path, error=error)) from error
    if len(tokens) > MOST_TOKENS or not all(isinstance(token, str) for token in tokens):
        raise AttnvizError(
            gettext("The vocabulary {name} is damaged ({error}).", name=path, error="tokens must be texts")
        )
    return Vocabulary(tuple(tokens), {token: i for i, token in reversed(list(enumerate(tokens)))}, str(path))


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
