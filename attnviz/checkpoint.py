"""Save and load folders of translators and detectors: `config.json`, `model.safetensors` and `tokenizer.model`.

A detector tells whether one sentence translates another. Imported translators have `vocabularies.json` in place of the
tokenizer. Nothing is unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attnviz.errors import AttnvizError, user_error
from attnviz.files import replace_bytes, replace_text, replacing
from attnviz.model_folder import (
    CONFIG_FILE,
    MODEL_FORMAT,
    MODEL_VERSION,
    TOKENIZER_FILE,
    VOCABULARIES,
    WEIGHTS_FILE,
    read_config,
    read_weights,
)
from attnviz.network import (
    AnyConfig,
    AnyNetwork,
    Decomposable,
    Network,
    Seq2SeqConfig,
    build_network,
    read_fields,
)
from attnviz.text import Tokenizer
from attnviz.vocabulary import WordTokenizer


def save_model(
    folder: str | Path, network: AnyNetwork, tokenizer: Tokenizer, dtype: torch.dtype = torch.float16
) -> None:
    """Write `network` and `tokenizer` to `folder`, which is created if necessary.

    Weights are stored as `dtype`, float16 or float32. Each file is replaced atomically, so that a killed process leaves
    no partial file. Raise AttnvizError where a file cannot be written.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AttnvizError(f"The folder {folder} cannot be created: {error.strerror}.") from error
    fields = {"format": MODEL_FORMAT, "version": MODEL_VERSION, "model": network.config.to_dict()}
    weights = {name: tensor.detach().to("cpu", dtype).contiguous() for name, tensor in network.state_dict().items()}
    imported = isinstance(tokenizer, WordTokenizer)
    replace_bytes(folder / (VOCABULARIES if imported else TOKENIZER_FILE), tokenizer.model)
    with replacing(folder / WEIGHTS_FILE) as temporary:
        write_tensors(temporary, weights)
    # Written last: a folder without a config does not count as a model.
    replace_text(folder / CONFIG_FILE, json.dumps(fields, indent=2) + "\n")


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write contiguous CPU `tensors`, of any shape, as safetensors; raise OSError where that fails."""
    try:
        # save_file would write to a temporary file with a random name, which a killed process leaves behind.
        path.write_bytes(save(tensors, metadata))
    except SafetensorError as error:
        raise OSError(str(error)) from error


def load_model(folder: str | Path) -> tuple[Network, Tokenizer]:
    """Load a translator's network (float32, on the CPU, in evaluation mode) and tokenizer.

    Raise AttnvizError, naming the file, where one is missing, damaged, of another version or inconsistent with the
    others, and where the folder holds a detector.
    """
    network = _without_weights(Path(folder))
    if isinstance(network, Decomposable):
        raise user_error(
            "The model in {folder} does not translate: it tells whether one sentence is the translation of "
            "another sentence. Give the folder of a translator.",
            folder=folder,
        )
    return network, _filled(network, Path(folder))


def load_detector(folder: str | Path) -> tuple[Decomposable, Tokenizer]:
    """Load a detector's network (float32, on the CPU, in evaluation mode) and tokenizer.

    Raise AttnvizError as `load_model` does, and where the folder holds a translator.
    """
    network = _without_weights(Path(folder))
    if not isinstance(network, Decomposable):
        raise user_error(
            "The model in {folder} is a translator: it cannot tell whether one sentence is the translation of "
            "another sentence. Give the folder of a translation detector.",
            folder=folder,
        )
    return network, _filled(network, Path(folder))


def _without_weights(folder: Path) -> AnyNetwork:
    """Return the network of the config in `folder`, on the device "meta"."""
    fields = read_config(folder)
    try:
        config = read_fields(fields)
    except (ValueError, TypeError) as error:  # no others: a scorer of the user's own is imported here
        path = folder / CONFIG_FILE
        raise user_error("The file {path} is damaged ({error}). Restore the file.", path=path, error=error) from error
    with torch.device("meta"), _SkipInitialisation():
        return build_network(config)


def _filled(network: AnyNetwork, folder: Path) -> Tokenizer:
    """Load the weights in `folder` into `network`, make it ready for use, and return its tokenizer."""
    tokenizer = _read_tokenizer(folder, network.config)
    network.load_state_dict(_read_weights(folder, network.state_dict()), assign=True)
    network.requires_grad_(False).eval()
    return tokenizer


def _read_tokenizer(folder: Path, config: AnyConfig) -> Tokenizer:
    """Load the tokenizer, or an imported translator's; raise AttnvizError where its sizes differ from the config."""
    imported = isinstance(config, Seq2SeqConfig)
    path = folder / (VOCABULARIES if imported else TOKENIZER_FILE)
    tokenizer = (WordTokenizer if imported else Tokenizer).load(path)
    for vocabulary, size in ((tokenizer, "vocabulary_size"), (tokenizer.source, "source_vocabulary_size")):
        expected = getattr(config, size, config.vocabulary_size)
        if len(vocabulary) != expected:
            raise user_error(
                "{tokenizer} has {found} pieces but {config} says {expected}: the files belong to different models.",
                tokenizer=path,
                found=len(vocabulary),
                config=folder / CONFIG_FILE,
                expected=expected,
            )
    return tokenizer


class _SkipInitialisation(TorchFunctionMode):
    """Skip the random initialisation of weights that loaded ones replace.

    Drawing from a normal distribution on the device "meta" imports torch's compiler, which takes as long as torch
    itself (torch 2.13).
    """

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(function, "__module__", "") == "torch.nn.init":
            return (kwargs or {}).get("tensor", args[0] if args else None)
        return function(*args, **(kwargs or {}))


def _read_weights(folder: Path, expected: dict[str, Tensor]) -> dict[str, Tensor]:
    """Load the weights as float32; raise AttnvizError unless names and shapes equal those of `expected`."""
    path, weights = folder / WEIGHTS_FILE, read_weights(folder)
    if set(weights) != set(expected):
        odd = ", ".join(sorted(set(weights) ^ set(expected))[:3])
        raise user_error(
            "The tensors in the file {path} do not match the model’s config. Missing or unexpected tensors: {names}.",
            path=path,
            names=odd,
        )
    for name, values in weights.items():
        if values.shape != expected[name].shape:
            raise user_error(
                "The tensors in the file {path} do not match the model’s config: {name} has shape {found}, not "
                "{expected}.",
                path=path,
                name=name,
                found=values.shape,
                expected=tuple(expected[name].shape),
            )
    tensors = {name: torch.tensor(values, dtype=torch.float32) for name, values in weights.items()}
    for name, tensor in tensors.items():
        # Extremes are NaN where a weight is. They take a tenth of the time of `isfinite` for each weight.
        if not torch.stack(tensor.aminmax()).isfinite().all():
            raise user_error(
                "The model file {path} is damaged: {name} holds numbers that are not finite. Restore the file.",
                path=path,
                name=name,
            )
    return tensors
