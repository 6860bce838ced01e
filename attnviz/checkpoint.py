"""Reading and writing a model folder: `config.json`, `model.safetensors`, `tokenizer.model`. Nothing is unpickled."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.languages import say
from attnviz.network import ModelConfig, RNNsearch
from attnviz.text import Tokenizer

FORMAT = "attnviz-model"
VERSION = 1
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.model"


def save_model(
    folder: str | Path, network: RNNsearch, tokenizer: Tokenizer, dtype: torch.dtype = torch.float16
) -> None:
    """Write `network` and `tokenizer` to `folder`, made where it does not exist; weights are stored in `dtype`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    record = {"format": FORMAT, "version": VERSION, "model": network.config.to_dict()}
    weights = {name: tensor.detach().to("cpu", dtype).contiguous() for name, tensor in network.state_dict().items()}
    (folder / TOKENIZER).write_bytes(tokenizer.model)
    save_file(weights, folder / WEIGHTS)
    (folder / CONFIG).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def load_model(folder: str | Path) -> tuple[RNNsearch, Tokenizer]:
    """Return the network (float32, on the CPU, in evaluation mode) and the tokenizer of a model folder.

    Raise AttnvizError, naming the file, where one is missing, damaged, of another version, or does not fit the others.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise AttnvizError(say("There is no model folder {folder}. Give the path of a folder that holds {file}.",
                               folder=folder, file=CONFIG))  # fmt: skip
    config = _read_config(folder / CONFIG)
    tokenizer = Tokenizer.load(folder / TOKENIZER)
    if len(tokenizer) != config.vocabulary_size:
        raise AttnvizError(say(
            "{tokenizer} has {found} pieces but {config} says {expected}: the files belong to different models.",
            tokenizer=folder / TOKENIZER, found=len(tokenizer), config=folder / CONFIG, expected=config.vocabulary_size,
        ))  # fmt: skip
    with torch.device("meta"):
        network = RNNsearch(config)
    network.load_state_dict(_read_weights(folder / WEIGHTS, network.state_dict()), assign=True)
    return network.requires_grad_(False).eval(), tokenizer


def _read_config(path: Path) -> ModelConfig:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise ValueError("it is not marked as one of this program's")
        if record["version"] != VERSION:
            raise AttnvizError(say(
                "{path} has format version {found!r}; this program reads version {known}. Update it.", path=path,
                found=record["version"], known=VERSION,
            ))  # fmt: skip
        return ModelConfig.from_dict(record["model"])
    except OSError as error:
        message = say("The model's {path} cannot be read: {error}.", path=path, error=error.strerror)
        raise AttnvizError(message) from error
    except KeyError as error:
        message = say("The model's {path} is damaged: {name} is missing. Restore the file.", path=path, name=error)
        raise AttnvizError(message) from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise AttnvizError(_damaged(path, error)) from error


def _damaged(path: Path, why: object) -> str:
    return say("The model's {path} is damaged: {error}. Restore the file.", path=path, error=why)


def _read_weights(path: Path, expected: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of `path` in float32; raise AttnvizError unless names and shapes are those `expected`."""
    try:
        weights = load_file(path)
    except FileNotFoundError as error:
        raise AttnvizError(say("The model's {path} is missing. Restore the file.", path=path)) from error
    except (SafetensorError, OSError, ValueError) as error:
        message = say("The model's {path} is damaged or cut short ({error}). Restore the file.", path=path, error=error)
        raise AttnvizError(message) from error
    if set(weights) != set(expected):
        odd = ", ".join(sorted(set(weights) ^ set(expected))[:3])
        raise AttnvizError(say("The model's {path} does not fit its config: {names} is missing or too much.",
                               path=path, names=odd))  # fmt: skip
    for name, tensor in weights.items():
        if tensor.shape != expected[name].shape:
            raise AttnvizError(say("The model's {path} does not fit its config: {name} is {found}, not {expected}.",
                                   path=path, name=name, found=tuple(tensor.shape),
                                   expected=tuple(expected[name].shape)))  # fmt: skip
        if not torch.isfinite(tensor).all():
            raise AttnvizError(say("The model's {path} is damaged: {name} holds numbers that are not finite.",
                                   path=path, name=name))  # fmt: skip
    return {name: tensor.float() for name, tensor in weights.items()}
