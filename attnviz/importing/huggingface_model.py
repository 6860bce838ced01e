"""Load a model of `transformers` and its tokenizer (`LanguageModel`), and run it once on a text or a sentence pair."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attnviz.errors import AttnvizError, user_error
from attnviz.extras import naming_extra
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS

_LONGEST = 400
"""Largest number of tokens that a model generates."""


class Run(NamedTuple):
    """One forward pass on a text or a sentence pair."""

    inputs: dict[str, Any]
    """Arguments of the model, (1, Tx) or (1, Ty) each: token ids, attention mask, and ids that a decoder reads."""
    labels: Any
    """Ids of the target, (1, Ty); those that the model reads where it has no separate decoder."""
    output: Any
    """Output of the forward pass, with attention weights and hidden states."""


class LanguageModel(NamedTuple):
    """A model of `transformers` that reads text, with its tokenizer."""

    model: Any
    tokenizer: Any

    @property
    def name(self) -> str:
        """Name of the model, for display."""
        return str(self.model.config.name_or_path or type(self.model).__name__)[-80:]

    def run(self, text: str, target: str | None, beam: int) -> Run:
        """Return a forward pass.

        An encoder-decoder model writes the `target` by teacher forcing, or generates one. A decoder-only model reads
        the text followed by the target. Raise AttnvizError where a side is empty or too long, or cannot be written.
        """
        import torch

        sentences: list[dict[str, Any]] = [{"text": text}]
        if target and not self.model.config.is_encoder_decoder:
            sentences.append({"text": target, "add_special_tokens": False})
        labels = self._ids(sentences)
        inputs = {"input_ids": labels, "attention_mask": torch.ones_like(labels)}
        if self.model.config.is_encoder_decoder:
            written = self._written(inputs, target, beam)
            inputs["decoder_input_ids"], labels = written[:, :-1], written[:, 1:]
        with torch.no_grad():
            output = self.model(**inputs, output_attentions=True, output_hidden_states=True)
        return Run(inputs, labels, output)

    def _ids(self, sentences: Sequence[dict[str, Any]]) -> Any:
        """Return the ids of sentences, given as arguments of the tokenizer, one after the other, (1, T)."""
        import torch

        ids = torch.cat([self.tokenizer(**one, return_tensors="pt")["input_ids"] for one in sentences], dim=1)
        if not 1 <= ids.shape[1] <= self._most:
            raise user_error(
                "The source or the target has {count} tokens; from 1 to {most} can be shown.",
                count=ids.shape[1],
                most=self._most,
            )
        return ids.to(self.model.device).long()

    @property
    def _most(self) -> int:
        """Largest number of tokens of a side that the model can read and the page can show."""
        return min(MOST_TOKENS, getattr(self.model.config, "max_position_embeddings", None) or MOST_TOKENS)

    def _written(self, inputs: dict[str, Any], target: str | None, beam: int) -> Any:
        """Return the start token and the target, which is generated if None, (1, 1 + Ty)."""
        import torch

        if target is None and not self.model.can_generate():
            raise user_error(
                "{name} cannot write a target. Give the target, or load the model with its language modelling head.",
                name=type(self.model).__name__,
            )
        labels = None if target is None else self._ids([{"text_target": target}])
        start = self._start(labels)
        if start is None:
            raise user_error(
                "The model has no start token for its decoder. Set model.generation_config.decoder_start_token_id "
                "to the id of this token."
            )
        if labels is not None:
            return torch.nn.functional.pad(labels, (1, 0), value=start)
        written = self.model.generate(
            **inputs,
            num_beams=beam,
            do_sample=False,
            max_new_tokens=min(_LONGEST, self._most - 1),
            return_dict_in_generate=False,
        )
        if written.shape[1] < 2:
            raise user_error("The model wrote nothing.")
        return written

    def _start(self, labels: Any) -> Any:
        """Return the id of the decoder's start token, before `labels` (1, Ty) if any; None where it is unknown."""
        configs: Any = (getattr(self.model, "generation_config", None), self.model.config)
        for config in configs:
            if (start := getattr(config, "decoder_start_token_id", None)) is not None:
                return start
        with contextlib.suppress(AttributeError, TypeError, ValueError, RuntimeError):
            # The decoder of mBART begins with the last label, the language code.
            return self.model.prepare_decoder_input_ids_from_labels(labels)[0, 0]
        return getattr(configs[0], "bos_token_id", None)

    @contextlib.contextmanager
    def plain_attention(self) -> Iterator[None]:
        """Set the model to "eager" attention and evaluation mode, and restore both afterwards."""
        previous, training = self.model.config._attn_implementation, self.model.training
        self.model.set_attn_implementation("eager")
        self.model.eval()
        try:
            yield
        finally:
            self.model.set_attn_implementation(previous)
            self.model.train(training)


