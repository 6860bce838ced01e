"""The tiny model of `transformers` among the example files: `python -m tests.documentation.small_model` writes it."""

from __future__ import annotations

from pathlib import Path

import tokenizers
import torch
import transformers

from tests.documentation.pages import SMALL_MODEL

_PIECES = ("<pad>", "</s>", "<unk>", "▁The", "▁green", "▁house", "▁La", "▁maison", "▁verte", ".")


def write_small_model(folder: Path) -> None:
    """Write an encoder-decoder model with random weights, and its tokenizer."""
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({piece: i for i, piece in enumerate(_PIECES)}, "<unk>"))
    splits = [tokenizers.pre_tokenizers.Metaspace(), tokenizers.pre_tokenizers.Punctuation()]
    words.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(splits)
    words.post_processor = tokenizers.processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.T5Config(
        vocab_size=len(_PIECES), d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)


if __name__ == "__main__":
    write_small_model(SMALL_MODEL)
