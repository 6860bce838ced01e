"""Links of two programs for one sentence pair: those of both, those of one only, and the error rate between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attnviz.analysis.alignment_error import Link


@dataclass(frozen=True)
class PairAgreement:
    """The links (source word, target word) of two programs for one sentence pair, 0-based."""

    first: frozenset[Link]
    other: frozenset[Link]

    @property
    def shared(self) -> frozenset[Link]:
        """Links of both."""
        return self.first & self.other

    @property
    def only_first(self) -> frozenset[Link]:
        """Links that only the first has."""
        return self.first - self.other

    @property
    def only_other(self) -> frozenset[Link]:
        """Links that only the other has."""
        return self.other - self.first

    @property
    def aer(self) -> float | None:
        """AER of one against the other, 1 - 2 |A n B| / (|A| + |B|); None where there are no links."""
        return error_between([self])


def error_between(pairs: Iterable[PairAgreement]) -> float | None:
    """Return the AER of the links of all pairs together; None where there are no links."""
    counts = [(len(pair.shared), len(pair.first) + len(pair.other)) for pair in pairs]
    shared, size = (sum(count) for count in zip(*counts, strict=True)) if counts else (0, 0)
    return 1 - 2 * shared / size if size else None