def is_model_folder(path: Any) -> bool:
    """Return whether `path` is a folder that `save_pretrained` of transformers wrote; models of attnviz are not."""
    config = Path(path, "config.json") if isinstance(path, (str, os.PathLike)) else Path()
    return config.is_file() and '"model_type"' in config.read_text(encoding="utf-8", errors="replace")


def open_language_model(model: Any, tokenizer: Any = None) -> LanguageModel:
    """Return a model with its tokenizer: objects of transformers, or the name of a folder or of a model on the hub.

    Without a tokenizer, the one beside the model's files is loaded. Raise AttnvizError where a model cannot be loaded,
    is no model of transformers, or does not read text.
    """
    if isinstance(model, (str, os.PathLike)):
        architectures = _from_pretrained("AutoConfig", model).architectures
        model = _from_pretrained(architectures[0] if architectures else "AutoModel", model)
    _check_reads_text(type(model))
    return LanguageModel(model, _opened_tokenizer(model, tokenizer))


def _opened_tokenizer(model: Any, tokenizer: Any) -> Any:
    """Return the given tokenizer, or the one in a folder or on the hub, by default beside the model's files."""
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        return tokenizer
    place = model.config.name_or_path if tokenizer is None else tokenizer
    missing = gettext(
        "There is no tokenizer in {name}. Give the tokenizer of the model.",
        name=str(place)[:200] or type(model).__name__,
    )
    if not place or not isinstance(place, (str, os.PathLike)):
        raise AttnvizError(missing)
    try:
        loaded = _from_pretrained("AutoTokenizer", place)
    except AttnvizError as error:
        raise AttnvizError(f"{missing} {error}") from error
    # Without files, transformers 5 makes a tokenizer that knows only its special tokens.
    if not set(loaded.get_vocab()) - set(loaded.all_special_tokens):
        raise AttnvizError(missing)
    return loaded


def _from_pretrained(kind: str, name: str | os.PathLike[str]) -> Any:
    """Return what the class `kind` of transformers, if there is none AutoModel, loads from a folder or the hub.

    Raise AttnvizError where that fails.
    """
    with naming_extra():
        import transformers
    classes: Any = transformers
    loader = getattr(classes, kind, classes.AutoModel)
    if hasattr(loader, "main_input_name"):
        _check_reads_text(loader)  # before its files are fetched
    try:
        return loader.from_pretrained(str(name))
    except Exception as error:  # the hub's client and damaged files raise nearly any exception
        raise user_error(
            "transformers cannot load {name}, neither as a folder on this machine nor from Hugging Face: {reason}",
            name=name,
            reason=" ".join(str(error).split())[:200],
        ) from error


def _check_reads_text(model: type) -> None:
    """Raise AttnvizError for another class than a model of transformers, or a model of speech or images."""
    if getattr(model, "main_input_name", None) != "input_ids":
        raise user_error(
            "attnviz runs only models of Hugging Face’s transformers that read text, not {name}. Give such a "
            "model, its folder or its name on the hub. You can save the attention of another model as an array "
            "and open it with attnviz.read_attention.",
            name=model.__name__,
        )
