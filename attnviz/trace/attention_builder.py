"""Check the tokens and numbers of attention that another program computed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz.errors import AttnvizError, user_error
from attnviz.languages import ngettext
from attnviz.trace.parts import HEAD_KINDS, Array, FloatArray
from attnviz.trace.tokens import MOST_TOKENS, Pieces, has_assumed_special, to_pieces, too_many_tokens

WIDEST_STATE = 16_384
LinkTuple = tuple[tuple[int, int], ...]
"""Links (source word, target word), both 0-based."""
ROUNDED = 0.01
"""Largest accepted distance of a row's sum from 1.

Other programs print a few digits of each weight, or compute in half precision.
"""
_ENERGY_TOLERANCE = 0.02
"""Difference between a weight and the softmax of its energies above which a remark is made."""

Tokens = str | Sequence[str] | NDArray[Any]
"""A text with spaces between tokens, or a list of tokens."""
_BETWEEN = re.compile(r"[ \t\r\n]+")
"""What ends a token, as in fast_align, Moses and Marian; a no-break space does not."""


def checked_pieces(
    source: Tokens,
    target: Tokens,
    matrix: ArrayLike,
    kind: str,
    special: Collection[str],
    remarks: list[str],
    *,
    normalise: bool,
) -> tuple[Pieces, Pieces, Array]:
    """Return the pieces of both sides and the weights (..., Ty, Tx); arguments as for `attention_record.attention`.

    What was assumed or changed is added to the `remarks`. Raise AttnvizError, naming what was found, where tokens and
    numbers do not fit.
    """
    weights = _numbers(matrix, "matrix", dimensions=(2, 4))
    if weights.min() < 0:
        row, column = np.argwhere(weights < 0)[0].tolist()[-2:]
        raise user_error(
            "The weight in row {row}, column {column} is negative: {value}. Weights must be 0 or more.",
            value=f"{weights[weights < 0][0]:g}",
            row=row + 1,
            column=column + 1,
        )
    sides = _tokens_with_end(_split(source), _split(target), weights.shape[-2:], remarks)
    _check_orientation(weights.mean(axis=tuple(range(weights.ndim - 2))))
    if normalise:
        weights = _scaled(weights, remarks)
    _check_sums(weights, remarks)
    _check_kind(kind, sides, weights)
    _check_special(special)
    pieces = [to_pieces(tokens, special) for tokens in sides]
    if any(has_assumed_special(tokens, special) for tokens in sides):
        remarks.append("special-tokens")
    return pieces[0], pieces[1], weights


def split_tokens(text: Tokens) -> list[str]:
    """Return the tokens of a text with spaces or tabs between them, or those of a list.

    Raise AttnvizError where they are no strings.
    """
    if isinstance(text, str):
        return [token for token in _BETWEEN.split(text) if token]
    if not isinstance(text, Sequence | np.ndarray) or not all(isinstance(token, str) for token in text):
        raise user_error("Tokens must be a list of strings, or one string with spaces between the tokens.")
    return [str(token) for token in text]


def _check_special(special: object) -> None:
    """Raise AttnvizError unless `special` is several strings."""
    if (
        isinstance(special, str)
        or not isinstance(special, Collection)
        or not all(isinstance(one, str) for one in special)
    ):
        raise user_error('“special” must be a list of tokens that are no words, such as ["<s>"].')


def _split(tokens: Tokens) -> list[str]:
    tokens_found = split_tokens(tokens)
    if not tokens_found:
        raise user_error("Source and target must each have at least one token.")
    if len(tokens_found) > MOST_TOKENS:
        raise too_many_tokens(len(tokens_found))
    return tokens_found


def _numbers(values: ArrayLike, name: str, *, empty: bool = False, dimensions: tuple[int, ...] = (2,)) -> Array:
    """Return a finite matrix, or an array with one of the `dimensions`; `empty` also allows minus infinity.

    Raise AttnvizError where it is no such array.
    """
    if hasattr(values, "detach"):  # a PyTorch tensor: on a GPU, in bfloat16 or with gradients, NumPy cannot read it
        values = values.detach().cpu().double()
    try:
        matrix = np.asarray(_null_as_infinity(values) if empty else values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        if isinstance(values, tuple):
            raise _several_matrices(name) from error
        if row := _row_without_numbers(values):
            raise user_error("Row {row} of {name} holds a value that is not a number.", name=name, row=row) from error
        raise user_error("{name} is not a table of numbers: all rows must have the same length.", name=name) from error
    if matrix.ndim > 2 and matrix.ndim not in dimensions:
        raise _several_matrices(name)
    if matrix.ndim not in dimensions or not matrix.size:
        shape = " × ".join(map(str, matrix.shape)) or "1"
        raise user_error("{name} must have rows and columns, but its shape is {shape}.", name=name, shape=shape)
    is_valid = np.isfinite(matrix) | (matrix == -np.inf if empty else False)
    is_faulty = ~is_valid | (np.isfinite(matrix) & (np.abs(matrix) > 1e30))
    if is_faulty.any():
        row = int(np.argwhere(is_faulty)[0][-2]) + 1
        raise user_error(
            "Row {row} of {name} holds a value that is not a number, is infinite, or is larger than 1e30.",
            name=name,
            row=row,
        )
    return matrix


def _row_without_numbers(values: Any) -> int | None:
    """Return the first row, from 1, of a list of lists that holds no numbers only; None where there is none."""
    if not isinstance(values, list) or not all(isinstance(row, list) for row in values):
        return None
    for number, row in enumerate(values, 1):
        try:
            np.asarray(row, dtype=np.float64)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return None if any(isinstance(one, list) for one in row) else number
    return None


def _several_matrices(name: str) -> AttnvizError:
    """Return the error for several matrices in one, such as a model of Hugging Face returns."""
    return user_error(
        "{name} holds several matrices, one for each layer, head or step. Use attnviz.read_attention with "
        "source=, target=, layer= and head=, or give the model itself to attnviz.from_huggingface.",
        name=name,
    )


def _null_as_infinity(values: Any) -> Any:
    """Return lists of numbers with minus infinity in place of JSON's null."""
    if isinstance(values, list):
        return [[-np.inf if x is None else x for x in row] if isinstance(row, list) else row for row in values]
    return values


