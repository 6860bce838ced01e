"""What the measures of a corpus are called, and what is said of a table of them."""

from __future__ import annotations

from attnviz.languages import say


def measure_names() -> dict[str, str]:
    """Return the name of each measure, by its column."""
    return {
        "log_probability_per_word": say("log p per word"),
        "perplexity": say("perplexity per piece"),
        "entropy": say("entropy of a row, bits"),
        "largest_weight": say("largest weight of a row"),
        "least_coverage": say("least coverage"),
        "end_share": say("share of </s>"),
        "length_ratio": say("length ratio"),
        "copied_words": say("copied words"),
        "copied_share": say("share of copied words"),
        "unknown_words": say("unknown words"),
        "chrf": "chrF",
        "bleu": "BLEU",
        "aer_before": say("AER before the word"),
        "aer_after": say("AER after the word"),
        "omitted": say("omissions"),
        "repeated": say("repetitions"),
        "source_length": say("English words"),
        "target_length": say("French words"),
    }


def preset_names() -> dict[str, str]:
    """Return the names of the presets, which show where it goes wrong."""
    return {
        "all": say("All pairs"),
        "omitted": say("Possible omissions"),
        "repeated": say("Repetitions"),
        "unsure": say("Unsure"),
        "copied": say("Copied"),
    }


def preset_told(preset: str) -> str:
    """Return what a preset shows."""
    return {
        "all": say("Every pair, in the order of the file."),
        "omitted": say("Pairs with an English stretch that no French word looked at, the least looked at first."),
        "repeated": say("Pairs with a French word that was written again for the same English word, or close by."),
        "unsure": say("The tenth of the pairs that the model finds least likely, by log p per word."),
        "copied": say("Pairs of whose French words half or more stand in the English sentence too."),
    }[preset]
