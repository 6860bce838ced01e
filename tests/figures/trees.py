"""Beam search trees built by hand, with numbers that are easy to check."""

from attnviz.text import EOS
from attnviz.trace import BeamNode, BeamTree, Hypothesis

CHAT, ASSIS, NOIR = 10, 11, 12


def small(length_penalty: float = 1.0) -> BeamTree:
    """Return a search of width 2 that finished "le" with log p = -2 and "le chat noir" with -3.

    The longer has the higher score, -3 / 4, the shorter the higher log p; "chat" was pruned at once, "un" a step later,
    and "le assis" was unfinished.
    """

    def node(parent: int | None, step: int, piece: str, total: float, rank: int, fate: str) -> BeamNode:
        ids = {"\u2581le": 8, "\u2581un": 9, "\u2581chat": CHAT, "\u2581assis": ASSIS, "\u2581noir": NOIR, "</s>": EOS}
        before = 0.0 if parent is None else nodes[parent].total
        return BeamNode(parent, step, ids[piece], piece, total - before, total, rank, fate)  # type: ignore[arg-type]

    nodes: list[BeamNode] = []
    for parent, step, piece, total, rank, fate in (
        (None, 0, "\u2581le", -0.5, 0, "continued"),
        (None, 0, "\u2581un", -1.0, 1, "overtaken"),
        (None, 0, "\u2581chat", -4.0, 2, "outside"),
        (0, 1, "\u2581chat", -1.0, 0, "continued"),
        (0, 1, "</s>", -2.0, 1, "finished"),
        (0, 1, "\u2581assis", -2.25, 2, "continued"),
        (1, 1, "\u2581chat", -5.0, 3, "outside"),
        (3, 2, "\u2581noir", -2.0, 0, "continued"),
        (5, 2, "\u2581noir", -3.5, 1, "continued"),
        (3, 2, "\u2581un", -6.0, 2, "outside"),
        (7, 3, "</s>", -3.0, 0, "finished"),
        (8, 3, "\u2581assis", -4.5, 1, "pruned"),
        (8, 3, "</s>", -5.0, 2, "outside"),
    ):
        nodes.append(node(parent, step, piece, total, rank, fate))
    found = sorted([("le", -2.0, 2), ("le chat noir", -3.0, 4)], key=lambda one: -one[1] / one[2] ** length_penalty)
    return BeamTree(
        source_text="the black cat",
        nodes=tuple(nodes),
        beam=2,
        length_penalty=length_penalty,
        model="small",
        weights_digest="",
        hypotheses=tuple(Hypothesis(text, p / size**length_penalty) for text, p, size in found),
    )