def _tokens_with_end(
    source: list[str], target: list[str], shape: tuple[int, ...], remarks: list[str]
) -> tuple[list[str], list[str]]:
    """Return the tokens of both sides, adding `</s>` where the matrix has one more row or column."""
    rows, columns = shape
    if rows - len(target) in (0, 1) and columns - len(source) in (0, 1):
        remarks += ["source-end"] * (columns > len(source)) + ["target-end"] * (rows > len(target))
        return source + ["</s>"] * (columns - len(source)), target + ["</s>"] * (rows - len(target))
    size_texts = matrix_size_texts(rows, columns)
    if (rows, columns) == (len(source), len(target)):
        raise user_error(
            "The matrix looks transposed. The matrix has {rows}, one per source token, and {columns}, one "
            "per target token. Transpose the matrix, so that each row is a target token.",
            **size_texts,
        )
    raise user_error(
        "The matrix has {rows} and {columns}, but there are {target} and {source}. Give a row for each target "
        "token and a column for each source token; one extra row or column is read as </s>. If words were cut "
        "into pieces, give the pieces as tokens.",
        target=ngettext("{count} target token", "{count} target tokens", len(target)),
        source=ngettext("{count} source token", "{count} source tokens", len(source)),
        **size_texts,
    )


def matrix_size_texts(rows: int, columns: int) -> dict[str, str]:
    """Return the numbers of rows and columns in words, under "rows" and "columns"."""
    return {
        "rows": ngettext("{count} row", "{count} rows", rows),
        "columns": ngettext("{count} column", "{count} columns", columns),
    }


def _check_orientation(weights: Array) -> None:
    """Raise AttnvizError where columns sum to 1 and rows do not, which scaling would hide."""
    rows, columns = (weights.sum(axis=axis) for axis in (1, 0))
    if not is_distribution(rows).all() and (np.abs(columns - 1) <= ROUNDED).all():
        raise user_error(
            "Each column of the matrix adds up to 1, but not each row: the matrix looks transposed. Each row "
            "must belong to a target token, and each column to a source token. Transpose the matrix, or "
            "exchange source and target."
        )


def _scaled(weights: Array, remarks: list[str]) -> Array:
    """Return the weights (…, Ty, Tx) with each non-zero row scaled to sum to 1."""
    sums = weights.sum(axis=-1, keepdims=True)
    if (np.abs(sums - 1) > 1e-6).any():
        remarks.append("scaled")
    scaled: Array = weights / np.where(sums == 0, 1, sums)
    return scaled


