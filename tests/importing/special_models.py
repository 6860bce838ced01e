"""Tiny random translators of transformers whose tokenizers add special tokens as those of the published models do."""

from __future__ import annotations

from typing import Any

import tokenizers
import torch
import transformers
from tokenizers.processors import TemplateProcessing

WORDS = ("the", "green", "house", "la", "maison", "verte")
SPECIAL = (
    "<pad>",
    "<unk>",
    "<s>",
    "</s>",
    "[CLS]",
    "[SEP]",
    "eng_Latn",
    "fra_Latn",
    "__en__",
    "__fr__",
    "en_XX",
    "fr_XX",
)
FRAMES = {
    "marian": ("$A </s>", "$A </s>"),
    "bart": ("<s> $A </s>", "<s> $A </s>"),
    "nllb": ("eng_Latn $A </s>", "fra_Latn $A </s>"),
    "m2m_100": ("__en__ $A </s>", "__fr__ $A </s>"),
    "mbart": ("$A </s> en_XX", "$A </s> fr_XX"),
    "bert2bert": ("[CLS] $A [SEP]", "[CLS] $A [SEP]"),
}
"""What stands before and after a source and a target sentence, by the tokenizer of each kind."""


class Tokenizer(transformers.PreTrainedTokenizerFast):
    """A tokenizer whose targets have another frame than its sources."""

    frames: tuple[str, str] = ("$A", "$A")

    def _switch_to_input_mode(self) -> None:
        self._tokenizer.post_processor = _frame(self.frames[0])

    def _switch_to_target_mode(self) -> None:
        self._tokenizer.post_processor = _frame(self.frames[1])


def _frame(text: str) -> Any:
    names = (*SPECIAL, *WORDS)
    return TemplateProcessing(text, special_tokens=[(one, names.index(one)) for one in SPECIAL])


def tiny_translator(kind: str) -> tuple[Any, Any, set[str]]:
    """Return a random model of this kind, its tokenizer, and the tokens that are no words."""
    names = (*SPECIAL, *WORDS)
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel({name: n for n, name in enumerate(names)}, "<unk>"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    begin, end = ("[CLS]", "[SEP]") if kind == "bert2bert" else ("<s>", "</s>")
    codes = [name for name in SPECIAL if "_" in name]
    tokenizer = Tokenizer(
        tokenizer_object=plain,
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token=begin,
        eos_token=end,
        additional_special_tokens=codes,
    )
    tokenizer.frames = FRAMES[kind]
    tokenizer._switch_to_input_mode()
    torch.manual_seed(5)
    shared = {
        "vocab_size": len(names),
        "pad_token_id": 0,
        "eos_token_id": names.index(end),
        "bos_token_id": names.index(begin),
    }
    sides = {
        f"{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 16))
    }
    wide = {
        "d_model": 16,
        "max_position_embeddings": 32,
        "init_std": 1.0,
        "decoder_start_token_id": names.index(end),
        **sides,
    }
    classes = {
        "marian": (transformers.MarianMTModel, transformers.MarianConfig),
        "bart": (transformers.BartForConditionalGeneration, transformers.BartConfig),
        "nllb": (transformers.M2M100ForConditionalGeneration, transformers.M2M100Config),
        "m2m_100": (transformers.M2M100ForConditionalGeneration, transformers.M2M100Config),
        "mbart": (transformers.MBartForConditionalGeneration, transformers.MBartConfig),
    }
    if kind in classes:
        model, config = classes[kind]
        return model(config(**shared, **wide)).eval(), tokenizer, {*SPECIAL} - {"<unk>"}
    bert = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "initializer_range": 1.0,
        "max_position_embeddings": 32,
    }
    encoder, decoder = (transformers.BertConfig(**bert, **shared) for _ in range(2))
    joined = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    joined.decoder_start_token_id, joined.pad_token_id = names.index(begin), 0
    return transformers.EncoderDecoderModel(joined).eval(), tokenizer, {*SPECIAL} - {"<unk>"}
