"""Requirements of the figures of a step (kind of model, weights, intervention), with the message if one is not met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.analysis.energy_decomposition import score_vector
from attnviz.analysis.scorers import scorer_of
from attnviz.figures.figure_input import Subject
from attnviz.languages import gettext
from attnviz.trace import Record
from attnviz.wording.imported_attention import missing_energies_reason, missing_values_reason
from attnviz.wording.seq2seq_stages import no_logit_attribution


@dataclass(frozen=True)
class Requirement:
    """A requirement of a figure."""

    is_met: Callable[[Subject], bool]
    sentence: Callable[[Subject], str]
    """Returns why there is no figure and, if possible, what the user can do."""


def _has_score_vector(subject: Subject) -> bool:
    try:
        score_vector(subject.trace, subject.weights)
    except ValueError:
        return False
    return True


def _reason(
    transformer: Callable[[], str], imported: Callable[[], str] = lambda: _imported_reason()
) -> Callable[[Subject], str]:
    """Return a function that explains why a figure is not available, by kind of trace.

    `transformer` returns the sentence for transformers, `imported` that for imported translators.
    """

    def reason(subject: Subject) -> str:
        if not subject.trace.translated:
            return missing_values_reason()
        return imported() if subject.trace.imported else transformer()

    return reason


def _imported_reason() -> str:
    return gettext(
        "This figure exists only for translators trained with attnviz. This model was imported from another program."
    )


RECURRENT = Requirement(
    lambda subject: subject.trace.recurrent,
    _reason(
        lambda: gettext(
            "This figure exists only for recurrent translators. This model is a transformer: it has no recurrent "
            "state, and at each step it computes many attention distributions."
        )
    ),
)
RNNSEARCH = Requirement(lambda subject: subject.trace.recurrent and not subject.trace.imported, RECURRENT.sentence)
UNIT_LAYER = Requirement(
    RECURRENT.is_met,
    _reason(
        lambda: gettext(
            "This model is a transformer: its score is the product of query and key, shown above. This score has "
            "no hidden layer of units to decompose."
        )
    ),
)
LINEAR_READOUT = Requirement(
    lambda subject: subject.trace.recurrent and subject.trace.linear,
    _reason(
        lambda: gettext(
            "This model is a transformer, so logit attribution is not possible. Feed-forward networks and "
            "normalisations come between its heads and the logit, so the logit does not split into one part per "
            "word."
        ),
        no_logit_attribution,
    ),
)
SINGLE_ATTENTION = Requirement(
    RNNSEARCH.is_met,
    _reason(
        lambda: gettext(
            "This model is a transformer: each step has many attention distributions and no single context "
            "vector. So Bayes’ rule gives no posterior attention."
        ),
        lambda: gettext(
            "Posterior attention exists only for translators trained with attnviz. This model was imported from "
            "another program."
        ),
    ),
)


def _headless_reason() -> str:
    return gettext("This figure shows attention heads. This model is a recurrent translator and has no heads.")


HEADS = Requirement(
    lambda subject: subject.trace.has_heads,
    _reason(_headless_reason, _headless_reason),
)
TRANSLATION = Requirement(lambda subject: isinstance(subject.trace, Record), lambda _: missing_values_reason())
IMPORTED_ATTENTION = Requirement(
    lambda subject: not subject.trace.translated,
    lambda _: gettext("This figure exists only for attention that another program computed."),
)
ENERGIES = Requirement(
    lambda subject: subject.trace.recurrent or (not subject.trace.translated and subject.trace.energies.size > 0),
    lambda subject: RECURRENT.sentence(subject) if subject.trace.translated else missing_energies_reason(),
)
ATTENTION = Requirement(
    lambda subject: subject.trace.attends,
    lambda _: gettext("This model has no attention: it computes no energies, so there is nothing to decompose."),
)
DECOMPOSABLE_SCORER = Requirement(
    lambda subject: not scorer_of(subject.trace.config).missing,
    lambda subject: scorer_of(subject.trace.config).missing,
)
SCORE_VECTOR = Requirement(
    _has_score_vector,
    lambda subject: gettext(
        "The energy cannot be decomposed: this trace lacks the vector v_a. The model “{model}”, which made this "
        "trace, is not available. Put this model in the folder of models.",
        model=subject.trace.model,
    ),
)
WEIGHTS = Requirement(
    lambda subject: subject.weights is not None,
    lambda subject: gettext(
        "Logit attribution needs the weights of “{model}”, the model that made this translation. This model is "
        "not available. Put the model in the folder of models and open the translation again.",
        model=subject.trace.model,
    ),
)
PERTURBATION_WEIGHTS = Requirement(
    lambda subject: subject.weights is not None,
    lambda subject: gettext(
        "Attributions and perturbation tests need “{model}”, the model that made this translation. This model is "
        "not available. Put the model in the folder of models and open the translation again.",
        model=subject.trace.model,
    ),
)
ATTENTION_FOR_POSTERIOR = Requirement(
    lambda subject: subject.trace.attends,
    lambda _: gettext(
        "This model has no attention: it writes all its words from one context vector. So this model has no "
        "attention weights to change and no posterior attention."
    ),
)
POSTERIOR_WEIGHTS = Requirement(
    lambda subject: subject.weights is not None,
    lambda subject: gettext(
        "Posterior attention needs the weights of “{model}”, the model that made this translation. This model is "
        "not available. Put the model in the folder of models and open the translation again.",
        model=subject.trace.model,
    ),
)
INTERVENTION = Requirement(
    lambda subject: subject.parent is not None,
    lambda _: gettext("Nothing was changed by hand in this translation: there is nothing to compare it with."),
)
FOIL = Requirement(
    lambda subject: subject.foil_id is not None,
    lambda _: gettext("There is no other piece to compare the chosen piece with."),
)
