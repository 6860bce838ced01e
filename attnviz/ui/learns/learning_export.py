"""Export *How it learns* as a standalone HTML page for a lecture; define the texts that it shares with the page."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.export.story import Chapter, Story, StoryPicture
from attnviz.figures.learning_curves import learning_table, learnt_figure, levels_table, quality_figure
from attnviz.figures.learning_heatmap import learning_heatmap, learning_heatmap_table
from attnviz.languages import gettext, ngettext
from attnviz.palette import ThemeName
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.learns.learning_choices import LearningChoices
from attnviz.ui.learns.learning_figures import checkpoint_updates, has_link_measures
from attnviz.wording.learning import (
    REFERENCES,
    counted,
    grouped_digits,
    guided,
    halfway_sentence,
    measure_definitions,
    measure_names,
    measured_values_text,
    own_translation_sentence,
    run_name,
)


def learning_lecture(choices: LearningChoices, update: int, theme: ThemeName) -> Story:
    """Return the exported page of the chosen runs, opened at `update`."""
    runs, updates = choices.runs, checkpoint_updates(choices.runs)
    sentence, title = runs[0].sentences[choices.sentence], gettext("Loss, BLEU and alignment error rate")
    curves = tuple(
        quality_figure(runs, updates, update=checkpoint_update, theme=theme) for checkpoint_update in updates
    )
    chapters = [
        Chapter(
            gettext("Where it looks"),
            (introduction(), *filter(None, [guided(runs)]), sentence.target),
            tuple(_attention_picture(run, choices, updates, theme) for run in runs),
        ),
        Chapter(title, (), (StoryPicture(title, ("",), curves, learning_table(runs)),)),
    ]
    if any(map(has_link_measures, runs)):
        chapters.append(
            Chapter(
                gettext("What is learnt when"),
                (),
                tuple(_learnt_picture(run, runs, updates, theme) for run in runs if has_link_measures(run)),
            )
        )
    chapters.append(_definitions(runs))
    opened = max(0, sum(checkpoint_update <= update for checkpoint_update in updates) - 1)
    return Story(
        gettext("How it learns"),
        sentence.source,
        tuple(chapters),
        tuple(checkpoint_sentence(runs, checkpoint_update) for checkpoint_update in updates),
        opened,
        REFERENCES,
    )


def introduction() -> str:
    """Return the introduction of the page."""
    return gettext(
        "The same sentences are shown at several moments of a training run. The model must write the given "
        "translation (forced decoding). Each row shows where the model looks in the English sentence when it "
        "writes the French word of this row. Early in training, the model looks at all words alike."
    )


def checkpoint_sentence(runs: Sequence[Snapshots], update: int) -> str:
    """Return the description of a checkpoint: its update, and the quality of a single run."""
    checkpoint = ngettext("After {update} update", "After {update} updates", update, update=grouped_digits(update))
    if update == 0:
        checkpoint = gettext("Before the first update")
    quality = measured_values_text(runs[0], update) if len(runs) == 1 else ""
    return gettext("{run}: {told}", run=checkpoint, told=quality) if quality else checkpoint


def _attention_picture(
    run: Snapshots, choices: LearningChoices, updates: Sequence[int], theme: ThemeName
) -> StoryPicture:
    """Return the attention of a run at every checkpoint; its table is that of the last."""
    checkpoints = [run.moment(update) for update in updates]
    return StoryPicture(
        run_name(run, is_only_run=len(choices.runs) == 1),
        tuple(own_translation_sentence(run, choices.sentence, checkpoint) for checkpoint in checkpoints),
        tuple(learning_heatmap(run, choices.sentence, checkpoint, theme=theme) for checkpoint in checkpoints),
        learning_heatmap_table(run, choices.sentence, checkpoints[-1]),
    )


def _learnt_picture(run: Snapshots, runs: list[Snapshots], updates: Sequence[int], theme: ThemeName) -> StoryPicture:
    figures = tuple(
        learnt_figure(run, updates, other_runs=runs, update=shown_update, theme=theme) for shown_update in updates
    )
    return StoryPicture(run_name(run, is_only_run=len(runs) == 1), (halfway_sentence(run),), figures)


def _definitions(runs: list[Snapshots]) -> Chapter:
    """Return the definitions of the measures, and the baselines of untrained attention."""
    names, rules = measure_names(), measure_definitions()
    measures = [name for name in rules if any(name in run.curves for run in runs)]
    definitions = [gettext("{run}: {told}", run=names[name], told=rules[name]) for name in measures]
    levels = gettext("Baselines: attention without training")
    tables = ((levels, levels_table(runs[0])),) if runs[0].levels else ()
    return Chapter(gettext("How this is measured"), tuple(filter(None, (*definitions, counted(runs)))), (), tables)
