"""The command `attnviz figure`: save a sentence, a trace or another program's attention as a picture or as data."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from attnviz.commands.options import (
    AS_INPUT,
    OUTPUT_OPTIONS,
    Beam,
    FileOrLinks,
    FilePath,
    Folder,
    HeadOptions,
    Index,
    ModelOptions,
    Name,
    Output,
    Positive,
    TokenText,
)
from attnviz.commands.shared import gold_from, gold_links_for, option_that_reads, report, with_gold_tokens
from attnviz.errors import AttnvizError, locate_errors
from attnviz.figures.registry import FIGURES, INTERVENTION, figure_named
from attnviz.installed_models import installed_weights
from attnviz.palette import DEFAULT_COLOURS, Colours, ThemeName
from attnviz.trace.drawing import LONGEST_LABEL, DetailLevel

if TYPE_CHECKING:
    from attnviz.analysis.recomputation import Weights
    from attnviz.importing.records import AttentionRecords
    from attnviz.importing.sentence_pair import SentencePair
    from attnviz.trace import Attention, Trace, WhatIfs


WITHOUT_THE_MODEL = {
    "html": "The page gets neither posterior attention nor logit attributions",
    "pharaoh": "The links come from attention, not from posterior attention",
}
"""Message for each output format that is incomplete where the model's weights are missing."""


_PICTURES = ", ".join(figure.name for figure in FIGURES if INTERVENTION not in figure.needs)
_PICTURE_HELP = f"heatmap, or a picture of one step, which not every model has: {_PICTURES}"


@OUTPUT_OPTIONS
@dataclass(frozen=True)
class _Options:
    """What is drawn, and how."""

    output: Output
    """file to write: .png, .svg and .pdf hold the picture, .csv its numbers, .html the interactive view of all
    steps, .tex the heatmap in TikZ, .json the trace, .pharaoh the word links"""
    trace: Annotated[FilePath | None, AS_INPUT] = None
    """saved trace to draw; this needs no model"""
    attention: Annotated[FilePath | None, AS_INPUT] = None
    """file with attention weights or word links of another program, in any format that `attnviz attention` reads"""
    checkpoint: Annotated[Folder | None, AS_INPUT] = None
    """with a sentence: folder of a checkpoint (of a program that `import` reads) that translates it in place of
    --model; separate the tokens of the sentence by spaces"""
    sentence: Annotated[Positive, AS_INPUT] = 1
    """with --attention: number of the sentence pair in the file, counted from 1"""
    source_tokens: Annotated[TokenText | None, AS_INPUT] = None
    """with --attention: source tokens, separated by spaces, if the file contains none; give the target tokens with
    --target"""
    normalise: Annotated[bool, AS_INPUT, Parameter(alias="--normalize")] = False
    """with --attention: scale every row so that it adds up to 1"""
    target: Annotated[TokenText | None, AS_INPUT] = None
    """translation that the decoder must write (forced decoding); with --attention, the target tokens of the given
    weights"""
    beam: Beam = 5
    picture: Annotated[Name, Parameter(help=_PICTURE_HELP)] = "heatmap"
    step: Index | None = None
    """step to frame in the heatmap and to show first in .html; steps are counted from 1"""
    source: Index | None = None
    """number of the source piece, counted from 1, for the energy decomposition and the logit attribution (default: the
    piece with the largest weight)"""
    by: Literal["steps", "words"] = "steps"
    """what a row and a column of the heatmap stand for: a step and a source piece, or words, whose weights are means
    over steps and sums over source pieces; with --gold, always words"""
    face: Literal["before", "after", "difference"] | None = None
    """what the heatmap shows: attention before the word is known (default), posterior attention after the word is known
    (default in .pharaoh files), or the difference of the two"""
    colours: Annotated[Colours, Parameter(alias="--colors")] = DEFAULT_COLOURS
    """colours of the heatmap: paper (from black to white), cividis (safe for colour blindness), ink (from white to
    black) or blues (from white to blue)"""
    root: bool = False
    """colour by the square root of the weight, so that small weights are visible"""
    end: Annotated[bool | None, Parameter(negative="--no-end")] = None
    """draw the row and the column of the end mark </s> (default: in .html pages only)"""
    margins: bool = False
    """show the coverage of each column and the entropy of each row beside the heatmap; not possible in .tex"""
    values: bool = False
    """write its number into each cell of the heatmap"""
    gold: Annotated[FileOrLinks | None, AS_INPUT] = None
    """gold links (links marked by hand) to draw on the heatmap: a file in any format that `attnviz attention` reads, or
    links such as 0-0 1?2: source word, sign, target word, counted from 0; the sign is - for a sure link, ? for a
    possible link"""
    longest: Positive = LONGEST_LABEL
    """letters of the longest label, except in .html; longer words are shortened"""
    no_title: bool = False
    """draw no title in .png, .svg and .pdf, for a paper that has its own captions"""
    theme: ThemeName = "light"
    """colour theme of .png, .svg and .pdf; .html follows the browser's"""
    level: DetailLevel = "numbers"
    """level of detail of .html: idea, numbers or everything; each has all of those before it"""


