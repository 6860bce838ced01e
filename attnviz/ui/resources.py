"""Load installed models and detector, translate and analyse; caches for all visitors (`cached_for_all`); measured BLEU.

Models, translations, verdicts and posterior attention are cached for all visitors, other analyses by `cached_analysis`.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.judgement import pair_attention
from attnviz.analysis.posterior import PosteriorAttention, posterior_attention
from attnviz.analysis.recomputation import Weights
from attnviz.architectures import could_be_of
from attnviz.errors import AttnvizError, user_error
from attnviz.extras import IMPORTING
from attnviz.files import check_regular
from attnviz.installed_models import check_installed, installed_detectors, installed_models
from attnviz.languages import gettext, language
from attnviz.lru_cache import LRUCache, cached_in, once_in_run, stamp
from attnviz.model_folder import (
    EVERY_FILE,
    IMPORTED_ARCHITECTURE,
    TOKENIZER_FILE,
    VOCABULARIES,
    WEIGHTS_FILE,
    architecture,
    read_config,
    read_weights,
    weights_digest,
)
from attnviz.text import Tokenizer
from attnviz.trace import Aligned, Judgement, Record, Trace
from attnviz.trace.aligned import AttentionView
from attnviz.trace.drawing import Face
from attnviz.trace.interventions import Intervention
from attnviz.trace.parts import head_choices
from attnviz.trace.what_ifs import TranslatorArguments
from attnviz.ui.embedding import embedding, theme_name
from attnviz.ui.view import FilePair
from attnviz.vocabulary import WordTokenizer

if TYPE_CHECKING:  # they import torch, which a view of imported attention does not need
    from attnviz.detector import Detector
    from attnviz.shared_translator import SharedTranslator
    from attnviz.translator import Translator

LENGTH_FILE = "by-length.csv"
"""File that `attnviz evaluate --by-length --csv` writes."""


def model_configs() -> dict[str, dict[str, Any]]:
    """Return the configs of the installed models that can be read, by name."""
    configs = {}
    for name, folder in installed_models().items():
        with suppress(AttnvizError):
            configs[name] = read_config(folder)
    return configs


Rows = tuple[Mapping[str, str], ...]


def table_rows(folder: Path, name: str) -> Rows:
    """Return the rows of the CSV file `name` in a folder; none where it is missing or unreadable."""
    try:
        return _read(folder / name)
    except (OSError, ValueError, csv.Error, AttnvizError):
        return ()


@cached_in(LRUCache(1 << 20), "")
def _read(path: Path) -> Rows:
    check_regular(path)
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def bleu_rows(names: Sequence[str]) -> Rows:
    """Return the rows of the installed models among `names`, one for each model and bucket of sentence lengths.

    Return nothing if the file is missing or damaged.
    """
    folders = installed_models()
    installed = [name for name in names if name in folders]
    if not installed:
        return ()
    rows = table_rows(folders[installed[-1]].resolve().parent, LENGTH_FILE)
    try:
        for row in rows:
            float(row["bleu"]), int(row["pairs"]), str(row["model"])  # raises where the file is damaged
    except (ValueError, KeyError, TypeError):
        return ()
    return tuple(row for row in rows if row["model"] in installed)


def bleu_scores(rows: Rows) -> dict[str, dict[str, float]]:
    """Return the BLEU of each model by bucket of sentence lengths, the shortest first."""
    scores: dict[str, dict[str, float]] = {}
    for row in rows:
        scores.setdefault(row["model"], {})[row["words"]] = float(row["bleu"])
    return scores


FIGURE_CACHE: LRUCache[object] = LRUCache(24 << 20)
"""LRU cache of 24 MiB; a translation takes 0.5 to 1 MB of it."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def cached_for_all(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Cache the results of a function for all visitors, by language, theme and what its arguments contain.

    Those whose names begin with _ do not count.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def cached(*given: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        arguments = signature.bind(*given, **named).arguments.items()
        contents = [(name, _content(value)) for name, value in arguments if not name.startswith("_")]
        key = function.__module__, function.__qualname__, language(), theme_name(), *contents
        return cast("_Result", FIGURE_CACHE.get(key, lambda: function(*given, **named)))

    return cached


def _content(value: Any) -> Any:
    """Return what is equal for equal contents: the fingerprint of a result."""
    if hasattr(value, "fingerprint"):
        return value.fingerprint
    if isinstance(value, partial):
        return value.func, _content(value.args), _content(value.keywords)
    if is_dataclass(value):
        return _content(vars(value))
    if isinstance(value, Mapping):
        return _content(tuple(value.items()))
    return tuple(map(_content, value)) if isinstance(value, (list, tuple)) else value


def bytes_of(result: Aligned | Judgement | FilePair) -> int:
    """Return the approximate bytes of a result in memory: of its arrays (90 % of them), or of the files of a pair.

    What is read from a file takes 4 times (JSON) to 10 times (word links) its size.
    """
    if isinstance(result, FilePair):
        return 10 * result.size
    return sum(int(getattr(result, quantity.name).nbytes) for quantity in result.arrays)


def detector_folder() -> Path | None:
    """Return the folder of the translation detector named `detector`, else the first one, else None."""
    folders = installed_detectors()
    return folders.get("detector", next(iter(folders.values()), None))


def judgement_of(folder: Path, device: str, source: str, target: str) -> Judgement:
    """Return the verdict of the detector in `folder`, with its current files, on a sentence pair.

    It is cached, the same object for every visitor. Raise AttnvizError on bad input.
    """
    files, device_name = stamp(folder, *EVERY_FILE), _device_name(device)
    from attnviz.ui.waiting import TURNS  # it imports the server, which a view in a file does not need

    with TURNS.released():
        judgement = _JUDGEMENTS.get(
            (str(folder), device_name, files, source, target),
            lambda: _detector(str(folder), device_name).judge(source, target),
        )
    _note(judgement, folder.name, device_name, source, target)
    return judgement


_JUDGEMENTS: LRUCache[Judgement] = LRUCache(4 << 20, size=bytes_of)


@cached_in(LRUCache(2, size=lambda _: 1), *EVERY_FILE)
def _detector(folder: str, device: str) -> Detector:
    with IMPORTING:
        from attnviz.detector import Detector

    return Detector.load(folder, device=device)


def devices() -> list[str]:
    """Return the choices of device: "auto", then the available ones."""
    with IMPORTING:
        from attnviz.devices import available_devices

    return ["auto", *available_devices()]


def _device_name(device: str) -> str:
    """Return the full name of a device, such as that of "auto"; raise AttnvizError for one that is missing."""
    with IMPORTING:
        from attnviz.devices import resolve_device

    return str(resolve_device(device))


def translate(
    model: str,
    device: str,
    text: str,
    beam: int,
    target: str | tuple[int, ...] | None,
    interventions: tuple[Intervention, ...] = (),
) -> Trace:
    """Return the trace of `text` by an installed model, with its current files.

    Raise AttnvizError on bad input, and where the model is not installed. `target`, a text or piece ids, is
    force-decoded where given, and `interventions` are applied. The result is cached, the same object for every visitor
    and run, so that values cached in a trace (its fingerprint, its verification) are computed once. Visitors who wait
    at the same time take fair turns, in batches; the page shows their position.
    """
    if (known := installed_models().get(model)) is None:
        raise _removed(model)
    folder, device = str(known), _device_name(device)
    from attnviz.ui.waiting import TRANSLATING_FOR, TURNS, show_position

    visitor, place = TRANSLATING_FOR.get()
    key = (folder, device, stamp(folder, *EVERY_FILE), text, beam, target, interventions)
    # Not `get`: the page of a visitor who waits for the translation of another must show the position, and stop.
    trace = _TRACES.find(key)
    if trace is None:
        with TURNS.released():
            made = _shared_translator(folder, device).translate(
                text,
                beam=beam,
                target=target,
                interventions=interventions,
                client=visitor,
                waiting=partial(show_position, place) if place else None,
            )
        trace = _TRACES.add(key, made)
        if place:
            place.empty()
    _note(trace, model, device, text, beam, target, interventions)
    return trace


def force_decoded(models: Sequence[str], device: str, text: str, translation: str) -> tuple[Any, ...]:
    """Return the traces of these models, each forced to write `translation`; raise AttnvizError where one cannot."""
    check_installed(*models)
    if not translation.strip():
        raise user_error("The translation for forced decoding is empty. Try another sentence or translation.")
    return tuple(translate(name, device, text, 1, translation) for name in models)


_TRACES: LRUCache[Trace] = LRUCache(32 << 20, size=bytes_of)
"""LRU cache of translations of all visitors. A sentence of twenty pieces takes half a megabyte."""


@cached_in(LRUCache(6, size=lambda _: 1), *EVERY_FILE)
def _shared_translator(folder: str, device: str) -> SharedTranslator:
    with IMPORTING:
        from attnviz.shared_translator import SharedTranslator
        from attnviz.translator import Translator

    return SharedTranslator(Translator.load(folder, device=device))


@dataclass(frozen=True, eq=False)
class TranslateAgain:
    """Translates the sentence of a translation again, with interventions."""

    first: Any
    """The translation, whose model translates."""
    device: str = "auto"
    beam: int | None = None
    """Beam width; None for that of `first`."""

    def __call__(self, change: TranslatorArguments) -> Trace:
        """Return the translation with a change; raise AttnvizError where it cannot be made."""
        if weights_of(self.first) is None:
            raise user_error(
                "What-ifs need the model “{model}”, which made this translation. This model is not "
                "installed: add its model folder.",
                model=self.first.model,
            )
        beam = self.beam or self.first.search.beam
        return translate(
            self.first.model, self.device, self.first.source_text, beam, change.target, change.interventions
        )


_CALLS: weakref.WeakKeyDictionary[Any, tuple[Callable[..., Any], dict[str, Any]]] = weakref.WeakKeyDictionary()
"""How each result of this process was made: by which function below, and by which arguments."""
_UPLOADS: LRUCache[Any] = LRUCache(32 << 20, size=bytes_of)
"""LRU cache of what visitors uploaded, by fingerprint; what a session has open stays available."""


def call_of(result: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return a function and the arguments with which it returns `result`, also in another process.

    The function is one of those below. What was uploaded, and has no such function, is kept.
    """
    if isinstance(result, AttentionView):
        return view_of, {"record": result.record, "name": result.name}
    if (whole := getattr(result, "whole", result)) is not result:
        return with_heads, {"trace": whole, "name": result.heads.name}
    if result in _CALLS:
        return _CALLS[result]
    _UPLOADS.add(result.fingerprint, result)
    return uploaded, {"fingerprint": result.fingerprint}


def _note(result: Any, model: str, *arguments: Any) -> None:
    """Note how a result was made, once: most come from a cache."""
    if result not in _CALLS:
        _CALLS[result] = made_again, {"model": model, "version": _version(result), "arguments": arguments}


def _version(result: Any) -> str:
    """Return a digest of the model that made `result`: of its weights and its config."""
    text = repr((result.weights_digest, sorted(result.config.items())))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def uploaded(fingerprint: str) -> Any:
    """Return what was uploaded; raise AttnvizError where it is not available any more."""
    if (found := _UPLOADS.find(fingerprint)) is None:
        raise user_error("The file is not open any more. Open it again.")
    return found


def view_of(record: Any, name: str) -> Any:
    """Return a head of a translation, or one side of a judged pair, by its name."""
    return pair_attention(record, cast("Any", name)) if isinstance(record, Judgement) else record.head_named(name)


def with_heads(trace: Any, name: str) -> Any:
    """Return `trace` with the attention of the heads called `name`; unchanged where it has no such heads."""
    heads = head_choices(trace).get(name)
    return trace if heads is None else trace.select_heads(heads.layer, heads.head)


def made_again(model: str, version: str, arguments: Sequence[Any]) -> Any:
    """Return what a model makes of the further `arguments` of `translate` or `judgement_of`.

    Raise AttnvizError on bad input, and where the model is of another version.
    """
    detector = detector_folder()
    if detector is not None and detector.name == model:
        result: Any = judgement_of(detector, *arguments)
    else:
        result = translate(model, *arguments)
    if _version(result) != version:
        raise _removed(model)
    return result


def _removed(model: str) -> AttnvizError:
    return user_error("The model {model} was replaced or removed. Reload the page.", model=model)


def weights_of(trace: Record | Judgement) -> Weights | None:
    """Return the weights that made `trace`, or None where that model is missing or was replaced.

    All are float64, which verification needs, except the embeddings, of which a step reads one row.
    """
    return (_installed_weights(trace) or (None, None))[1]


def weights_digest_of(trace: Trace) -> str | None:
    """Return the digest of what `weights_of` returns, for use in cache keys."""
    return (_installed_weights(trace) or (None, None))[0]


def has_posterior(trace: Trace) -> bool:
    """Return whether `cached_posterior` can compute the posterior attention of `trace`: not of a head or a pair."""
    return getattr(trace, "attends_once", False) and weights_of(trace) is not None


def cached_posterior(trace: Trace) -> NDArray[np.float64] | None:
    """Return the posterior attention of `trace`, (Ty, Tx), or None where `has_posterior` is False."""
    attention = posterior_attention_of(trace)
    return None if attention is None else attention.heatmap_posterior


def face_posterior(trace: Trace, face: Face) -> NDArray[np.float64] | None:
    """Return the posterior attention that a `face` of the heatmap needs; None where it shows the prior alone."""
    return None if face == "before" else cached_posterior(trace)


def posterior_attention_of(trace: Trace) -> PosteriorAttention | None:
    """Return the prior, likelihood and posterior of `trace`, or None where `has_posterior` is False.

    They are cached for all visitors.
    """
    installed = _installed_weights(trace) if has_posterior(trace) else None
    if installed is None:
        return None
    digest, weights = installed
    found = FIGURE_CACHE.get(("posterior", trace.fingerprint, digest), lambda: posterior_attention(trace, weights))
    return cast("PosteriorAttention", found)


def translator_in(folder: str, device: str) -> Translator:
    """Return the translator of the model in `folder`, with its current files, for background work.

    Raise AttnvizError where it cannot be loaded.
    """
    return _shared_translator(folder, _device_name(device)).translator


def translator_of(trace: Trace) -> Translator:
    """Return the translator that made `trace`; raise AttnvizError where `weights_of` returns None.

    The calling thread uses it directly, outside the batching of visitors' translations.
    """
    if reason := missing_model(trace):
        raise AttnvizError(reason)
    return translator_in(str(installed_models()[trace.model]), device_of(trace))


def device_of(trace: Trace) -> str:
    """Return the device that made `trace`, or the CPU where it is missing."""
    return trace.device if trace.device in devices() else "cpu"


def missing_model(trace: Trace) -> str:
    """Return that the model which made `trace` is not installed, as a sentence; empty where it is."""
    if weights_of(trace) is not None:
        return ""
    return gettext(
        "The model {model}, which made this translation, is not installed: install it first.", model=trace.model
    )


def cached_analysis(
    name: str, trace: Trace, compute: Callable[[Weights], _Result], cache: LRUCache[object] | None = None
) -> _Result:
    """Return what `compute` computes from the weights of the model that made `trace`, cached for all visitors.

    The analysis is cached by its name and the trace, in `cache` if given. Raise AttnvizError where the model is not
    installed.
    """
    from attnviz.ui.waiting import TURNS

    if (weights := weights_of(trace)) is None:
        raise AttnvizError(missing_model(trace))
    key = name, trace.fingerprint, weights_digest_of(trace)
    with TURNS.released():
        return cast("_Result", (_ANALYSES if cache is None else cache).get(key, lambda: compute(weights)))


_ANALYSES: LRUCache[object] = LRUCache(12 << 20)
"""LRU cache; the attributions of a sentence of sixty words take a quarter of a megabyte."""


def tokenizer_of(trace: Record) -> Tokenizer | None:
    """Return the tokenizer of the model that made `trace`, or None where that model is not installed."""
    if (host := embedding()) is not None and host.tokenizer is not None:
        return host.tokenizer
    folder = _folder_of(trace)
    if folder is None or weights_of(trace) is None:
        return None
    return _tokenizer(folder)


def _folder_of(result: Any) -> Path | None:
    """Return the folder of the installed model, or detector, that a result names."""
    if isinstance(result, Judgement):
        detector = detector_folder()
        return detector if detector is not None and detector.name == result.model else None
    # An attention matrix alone names no model.
    return installed_models().get(result.model) if result.translated else None


def _installed_weights(trace: Record | Judgement) -> tuple[str, Weights] | None:
    """Return the digest and the weights of the model that made `trace`, or None where it is missing."""
    if (host := embedding()) is not None and host.weights is not None and could_be_of(trace, host.weights[1]):
        return host.weights
    return _search_weights(trace)


@once_in_run
def _search_weights(trace: Record | Judgement) -> tuple[str, Weights] | None:
    if (folder := _folder_of(trace)) is None:
        return None
    try:
        digest, weights = _weights(folder)
    except AttnvizError:
        return None
    if trace.weights_digest and trace.weights_digest != digest:
        return None
    # A trace of an early version has no digest, so only shapes can be compared.
    return (digest, weights) if could_be_of(trace, weights) else None


@cached_in(LRUCache(512 << 20), WEIGHTS_FILE)
def _weights(folder: Path) -> tuple[str, dict[str, NDArray[np.floating]]]:
    """Return the SHA-256 of the weights file, and the weights."""
    weights = read_weights(folder)
    exact = {n: value if n.endswith("embedding.weight") else value.astype(np.float64) for n, value in weights.items()}
    return weights_digest(folder), exact


@cached_in(LRUCache(8 << 20, size=lambda tokenizer: len(tokenizer.model)), TOKENIZER_FILE, VOCABULARIES)
def _tokenizer(folder: Path) -> Tokenizer:
    if architecture(folder) == IMPORTED_ARCHITECTURE:
        return WordTokenizer.load(folder / VOCABULARIES)
    return Tokenizer.load(folder / TOKENIZER_FILE)
