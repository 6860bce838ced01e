"""Names of the measures of a corpus (columns of its table), and names and captions of the table's filters."""

from __future__ import annotations

from attnviz.languages import gettext


def corpus_measure_names() -> dict[str, str]:
    """Return the name of each measure, by column."""
    return {
        "log_probability_per_word": gettext("log p per word"),
        "perplexity": gettext("perplexity per piece"),
        "entropy": gettext("mean entropy of a step, bits"),
        "largest_weight": gettext("mean of each step’s largest weight"),
        "least_coverage": gettext("least coverage"),
        "end_share": gettext("attention on the end mark, </s>"),
        "length_ratio": gettext("length ratio"),
        "copied_words": gettext("copied words"),
        "copied_share": gettext("share of copied words"),
        "unknown_words": gettext("unknown words"),
        "chrf": "chrF2",
        "bleu": "BLEU",
        "aer_before": gettext("AER before the word"),
        "aer_after": gettext("AER after the word"),
        "aer_between": gettext("AER between the files"),
        "only_one": gettext("links in one file only"),
        "omitted": gettext("omissions"),
        "repeated": gettext("repetitions"),
        "unlinked": gettext("words without a link"),
        "many_to_one": gettext("most links of one word"),
        "drifted": gettext("words linked one word off"),
        "source_length": gettext("English words"),
        "target_length": gettext("French words"),
    }


def preset_names() -> dict[str, str]:
    """Return the names of the filter presets, which find likely errors."""
    return {
        "wrong": gettext("Likely errors"),
        "all": gettext("All pairs"),
        "omitted": gettext("Possible omissions"),
        "repeated": gettext("Repetitions"),
        "unsure": gettext("Unsure"),
        "copied": gettext("Copied"),
        "drifted": gettext("One word off"),
    }


def preset_caption(preset: str) -> str:
    """Return what a filter preset shows."""
    return {
        "wrong": gettext("Pairs with a likely error of any kind. The pairs with the lowest log p per word come first."),
        "all": gettext("Every pair, in the order of the file."),
        "omitted": gettext(
            "Pairs with English words that get almost no attention, sorted from the least attention upwards."
        ),
        "repeated": gettext(
            "Pairs with a French word that occurs again, either for the same English word or only a few words later."
        ),
        "unsure": gettext("The tenth of all pairs that has the lowest log p per word."),
        "copied": gettext("Pairs in which at least half of the French words also occur in the English sentence."),
        "drifted": gettext(
            "Pairs in which several words in a row are each linked to a neighbour of the right word. Words that both "
            "sentences share, such as numbers and names, reveal such wrong links."
        ),
    }[preset]