def figure_command(
    text: Annotated[str | None, AS_INPUT] = None,
    /,
    *,
    options: _Options,
    heads: HeadOptions = HeadOptions(),
    model: ModelOptions = ModelOptions(),
) -> None:
    """Save the alignment of a sentence, one of its steps, or the attention of another program as a file.

    Args:
        text: sentence to translate; leave it out if you give --trace or --attention
    """
    _check(text, options, model)
    from attnviz.export.saved_files import check_ending

    check_ending(options.output)  # check before loading a model
    if not options.checkpoint:
        _draw(text, options, heads, model)
        return
    with _imported(options.checkpoint) as folder:
        _draw(text, options, heads, replace(model, model=str(folder)))


def _draw(text: str | None, options: _Options, heads: HeadOptions, model: ModelOptions) -> None:
    """Write the file."""
    from attnviz.export.saved_files import FigureOptions, check_ending, save, uses_weights

    ending, face = check_ending(options.output), options.face or "before"
    if ending == "pharaoh" and face == "difference":
        raise AttnvizError(
            "Word links come from the attention (--face before) or the posterior attention (--face after). "
            "Choose one of these, not --face difference."
        )
    figure_options = FigureOptions(
        picture=options.picture,
        step=options.step,
        source=options.source,
        by=options.by,
        face=face,
        colours=options.colours,
        root=options.root,
        end=options.end,
        margins=options.margins,
        values=options.values,
        longest=options.longest,
        title=not options.no_title,
        theme=options.theme,
        level=options.level,
    )
    gold = gold_from(options.gold) if options.gold else None
    records = _records(options, gold)
    trace, what_ifs = _drawn_objects(text, records, options, heads, model)
    if gold:
        figure_options = replace(figure_options, gold=gold_links_for(trace, gold, records, options.sentence))
    if not trace.has_maxout:
        with_weights = uses_weights(trace, figure_options.picture) or (ending == "html" and trace.translated)
        save(trace, options.output, figure_options, _weights(trace, model) if with_weights else None)
        return
    step_figure = figure_named(figure_options.picture)
    links_of_attention = ending == "pharaoh" and options.face == "before"
    needs_weights = ending in WITHOUT_THE_MODEL or face != "before" or (step_figure and step_figure.uses_weights)
    weights = _weights(trace, model) if needs_weights and not links_of_attention else None
    place = "installed" if model.model is None else f"in {model.folder}"
    missing = (
        f"needs the model {trace.model}, which made the trace and is not {place}. Give the folder of {trace.model} "
        "with --model."
    )
    if weights is None and face != "before" and trace.attends:
        raise AttnvizError(f"The option --face {face} {missing}")
    if weights is None and ending == "html":  # a page uses those of the installed model that made the trace
        weights = _weights(trace, ModelOptions())
    if weights is None and ending in WITHOUT_THE_MODEL and not links_of_attention:
        report(f"{WITHOUT_THE_MODEL[ending]}: that {missing}")
    save(trace, options.output, figure_options, weights, what_ifs)


