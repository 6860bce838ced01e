"""`Detector`: a loaded model that tells whether one sentence translates another, and records how."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from attnviz.checkpoint import load_detector
from attnviz.decoding import batches, padded, sentence_ids, target_ids
from attnviz.devices import resolve_device
from attnviz.errors import locate_errors
from attnviz.installed_models import find_model
from attnviz.model_folder import weights_digest
from attnviz.network.decomposable import Decomposable, DecomposableOutput
from attnviz.text import Tokenizer
from attnviz.trace import FloatArray, Judgement

_Pair = tuple[str, str]
"""A source and a target sentence."""
_BATCH_PIECES = 4000
"""Pieces of one side in a batch, padding included."""


class Detector:
    """A decomposable-attention network with its tokenizer. It has no mutable state, so threads may share one."""

    def __init__(
        self, network: Decomposable, tokenizer: Tokenizer, name: str = "unnamed", weights_digest: str = ""
    ) -> None:
        """Take a network in evaluation mode, on its device; its weights must not change afterwards.

        Args:
            network: The network.
            tokenizer: Its tokenizer.
            name: Name of the model in every judgement.
            weights_digest: SHA-256 of the weights file, which goes into every judgement.
        """
        self.network, self.tokenizer, self.name, self.weights_digest = network, tokenizer, name, weights_digest
        self.device = network.output.weight.device

    @classmethod
    def load(cls, model: str | Path, device: str | torch.device = "auto") -> Detector:
        """Load a detector.

        Args:
            model: The name of an installed detector, or the path of its folder.
            device: "auto", "cpu", "cuda", "cuda:1" or "mps".

        Returns:
            The detector.

        Raises:
            AttnvizError: There is no such model, a file of it is missing or damaged, it is a translator, or the device
                does not exist.
        """
        folder = find_model(model)
        network, tokenizer = load_detector(folder)
        name, digest = folder.resolve().name, weights_digest(folder)
        return cls(network.to(resolve_device(device)), tokenizer, name, digest)

    def judge(self, source: str, target: str) -> Judgement:
        """Compute the probability that a sentence translates another, and record every number.

        Args:
            source: The sentence.
            target: Its possible translation.

        Returns:
            The judgement.

        Raises:
            AttnvizError: A text is blank or too long.
        """
        started = time.perf_counter()
        sides = self._encode(source, target)
        judged = self._judge([sides])
        arrays = {name: tensor[0].float().cpu().numpy() for name, tensor in judged._asdict().items()}
        pieces = self.tokenizer.pieces
        return Judgement(
            source_text=source,
            target_text=target,
            source_pieces=pieces(sides[0]),
            target_pieces=pieces(sides[1]),
            source_ids=tuple(sides[0]),
            target_ids=tuple(sides[1]),
            source_surfaces=(*self.tokenizer.surfaces(source), "</s>"),
            target_surfaces=(*self.tokenizer.surfaces(target), "</s>"),
            **arrays,
            probabilities=torch.softmax(judged.logits[0], -1).cpu().numpy(),
            config=self.network.config.to_dict(),
            model=self.name,
            weights_digest=self.weights_digest,
            device=str(self.device),
            seconds=time.perf_counter() - started,
        )

    def judge_batch(self, pairs: Sequence[_Pair]) -> FloatArray:
        """Return the probability that each of P pairs is a sentence and its translation.

        Pairs are computed in batches of similar length.

        Args:
            pairs: The pairs, source and target.

        Returns:
            Probabilities, (P,).

        Raises:
            AttnvizError: A text is blank or too long; the message has the number of the pair, from 1.
        """
        encoded = []
        for number, (source, target) in enumerate(pairs, 1):
            with locate_errors(f"Pair {number}"):
                encoded.append(self._encode(source, target))
        return self.judge_ids(encoded)

    def judge_ids(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> FloatArray:
        """Return the probability that each of P pairs of ids is a translation.

        Args:
            pairs: Ids of the pieces of both sides, EOS last.

        Returns:
            Probabilities, (P,).
        """
        probabilities = np.zeros(len(pairs), dtype=np.float32)
        for places in batches([max(map(len, pair)) for pair in pairs], _BATCH_PIECES):
            logits = self._judge([pairs[place] for place in places]).logits
            probabilities[places] = torch.softmax(logits, -1)[:, 1].float().cpu().numpy()
        return probabilities

    def _encode(self, source: str, target: str) -> tuple[list[int], list[int]]:
        return sentence_ids(self.tokenizer, source), target_ids(self.tokenizer, target)

    @torch.inference_mode()
    def _judge(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> DecomposableOutput:
        """Run the network on unpadded ids, EOS last."""
        judged: DecomposableOutput = self.network(*(padded(side).to(self.device) for side in zip(*pairs, strict=True)))
        return judged
