"""Types, groups and objects of the options that several commands have.

Modules of commands name the choices of `attnviz.analysis` themselves, which takes 0.13 s to import: too long for help.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from attnviz.bounds import COARSE_PRECISIONS, WIDEST_BEAM
from attnviz.commands.shared import report_unused_scorers
from attnviz.errors import AttnvizError
from attnviz.installed_models import find_model

if TYPE_CHECKING:
    from cyclopts import Token

    from attnviz.translator import Translator

_INPUT, _OUTPUT, _READING, _MODEL = map(Group.create_ordered, ("Input", "Output", "Reading a file", "Model"))
AS_INPUT, AS_OUTPUT, AS_MODEL = (Parameter(group=group) for group in (_INPUT, _OUTPUT, _MODEL))
"""For a single option: its group in the help."""
INPUT_OPTIONS, OUTPUT_OPTIONS, READING_OPTIONS, MODEL_OPTIONS = (
    Parameter(name="*", group=group) for group in (_INPUT, _OUTPUT, _READING, _MODEL)
)
"""For a class of options: the group of those that have no other."""


def _index(_: Any, tokens: Sequence[Token]) -> Any:
    """Return the 0-based index of a number that counts from 1; “all” stays as it is."""
    text = tokens[0].value
    if text == "all" and tokens[0].keyword == "--layer":
        return text
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError("must be a whole number above 0")
    return int(text) - 1


Positive = Annotated[int, Parameter(validator=Number(gte=1), metavar="N")]
Share = Annotated[float, Parameter(validator=Number(gt=0, lte=1), metavar="X")]
Index = Annotated[int, Parameter(converter=_index, metavar="N")]
"""A number that the user counts from 1, and Python from 0."""
Beam = Annotated[
    int,
    Parameter(
        validator=Number(gte=1, lte=WIDEST_BEAM), metavar="N", group=_MODEL, help="beam width; 1 is greedy search"
    ),
]
Name = Annotated[str, Parameter(metavar="NAME")]
TokenText = Annotated[str, Parameter(metavar="TEXT")]
FileNames = Annotated[str, Parameter(group=_INPUT, required=True)]
Device = Annotated[str, Parameter(group=_MODEL, help="device: auto, cpu, cuda, cuda:1 or mps")]
Scorers = Annotated[
    tuple[str, ...],
    Parameter(
        group=_MODEL,
        metavar="MODULE:CLASS",
        consume_multiple=False,
        help="your own scorer class (a kind of attention), as package.module:Class, for training or for opening models "
        "that use this class",
    ),
]
FilePath = Annotated[Path, Parameter(metavar="FILE")]
FileOrLinks = Annotated[str, Parameter(metavar="FILE|LINKS")]
"""Gold links, which `shared.gold_from` reads."""
Folder = Annotated[Path, Parameter(metavar="FOLDER")]
Output = Annotated[Path, Parameter(name=("--output", "-o"), metavar="FILE", group=_OUTPUT)]
Several = Parameter(consume_multiple=False)
"""An option that is repeated for several values."""
Unescape = Annotated[
    bool,
    Parameter(
        group=_INPUT,
        help="decode the escape sequences of Moses' tokenizer, such as &apos; and @-@, before the model reads the text",
    ),
]
SkipMalformed = Annotated[
    bool,
    Parameter(group=_INPUT, help="leave out malformed lines, even if they are more than 1 % of a file"),
]


@MODEL_OPTIONS
@dataclass(frozen=True)
class ModelOptions:
    """The model that a command runs, and how."""

    model: Annotated[str | None, Parameter(metavar="NAME|FOLDER")] = None
    """name of an installed model, or folder of a model; without it, the first that `attnviz models` lists"""
    device: Device = "auto"
    precision: Annotated[str, Parameter(choices=COARSE_PRECISIONS)] = "auto"
    """number format in which a CPU finds the likeliest pieces; their logits are then computed again in float32; auto
    chooses the faster format on this machine"""
    scorer: Scorers = ()

    @property
    def folder(self) -> Path:
        """The folder of the model; raises AttnvizError where there is none."""
        return find_model(self.model)

    def load(self) -> Translator:
        """Return the translator; raise AttnvizError, before torch is imported, where there is no such model."""
        folder = self.folder
        gc.disable()  # collections while torch is imported take a tenth of its 1.2 s, and find nothing
        try:
            from attnviz.translator import Translator
        finally:
            gc.freeze()  # nor would a later one, which takes 0.15 s
            gc.enable()
        translator = Translator.load(folder, self.device, self.precision)
        report_unused_scorers(self.scorer, [translator])
        return translator


@READING_OPTIONS
@dataclass(frozen=True)
class HeadOptions:
    """The layer and head whose attention is used."""

    layer: Annotated[int | Literal["all"] | None, Parameter(converter=_index, metavar="L", show_choices=False)] = None
    """for a transformer, or a file with several heads: use the mean of the cross-attention heads of layer L, counted
    from 1; all (the default) uses the heads of all layers"""
    head: Annotated[int | None, Parameter(converter=_index, metavar="H")] = None
    """for a transformer, or a file with several heads: use only head H, counted from 1, of the layer that --layer
    gives"""

    @property
    def given(self) -> bool:
        """Whether a layer or a head was chosen."""
        return self != HeadOptions()

    def of(self, trace: Any) -> Any:
        """Return `trace` with the chosen attention; raise AttnvizError where it has no such head, or no heads."""
        from attnviz.trace.parts import head_choices

        if not self.given:
            return trace
        if not head_choices(trace):
            if not trace.translated:
                raise AttnvizError("The file has no layers and heads to choose from. Leave out --layer and --head.")
            raise AttnvizError(
                f"The model {trace.model} is a recurrent translator and has no heads. Leave out --layer and --head."
            )
        if self.layer is None:
            raise AttnvizError("A head belongs to a layer, so --head needs --layer. Add --layer.")
        return trace.select_heads(None if self.layer == "all" else self.layer, self.head)


@READING_OPTIONS
@dataclass(frozen=True)
class ReadingOptions:
    """How attention files are read: the arguments of `attnviz.read_attention`."""

    source: Annotated[Path | None, Parameter(name="--source-file", metavar="FILE")] = None
    """file with the source sentences, one per line, if FILE contains none"""
    target: Annotated[Path | None, Parameter(name="--target-file", metavar="FILE")] = None
    """file with the target sentences, one per line, if FILE contains none; a model without this file writes its own
    translations"""
    format: Name | None = None
    """format of the file, if the detected format is wrong"""
    layer: Annotated[int | None, Parameter(converter=_index, metavar="L")] = None
    """number of the layer to read, counted from 1, if the array has several layers"""
    head: Annotated[int | None, Parameter(converter=_index, metavar="H")] = None
    """number of the head to read, counted from 1, if the array has several heads (default: the mean of the heads)"""
    normalise: Annotated[bool, Parameter(alias="--normalize")] = False
    """scale every row so that it adds up to 1"""
    transpose: bool = False
    """transpose matrices that have one row for each source token"""
    unescape: bool = False
    """decode the escape sequences of Moses' tokenizer, such as &apos; and @-@"""
    special: Annotated[tuple[str, ...], Several, Parameter(metavar="TOKEN")] = ()
    """token that is no word, besides those with a known spelling such as <s> and [CLS]; may be repeated"""
    encoding: Name | None = None
    """encoding of the file, such as latin-1 or utf-16, if the file is not UTF-8"""
