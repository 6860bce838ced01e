"""One verification badge for a step in several models, which *To the transformer* shows below their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attnviz.analysis.fit import MisfitError
from attnviz.analysis.verification import Verification
from attnviz.architectures import verifier_of
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.trace import Record
from attnviz.ui.resources import weights_of
from attnviz.ui.shared_payloads import Maker, PayloadRequest, UnknownPayloadError, address, shown_trace
from attnviz.ui.step.verification_badge import verification, verification_rows
from attnviz.ui.view import View
from attnviz.wording.parallel_translations import combined_badge_text, misfit_sentence
from attnviz.wording.verification import discrepancy_text, verification_caption


def models_badge(view: View, traces: Iterable[Any], theme: ThemeName, name: str = "verification") -> None:
    """Draw one verification badge for the current step of `traces`; `name` is unique in the view."""
    parts = ".".join(trace.fingerprint for trace in traces if weights_of(trace) is not None)
    if parts:
        verification(view, address(view.trace, "models-verification", theme, every=False, part=parts), name)


def _verification_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the checks of a step in every model; for shorter translations, of their last step."""
    step, *others = request.steps
    traces = [shown_trace(fingerprint) for fingerprint in request.part.split(".")]
    if others or any(trace is None for trace in traces):
        raise UnknownPayloadError("models-verification")
    verified: list[tuple[Record, int, Verification]] = []
    for trace in traces:
        weights, trace_step = weights_of(trace), min(step, len(trace.target_pieces) - 1)
        if weights is None:
            raise UnknownPayloadError("models-verification")
        try:
            verified.append((trace, trace_step, verifier_of(trace, weights).verify(trace_step)))
        except MisfitError:
            return {
                "holds": False,
                "summary": misfit_sentence(trace),
                "wrong": [],
                "about": "",
                "names": [],
                "rows": [],
            }
    return {
        "holds": all(result.holds for _, _, result in verified),
        "summary": combined_badge_text([result for _, _, result in verified], step),
        "about": verification_caption(),
        "wrong": [
            f"{trace.model}: {discrepancy_text(trace, discrepancy, trace_step)}"
            for trace, trace_step, result in verified
            for discrepancy in result.discrepancies
        ],
        "names": [gettext("quantity"), gettext("numbers"), "max |Δ|", ""],
        "rows": [
            (f"{trace.model}: {name}", *rest)
            for trace, _, result in verified
            for name, *rest in verification_rows(result)
        ],
    }


MAKERS: Mapping[str, Maker] = {"models-verification": _verification_payload}
"""By the payload names in addresses."""
