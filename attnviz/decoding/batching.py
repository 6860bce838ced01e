"""Group sentences into batches of similar length."""

from __future__ import annotations

from collections.abc import Sequence


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return the indices of the sentences of each batch, of similar `lengths` in pieces, longest first.

    A batch has at most `most` pieces, padding included; a longer sentence is a batch of its own.
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups and (len(groups[-1]) + 1) * lengths[index] <= most:
            groups[-1].append(index)
        else:
            groups.append([index])
    return [batch[::-1] for batch in groups]
