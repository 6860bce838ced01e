"""Synthetic traces of random numbers that obey the equations, and beam search trees with numbers easy to check."""

import numpy as np

from attnviz import Trace
from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.attention_kinds import HALVING_KINDS
from attnviz.text import EOS, SPACE
from attnviz.trace import BeamNode, BeamTree, Hypothesis, Search

N, ALIGNMENT, MAXOUT, KEPT, FEATURES = 8, 6, 5, 12, 3


def pieces(text: str) -> tuple[str, ...]:
    """Return one piece for each blank-separated word, words of more than six letters cut in two."""
    found: list[str] = []
    for word in text.split(" "):
        found += [SPACE + word[:4], word[4:]] if len(word) > 6 else [SPACE + word]
    return (*found, "</s>")


def trace(
    source: str = "The agreement was signed .",
    target: str = "L' accord a été signé .",
    *,
    attention: str = "additive",
    seed: int = 0,
    hidden: int = N,
) -> Trace:
    """Return a trace of these words: alpha is the softmax of its energies, contexts its sums, gates make the states.

    `attention` is any of ATTENTION_KINDS, or a user's own kind without features.
    """
    rng = np.random.default_rng(seed)
    columns, rows = pieces(source), pieces(target)
    tx, ty, n = len(columns), len(rows), hidden

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    annotations = np.tanh(normal(tx, n if attention in HALVING_KINDS else 2 * n))
    energies = normal(ty, tx) * 2
    diagonal = np.minimum(np.arange(ty) * tx // ty, tx - 1)
    energies[np.arange(ty), diagonal] += 4
    if attention == "none":
        energies = np.full((ty, tx), -np.inf, dtype=np.float32)
        energies[:, -1] = 0
    alignment = np.exp(energies - energies.max(axis=1, keepdims=True))
    alignment /= alignment.sum(axis=1, keepdims=True)
    initial, gates, candidates = np.tanh(normal(n)), 1 / (1 + np.exp(-normal(ty, n))), np.tanh(normal(ty, n))
    states = np.zeros((ty, n), dtype=np.float32)
    before = initial
    for i in range(ty):
        before = states[i] = (1 - gates[i]) * candidates[i] + gates[i] * before
    weights = dict(scorer_of({"attention": attention}).shapes)
    weighted = "score" in weights  # then energies are sums of ALIGNMENT units, else of n products
    width = 0 if attention == "none" else ALIGNMENT if weighted else n
    top = np.sort(rng.dirichlet(np.ones(KEPT + 1), size=ty).astype(np.float32)[:, :KEPT])[:, ::-1].copy()
    count = FEATURES if "feature.weight" in weights else 0
    features = {"features": normal(ty, tx, count), "feature_weight": normal(width, count)}
    ids = np.tile(np.arange(4, 4 + KEPT, dtype=np.int32), (ty, 1))
    return Trace(
        source_text=source,
        translation=target,
        source_pieces=columns,
        target_pieces=rows,
        source_ids=tuple(range(4, 4 + tx)),
        target_ids=(4,) * ty,
        source_surfaces=columns,
        unknown_characters=(),
        annotations=annotations,
        initial_states=initial[None],
        initial_memories=initial[None][:0],
        keys=normal(tx, width),
        queries=normal(ty, width),
        score_vector=normal(width if weighted else 0),
        energies=energies,
        alignment=alignment,
        contexts=np.repeat(annotations[None, -1, :n], ty, axis=0) if attention == "none" else alignment @ annotations,
        gates=np.stack([1 / (1 + np.exp(-normal(ty, n))), gates, candidates], axis=1)[:, None],
        memories=states[:, None][:, :0],
        layer_states=states[:, None],
        readouts=normal(ty, MAXOUT),
        log_probabilities=np.log(top[:, 0]),
        top_ids=ids,
        top_probabilities=top,
        top_pieces=tuple((piece, *(f"{SPACE}mot{k}" for k in range(1, KEPT))) for piece in rows),
        search=Search("greedy"),
        score=float(np.log(top[:, 0]).sum()),
        hypotheses=(Hypothesis(target, -1.0),),
        config={"attention": attention, "readout_state": "previous", "hidden_size": n, "vocabulary_size": 40},
        model="synthetic",
        weights_digest="",
        device="cpu",
        seconds=0.01,
        **features,
    )


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
