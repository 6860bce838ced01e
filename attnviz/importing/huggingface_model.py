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
    """The token ids of one forward pass and its output."""

    ids: Any
    """Ids that the model or its encoder reads, (1, Tx)."""
    mask: Any
    """Attention mask, (1, Tx)."""
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
        return str(getattr(self.model.config, "name_or_path", "") or type(self.model).__name__)[-80:]

    @property
    def has_decoder(self) -> bool:
        """Whether the model has an encoder and a decoder."""
        return bool(getattr(self.model.config, "is_encoder_decoder", False))

    def run(self, text: str, target: str | None, beam: int) -> Run:
        """Return a forward pass with "eager" attention, because faster implementations return no weights.

        An encoder-decoder model writes the `target` by teacher forcing, or generates one. A decoder-only model reads
        the text followed by the target. Raise AttnvizError where the text is blank or too long.
        """
        ids, mask = self._encoded(text)
        self._check_length(ids)
        if not self.has_decoder:
            ids, mask = self._continued(ids, mask, target)
            output = self._output(input_ids=ids, attention_mask=mask)
            return Run(ids, mask, None, output)
        written = self._generated(ids, mask, beam) if target is None else self._forced(target)
        self._check_length(written[:, :-1])
        output = self._output(input_ids=ids, attention_mask=mask, decoder_input_ids=written[:, :-1])
        return Run(ids, mask, written, output)

    def _output(self, **inputs: Any) -> Any:
        import torch

        caches = {"use_cache": False} if self.has_decoder or self.model.can_generate() else {}
        with torch.no_grad():
            return self.model(**inputs, output_attentions=True, output_hidden_states=True, **caches)

    def _encoded(self, text: str) -> tuple[Any, Any]:
        """Return the ids of a text and the attention mask, (1, Tx) each."""
        import torch

        encoded = self.tokenizer(text, return_tensors="pt")
        ids = encoded["input_ids"].to(self.model.device)
        return ids, encoded["attention_mask"].to(ids.device) if "attention_mask" in encoded else torch.ones_like(ids)

    def _continued(self, ids: Any, mask: Any, target: str | None) -> tuple[Any, Any]:
        """Return the ids of a text and the `target` after it, with their mask."""
        import torch

        if target is not None:
            added = self.tokenizer(target, add_special_tokens=False, return_tensors="pt")["input_ids"].to(ids.device)
            ids = torch.cat([ids, added.to(ids.dtype)], dim=1)
            mask = torch.ones_like(ids)
            self._check_length(ids)
        return ids, mask

    def _generated(self, ids: Any, mask: Any, beam: int) -> Any:
        """Return the start token and what the model writes, (1, 1 + Ty)."""
        if self._start is None and self.model.generation_config.bos_token_id is None:
            raise _no_start()
        written = self.model.generate(
            input_ids=ids,
            attention_mask=mask,
            num_beams=beam,
            do_sample=False,
            max_new_tokens=min(_LONGEST, self._most - 1),
            return_dict_in_generate=False,
        )
        if written.shape[1] < 2:
            raise AttnvizError(gettext("The model wrote nothing."))
        return written

    def _forced(self, target: str) -> Any:
        """Return the start token and a given target, (1, 1 + Ty)."""
        import torch

        labels = self.tokenizer(text_target=target, return_tensors="pt")["input_ids"].to(self.model.device)
        if not labels.numel():
            raise AttnvizError(gettext("The target is empty: write a sentence."))
        if self._start is not None:
            return torch.cat([torch.full_like(labels[:, :1], self._start), labels], dim=1)
        try:  # mBART has no start token: the decoder begins with the last label, the language code
            shifted = self.model.prepare_decoder_input_ids_from_labels(labels)
        except (AttributeError, TypeError, ValueError, RuntimeError) as error:
            raise _no_start() from error
        return torch.cat([shifted[:, :1], labels], dim=1)

    @property
    def _start(self) -> int | None:
        """Id of the token with which the decoder begins; None where it is not set."""
        configs = (getattr(self.model, "generation_config", None), self.model.config)
        found: int | None = next(
            (start for one in configs if (start := getattr(one, "decoder_start_token_id", None)) is not None), None
        )
        return found

    @property
    def _most(self) -> int:
        """Largest number of tokens of a side that the model can read and the page can show."""
        return min(MOST_TOKENS, getattr(self.model.config, "max_position_embeddings", None) or MOST_TOKENS)

    def _check_length(self, ids: Any) -> None:
        """Raise AttnvizError where `ids` (1, T) has more tokens than `_most` allows, or none."""
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


