"""The command `attnviz figure`: save a sentence, a trace or another program's attention as a picture or as data."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz import AttnvizError
from attnviz.commands.shared import (
    about,
    add_head_options,
    add_model_options,
    default_model,
    load_translator,
    positive,
    with_heads,
)

if TYPE_CHECKING:
    from attnviz.analysis.grid import Face
    from attnviz.analysis.recomputation import Weights
    from attnviz.importing.records import AttentionRecords
    from attnviz.importing.sentence_pair import SentencePair
    from attnviz.trace import Attention, Trace, WhatIfs


SUMMARY = "save a sentence's alignment, or a step, or another program's attention, as a file"

WITHOUT_THE_MODEL = {
    "html": "The page has no logit attribution",
    "pharaoh": "The links are by attention, not by what it turned out to be about once the word was known",
}
"""Message for each output format that is incomplete where the model's weights are missing."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = command.add_argument
    add("text", nargs="?", help="the sentence; left out, --trace says what to draw")
    add("--trace", type=Path, metavar="FILE", help="a saved trace to draw, without any model")
    add(
        "--attention",
        type=Path,
        metavar="FILE",
        help="attention or links of another program to draw, in any format that `attnviz attention` reads",
    )
    add(
        "--checkpoint",
        type=Path,
        metavar="FOLDER",
        help="a checkpoint of the seq2seq tutorial or of Joey NMT (see the README) that translates the sentence, given "
        "in its tokens with blanks between them, in the place of --model",
    )
    add("--sentence", type=positive, default=1, metavar="N", help="of --attention: which of the file's, from 1")
    add(
        "--source-tokens",
        metavar="TEXT",
        help="of --attention: the source's tokens with blanks between them, where the file has none; those of the "
        "target are given by --target",
    )
    add("--normalise", action="store_true", help="of --attention: scale rows that do not add up to 1")
    add(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help=".png, .svg, .pdf: the picture; .csv: its numbers; .html: all steps, for a lecture; .tex: TikZ; "
        ".json: the trace; .pharaoh: word links",
    )
    add(
        "--target",
        metavar="TEXT",
        help="a translation to lead the decoder through, instead of a search; of --attention, the target's tokens",
    )
    add(
        "--picture",
        default="heatmap",
        metavar="NAME",
        help="heatmap, or a picture of the step: attention, energy, energy-decomposition, softmax, context, state, "
        "maxout, candidates, posterior, logit-attribution, perturbation-tests; of a transformer scores, weights, "
        "values, stream, candidates",
    )
    add("--step", type=positive, metavar="N", help="the step, from 1: framed in the heatmap, shown first in .html")
    add(
        "--source",
        type=positive,
        metavar="N",
        help="the source piece, from 1, of the energy decomposition and in the rows of the logit attribution; else the "
        "strongest",
    )
    add("--by", choices=("words", "pieces"), default="words", help="rows and columns")
    add(
        "--face",
        choices=("before", "after", "difference"),
        help="of the heatmap: attention, before the word is known (the default); its posterior, after (that of links); "
        "their difference",
    )
    add("--colours", choices=("paper", "cividis"), default="paper", help="black to white, or safe for colour blindness")
    add("--root", action="store_true", help="colour by the square root, so that small weights are seen")
    add("--no-end", action="store_true", help="leave out </s>")
    add(
        "--margins",
        action="store_true",
        help="coverage of the columns and entropy of the rows beside the heatmap; not in .tex",
    )
    add(
        "--gold",
        metavar="LINKS",
        help="links that people drew, marked on the heatmap: 0-0 1?2, a source word before a target word, both from 0, "
        "- where sure and ? where only possible; of --attention, those of the file are marked anyhow",
    )
    add(
        "--no-title",
        action="store_true",
        help="no title above the picture in .png, .svg and .pdf: for a paper, which has captions",
    )
    add("--theme", choices=("light", "dark"), default="light", help="of .png, .svg and .pdf")
    add_head_options(command)
    add_model_options(command, beam=True)


