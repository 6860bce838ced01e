"""What-ifs of the tests, and their links."""

from attnviz import ReplaceWeights
from attnviz.trace import WhatIf
from attnviz.trace.interventions import Intervention
from attnviz.trace.what_ifs import encode_what_ifs


def only(width: int, step: int, source: int) -> ReplaceWeights:
    """Return the intervention that gives one of `width` source pieces all the weight at `step`."""
    return ReplaceWeights(tuple(int(j == source) for j in range(width)), step)


def link(*interventions: Intervention, held: bool = False) -> str:
    """Return the text, in a link, of what-ifs of the first translation."""
    return encode_what_ifs([WhatIf(0, intervention, held) for intervention in interventions])
