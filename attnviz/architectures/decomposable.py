"""Declaration of decomposable attention, which classifies whether one sentence translates another and has no steps."""

from __future__ import annotations

from attnviz.analysis.decomposable_verification import JudgementVerifier, check_judgement_fit
from attnviz.architectures.declaration import Architecture
from attnviz.trace import Judgement

DECOMPOSABLE = Architecture("decomposable", Judgement, JudgementVerifier, check_judgement_fit)
