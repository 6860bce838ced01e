"""Export the page *Why attention?* as a standalone HTML page for a lecture."""

from __future__ import annotations

from attnviz import Trace
from attnviz.export.story import Chapter, Story, StoryPicture
from attnviz.figures.translation import translation_figure
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.toolbar.downloads import Picture, story_pictures
from attnviz.ui.why.forced import forced_pictures
from attnviz.ui.why.gradient_decay import signals_pictures
from attnviz.ui.why.growth import growth_of, growth_pictures
from attnviz.ui.why.length_curve import by_length_pictures
from attnviz.ui.why.side_by_side import translation_tables
from attnviz.ui.why.three_models import Trio
from attnviz.wording import why_story
from attnviz.wording.why import attention_name
from attnviz.wording.why_story import REFERENCES, TextSection


def why_lecture(trio: Trio, growth_trace: Trace | None, theme: ThemeName) -> Story:
    """Return the lecture page of `trio`, and of the growing sentence where there is one.

    Raise AttnvizError where a model is not installed.
    """
    reference = trio.reference
    forced, text = why_story.forced(reference.model, trio.origin), reference.translation
    translation_text = {
        "model": gettext("Translation by {model}: {text}", model=reference.model, text=text),
        "reference": gettext("Reference translation: {text}", text=text),
        "visitor": gettext("Given translation: {text}", text=text),
    }[trio.origin]
    chapters = [
        _chapter(why_story.opening()),
        *_growth(growth_trace, theme),
        _chapter(why_story.by_length(), *by_length_pictures(trio, theme)),
        _translations(trio, theme),
        _chapter(TextSection(forced.heading, (forced.paragraphs[0], translation_text)), *forced_pictures(trio, theme)),
        _chapter(_with_paragraphs_of(why_story.signals(), why_story.signal_paths()), *signals_pictures(trio, theme)),
    ]
    count = len(trio.longest.target_pieces)
    step_names = tuple(gettext("step {step} of {count}", step=step + 1, count=count) for step in range(count))
    return Story(gettext("Why attention?"), reference.source_text, tuple(chapters), step_names, references=REFERENCES)


def _growth(trace: Trace | None, theme: ThemeName) -> list[Chapter]:
    """Return the chapter of the growing sentence of `trace`, with the translations of all of it."""
    if trace is None:
        return []
    growth = growth_of(trace)
    section = why_story.growth()
    texts = [
        f"{attention_name(kind)}: {row[-1].text}"
        for kind, row in zip(growth.attentions, growth.translations, strict=True)
    ]
    paragraphs = (growth.sentence, *texts, why_story.judging(growth.judge))
    return [_chapter(TextSection(section.heading, paragraphs), *growth_pictures(trace, theme))]


def _translations(trio: Trio, theme: ThemeName) -> Chapter:
    """Return the three translations, each with its heatmap or its only vector; the row of a step is framed."""
    note = gettext(
        "Each picture has one row for each French word. The slider above and the keys ← and → choose the step "
        "whose row is framed."
    )
    heatmaps = tuple(_heatmap(trace, theme) for trace in trio.own)
    return Chapter(why_story.translations_section().heading, (note,), heatmaps, tuple(translation_tables(trio)))


def _heatmap(trace: Trace, theme: ThemeName) -> StoryPicture:
    name = attention_name(str(trace.config["attention"]))
    return StoryPicture(f"{name} ({trace.model})", (trace.translation,), (translation_figure(trace, theme=theme),))


def _with_paragraphs_of(text: TextSection, other: TextSection) -> TextSection:
    return TextSection(text.heading, text.paragraphs + other.paragraphs)


def _chapter(text: TextSection, *pictures: Picture) -> Chapter:
    return Chapter(text.heading, text.paragraphs, story_pictures(pictures))
