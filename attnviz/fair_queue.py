"""Weighted fair queueing with equal weights: clients share a server equally, however much each of them asks for.

A. Demers, S. Keshav, S. Shenker, "Analysis and simulation of a fair queueing algorithm", SIGCOMM 1989.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

_Item = TypeVar("_Item", bound=Hashable)


class FairQueue(Generic[_Item]):
    """Queue of items, in the order in which a server that serves all clients at once would finish them.

    The virtual time is what that server has done so far for each client that it has not finished with. It advances with
    every item, so each has its turn. With n clients, a client's only item, of cost c, is done after items of cost n c,
    at most one more, and the credit of the others. The queue is not thread-safe.
    """

    def __init__(self, credit: float = 0.0) -> None:
        """Let clients be ahead of their share by a `credit` of costs: the next small item need not wait for others."""
        self._credit = credit
        self._due: dict[_Item, float] = {}
        """Virtual time at which each item is finished, less the credit that its client uses for it."""
        self._costs: dict[_Item, tuple[Hashable, float]] = {}
        """Client and cost of each item."""
        self._time = 0.0
        self._finish: dict[Hashable, float] = {}
        """Virtual time at which all items of a client are finished."""

    def __iter__(self) -> Iterator[_Item]:
        """Yield the waiting items in order; those due at the same time in the order of arrival."""
        yield from sorted(self._due, key=self._due.__getitem__)

    def add(self, item: _Item, client: Hashable, cost: float) -> None:
        """Add an item of a client; `cost` is positive, in any unit."""
        finish = self._finish[client] = max(self._time, self._finish.get(client, 0.0)) + cost
        self._due[item] = max(self._time + cost, finish - self._credit)
        self._costs[item] = client, cost

    def serve(self, item: _Item) -> None:
        """Remove an item because the server does it now."""
        _, work = self._costs.pop(item)
        del self._due[item]
        while unfinished := {client: finish for client, finish in self._finish.items() if finish > self._time}:
            self._finish = unfinished
            share, left = work / len(unfinished), min(unfinished.values()) - self._time
            if share < left:
                self._time += share
                return
            self._time = min(unfinished.values())
            work -= left * len(unfinished)
        self._finish = {}

    def drop(self, item: _Item) -> None:
        """Remove an item that the server need not do; its client gets the cost back."""
        client, cost = self._costs.pop(item)
        del self._due[item]
        if client in self._finish:
            self._finish[client] -= cost
