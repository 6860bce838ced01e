"""The command `attnviz figure`: save a sentence, a trace or another program's attention as a picture or as data."""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz import AttnvizError
from attnviz.commands.shared import Command, add_head_options, add_model_options, load_translator, positive, with_heads
from attnviz.errors import locate_errors
from attnviz.installed_models import default_model

if TYPE_CHECKING:
    from attnviz.analysis.recomputation import Weights
    from attnviz.importing.records import AttentionRecords
    from attnviz.importing.sentence_pair import SentencePair
    from attnviz.trace import Attention, Trace, WhatIfs
    from attnviz.trace.drawing import Face


WITHOUT_THE_MODEL = {
    "html": "The page gets no logit attribution",
    "pharaoh": "The links come from attention, not from posterior attention",
}
"""Message for each output format that is incomplete where the model's weights are missing."""


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    from attnviz.analysis.grid import FACES, GRID_UNITS
    from attnviz.palette import COLOURS

    add = command.add_argument
    add("text", nargs="?", help="sentence to translate; leave it out if you give --trace or --attention")
    add("--trace", type=Path, metavar="FILE", help="saved trace to draw; this needs no model")
    add(
        "--attention",
        type=Path,
        metavar="FILE",
        help="file with attention weights or word links of another program, in any format that `attnviz attention` "
        "reads",
    )
    add(
        "--checkpoint",
        type=Path,
        metavar="FOLDER",
        help="with a sentence: folder of a checkpoint (of a program that `import` reads) that translates it in "
        "place of --model; separate the tokens of the sentence by spaces",
    )
    add(
        "--sentence",
        type=positive,
        default=1,
        metavar="N",
        help="with --attention: number of the sentence pair in the file, counted from 1",
    )
    add(
        "--source-tokens",
        metavar="TEXT",
        help="with --attention: source tokens, separated by spaces, if the file contains none; give the target "
        "tokens with --target",
    )
    add("--normalise", action="store_true", help="with --attention: scale every row so that it adds up to 1")
    add(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="file to write: .png, .svg and .pdf hold the picture, .csv its numbers, .html all steps for a "
        "lecture, .tex the heatmap in TikZ, .json the trace, .pharaoh the word links",
    )
    add(
        "--target",
        metavar="TEXT",
        help="translation that the decoder must write (forced decoding); with --attention, the target tokens of the "
        "given weights",
    )
    add(
        "--picture",
        default="heatmap",
        metavar="NAME",
        help="heatmap, or a picture of one step: attention, energy, energy-decomposition, softmax, context, state, "
        "maxout, candidates, posterior, logit-attribution or perturbation-tests; for a transformer: energy, "
        "softmax, context, stream or candidates",
    )
    add(
        "--step",
        type=positive,
        metavar="N",
        help="step to frame in the heatmap and to show first in .html; steps are counted from 1",
    )
    add(
        "--source",
        type=positive,
        metavar="N",
        help="number of the source piece, counted from 1, for the energy decomposition and the logit attribution "
        "(default: the piece with the largest weight)",
    )
    add(
        "--by",
        choices=GRID_UNITS,
        default=GRID_UNITS[0],
        help="what each row and column of the heatmap stands for: a word or a piece",
    )
    add(
        "--face",
        choices=FACES,
        help="what the heatmap shows: attention before the word is known (default), posterior attention after the "
        "word is known (default in .pharaoh files), or the difference of the two",
    )
    add(
        "--colours",
        choices=COLOURS,
        default=COLOURS[0],
        help="colours of the heatmap: either paper (from black to white) or cividis (safe for colour blindness)",
    )
    add(
        "--root", action="store_true", help="colour by the square root of the weight, so that small weights are visible"
    )
    add("--no-end", action="store_true", help="leave out the end mark </s>")
    add(
        "--margins",
        action="store_true",
        help="show the coverage of each column and the entropy of each row beside the heatmap; not possible in .tex",
    )
    add(
        "--gold",
        metavar="LINKS",
        help="links marked by hand, to draw on the heatmap, such as 0-0 1?2: source word, sign, target word, "
        "counted from 0; the sign is - for a sure link, ? for a possible link",
    )
    add(
        "--no-title",
        action="store_true",
        help="draw no title in .png, .svg and .pdf, for a paper that has its own captions",
    )
    add("--theme", choices=("light", "dark"), default="light", help="colour theme of .png, .svg and .pdf")
    add_head_options(command)
    add_model_options(command, beam=True)


