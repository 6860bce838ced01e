"""Draw the verification badge of a step: whether recomputation confirms all its numbers, and which it does not.

The browser requests the current step only; other steps are not verified.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.analysis.numbers import power_of_ten, thousands
from attnviz.analysis.verification import (
    Verification,
    Verifier,
    badge_text,
    discrepancy_text,
    misfit_text,
    not_verified_text,
    quantity_names,
    verification_caption,
)
from attnviz.analysis.weight_shapes import MisfitError
from attnviz.architectures import verifier_of
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache
from attnviz.ui.components.component import component, plain_text
from attnviz.ui.embedding import embedding
from attnviz.ui.page_state.selection import POSTERIOR_OPEN
from attnviz.ui.payloads import Payload, PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import bytes_of, weights_digest_of, weights_of
from attnviz.ui.view import View

_VERIFIERS: LRUCache[Verifier] = LRUCache(12 << 20, size=lambda verifier: 2 * bytes_of(verifier.trace))
"""LRU cache of verifiers of all visitors: each holds its trace and, at most as large, values shared by all steps."""


def verification(view: View, data: Mapping[str, Any], name: str = "verification") -> None:
    """Draw a badge from its payload, or of the current step from `{"at": address}`; `name` is unique in the view."""
    component("verification_badge", view.key(name), {**data, "steps": view.steps})


def trace_verification(view: View, trace: Any, name: str = "verification", **parameters: Any) -> None:
    """Draw the badge of the current step of `trace`, or why it has none; `parameters` are those of `address`."""
    if weights_of(trace) is None:
        plain_text(not_verified_text(trace))
    else:
        verification(view, {"at": address(trace, "verification", every=False, **parameters)}, name)


def verification_badge(view: View) -> None:
    """Draw the badge of the current step: green, or red with the name of a wrong quantity; it opens on the checks.

    Posterior attention α′ is only verified where it is shown, since that takes all steps.
    """
    # The posterior of all steps would take a minute to verify, where a view embeds all its payloads.
    options = f"&options={{face}}.{{{POSTERIOR_OPEN}}}" if embedding() is None else ""
    trace_verification(view, view.trace, query=f"word={{word}}{options}")


@makes_payload("verification", of_step=True)
def verification_payload(request: PayloadRequest) -> Payload:
    """Return the payload of a step's badge and checks; raise UnknownPayloadError where the model is not installed."""
    trace, step = request.trace, request.step
    if request.weights is None:
        raise UnknownPayloadError("verification")
    shows_posterior = bool({*request.options} - {"", "before", "0"})  # see `verification_badge`
    try:
        checks = verifier_for(request).verify(
            step, () if request.word is None else (request.word,), with_heatmap_posterior=shows_posterior
        )
    except MisfitError:  # the trace was altered, or made by another model
        return badge_payload(misfit_text(trace, step), holds=False)
    wrong = [discrepancy_text(trace, one, step) for one in checks.discrepancies]
    return badge_payload(badge_text(checks, step), verification_rows(checks), wrong, holds=checks.holds)


def badge_payload(
    summary: str, rows: Sequence[Sequence[str]] = (), wrong: Sequence[str] = (), *, holds: bool
) -> Payload:
    """Return the payload of a badge: its text, whether all `holds`, the checks as `rows`, and what is `wrong`."""
    return {
        "holds": holds,
        "summary": summary,
        "about": verification_caption() if rows else "",
        "wrong": list(wrong),
        "names": [gettext("quantity"), gettext("numbers"), "max |Δ|", ""] if rows else [],
        "rows": list(rows),
    }


def verification_rows(
    verification: Verification, names: Mapping[str, str] | None = None
) -> list[tuple[str, str, str, str]]:
    """Return the rows of the checks: name of the quantity, how many numbers, largest difference, and ✓ or ✗.

    `names` replaces the usual names of the quantities.
    """
    names = names or quantity_names()
    return [
        (
            names[check.quantity],
            thousands(check.numbers),
            power_of_ten(check.largest_difference),
            "✗" if check.discrepancy else "✓",
        )
        for check in verification.checks
    ]


def verifier_for(request: PayloadRequest) -> Verifier:
    """Return the verifier of a translation, cached for all its steps and visitors.

    The fingerprint in the key covers every number, so that an altered trace has its own verifier.
    """
    trace, weights = request.trace, request.weights
    assert weights is not None
    return _VERIFIERS.get((trace.fingerprint, weights_digest_of(trace)), lambda: verifier_of(trace, weights))