def run(options: argparse.Namespace) -> None:
    """Write the file; raise AttnvizError for options that cannot be combined, or where drawing or writing fails."""
    _check(options)
    from attnviz.export.files import FigureOptions, check_ending, save, uses_weights

    ending = check_ending(options.output)  # check before loading a model
    face: Face = options.face or "before"
    if ending == "pharaoh" and face == "difference":
        raise AttnvizError("Links are drawn before or after the word: there are none of the difference.")
    figure_options = FigureOptions(
        picture=options.picture,
        step=_from_0(options.step),
        source=_from_0(options.source),
        by=options.by,
        face=face,
        colours=options.colours,
        root=options.root,
        end=not options.no_end,
        margins=options.margins,
        title=not options.no_title,
        theme=options.theme,
    )
    trace, what_ifs = _drawn_objects(options)
    if options.gold:
        from attnviz.analysis.gold import read_links

        with about("--gold"):
            figure_options = replace(figure_options, gold=read_links(options.gold, trace.words()))
    if trace.imported or not trace.recurrent:
        split = uses_weights(trace, figure_options.picture)
        save(trace, options.output, figure_options, _weights(trace, options.model) if split else None)
        return
    from attnviz.figures.registry import STEP_FIGURES

    drawn = STEP_FIGURES.get(figure_options.picture)
    by_attention = ending == "pharaoh" and options.face == "before"
    needed = ending in WITHOUT_THE_MODEL or face != "before" or (drawn and drawn.uses_weights)
    weights = _weights(trace, options.model) if needed and not by_attention else None
    if weights is None and face != "before" and trace.attends:
        raise AttnvizError(
            f"--face {face} needs the model that made the trace, {trace.model}, and {options.model} is not it. "
            "Name its folder with --model."
        )
    if weights is None and ending in WITHOUT_THE_MODEL and not by_attention:
        print(
            f"{WITHOUT_THE_MODEL[ending]}: this needs the model that made the trace, {trace.model}, and "
            f"{options.model} is not it. Name its folder with --model.",
            file=sys.stderr,
        )
    save(trace, options.output, figure_options, weights, what_ifs)


def _check(options: argparse.Namespace) -> None:
    if sum(given is not None for given in (options.text, options.trace, options.attention)) != 1:
        raise AttnvizError("Give a sentence, --trace FILE or --attention FILE, one of the three.")
    if options.trace and options.target:
        raise AttnvizError("A saved trace has its translation: --target goes with a sentence.")
    if options.attention and options.model != default_model():
        raise AttnvizError("Attention of another program is drawn without a model: leave out --model.")
    if options.checkpoint and options.model != default_model():
        raise AttnvizError("Give --checkpoint or --model, one of the two.")
    if options.checkpoint and options.text is None:
        raise AttnvizError("A checkpoint translates a sentence: give its tokens.")


def _drawn_objects(options: argparse.Namespace) -> tuple[Any, WhatIfs | None]:
    """Return what is drawn, and for a saved trace also its what-ifs."""
    from attnviz.trace import WhatIfs

    if options.trace:
        what_ifs = WhatIfs.load(options.trace)
        return with_heads(what_ifs.first, options), what_ifs
    if options.attention or options.checkpoint:
        return with_heads(_attention(options), options), None
    trace = load_translator(options).translate(
        options.text, beam=1 if options.target else options.beam, target=options.target
    )
    return with_heads(trace, options), None


def _attention(options: argparse.Namespace) -> Attention:
    """Return the attention in a file of another program, or of a checkpoint; print remarks on how the file was read."""
    from attnviz.importing.reading import read_attention
    from attnviz.wording.imported_attention import remark_sentences

    if options.face not in (None, "before"):
        raise AttnvizError("Attention alone has one face: posterior attention needs the whole model.")
    if options.checkpoint:
        from attnviz.importing.family import load_checkpoint

        return load_checkpoint(options.checkpoint).attention(options.text, options.target)
    records = read_attention(options.attention)
    with about(f"{options.attention}, sentence {options.sentence}"):
        pair = records.sentence(options.sentence)
        try:
            trace = records.attention(
                options.sentence - 1, options.source_tokens, options.target, normalise=options.normalise
            )
        except AttnvizError as error:
            raise AttnvizError(f"{error} {_advice(records, pair, options)}".strip()) from error
    for remark in remark_sentences(trace):
        print(remark, file=sys.stderr)
    return trace


def _advice(records: AttentionRecords, pair: SentencePair, options: argparse.Namespace) -> str:
    """Return a sentence that names the options that would fix a failure to read the pair; empty where none would."""
    if None in (options.source_tokens or pair.tokens("source"), options.target or pair.tokens("target")):
        return "What a file lacks is given by --source-tokens and --target."
    try:
        records.attention(options.sentence - 1, options.source_tokens, options.target, normalise=True)
    except AttnvizError:
        return ""
    return "--normalise does."


def _from_0(number: int | None) -> int | None:
    return None if number is None else number - 1


def _weights(trace: Trace, folder: Path) -> Weights | None:
    """Return the weights in `folder` if that model made `trace`; None otherwise."""
    from attnviz.model_folder import WEIGHTS, load_weights, weights_digest

    if (folder / WEIGHTS).is_file() and weights_digest(folder) == trace.weights_digest:
        return load_weights(folder)
    return None