def is_distribution(sums: Array) -> NDArray[np.bool_]:
    """Return whether each sum of a row, in an array of any shape, is 1 within ROUNDED, or 0."""
    found: NDArray[np.bool_] = (np.abs(sums - 1) <= ROUNDED) | (sums == 0)
    return found


def _check_sums(weights: Array, remarks: list[str]) -> None:
    """Raise AttnvizError, naming the sums found, unless each row of (…, Ty, Tx) sums to 1 or 0."""
    sums = weights.sum(axis=-1)
    wrong = ~is_distribution(sums)
    if wrong.any():
        *place, row = np.argwhere(wrong)[0].tolist()
        raise user_error(
            "Row {row} adds up to {sum}, not to 1. The sums of all rows go from {least} to {most}. If the "
            "rows contain weights, scale every row so that it adds up to 1.",
            row=row + 1,
            sum=f"{sums[(*place, row)]:.4g}",
            least=f"{sums.min():.4g}",
            most=f"{sums.max():.4g}",
        )
    if (sums == 0).any():
        remarks.append("empty-rows")


def check_kind(kind: object) -> None:
    """Raise AttnvizError unless `kind` is one of attention."""
    if kind not in HEAD_KINDS:
        raise user_error(
            "The kind of attention must be one of {kinds}, not {kind}.",
            kinds=", ".join(sorted(HEAD_KINDS, key=lambda one: one != "cross")),  # the default first
            kind=repr(kind)[:40],
        )


def _check_kind(kind: str, sides: tuple[list[str], list[str]], weights: Array) -> None:
    """Raise AttnvizError unless the `kind` of attention is known and fits both sides and the weights."""
    check_kind(kind)
    if kind != "cross" and sides[0] != sides[1]:
        raise user_error("In self-attention, a sequence attends to itself: source and target must be the same tokens.")
    if kind == "decoder" and np.triu(weights, 1).any():
        raise user_error(
            "Decoder self-attention is causal, but here a token attends to a later token. Give the kind "
            "“encoder” instead."
        )


def pairs_of(links: object) -> LinkTuple:
    """Return links as sorted pairs of whole numbers; raise AttnvizError for anything else."""
    try:
        pairs = tuple((j, i) for j, i in links)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        pairs = (("", ""),)
    if not all(type(index) is int and 0 <= index < MOST_TOKENS for link in pairs for index in link):
        raise user_error("A link must be a pair of numbers: source word and target word, both counted from 0.")
    return tuple(sorted(set(pairs)))


def checked_numbers(
    weights: Array,
    energies: ArrayLike | None,
    states: ArrayLike | None,
    attributions: Mapping[str, ArrayLike | None],
    remarks: list[str],
) -> dict[str, Any]:
    """Return energies, states and attributions by their names, each (0,) where it was not given."""
    rows = weights.shape[-2]
    if energies is not None and weights.ndim > 2:
        raise user_error("The energies belong to one matrix, but there are several heads. Leave out the energies.")
    found = {"energies": _energies(energies, weights, remarks), "states": _states(states, rows)}
    for name, values in attributions.items():
        found[name] = np.zeros(0, np.float32) if values is None else _numbers(values, name).astype(np.float32)
        if values is not None and found[name].shape != weights.shape[-2:]:
            raise user_error("“{name}” must have the shape of the matrix.", name=name)
    return found


def _energies(values: ArrayLike | None, weights: Array, remarks: list[str]) -> FloatArray:
    """Return energies of the shape of the weights, or (0,) where none were given."""
    if values is None:
        return np.zeros(0, np.float32)
    energies = _numbers(values, "energies", empty=True)
    if energies.shape != weights.shape or not np.isfinite(energies).any(axis=1).all():
        raise user_error(
            "The energies must have the shape of the matrix, with at least one finite energy in every row."
        )
    powers = np.exp(energies - energies.max(axis=1, keepdims=True))
    if np.abs(powers / powers.sum(axis=1, keepdims=True) - weights).max() > _ENERGY_TOLERANCE:
        remarks.append("energies-differ")
    return energies.astype(np.float32)


def _states(values: ArrayLike | None, rows: int) -> FloatArray:
    """Return states, one row for each target token, or (0,) where none were given."""
    if values is None:
        return np.zeros(0, np.float32)
    states = _numbers(values, "states")
    if len(states) != rows or states.shape[1] > WIDEST_STATE:
        raise user_error(
            "The states must have one row for each target token, with at most {most} numbers per row.",
            most=WIDEST_STATE,
        )
    return states.astype(np.float32)
