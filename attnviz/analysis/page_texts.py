"""Fixed texts of pages: sections of *Why attention?* and *To the transformer*, term cards, names of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from attnviz.analysis.labels import percent
from attnviz.analysis.stages import recurrent_stages
from attnviz.analysis.why_attention import LEAST_PROBABILITY
from attnviz.languages import gettext, gettexts
from attnviz.trace import Trace

Origin = Literal["model", "reference", "visitor"]
"""Whose translation all models are forced to write."""


class TextSection(NamedTuple):
    """A heading and its paragraphs, as plain text."""

    heading: str
    paragraphs: tuple[str, ...]
    hint: str = ""
    """Another paragraph about the controls, which the lecture file leaves out."""
    warning: str = ""
    """What the reader must not conclude, in bold above the paragraphs."""
    lead: str = ""
    """What can be read while the section is closed."""


def why_introduction() -> TextSection:
    """Return the introduction of the page."""
    return TextSection(
        gettext("Why attention?"),
        (
            gettext(
                "In 2014, neural translators turned a sentence, however long, into one vector of fixed length: 1,000 "
                "numbers in Cho et al. (2014a), 8,000 in Sutskever et al. (2014). The decoder knew the sentence "
                "through this vector alone. Bahdanau, Cho and Bengio let the translator look back: before each word, "
                "it weighs all source words anew."
            ),
        ),
    )


def growth_section() -> TextSection:
    """Return the text about a long sentence and its first words."""
    return TextSection(
        gettext("1. A long sentence through one vector"),
        (
            gettext(
                "A fixed vector is equally long for a short sentence and for a long one. The longer the sentence, the "
                "less room each word has. With attention, the model keeps a vector for each word, and mixes these "
                "vectors anew at each step."
            ),
            gettext(
                "Three small models, trained on the same sentences, translate the same sentence. They differ in what "
                "the decoder gets of the sentence: one fixed vector, or a new mixture of annotations for each word. "
                "General and additive attention compute the weights of the mixture in two ways (section 3)."
            ),
        ),
        hint=gettext("Move the slider: the models then translate only the first words of the sentence."),
    )


def additive_and_general() -> str:
    """Return how the energies of the two recurrent kinds of attention differ."""
    return gettext(
        "Additive attention adds the state and the annotation, each multiplied by a matrix, then applies tanh and a "
        "weighted sum. General attention multiplies the annotation by a matrix, then takes the dot product with the "
        "state."
    )


def judge_section(model: str) -> str:
    """Return how `model` judges the translations of the growing sentence."""
    return gettext(
        "{model}, a better model than the three small models, is forced to write each translation. The shade of a "
        "French word shows its probability in {model}: the product of the probabilities of its pieces. {model} also "
        "estimates which English words each French word comes from (its posterior attention). An English word counts "
        "as left out, and is struck through, if no French word comes from it by half or more. French words with a "
        "probability below {least} do not count. An English word that is not struck through may still be translated "
        "badly: its French words are then improbable. Content words are all words but articles, pronouns, prepositions "
        "and the like. chrF2 (Popović 2015), 0 to 100, measures how similar a translation is to a reference "
        "translation. The models with attention have a few more parameters than the model with a fixed vector. The "
        "page Translate usually shows a larger model.",
        model=model,
        least=percent(LEAST_PROBABILITY),
    )


def length_section() -> TextSection:
    """Return the text about the paper's Fig. 2."""
    return TextSection(
        gettext("2. The longer the sentence, the worse one vector does"),
        (
            gettext(
                "This figure repeats Fig. 2 of Bahdanau, Cho & Bengio (2014) with the three small models. The figure "
                "shows the BLEU for each sentence length. BLEU, 0 to 100, measures how many runs of words a "
                "translation shares with a human translation. When the test sentences are resampled at random, the "
                "BLEU stays within the error bar 95 times in 100. Cho et al. (2014b) saw that one vector fails on long "
                "sentences; attention was invented to solve this problem."
            ),
        ),
    )


def translations_section() -> TextSection:
    """Return the text about the three translations."""
    return TextSection(
        gettext("3. Three translators, step by step"),
        (
            gettext(
                "Press Play below; after that, → and ← change the step. The shade and the bar of an English word show "
                "its attention weight for the piece being written. The stripes show the context vector: what the "
                "decoder gets of the English sentence at the current step. What it got at earlier steps lives on in "
                "its state. Each stripe is one number, red below zero, blue above."
            ),
            additive_and_general(),
        ),
        lead=gettext(
            "The three models translate your sentence side by side. The fixed vector is the same at every step; with "
            "attention, the context vector changes from step to step."
        ),
    )


