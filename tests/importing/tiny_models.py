"""Tiny models of transformers with random weights, and tokenizers of a dozen words."""

from collections.abc import Sequence
from typing import Any

import tokenizers
import torch
import transformers
from tokenizers.processors import TemplateProcessing

WORDS = ("<pad>", "<unk>", "</s>", "▁the", "▁gre", "en", "▁house", "▁la", "▁maison", "▁ver", "te", "fr_XX", "<mask>")
TEXT, TARGET = "▁the ▁gre en ▁house", "▁la ▁maison ▁ver te"
SEQ2SEQ = ("t5", "bart", "marian", "m2m_100", "mbart")
DECODERS = ("gpt2", "llama")
LAYERS, HEADS = 2, 2

CODES = ("eng_Latn", "fra_Latn", "__en__", "__fr__", "en_XX", "fr_XX")
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "[CLS]", "[SEP]", *CODES)
PLAIN = ("the", "green", "house", "la", "maison", "verte")
FRAMES = {
    "marian": ("$A </s>", "$A </s>"),
    "bart": ("<s> $A </s>", "<s> $A </s>"),
    "nllb": ("eng_Latn $A </s>", "fra_Latn $A </s>"),
    "m2m_100": ("__en__ $A </s>", "__fr__ $A </s>"),
    "mbart": ("$A </s> en_XX", "$A </s> fr_XX"),
    "bert2bert": ("[CLS] $A [SEP]", "[CLS] $A [SEP]"),
}
"""What stands before and after a source and a target sentence, by the tokenizer of each kind."""


def _word_level(names: Sequence[str]) -> Any:
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel({name: n for n, name in enumerate(names)}, "<unk>"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return plain


def tiny_tokenizer(end: bool = True, words: Sequence[str] = WORDS[3:]) -> Any:
    """Return a tokenizer of blank-separated pieces with ids from 3 on, which ends a text with `</s>` if `end`."""
    names = (*WORDS[:3], *words)
    plain = _word_level(names)
    if end:
        plain.post_processor = TemplateProcessing("$A </s>", special_tokens=[("</s>", 2)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        unk_token="<unk>",
        eos_token="</s>",
        **({"mask_token": "<mask>", "additional_special_tokens": ["fr_XX"]} if "<mask>" in names else {}),
    )


class Framing(transformers.PreTrainedTokenizerFast):
    """A tokenizer whose targets have another frame than its sources."""

    frames: tuple[str, str] = ("$A", "$A")

    def _frame(self, text: str) -> None:
        special = [(one, SPECIAL.index(one)) for one in SPECIAL]
        self._tokenizer.post_processor = TemplateProcessing(text, special_tokens=special)

    def _switch_to_input_mode(self) -> None:
        self._frame(self.frames[0])

    def _switch_to_target_mode(self) -> None:
        self._frame(self.frames[1])


def tiny_model(kind: str, **changes: Any) -> Any:
    """Return a model of this kind with two layers of two heads, whose weights are random but large."""
    torch.manual_seed(3)
    common = {"vocab_size": len(WORDS), "pad_token_id": 0, "eos_token_id": 2}
    # The position embeddings of M2M-100 do not count padding, so its decoder must not begin with this token.
    pair = common | {"decoder_start_token_id": 2 if kind in ("m2m_100", "mbart") else 0, "d_model": 16} | changes
    sides = {
        f"{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", 32))
    }
    wide = {"max_position_embeddings": 48, "forced_eos_token_id": None, "init_std": 1.0, **sides}
    wide |= {} if "bos_token_id" in changes else {"bos_token_id": None}
    small = {"hidden_size": 16, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 32}
    large = {"initializer_range": 1.0, "bos_token_id": 2}
    models = {
        "t5": lambda: transformers.T5ForConditionalGeneration(
            transformers.T5Config(d_kv=8, d_ff=32, num_layers=LAYERS, num_heads=HEADS, **pair)
        ),
        "bart": lambda: transformers.BartForConditionalGeneration(transformers.BartConfig(**wide, **pair)),
        "marian": lambda: transformers.MarianMTModel(
            transformers.MarianConfig(scale_embedding=True, **wide | {"forced_eos_token_id": 2}, **pair)
        ),
        "m2m_100": lambda: transformers.M2M100ForConditionalGeneration(
            transformers.M2M100Config(scale_embedding=True, **wide, **pair)
        ),
        "mbart": lambda: transformers.MBartForConditionalGeneration(
            transformers.MBartConfig(scale_embedding=True, **wide, **pair)
        ),
        "gpt2": lambda: transformers.GPT2LMHeadModel(
            transformers.GPT2Config(n_embd=16, n_layer=LAYERS, n_head=HEADS, n_positions=48, **large, **common)
        ),
        "llama": lambda: transformers.LlamaForCausalLM(
            transformers.LlamaConfig(num_key_value_heads=1, **large, **small, **common)
        ),
        "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(initializer_range=1.0, **small, **common)),
    }
    return models[kind]().eval()


def tiny_translator(kind: str) -> tuple[Any, Any]:
    """Return a random translator of this kind, and a tokenizer with the special tokens of the published models."""
    names = (*SPECIAL, *PLAIN)
    begin, end = ("[CLS]", "[SEP]") if kind == "bert2bert" else ("<s>", "</s>")
    tokenizer = Framing(
        tokenizer_object=_word_level(names),
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token=begin,
        eos_token=end,
        additional_special_tokens=[*CODES],
    )
    tokenizer.frames = FRAMES[kind]
    tokenizer._switch_to_input_mode()
    shared = {
        "vocab_size": len(names),
        "pad_token_id": 0,
        "eos_token_id": names.index(end),
        "bos_token_id": names.index(begin),
    }
    if kind != "bert2bert":
        changes = shared | {"decoder_start_token_id": names.index(end)}
        return tiny_model("m2m_100" if kind == "nllb" else kind, **changes), tokenizer
    torch.manual_seed(5)
    small = {"hidden_size": 16, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 16}
    encoder, decoder = (transformers.BertConfig(initializer_range=1.0, **small, **shared) for _ in range(2))
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.decoder_start_token_id, config.pad_token_id = names.index(begin), 0
    return transformers.EncoderDecoderModel(config).eval(), tokenizer