def _no_start() -> AttnvizError:
    return AttnvizError(
        gettext(
            "The model has no start token for its decoder. Set model.generation_config.decoder_start_token_id to the "
            "id of this token."
        )
    )


def is_model_folder(path: Any) -> bool:
    """Return whether `path` is a folder that `save_pretrained` of transformers wrote."""
    return isinstance(path, (str, os.PathLike)) and Path(path, "config.json").is_file() and not _is_own(Path(path))


def _is_own(folder: Path) -> bool:
    """Return whether a folder with config.json is a model of this program."""
    return '"model_type"' not in (folder / "config.json").read_text(encoding="utf-8", errors="replace")


def opened(model: Any, tokenizer: Any = None) -> LanguageModel:
    """Return a model with its tokenizer: objects of transformers, or the name of a folder or of a model on the hub.

    Without a tokenizer, the one beside the model's files is loaded. Raise AttnvizError where a model cannot be loaded,
    is no model of transformers, or does not read text.
    """
    if isinstance(model, (str, os.PathLike)):
        model = _loaded_model(str(model))
    if not (hasattr(model, "config") and hasattr(model, "set_attn_implementation")):
        raise AttnvizError(
            gettext(
                "{name} is not a model of Hugging Face’s transformers. Give the model’s folder or its name on the "
                "hub. Tensors of attention are read by attnviz.read_attention.",
                name=type(model).__name__,
            )
        )
    _check_reads_text(type(model))
    if tokenizer is None:
        tokenizer = _loaded_tokenizer(model)
    elif isinstance(tokenizer, (str, os.PathLike)):
        tokenizer = _from_pretrained(_transformers().AutoTokenizer, str(tokenizer))
    if not (callable(tokenizer) and hasattr(tokenizer, "convert_ids_to_tokens")):
        raise AttnvizError(
            gettext("{name} is not a tokenizer. Give the tokenizer of the model.", name=type(tokenizer).__name__)
        )
    return LanguageModel(model, tokenizer)


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


def _transformers() -> Any:
    """Return the module; raise AttnvizError where it is not installed."""
    try:
        import transformers
    except ImportError as error:
        raise AttnvizError(
            gettext("Models of Hugging Face need the package transformers: pip install transformers")
        ) from error
    return transformers


def _loaded_model(name: str) -> Any:
    """Return the model in a folder or on the hub, of the class that wrote it."""
    transformers = _transformers()
    config = _from_pretrained(transformers.AutoConfig, name)
    written_by = getattr(transformers, next(iter(config.architectures or ()), ""), transformers.AutoModel)
    _check_reads_text(written_by)
    return _from_pretrained(written_by, name)


def _loaded_tokenizer(model: Any) -> Any:
    """Return the tokenizer beside the files of a model; raise AttnvizError where there is none."""
    name = str(getattr(model.config, "name_or_path", "") or "")
    if not name:
        raise AttnvizError(
            gettext("{name} comes without a tokenizer. Give the tokenizer of the model.", name=type(model).__name__)
        )
    missing = AttnvizError(gettext("There is no tokenizer at {name}. Give the tokenizer of the model.", name=name))
    try:
        tokenizer = _from_pretrained(_transformers().AutoTokenizer, name)
    except AttnvizError as error:
        raise missing from error
    # Without files, transformers 5 makes a tokenizer that knows only its special tokens.
    if not set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens):
        raise missing
    return tokenizer


def _from_pretrained(kind: Any, name: str) -> Any:
    """Return what `kind` loads from a folder or the hub; raise AttnvizError where that fails."""
    try:
        return kind.from_pretrained(name)
    except Exception as error:  # the hub's client and damaged files raise nearly any exception
        reason = " ".join(str(error).split())[:200]
        if Path(name).is_dir():
            message = gettext(
                "The folder {name} has no model that transformers can load: {reason}", name=name, reason=reason
            )
        else:
            message = gettext(
                "{name} is not a folder on this machine, and it cannot be fetched from Hugging Face: {reason}",
                name=name,
                reason=reason,
            )
        raise AttnvizError(message) from error
