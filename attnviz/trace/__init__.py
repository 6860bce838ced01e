"""Immutable results: one class for each kind of model, holding every number that was computed.

`Trace` records a translation by a recurrent translator, `TransformerTrace` one by a transformer, `Judgement` a
detector's verdict, `Attention` the alignment of another program. Each saves to one JSON file and loads again without
the model and without torch.
`BeamTree` holds a beam search; `WhatIfs` holds a translation with the changes that were tried on it.
"""

from attnviz.trace.aligned import Aligned
from attnviz.trace.aligned import AttentionMatrix as AttentionMatrix
from attnviz.trace.attention_record import Attention, attention
from attnviz.trace.beam_tree import BeamNode, BeamTree
from attnviz.trace.drawing import By as By
from attnviz.trace.drawing import Face as Face
from attnviz.trace.interventions import interventions_at as interventions_at
from attnviz.trace.judgement_record import Judgement
from attnviz.trace.parts import (
    Array as Array,
)
from attnviz.trace.parts import (
    FloatArray,
    Hypothesis,
    IntArray,
    Search,
    Words,
)
from attnviz.trace.parts import (
    Floating as Floating,
)
from attnviz.trace.parts import (
    Indices as Indices,
)
from attnviz.trace.parts import (
    OneLine as OneLine,
)
from attnviz.trace.parts import (
    float64 as float64,
)
from attnviz.trace.record import STORED_CANDIDATES, Record
from attnviz.trace.saved import Computation
from attnviz.trace.tokens import MOST_TOKENS
from attnviz.trace.trace import Trace
from attnviz.trace.transformer_trace import Head as Head
from attnviz.trace.transformer_trace import TransformerTrace
from attnviz.trace.what_ifs import WhatIf, WhatIfs
from attnviz.trace.word_link_text import Link as Link

__all__ = [
    "MOST_TOKENS",
    "STORED_CANDIDATES",
    "Aligned",
    "Attention",
    "BeamNode",
    "BeamTree",
    "Computation",
    "FloatArray",
    "Hypothesis",
    "IntArray",
    "Judgement",
    "Record",
    "Search",
    "Trace",
    "TransformerTrace",
    "WhatIf",
    "WhatIfs",
    "Words",
    "attention",
]