def forced_section(model: str, origin: Origin) -> TextSection:
    """Return the text about forcing all models through one translation: that of `model`, or of another `origin`."""
    whose = {
        "model": gettext("This translation is by {model}; you can enter another translation above.", model=model),
        "reference": gettext("This is a reference translation; you can enter another translation above."),
        "visitor": gettext("You entered this translation."),
    }[origin]
    return TextSection(
        gettext("4. All three models are made to write the same words"),
        (
            gettext(
                "Since all models write the same words, no model goes on from a mistake of its own. A word that is far "
                "less probable with the fixed vector suggests that this vector has lost part of the sentence. The "
                "models were trained separately, so small differences mean little. Each grid line marks a tenth of the "
                "probability of the line above it."
            ),
            whose,
        ),
        lead=gettext(
            "All three models are forced to write the same translation. At every word we ask each model how probable "
            "the word is after the previous words."
        ),
    )


def gradient_section() -> TextSection:
    """Return the text about gradients and their paths."""
    return TextSection(
        gettext("5. A fixed vector learns, but cannot select"),
        (
            gettext(
                "While a model learns, it changes its numbers so that the correct French piece becomes more probable. "
                "The gradient says how much the vector of each English piece affects the probability of the correct "
                "French piece. The gradient also passes through a fixed vector, so a model with a fixed vector learns. "
                "But it cannot choose an English piece for each French piece. The shares measured for your sentence "
                "are below."
            ),
        ),
        lead=gettext(
            "A fixed vector is the same for all French pieces. Attention can send a larger share of the gradient to "
            "the English piece that is translated."
        ),
    )


def gradient_paths_section() -> TextSection:
    """Return the text about the figure of gradients and their paths."""
    return TextSection(
        gettext("How far gradients travel"),
        (
            gettext(
                "If the vector of an English piece were a little different, how much would the log probability of a "
                "French piece change? The answer is the gradient ∂ log p(yᵢ) / ∂xⱼ. Through a fixed vector, the "
                "gradient reaches every English piece. With attention, the piece that is translated often gets a "
                "larger share of it."
            ),
            gettext(
                "The horizontal axis counts the recurrent steps from a French piece back to an English piece. One line "
                "shows the gradient through the start state s₀. In a long recurrence, such a gradient tends to fade "
                "(Bengio et al. 1994). Another line shows the gradient through the context vectors c₁ … cᵢ. Without "
                "attention, all context vectors are the last annotation. Lines show medians; bands hold the middle "
                "half of the values."
            ),
        ),
    )


WHY_REFERENCES = (
    (
        "Bahdanau, Cho & Bengio 2014",
        "Neural machine translation by jointly learning to align and translate",
        "1409.0473",
    ),
    ("Cho et al. 2014a", "Learning phrase representations using RNN encoder-decoder", "1406.1078"),
    ("Cho et al. 2014b", "On the properties of neural machine translation", "1409.1259"),
    ("Sutskever, Vinyals & Le 2014", "Sequence to sequence learning with neural networks", "1409.3215"),
    ("Luong, Pham & Manning 2015", "Effective approaches to attention-based neural machine translation", "1508.04025"),
    ("Bengio, Simard & Frasconi 1994", "Learning long-term dependencies with gradient descent is difficult", ""),
    ("Popović 2015", "chrF: character n-gram F-score for automatic MT evaluation", ""),
    ("European Union 2016", "Regulation (EU) 2016/679, recital 6, in English and French. CC BY 4.0", ""),
)
"""References: authors, title, arXiv number where there is one."""
ExhibitName = Literal["dot", "pair", "heads", "answers"]
"""Names of the exhibits, in order of the page."""


def exhibit_titles() -> dict[str, str]:
    """Return the titles of the exhibits behind the row."""
    return gettexts(
        {
            "dot": "Additive and general",
            "pair": "No recurrence",
            "heads": "Heads and layers",
        }
    )


def exhibits_introduction() -> TextSection:
    """Return the introduction of the page."""
    return TextSection(
        gettext("To the transformer"),
        (
            gettext(
                "Changes to one formula lead from the attention of 2014 to the transformer. Where the model changes, "
                "too, the page says so."
            ),
        ),
    )


