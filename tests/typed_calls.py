"""Calls of the public interface with the types that a type checker must find; `python -m tests` checks this file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import assert_type

    import pandas as pd

    from attnviz import Attention, Trace, Translator, read_attention
    from attnviz.trace import TransformerTrace

    assert_type(Translator.load("models/en-fr"), Translator[Trace])
    assert_type(Translator.load("models/en-fr").translate("A house.", beam=1), Trace)
    assert_type(
        Translator[TransformerTrace].load("models/small-transformer").translate("A house.", beam=1), TransformerTrace
    )
    assert_type(Translator.load("models/en-fr").translate("A house.", beam=1).to_frame(), pd.DataFrame)
    assert_type(Translator.load("models/en-fr").translate("A house.", beam=1).links_frame(), pd.DataFrame)
    assert_type(Translator.load("models/en-fr").translate_together(["A house."], beam=1), list[Trace])
    assert_type(read_attention("links.txt")[0], Attention)
