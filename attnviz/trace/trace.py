"""`Trace`: all that was computed while a sentence was translated, and ways to look at it."""

from __future__ import annotations

import dataclasses
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_type_hints

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.languages import say
from attnviz.text import BOS, join_pieces, word_groups
from attnviz.trace import storage
from attnviz.trace.drawing import drawing
from attnviz.trace.interventions import Intervention
from attnviz.trace.parts import FloatArray, Hypothesis, IntArray, Search, Words
from attnviz.trace.quantities import RECORDED

STORED_CANDIDATES = 100
"""How many of the likeliest pieces of each step a trace keeps."""


@dataclass(frozen=True, eq=False)
class Trace:
    """Everything computed while one sentence was translated.

    Tx and Ty count pieces, `</s>` included; n is the hidden size, n' the alignment size, l the maxout size. Row i of a
    target-side array belongs to step i + 1 of the equations (Bahdanau, Cho & Bengio 2014), which chose
    `target_pieces[i]`. All arrays are read-only copies, float32 but for the ids; their
    shapes and equations stand in the table of `trace.quantities`.
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
    config: Mapping[str, Any]
    """The `ModelConfig` of the model as a read-only mapping: sizes, `attention`, `readout_state`."""
    model: str
    """Name of the model folder."""
    weights_digest: str
    """SHA-256 of the model's `model.safetensors` in hexadecimal: tells whether a model at hand is the one that made
    this trace. Empty where it is unknown."""
    device: str
    """The torch device it ran on, as in "cpu" or "cuda:0"."""
    seconds: float
    """Wall time of the translation with all that is recorded here; of several computed together, that of all of them up
    to this one."""
    interventions: tuple[Intervention, ...] = ()
    """What was changed by hand on the way, in its order; the energies are those before it, the alignment after."""

    def __post_init__(self) -> None:
        """Take copies that nobody else can change."""
        for quantity in RECORDED:
            array = getattr(self, quantity.name).copy()
            array.setflags(write=False)
            object.__setattr__(self, quantity.name, array)
        object.__setattr__(self, "config", MappingProxyType(dict(self.config)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that what comes back is as immutable."""
        return _restore, ({field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
                          | {"config": dict(self.config)},)  # fmt: skip

    @property
    def attends(self) -> bool:
        """Whether the model chose where to look at each step; False where all contexts are one (`attention="none"`)."""
        return bool(self.config["attention"] != "none")

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
        words = Words(
            source=tuple(join_pieces(self.source_surfaces[i] for i in group) or "<unk>" for group in source),
            target=tuple(join_pieces(self.target_pieces[i] for i in group) for group in target),
            alignment=self.alignment,
            source_groups=source,
            target_groups=target,
        )
        merged = words.merged(self.alignment)
        merged.setflags(write=False)
        return dataclasses.replace(words, alignment=merged)

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
        return storage.encode({field.name: getattr(self, field.name) for field in dataclasses.fields(self)})

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Return the trace that `to_json` wrote; raise AttnvizError where `text` is not one."""
        try:
            trace = cls(**storage.decode(text, get_type_hints(cls)))
            storage.check(trace)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, RecursionError, zlib.error) as error:
            message = say("This trace is damaged ({kind}: {error}). Save it again.",
                          kind=type(error).__name__, error=error)  # fmt: skip
            raise AttnvizError(message) from error
        return trace

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that is recorded, but for the time it took: two traces of one fingerprint look the same."""
        digest = hashlib.sha256()
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                digest.update(repr(value.shape).encode() + value.tobytes())
            elif field.name != "seconds":
                value = dict(value) if isinstance(value, Mapping) else value
                digest.update(repr(value).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()

    def heatmap(self, **choices: Any) -> Any:
        """Return the alignment as a Plotly figure, which a notebook shows; choices as those of `figures.heatmap`."""
        return drawing().heatmap(self, **choices)

    def step_figure(self, i: int, picture: str = "attention", **choices: Any) -> Any:
        """Return a picture of step index `i` (0-based), named as in `figures.STEP_FIGURES`.

        Raise IndexError where there is no such step and AttnvizError where there is no such picture.
        """
        return drawing().step_figure(self, range(len(self.target_pieces))[i], picture, **choices)

    def _repr_html_(self) -> str:
        """Return the heatmap as a bare table: what a notebook shows of a trace."""
        return drawing().table_html(self)

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


def _restore(fields: dict[str, Any]) -> Trace:
    return Trace(**fields)
