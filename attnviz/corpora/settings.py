"""Settings of a corpus analysis, besides file and model."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch

from attnviz.analysis.posterior import DEFAULT, KINDS, Kind
from attnviz.bounds import PRECISIONS
from attnviz.decoding import check_beam
from attnviz.errors import AttnvizError
from attnviz.network.matmul_speed import choose_precision


@dataclass(frozen=True)
class Settings:
    """How pairs are decoded, and which links are stored."""

    translate: bool = False
    """Whether the second column is a reference for the model's translation; if not, it is analysed itself."""
    beam: int = 5
    """Beam width of the search, if any; 1 is greedy."""
    kind: Kind | None = DEFAULT
    """Kind of posterior attention, as for `analysis.posterior`; None leaves it out, which takes a third of the time."""
    threshold: float = 0.1
    """Smallest share of a stored link, in (0, 1]; the largest of each word is stored too."""
    batch_size: int = 64
    """Largest number of pairs computed together."""
    precision: str = "auto"
    """Precision of the normalisers in posterior attention on a CPU: "bf16", correct to three digits, "fp32", or "auto".

    "auto" is the faster of the two on this machine.
    """

    def with_precision_for(self, device: torch.device) -> Settings:
        """Return these settings with the precision that "auto" selects on a CPU.

        A run decides it once: links by posterior attention differ in the fourth digit, and parts of one table may come
        from several processes.
        """
        if device.type != "cpu" or self.precision != "auto":
            return self
        return dataclasses.replace(self, precision=choose_precision(self.precision, device))

    def check(self) -> None:
        """Raise AttnvizError unless all settings are valid."""
        check_beam(self.beam)
        if self.kind is not None and self.kind not in KINDS:
            raise AttnvizError(
                f"There is no variant {self.kind!r} of posterior attention. Choose one of {', '.join(KINDS)}, or none."
            )
        if not 0 < self.threshold <= 1:
            raise AttnvizError(f"The threshold must be above 0 and at most 1, not {self.threshold}.")
        if self.precision not in PRECISIONS:
            raise AttnvizError(f"There is no precision {self.precision!r}. Choose one of {', '.join(PRECISIONS)}.")
        if self.batch_size < 1:
            raise AttnvizError(f"The batch size must be at least 1, not {self.batch_size}.")