def exhibit_section(exhibit: ExhibitName) -> TextSection:
    """Return the text of an exhibit."""
    return {
        "dot": TextSection(
            gettext("From additive to general attention"),
            (
                gettext(
                    "One formula changes: the one that says how well an annotation fits the decoder state. Annotation "
                    "and state are lists of numbers. Bahdanau et al. use a small network: two matrices turn annotation "
                    "and state into lists of the same length; it adds these lists, applies tanh to each sum, and takes "
                    "a weighted sum of the results. Luong et al. (2015) need one matrix, P, which makes the annotation "
                    "as long as the state; they multiply both lists number by number and add up the products "
                    "(“general” attention). For lists of given lengths, the sum is largest where both point in the "
                    "same direction. At equal sizes, Luong’s formula takes fewer multiplications; the numbers are "
                    "below. Luong et al. compare with the state after the step; here, both models use the state before "
                    "it."
                ),
            ),
            gettext(
                "Both models are forced to write the same French words. Choose a French piece (← →) and an English "
                "piece (↑ ↓, or click)."
            ),
            gettext(
                "Two models stand side by side, each trained with its own formula. Their numbers differ because of the "
                "formula and because of the training, so they do not show which formula is better."
            ),
        ),
        "pair": TextSection(
            gettext("Attention without recurrence"),
            (
                gettext(
                    "What changes: to compute a word, the model needs no result from the previous word. Each piece is "
                    "represented only by its embedding, a list of numbers read from a table. So all pieces can be "
                    "computed at the same time. The drawback is the loss of word order: attention is a weighted sum, "
                    "which is the same in any word order. To recover word order, the transformer adds to each "
                    "embedding numbers that encode the position of the piece (first, second, third)."
                ),
                gettext(
                    "The model of Parikh et al. (2016) compares two sentences. Each piece of one sentence looks for "
                    "matching pieces in the other sentence and is compared with the pieces found. The comparisons of "
                    "all pieces are then added up. The model of Parikh et al. said whether one sentence follows from "
                    "another. Our model says whether one sentence is a translation of another; our model itself does "
                    "not translate."
                ),
            ),
            warning=gettext(
                "Another model, trained for another task: its numbers cannot be compared with those before."
            ),
        ),
        "heads": TextSection(
            gettext("Scaled dot products, heads and layers"),
            (
                gettext(
                    "Vaswani et al. (2017) replaced recurrence by attention. English words look at each other; French "
                    "words look at the words already written, then look at the English words. A head computes one "
                    "attention distribution; several heads, each with its own matrices, work side by side. A layer is "
                    "a row of heads; each layer reads the output of the layer before it. One drawback: every layer "
                    "compares every word with every other word. Another drawback: the model has to learn word order "
                    "from positions."
                ),
                gettext(
                    "In a head, three matrices turn each piece into three lists of numbers (projections). The query is "
                    "what the piece looks for. The key is what other pieces compare their queries with. The value is "
                    "what the piece passes on. Products of queries and keys are divided by √d, so that they do not "
                    "grow with the length d of the lists. The output of a head is added to the residual stream, the "
                    "list of numbers that runs through all layers. A mask keeps each French word from attending to "
                    "words that are not written yet."
                ),
            ),
            gettext(
                "Below are all heads of small-transformer for your sentence. A row is a query, a column is a key; a "
                "bright cell is a large weight (the shade is √α). Choose a head to open it."
            ),
            gettext(
                "Another model: a transformer, which differs from the recurrent models in more than its formula of "
                "attention. Its numbers cannot be compared with theirs."
            ),
        ),
        "answers": TextSection(
            gettext("All five models, side by side"),
            (
                gettext(
                    "Five models translate your sentence: one with a fixed vector, one with general attention, one "
                    "with additive attention, a transformer, and en-fr, the large additive model. The four small "
                    "models had the same data, number of updates and vocabulary. The model en-fr is larger than the "
                    "four small models and was trained far longer. The model without recurrence does not translate, so "
                    "it is not among the five models. BLEU, 0 to 100, measures how many runs of words a translation "
                    "shares with a human translation."
                ),
            ),
            warning=gettext(
                "Five models that differ in more than their attention: which of them translates better does not show "
                "which form of attention is better."
            ),
        ),
    }[exhibit]


EXHIBIT_REFERENCES = (
    (
        "Bahdanau, Cho & Bengio (2014)",
        "Neural machine translation by jointly learning to align and translate",
        "1409.0473",
    ),
    (
        "Luong, Pham & Manning (2015)",
        "Effective approaches to attention-based neural machine translation",
        "1508.04025",
    ),
    (
        "Parikh, Täckström, Das & Uszkoreit (2016)",
        "A decomposable attention model for natural language inference",
        "1606.01933",
    ),
    ("Vaswani et al. (2017)", "Attention is all you need", "1706.03762"),
)
"""References: authors, title, arXiv number."""
_Drawing = Literal["piece", "annotation", "energy", "weight", "context", "state", "probability"]


@dataclass(frozen=True)
class TermCard:
    """The explanation of a term."""

    name: str
    forms: str
    """Words that stand for the term in a sentence, separated by |."""
    sentence: str
    drawing: _Drawing
    """Name of the drawing, in `ui/components/view_state/view_state.html`."""
    stage: int | None = None
    """Number of the stage that computes it."""


