"""Load a model of `transformers` and its tokenizer (`LanguageModel`), and run it once on a text or a sentence pair."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS

_LONGEST = 400
"""Largest number of tokens that a model generates."""


@dataclass(frozen=True, eq=False)
class Run:
    """One forward pass on a text or a sentence pair."""

    inputs: dict[str, Any]
    """Token ids and attention mask that the model or its encoder reads, (1, Tx) each, by argument of the model."""
    written: Any
    """Ids of the decoder, (1, 1 + Ty): the start token and the target; None without a separate decoder."""
    output: Any
    """Output of the forward pass, with attention weights and hidden states."""


@dataclass(frozen=True, eq=False)
class LanguageModel:
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
        the text followed by the target. Raise AttnvizError where the text is blank or too long.
        """
        import torch

        ids, written, decoder = self._ids(text=text), None, {}
        if target and not self.model.config.is_encoder_decoder:
            ids = torch.cat([ids, self._ids(text=target, add_special_tokens=False)], dim=1)
        inputs = {"input_ids": self._checked(ids), "attention_mask": torch.ones_like(ids)}
        if self.model.config.is_encoder_decoder:
            written = self._written(inputs, target, beam)
            decoder["decoder_input_ids"] = self._checked(written[:, :-1])
        with torch.no_grad():
            output = self.model(**inputs, **decoder, output_attentions=True, output_hidden_states=True)
        return Run(inputs, written, output)

    def _ids(self, **sentence: Any) -> Any:
        """Return the ids of a sentence, (1, T)."""
        return self.tokenizer(**sentence, return_tensors="pt")["input_ids"].to(self.model.device).long()

    def _written(self, inputs: dict[str, Any], target: str | None, beam: int) -> Any:
        """Return the start token and the target, which is generated if None, (1, 1 + Ty)."""
        import torch

        configs = (getattr(self.model, "generation_config", None), self.model.config)
        starts = [getattr(config, "decoder_start_token_id", None) for config in configs]
        start = starts[1] if starts[0] is None else starts[0]
        no_start = AttnvizError(
            gettext(
                "The model has no start token for its decoder. Set model.generation_config.decoder_start_token_id to "
                "the id of this token."
            )
        )
        if target is None:
            if start is None and self.model.generation_config.bos_token_id is None:
                raise no_start
            most = min(_LONGEST, self._most - 1)
            written = self.model.generate(
                **inputs, num_beams=beam, do_sample=False, max_new_tokens=most, return_dict_in_generate=False
            )
            if written.shape[1] < 2:
                raise AttnvizError(gettext("The model wrote nothing."))
            return written
        labels = self._ids(text_target=target)
        if not labels.numel():
            raise AttnvizError(gettext("The target is empty: write a sentence."))
        if start is None:  # the decoder of mBART begins with the last label, the language code
            try:
                start = self.model.prepare_decoder_input_ids_from_labels(labels)[0, 0]
            except (AttributeError, TypeError, ValueError, RuntimeError) as error:
                raise no_start from error
        return torch.nn.functional.pad(labels, (1, 0), value=start)

    @property
    def _most(self) -> int:
        """Largest number of tokens of a side that the model can read and the page can show."""
        return min(MOST_TOKENS, getattr(self.model.config, "max_position_embeddings", None) or MOST_TOKENS)

    def _checked(self, ids: Any) -> Any:
        """Return `ids` (1, T); raise AttnvizError where they are more than `_most` allows, or none."""
        if not ids.shape[1]:
            raise AttnvizError(gettext("The tokenizer finds no token in the text."))
        if ids.shape[1] > self._most:
            raise AttnvizError(
                gettext(
                    "The source or the target has {count} tokens; at most {most} can be shown.",
                    count=ids.shape[1],
                    most=self._most,
                )
            )
        return ids

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


def opened(model: Any, tokenizer: Any = None) -> LanguageModel:
    """Return a model with its tokenizer: objects of transformers, or the name of a folder or of a model on the hub.

    Without a tokenizer, the one beside the model's files is loaded. Raise AttnvizError where a model cannot be loaded,
    is no model of transformers, or does not read text.
    """
    if isinstance(model, (str, os.PathLike)):
        architectures = _from_pretrained("AutoConfig", model).architectures
        model = _from_pretrained(architectures[0] if architectures else "AutoModel", model)
    if not hasattr(model, "set_attn_implementation"):
        raise AttnvizError(
            gettext(
                "{name} is not a model of Hugging Face’s transformers. Give the model’s folder or its name on the "
                "hub. Tensors of attention are read by attnviz.read_attention.",
                name=type(model).__name__,
            )
        )
    _check_reads_text(type(model))
    if tokenizer is None:
        tokenizer = model.config.name_or_path
        if not tokenizer:
            raise AttnvizError(
                gettext("{name} comes without a tokenizer. Give the tokenizer of the model.", name=type(model).__name__)
            )
    if isinstance(tokenizer, (str, os.PathLike)):
        tokenizer = _loaded_tokenizer(tokenizer)
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise AttnvizError(
            gettext("{name} is not a tokenizer. Give the tokenizer of the model.", name=type(tokenizer).__name__)
        )
    return LanguageModel(model, tokenizer)


def _loaded_tokenizer(name: str | os.PathLike[str]) -> Any:
    """Return the tokenizer in a folder or on the hub; raise AttnvizError where there is none."""
    missing = gettext("There is no tokenizer at {name}. Give the tokenizer of the model.", name=name)
    try:
        tokenizer = _from_pretrained("AutoTokenizer", name)
    except AttnvizError as error:
        raise AttnvizError(f"{missing} {error}") from error
    # Without files, transformers 5 makes a tokenizer that knows only its special tokens.
    if not set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens):
        raise AttnvizError(missing)
    return tokenizer


def _from_pretrained(kind: str, name: str | os.PathLike[str]) -> Any:
    """Return what the class `kind` of transformers, if there is none AutoModel, loads from a folder or the hub.

    Raise AttnvizError where that fails.
    """
    try:
        import transformers
    except ImportError as error:
        raise AttnvizError(
            gettext("Models of Hugging Face need the package transformers: pip install transformers")
        ) from error
    classes: Any = transformers
    loader = getattr(classes, kind, classes.AutoModel)
    _check_reads_text(loader)
    try:
        return loader.from_pretrained(str(name))
    except Exception as error:  # the hub's client and damaged files raise nearly any exception
        reason = " ".join(str(error).split())[:200]
        raise AttnvizError(
            gettext("The folder {name} has no model that transformers can load: {reason}", name=name, reason=reason)
            if Path(name).is_dir()
            else gettext(
                "{name} is not a folder on this machine, and it cannot be fetched from Hugging Face: {reason}",
                name=name,
                reason=reason,
            )
        ) from error


def _check_reads_text(model: type) -> None:
    """Raise AttnvizError for a model of speech or images."""
    if (reads := getattr(model, "main_input_name", "input_ids")) != "input_ids":
        raise AttnvizError(
            gettext(
                "{name} reads {input}, such as speech or images. attnviz runs only models that read text. You can "
                "save the weights of this model as an array and open them with attnviz.read_attention.",
                name=model.__name__,
                input=reads,
            )
        )
