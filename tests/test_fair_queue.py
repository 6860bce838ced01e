"""`FairQueue`: the order, and a bound of the waiting, among clients that ask for more or less."""

from itertools import chain, count, repeat

from hypothesis import given
from hypothesis import strategies as st

from attnviz.fair_queue import FairQueue

COSTS = st.integers(1, 200)


def served(queue: FairQueue[str]) -> str:
    first = next(iter(queue))
    queue.serve(first)
    return first


def test_credit_lets_a_client_go_first_again_but_not_for_ever() -> None:
    def turns(credit: int) -> int:
        """Return how many small items of a client that always has one are served before a large one of another."""
        queue: FairQueue[str] = FairQueue(credit)
        for client in "bcde":
            queue.add(f"large {client}", client, 100)
        for number in count():
            queue.add(f"small {number}", "a", 10)
            if served(queue).startswith("large"):
                return number
        raise AssertionError

    assert turns(0) == 9
    assert turns(50) == 14


@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "drop", "serve"]), st.sampled_from("abcd"), COSTS, st.integers(0, 9)),
        max_size=80,
    ),
    COSTS,
    st.lists(st.lists(st.tuples(st.sampled_from("abcd"), COSTS), max_size=3), max_size=40),
    st.sampled_from([0, 100]),
)
def test_clients_only_item_waits_no_longer_than_with_equal_shares(before, cost, later, credit) -> None:
    queue, costs, numbers = FairQueue[int](credit), dict[int, int](), count(1)

    def add(client: str, size: int) -> None:
        number = next(numbers)
        costs[number] = size
        queue.add(number, client, size)

    for event, client, size, place in before:
        waiting = [*queue]
        if event == "add":
            add(client, size)
        elif event == "drop" and waiting:
            queue.drop(waiting[place % len(waiting)])
        elif waiting:
            queue.serve(waiting[0])
    costs[0] = cost
    queue.add(0, "only", cost)
    work = 0
    for new in chain(later, repeat([])):
        first = next(iter(queue))
        queue.serve(first)
        work += costs[first]
        if first == 0:
            break
        for client, size in new:
            add(client, size)
    assert work <= 5 * cost + 4 * credit + max(costs.values())


@given(st.lists(st.tuples(st.sampled_from("abc"), COSTS), min_size=1))
def test_dropped_items_leave_no_trace(items) -> None:
    queue: FairQueue[int] = FairQueue()
    for number, (client, size) in enumerate(items):
        queue.add(number, client, size)
    for number in reversed(range(len(items))):
        queue.drop(number)
    for client in "cab":
        queue.add(ord(client), client, 1)
    assert [*queue] == [*map(ord, "cab")]
