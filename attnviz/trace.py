"""`Trace`: one immutable record of a translation, with every number the pages show.

It is written by the translator and read by everything else. It saves to one JSON file and opens again without the
model and without torch.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.text import BOS, join_pieces, word_groups

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int32]

FORMAT = "attnviz-trace"
VERSION = 2
_SINCE_VERSION_2: dict[str, Any] = {"score_vector": np.zeros(0, np.float32), "weights_digest": ""}
"""Fields that files of version 1 lack, and what stands for them."""
STORED_CANDIDATES = 100
"""How many of the likeliest pieces of each step a trace keeps."""


@dataclass(frozen=True)
class Words:
    """A trace seen word by word: pieces merged by *sum* over the source and *mean* over the target, so that each row
    of `alignment` still sums to 1."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: FloatArray
    """(target words, source words), in [0, 1]."""
    source_groups: tuple[tuple[int, ...], ...]
    """For each source word, the indices of its pieces."""
    target_groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Search:
    """How the target was found."""

    method: str
    """"greedy", "beam", or "forced" (the target was given)."""
    beam: int = 1
    length_penalty: float = 0.0
    """The exponent a of Ty^a, by which a hypothesis' summed log probability is divided."""


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation of the beam."""

    translation: str
    score: float
    """Log probability of all its pieces, divided by Ty^length_penalty."""


@dataclass(frozen=True, eq=False)
class Trace:
    """Everything computed while one sentence was translated.

    Tx and Ty count pieces, `</s>` included; n is the hidden size, n' the alignment size, l the maxout size. Row i of a
    target-side array belongs to step i + 1 of the equations (Bahdanau, Cho & Bengio 2014), which chose
    `target_pieces[i]`. All arrays are read-only float32.
    """

    source_text: str
    """The sentence as typed."""
    translation: str
    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    source_surfaces: tuple[str, ...]
    """The source pieces, but with the characters that each `<unk>` stands for."""
    unknown_characters: tuple[str, ...]
    """The stretches of text the tokenizer never saw, each once; every one is an `<unk>` among the pieces."""

    annotations: FloatArray
    """h_j = [forward h_j ; backward h_j], (Tx, 2n)."""
    initial_state: FloatArray
    """s_0, (n,)."""
    keys: FloatArray
    """U_a h_j (additive, (Tx, n')) or P h_j (dot, (Tx, n)); (Tx, 0) without attention."""
    queries: FloatArray
    """W_a s_{i-1} (additive, (Ty, n')) or s_{i-1} (dot, (Ty, n)); (Ty, 0) without attention."""
    score_vector: FloatArray
    """v_a, which weighs the units of an additive energy, (n',); (0,) for dot-product and no attention, which have none,
    and where it is unknown."""
    energies: FloatArray
    """e_ij, (Ty, Tx). Without attention: 0 for the last source piece and -inf for every other."""
    alignment: FloatArray
    """alpha_ij = softmax_j e_ij, (Ty, Tx), rows sum to 1."""
    contexts: FloatArray
    """c_i = sum_j alpha_ij h_j, (Ty, 2n); without attention the forward half of h_Tx, (Ty, n)."""
    states: FloatArray
    """s_i, (Ty, n)."""
    update_gates: FloatArray
    """z_i, (Ty, n), in (0, 1); torch's convention: s_i = (1 - z_i) * candidate + z_i * s_{i-1}."""
    reset_gates: FloatArray
    """r_i, (Ty, n), in (0, 1)."""
    candidates: FloatArray
    """The candidate states, (Ty, n), in (-1, 1)."""
    readouts: FloatArray
    """t_i after the maxout, (Ty, l)."""
    log_probabilities: FloatArray
    """log p(y_i | y_<i, x) of each target piece, (Ty,)."""
    top_ids: IntArray
    """Ids of the likeliest pieces of each step, likeliest first, (Ty, min(100, K)), int32."""
    top_probabilities: FloatArray
    """Their probabilities, (Ty, min(100, K))."""
    top_pieces: tuple[tuple[str, ...], ...]

    search: Search
    score: float
    """Log probability of the target, divided by Ty^length_penalty."""
    hypotheses: tuple[Hypothesis, ...]
    """What the beam finished, best first; one entry for greedy and forced decoding."""
    config: dict[str, Any]
    """The `ModelConfig` of the model as a dictionary: sizes, `attention`, `readout_state`."""
    model: str
    """Name of the model folder."""
    weights_digest: str
    """SHA-256 of the model's `model.safetensors` in hexadecimal: tells whether a model at hand is the one that made
    this trace. Empty where it is unknown."""
    device: str
    """The torch device it ran on, as in "cpu" or "cuda:0"."""
    seconds: float
    """Wall time of the translation with all that is recorded here."""

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def previous_pieces(self) -> tuple[str, ...]:
        """y_{i-1} of each step: `<s>`, then the target pieces but the last."""
        return ("<s>", *self.target_pieces[:-1])

    @property
    def previous_ids(self) -> tuple[int, ...]:
        """Ids of y_{i-1} of each step."""
        return (BOS, *self.target_ids[:-1])

    @property
    def previous_states(self) -> FloatArray:
        """s_{i-1} of each step, the state the attention queries with, (Ty, n)."""
        return np.concatenate([self.initial_state[None], self.states[:-1]])

    @property
    def probabilities(self) -> FloatArray:
        """p(y_i | y_<i, x) of each target piece, (Ty,)."""
        return np.exp(self.log_probabilities)

    def words(self) -> Words:
        """Return the merged view: source words, target words and the (words, words) matrix."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        source, target = word_groups(self.source_pieces), word_groups(self.target_pieces)
        merged = np.stack([self.alignment[:, list(group)].sum(axis=1) for group in source], axis=1)
        merged = np.stack([merged[list(group)].mean(axis=0) for group in target])
        merged.setflags(write=False)
        return Words(
            source=tuple(join_pieces(self.source_surfaces[i] for i in group) or "<unk>" for group in source),
            target=tuple(join_pieces(self.target_pieces[i] for i in group) for group in target),
            alignment=merged,
            source_groups=source,
            target_groups=target,
        )

    def top(self, i: int, k: int = 10) -> list[tuple[str, float]]:
        """Return the `k` likeliest pieces at step index `i` (0-based) with their probabilities, likeliest first.

        Raises IndexError where there is no such step and ValueError unless 1 <= k <= the number stored (100, or the
        whole vocabulary where that is smaller).
        """
        stored = len(self.top_pieces[i])
        if not 1 <= k <= stored:
            raise ValueError(f"k must be from 1 to {stored}, the number of candidates a trace keeps, not {k}")
        return [(piece, float(p)) for piece, p in zip(self.top_pieces[i][:k], self.top_probabilities[i], strict=False)]

    def to_json(self) -> str:
        """Return the whole trace as one JSON object; arrays are compressed little-endian bytes in base64."""
        record: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        for field in dataclasses.fields(self):
            record[field.name] = _encode(getattr(self, field.name))
        return json.dumps(record)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Return the trace that `to_json` wrote; raise AttnvizError where `text` is not one."""
        try:
            record = json.loads(text)
            if not isinstance(record, dict) or record.get("format") != FORMAT:
                raise AttnvizError("This is not a saved trace: it lacks the mark of one.")
            if record.get("version") not in (1, VERSION):
                raise AttnvizError(
                    f"This trace has format version {record.get('version')}; this program reads up to {VERSION}."
                )
            if record["version"] == 1:
                record |= _SINCE_VERSION_2
            values = {field.name: _decode(field.name, record[field.name]) for field in dataclasses.fields(cls)}
            trace = cls(**values)
            trace._check()
        except AttnvizError:
            raise
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, RecursionError, zlib.error) as error:
            raise AttnvizError(f"This trace is damaged ({type(error).__name__}: {error}). Save it again.") from error
        return trace

    def save(self, path: str | Path) -> None:
        """Write the whole trace to `path`."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a trace from `path`; raise AttnvizError, naming the file, where that fails."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise AttnvizError(f"{path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise AttnvizError(f"{path} is not a text file, so not a saved trace.") from error
        except AttnvizError as error:
            raise AttnvizError(f"{path}: {error}") from error

    def _check(self) -> None:
        """Raise ValueError unless the arrays have the shapes the texts call for."""
        rows, columns = len(self.target_pieces), len(self.source_pieces)
        if not rows or not columns:
            raise ValueError("it holds no pieces")
        hidden = self.initial_state.shape[0]
        if self.alignment.shape != (rows, columns) or self.energies.shape != (rows, columns):
            raise ValueError("the alignment does not fit the pieces")
        if self.annotations.shape != (columns, 2 * hidden) or self.keys.shape[:1] != (columns,):
            raise ValueError("the annotations do not fit the source pieces")
        if self.score_vector.shape not in ((0,), self.keys.shape[1:]):
            raise ValueError("the score vector does not fit the keys")
        by_step = (
            self.contexts, self.queries, self.states, self.update_gates, self.reset_gates, self.candidates,
            self.readouts, self.log_probabilities, self.top_ids, self.top_probabilities,
        )  # fmt: skip
        if any(array.shape[0] != rows for array in by_step) or len(self.top_pieces) != rows:
            raise ValueError("an array does not fit the target pieces")
        if self.top_ids.shape != self.top_probabilities.shape or len(self.top_pieces[0]) != self.top_ids.shape[1]:
            raise ValueError("the candidates do not fit their probabilities")
        if {len(self.source_ids), len(self.source_surfaces)} != {columns} or len(self.target_ids) != rows:
            raise ValueError("the ids do not fit the pieces")
        if not np.allclose(self.alignment.sum(axis=1), 1, atol=1e-3):
            raise ValueError("a row of the alignment does not sum to 1")


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        packed = zlib.compress(np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<")).tobytes(), 1)
        return {"dtype": value.dtype.name, "shape": value.shape, "zlib": base64.b64encode(packed).decode("ascii")}
    if isinstance(value, Search):
        return dataclasses.asdict(value)
    if isinstance(value, tuple) and value and isinstance(value[0], Hypothesis):
        return [dataclasses.asdict(hypothesis) for hypothesis in value]
    return value


def _decode(name: str, value: Any) -> Any:
    if isinstance(value, dict) and "zlib" in value:
        if value["dtype"] not in ("float32", "int32"):
            raise ValueError(f"{name} has an unknown number type")
        dtype = np.dtype(value["dtype"]).newbyteorder("<")
        size = int(np.prod(value["shape"])) * dtype.itemsize
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(base64.b64decode(value["zlib"], validate=True), max(size, 1))
        if len(raw) != size or unpacker.unconsumed_tail:
            raise ValueError(f"{name} has the wrong length")
        return np.frombuffer(raw, dtype=dtype).reshape(value["shape"]).astype(dtype.newbyteorder("="))
    if name == "search":
        return Search(**value)
    if name == "hypotheses":
        return tuple(Hypothesis(**hypothesis) for hypothesis in value)
    if name == "top_pieces":
        return tuple(tuple(pieces) for pieces in value)
    return tuple(value) if isinstance(value, list) else value
