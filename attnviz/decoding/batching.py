"""Which sentences are computed together."""

from __future__ import annotations

from collections.abc import Sequence


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return the places of sentences that go together: like `lengths`, in pieces, and at most `most` pieces a batch,
    padding included; the longest of a batch comes first. A longer sentence is a batch by itself."""
    found: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if found and (len(found[-1]) + 1) * lengths[place] <= most:
            found[-1].append(place)
        else:
            found.append([place])
    return [batch[::-1] for batch in found]
