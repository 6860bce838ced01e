"""Draw the verification badge of a step: whether recomputation confirms its numbers in each model, and which not.

The browser requests the current step only; other steps are not verified.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.analysis.labels import power_of_ten
from attnviz.analysis.models_side_by_side import combined_badge_text
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
from attnviz.languages import format_number, gettext
from attnviz.lru_cache import LRUCache
from attnviz.ui.blocks import component, plain_text
from attnviz.ui.embedding import embedding
from attnviz.ui.payloads import Payload, PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import bytes_of, weights_digest_of, weights_of
from attnviz.ui.selection import POSTERIOR_OPEN
from attnviz.ui.view import View

_VERIFIERS: LRUCache[Verifier] = LRUCache(12 << 20, size=lambda verifier: 2 * bytes_of(verifier.trace))
"""LRU cache of verifiers of all visitors: each holds its trace and, at most as large, values shared by all steps."""


def verification(view: View, traces: Sequence[Any], name: str = "verification", query: str = "") -> None:
    """Draw one badge for the current step of `traces` in `view`, or why a single one has none.

    `name` is unique in the view, and `query` is that of `address`. Of several, those of other models are left out.
    """
    if verifiable := [trace for trace in traces if weights_of(trace) is not None]:
        shown: dict[str, Any] = {"traces": verifiable} if len(traces) > 1 else {}
        at = address(view.trace if shown else traces[0], "verification", query, every=False, **shown)
        component("verification_badge", view.key(name), {"at": at, "prefetch": view.steps})
    elif len(traces) == 1:
        plain_text(not_verified_text(traces[0]))


def verification_badge(view: View) -> None:
    """Draw the badge of the current step: green, or red with the name of a wrong quantity; it opens on the checks.

    Posterior attention α′ is only verified where it is shown, since that takes all steps.
    """
    # The posterior of all steps would take a minute to verify, where a view embeds all its payloads.
    options = f"&options={{face}}.{{{POSTERIOR_OPEN}}}" if embedding() is None else ""
    verification(view, [view.trace], query=f"word={{word}}{options}")


@makes_payload("verification", of_step=True)
def verification_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the badge and the checks of a step in every model; of shorter translations, the last step.

    Raise UnknownPayloadError where a model is not installed.
    """
    traces = request.shown.get("traces", (request.trace,))
    several = len(traces) > 1
    words = () if request.word is None else (request.word,)
    shows_posterior = bool({*request.options} - {"", "before", "0"})  # see `verification_badge`
    checked, rows, wrong = list[Verification](), list[tuple[str, ...]](), list[str]()
    for trace in traces:
        step, model = min(request.step, len(trace.target_pieces) - 1), f"{trace.model}: " if several else ""
        try:
            checks = _verifier(trace).verify(step, words, with_heatmap_posterior=shows_posterior)
        except MisfitError:  # the trace was altered, or made by another model
            return badge_payload(misfit_text(trace, step), holds=False)
        checked.append(checks)
        rows += [(model + quantity, *rest) for quantity, *rest in verification_rows(checks)]
        wrong += [model + discrepancy_text(trace, one, step) for one in checks.discrepancies]
    summary = combined_badge_text(checked, request.step) if several else badge_text(checked[0], request.step)
    return badge_payload(summary, rows, wrong, holds=not wrong)


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
            format_number(check.numbers),
            power_of_ten(check.largest_difference),
            "✗" if check.discrepancy else "✓",
        )
        for check in verification.checks
    ]


def _verifier(trace: Any) -> Verifier:
    """Return the verifier of a translation, cached for all its steps and visitors.

    The fingerprint in the key covers every number, so that an altered trace has its own verifier.
    """
    if (weights := weights_of(trace)) is None:
        raise UnknownPayloadError("verification")
    return _VERIFIERS.get((trace.fingerprint, weights_digest_of(trace)), lambda: verifier_of(trace, weights))
