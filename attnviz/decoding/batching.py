"""Group sentences into batches of similar length."""

from __future__ import annotations

from collections.abc import Sequence


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return the indices of the sentences of each batch, of similar `lengths` in pieces, longest first.

    A batch has at most `most` pieces, padding included; a longer sentence is a batch of its own.
    """
    found: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if found and (len(found[-1]) + 1) * lengths[place] <= most:
            found[-1].append(place)
        else:
            found.append([place])
    return [batch[::-1] for batch in found]