def _check(text: str | None, options: _Options, model: ModelOptions) -> None:
    if sum(given is not None for given in (text, options.trace, options.attention)) != 1:
        raise AttnvizError("Give exactly one of these: a sentence, --trace FILE or --attention FILE.")
    if text and os.path.isfile(text):  # noqa: PTH113 - of any text
        raise AttnvizError(
            f"{text} is a file, not a sentence. Draw a saved translation with --trace {text}, or the attention of "
            f"another program with --attention {text}."
        )
    if options.trace and options.target:
        raise AttnvizError(
            "A saved trace already holds a translation, so --target cannot be used with --trace. Leave out --target."
        )
    if options.attention and model.model is not None:
        raise AttnvizError("The attention of another program is drawn without a model. Leave out --model.")
    if options.checkpoint and model.model is not None:
        raise AttnvizError("The options --checkpoint and --model cannot be combined. Leave out one of them.")
    if options.checkpoint and text is None:
        raise AttnvizError(
            "The option --checkpoint needs a sentence to translate. Give the tokens of the sentence, separated by "
            "spaces."
        )


@contextlib.contextmanager
def _imported(folder: Path) -> Iterator[Path]:
    """Import a checkpoint to a temporary folder of a model; print remarks on how it was read."""
    from attnviz.importing.family import load_checkpoint, write_checkpoint

    checkpoint = load_checkpoint(folder)
    report(*checkpoint.remarks)
    with tempfile.TemporaryDirectory() as temporary:
        model = Path(temporary) / checkpoint.name
        write_checkpoint(checkpoint, model)
        yield model


def _drawn_objects(
    text: str | None, records: AttentionRecords | None, options: _Options, heads: HeadOptions, model: ModelOptions
) -> tuple[Any, WhatIfs | None]:
    """Return what is drawn, and for a saved trace also its what-ifs."""
    from attnviz.trace import WhatIfs

    if options.trace:
        what_ifs = WhatIfs.load(options.trace)
        return heads.of(what_ifs.first), what_ifs
    if records:
        return heads.of(_attention(records, options)), None
    trace = model.load().translate(text or "", beam=options.beam, target=options.target)
    return heads.of(trace), None


def _records(options: _Options, gold: AttentionRecords | str | None) -> AttentionRecords | None:
    """Return the records of the file of --attention, with the words of the gold file where it has no tokens."""
    from attnviz.importing.attention_reader import read_attention

    if options.attention is None:
        return None
    if options.face not in (None, "before"):
        raise AttnvizError("Posterior attention cannot be computed from attention weights alone. Leave out --face.")
    return with_gold_tokens(read_attention(options.attention), gold)


def _attention(records: AttentionRecords, options: _Options) -> Attention:
    """Return the chosen pair of a file of another program; print remarks on how the file was read."""
    from attnviz.analysis.imported_file_texts import remark_sentences

    with locate_errors(f"{options.attention}, sentence {options.sentence}"):
        pair = records.pair_numbered(options.sentence)
        try:
            trace = records.attention(
                options.sentence - 1, options.source_tokens, options.target, normalise=options.normalise
            )
        except AttnvizError as error:
            raise AttnvizError(f"{error} {_advice(records, pair, options)}".strip()) from error
    report(*remark_sentences(trace))
    return trace


def _advice(records: AttentionRecords, pair: SentencePair, options: _Options) -> str:
    """Return a sentence that names the options that would fix a failure to read the pair; empty where none would."""
    if None in (options.source_tokens or pair.tokens("source"), options.target or pair.tokens("target")):
        return "What a file lacks is given by --source-tokens and --target."
    given = options.sentence - 1, options.source_tokens, options.target
    return option_that_reads({"--normalise": lambda: records.attention(*given, normalise=True)})


def _weights(trace: Trace, model: ModelOptions) -> Weights | None:
    """Return the weights that made `trace`, those of --model or of an installed model; None where they are others."""
    from attnviz.model_folder import WEIGHTS_FILE, read_weights, weights_digest

    if model.model is None:
        with contextlib.suppress(AttnvizError):
            return installed_weights(trace.model, trace.weights_digest)
        return None
    folder = model.folder
    if (folder / WEIGHTS_FILE).is_file() and weights_digest(folder) == trace.weights_digest:
        return read_weights(folder)
    return None