def recurrent_terms(trace: Trace) -> tuple[TermCard, ...]:
    """Return the terms of a recurrent translator; those of attention only where it has attention."""
    titles = {stage.number: stage.title() for stage in recurrent_stages(trace)}
    cell = gettext(
        "A gated LSTM (long short-term memory) computes the state."
        if trace.config.get("cell") == "lstm"
        else "A gated recurrent unit (GRU) computes the state."
    )
    maxout = gettext("Before the probabilities, a maxout layer keeps the larger number of each pair.")
    cards = (
        TermCard(
            gettext("Piece"),
            gettext("piece|pieces"),
            gettext("A frequent word, or a part of a rarer word. The translator reads and writes pieces."),
            "piece",
        ),
        TermCard(
            gettext("End mark"),
            gettext("end mark"),
            gettext("The piece </s>, the last of every sentence. It gets attention like any other piece."),
            "piece",
        ),
        TermCard(
            titles[4],
            gettext("state"),
            f"{gettext('The translator’s memory, a list of numbers that changes every step.')} {cell}",
            "state",
            4,
        ),
        TermCard(
            gettext("Probability"),
            gettext("probability|probabilities"),
            gettext("How likely a piece is to come next. The probabilities of all pieces add up to 100 %.")
            + (f" {maxout}" if trace.has_maxout else ""),
            "probability",
            5,
        ),
    )
    if not trace.attends:
        return cards
    return (
        *cards,
        TermCard(
            gettext("Annotation"),
            gettext("annotation|annotations"),
            gettext(
                "The list of numbers for one English piece, computed while reading the sentence from both ends."
                if trace.reads_backwards
                else "The list of numbers for one English piece, computed while reading up to this piece."
            ),
            "annotation",
        ),
        TermCard(
            titles[1],
            gettext("energy|energies"),
            gettext(
                "A number for each English piece: how well its annotation fits the translator’s state. A higher energy "
                "means more attention."
            ),
            "energy",
            1,
        ),
        TermCard(
            titles[2],
            gettext("attention|attention weight"),
            gettext("One English piece’s share of attention. At every step, the shares of all pieces total 100 %."),
            "weight",
            2,
        ),
        TermCard(
            titles[3],
            gettext("mixture|mixtures|context vector"),
            gettext("The sum of all annotations, each multiplied by its share. Every step has its own sum."),
            "context",
            3,
        ),
    )


def corpus_measure_names() -> dict[str, str]:
    """Return the name of each measure, by column."""
    return {"chrf": "chrF2", "bleu": "BLEU"} | gettexts(
        {
            "log_probability_per_word": "log p per word",
            "perplexity": "perplexity per piece",
            "entropy": "mean entropy of a step, bits",
            "largest_weight": "mean of each step’s largest weight",
            "least_coverage": "least coverage",
            "end_share": "attention on the end mark, </s>",
            "length_ratio": "length ratio",
            "copied_words": "copied words",
            "copied_share": "share of copied words",
            "unknown_words": "unknown words",
            "aer_before": "AER before the word",
            "aer_after": "AER after the word",
            "aer_between": "AER between the files",
            "only_one": "links in one file only",
            "omitted": "omissions",
            "repeated": "repetitions",
            "unlinked": "words without a link",
            "many_to_one": "most links of one word",
            "drifted": "words linked one word off",
            "source_length": "English words",
            "target_length": "French words",
        }
    )


def preset_names() -> dict[str, str]:
    """Return the names of the filter presets, which find likely errors."""
    return gettexts(
        {
            "wrong": "Likely errors",
            "all": "All pairs",
            "omitted": "Possible omissions",
            "repeated": "Repetitions",
            "unsure": "Unsure",
            "copied": "Copied",
            "drifted": "One word off",
        }
    )


def preset_caption(preset: str) -> str:
    """Return what a filter preset shows."""
    return gettext(
        {
            "wrong": "Pairs with a likely error of any kind. The pairs with the lowest log p per word come first.",
            "all": "Every pair, in the order of the file.",
            "omitted": (
                "Pairs with English words that get almost no attention, sorted from the least attention upwards."
            ),
            "repeated": (
                "Pairs with a French word that occurs again, either for the same English word or only a few words "
                "later."
            ),
            "unsure": "The tenth of all pairs that has the lowest log p per word.",
            "copied": "Pairs in which at least half of the French words also occur in the English sentence.",
            "drifted": (
                "Pairs in which several words in a row are each linked to a neighbour of the right word. Words that "
                "both sentences share, such as numbers and names, reveal such wrong links."
            ),
        }[preset]
    )
