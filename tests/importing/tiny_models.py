"""Tiny models of transformers with random weights, and a tokenizer of a dozen words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tokenizers
import torch
import transformers

WORDS = ("<pad>", "<unk>", "</s>", "▁the", "▁gre", "en", "▁house", "▁la", "▁maison", "▁ver", "te", "fr_XX", "<mask>")
TEXT, TARGET = "▁the ▁gre en ▁house", "▁la ▁maison ▁ver te"
SEQ2SEQ = ("t5", "bart", "marian", "m2m_100", "mbart")
DECODERS = ("gpt2", "llama")
LAYERS, HEADS = 2, 2


def tiny_tokenizer(end: bool = True) -> Any:
    """Return a tokenizer of blank-separated pieces, which ends a text with `</s>` if `end`."""
    return word_tokenizer(WORDS[3:], end)


def word_tokenizer(words: Sequence[str], end: bool = True) -> Any:
    """Return a tokenizer of these words, which have the ids from 3 on."""
    names = (*WORDS[:3], *words)
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: i for i, word in enumerate(names)}, "<unk>"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    if end:
        plain.post_processor = tokenizers.processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 2)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        unk_token="<unk>",
        eos_token="</s>",
        **({"mask_token": "<mask>", "additional_special_tokens": ["fr_XX"]} if "<mask>" in names else {}),
    )


def tiny_model(kind: str) -> Any:
    """Return a model of this kind with two layers of two heads, whose weights are random but large."""
    torch.manual_seed(3)
    common = {"vocab_size": len(WORDS), "pad_token_id": 0, "eos_token_id": 2}
    # The position embeddings of M2M-100 do not count padding, so its decoder must not begin with this token.
    pair = common | {"decoder_start_token_id": 2 if kind in ("m2m_100", "mbart") else 0, "d_model": 16}
    sides = {
        f"{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", 32))
    }
    wide = {"max_position_embeddings": 48, "bos_token_id": None, "forced_eos_token_id": None, "init_std": 1.0, **sides}
    small = {"hidden_size": 16, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 32}
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
            transformers.GPT2Config(
                n_embd=16, n_layer=LAYERS, n_head=HEADS, n_positions=48, initializer_range=1.0, bos_token_id=2, **common
            )
        ),
        "llama": lambda: transformers.LlamaForCausalLM(
            transformers.LlamaConfig(num_key_value_heads=1, initializer_range=1.0, bos_token_id=2, **small, **common)
        ),
        "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(initializer_range=1.0, **small, **common)),
    }
    return models[kind]().eval()
