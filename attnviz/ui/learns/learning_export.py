"""Export the page *How it learns* for lecture mode, with the texts that both share."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.export.story import Chapter, Story, StoryPicture
from attnviz.figures.learning_curves import learning_table, learnt_figure, levels_table, quality_figure
from attnviz.figures.learning_heatmap import learning_heatmap, learning_heatmap_table
from attnviz.languages import gettext, ngettext
from attnviz.palette import ThemeName
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.learns.learning_choices import LearningChoices
from attnviz.ui.learns.learning_figures import checkpoint_updates, has_learnt
from attnviz.wording.learning import (
    REFERENCES,
    counted,
    grouped,
    guided,
    halfway_sentence,
    measure_names,
    measure_rules,
    measured_at,
    own_translation_sentence,
    run_name,
)


def learning_lecture(chosen: LearningChoices, update: int, theme: ThemeName) -> Story:
    """Return the exported page of the runs that are `chosen`, opened at `update`."""
    runs, moments = chosen.runs, checkpoint_updates(chosen.runs)
    sentence, title = runs[0].sentences[chosen.sentence], gettext("Loss, BLEU and alignment error rate")
    curves = tuple(quality_figure(runs, moments, update=at, theme=theme) for at in moments)
    chapters = [
        Chapter(
            gettext("Where it looks"),
            (introduction(), *filter(None, [guided(runs)]), sentence.target),
            tuple(_attention(run, chosen, moments, theme) for run in runs),
        ),
        Chapter(title, (), (StoryPicture(title, ("",), curves, learning_table(runs)),)),
    ]
    if any(map(has_learnt, runs)):
        chapters.append(
            Chapter(
                gettext("What is learnt when"),
                (),
                tuple(_learnt(run, runs, moments, theme) for run in runs if has_learnt(run)),
            )
        )
    chapters.append(_measured(runs))
    opened = max(0, sum(at <= update for at in moments) - 1)
    return Story(
        gettext("How it learns"),
        sentence.source,
        tuple(chapters),
        tuple(checkpoint_sentence(runs, at) for at in moments),
        opened,
        REFERENCES,
    )


def introduction() -> str:
    """Return the introduction of the page."""
    return gettext(
        "The same sentences at several moments of a training run. The model must write a good translation "
        "(forced decoding). Each row shows where it looks in the English sentence when it writes that French "
        "word. At first it looks at all words alike."
    )


def checkpoint_sentence(runs: Sequence[Snapshots], update: int) -> str:
    """Return the description of a checkpoint: its update, and the quality of a single run."""
    after = ngettext("After {update} update", "After {update} updates", update, update=grouped(update))
    if update == 0:
        after = gettext("Before the first update")
    quality = measured_at(runs[0], update) if len(runs) == 1 else ""
    return gettext("{run}: {told}", run=after, told=quality) if quality else after


def _attention(run: Snapshots, chosen: LearningChoices, moments: Sequence[int], theme: ThemeName) -> StoryPicture:
    """Return the attention of a run at every checkpoint; its table is that of the last."""
    places = [run.moment(update) for update in moments]
    return StoryPicture(
        run_name(run, alone=len(chosen.runs) == 1),
        tuple(own_translation_sentence(run, chosen.sentence, place) for place in places),
        tuple(learning_heatmap(run, chosen.sentence, place, theme=theme) for place in places),
        learning_heatmap_table(run, chosen.sentence, places[-1]),
    )


def _learnt(run: Snapshots, runs: list[Snapshots], moments: Sequence[int], theme: ThemeName) -> StoryPicture:
    figures = tuple(learnt_figure(run, moments, beside=runs, update=at, theme=theme) for at in moments)
    return StoryPicture(run_name(run, alone=len(runs) == 1), (halfway_sentence(run),), figures)


def _measured(runs: list[Snapshots]) -> Chapter:
    """Return the definitions of the measures, and the baselines of untrained attention."""
    names, rules = measure_names(), measure_rules()
    shown = [name for name in rules if any(name in run.curves for run in runs)]
    definitions = [gettext("{run}: {told}", run=names[name], told=rules[name]) for name in shown]
    levels = gettext("Baselines: attention without training")
    tables = ((levels, levels_table(runs[0])),) if runs[0].levels else ()
    return Chapter(gettext("How this is measured"), tuple(filter(None, (*definitions, counted(runs)))), (), tables)