def _run(options: argparse.Namespace) -> None:
    """Write the file; raise AttnvizError for options that cannot be combined, or where drawing or writing fails."""
    _check(options)
    from attnviz.export.saved_files import FigureOptions, check_ending, save, uses_weights

    ending = check_ending(options.output)  # check before loading a model
    if options.checkpoint:
        _draw_checkpoint(options)
        return
    face: Face = options.face or "before"
    if ending == "pharaoh" and face == "difference":
        raise AttnvizError(
            "Word links come from the attention (--face before) or the posterior attention (--face after). "
            "Choose one of these, not --face difference."
        )
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
        from attnviz.analysis.gold import parse_gold_links

        with locate_errors("--gold"):
            figure_options = replace(figure_options, gold=parse_gold_links(options.gold, trace.words()))
    if not trace.has_maxout:
        with_weights = uses_weights(trace, figure_options.picture)
        save(trace, options.output, figure_options, _weights(trace, options.model) if with_weights else None)
        return
    from attnviz.figures.registry import STEP_FIGURES

    step_figure = STEP_FIGURES.get(figure_options.picture)
    links_of_attention = ending == "pharaoh" and options.face == "before"
    needs_weights = ending in WITHOUT_THE_MODEL or face != "before" or (step_figure and step_figure.uses_weights)
    weights = _weights(trace, options.model) if needs_weights and not links_of_attention else None
    if weights is None and face != "before" and trace.attends:
        raise AttnvizError(
            f"The option --face {face} needs the model that made the trace, {trace.model}, but --model is "
            f"{options.model}. Give the folder of {trace.model} with --model."
        )
    if weights is None and ending in WITHOUT_THE_MODEL and not links_of_attention:
        print(
            f"{WITHOUT_THE_MODEL[ending]}, which needs the model {trace.model} that made the trace; --model is "
            f"{options.model}. Give the folder of {trace.model} with --model.",
            file=sys.stderr,
        )
    save(trace, options.output, figure_options, weights, what_ifs)


def _check(options: argparse.Namespace) -> None:
    if sum(given is not None for given in (options.text, options.trace, options.attention)) != 1:
        raise AttnvizError("Give exactly one of these: a sentence, --trace FILE or --attention FILE.")
    if options.trace and options.target:
        raise AttnvizError(
            "A saved trace already holds a translation, so --target cannot be used with --trace. Leave out --target."
        )
    if options.attention and options.model != default_model():
        raise AttnvizError("The attention of another program is drawn without a model. Leave out --model.")
    if options.checkpoint and options.model != default_model():
        raise AttnvizError("The options --checkpoint and --model cannot be combined. Leave out one of them.")
    if options.checkpoint and options.text is None:
        raise AttnvizError(
            "The option --checkpoint needs a sentence to translate. Give the tokens of the sentence, separated by "
            "spaces."
        )


def _draw_checkpoint(options: argparse.Namespace) -> None:
    """Import a checkpoint to a temporary folder, and draw with this model; print remarks on how it was read."""
    from attnviz.importing.family import load_checkpoint, write_checkpoint

    checkpoint = load_checkpoint(options.checkpoint)
    for remark in checkpoint.remarks:
        print(remark, file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / checkpoint.name
        write_checkpoint(checkpoint, model)
        _run(argparse.Namespace(**{**vars(options), "checkpoint": None, "model": model}))


def _drawn_objects(options: argparse.Namespace) -> tuple[Any, WhatIfs | None]:
    """Return what is drawn, and for a saved trace also its what-ifs."""
    from attnviz.trace import WhatIfs

    if options.trace:
        what_ifs = WhatIfs.load(options.trace)
        return with_heads(what_ifs.first, options), what_ifs
    if options.attention:
        return with_heads(_attention(options), options), None
    trace = load_translator(options).translate(options.text, beam=options.beam, target=options.target)
    return with_heads(trace, options), None


def _attention(options: argparse.Namespace) -> Attention:
    """Return the attention in a file of another program; print remarks on how the file was read."""
    from attnviz.analysis.imported_attention import remark_sentences
    from attnviz.importing.attention_reader import read_attention

    if options.face not in (None, "before"):
        raise AttnvizError("Posterior attention cannot be computed from attention weights alone. Leave out --face.")
    records = read_attention(options.attention)
    with locate_errors(f"{options.attention}, sentence {options.sentence}"):
        pair = records.pair_numbered(options.sentence)
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
    from attnviz.model_folder import WEIGHTS_FILE, load_weights, weights_digest

    if (folder / WEIGHTS_FILE).is_file() and weights_digest(folder) == trace.weights_digest:
        return load_weights(folder)
    return None


FIGURE_COMMAND = Command(
    "figure",
    "save the alignment of a sentence, one of its steps, or the attention of another program as a file",
    _add_options,
    _run,
)
