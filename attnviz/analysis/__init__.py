"""NumPy analyses of a trace: measures, posterior attention, attributions, perturbations, comparison, verification."""

from attnviz.analysis.adversary import adversary
from attnviz.analysis.after_word import AfterWord, after_word
from attnviz.analysis.agreement import Agreement, agreement
from attnviz.analysis.answers import ANSWERS, Answers, added_logits, answers
from attnviz.analysis.best_look import best_look
from attnviz.analysis.comparison import Comparison, compare
from attnviz.analysis.firmness import Firmness, firmness
from attnviz.analysis.looks import Trial
from attnviz.analysis.posterior import likelihood, posterior
from attnviz.analysis.shuffled import Shuffled, shuffled
from attnviz.analysis.trials import Trials, trials
from attnviz.model_folder import load_weights

__all__ = [
    "ANSWERS",
    "AfterWord",
    "Agreement",
    "Answers",
    "Comparison",
    "Firmness",
    "Shuffled",
    "Trial",
    "Trials",
    "added_logits",
    "adversary",
    "after_word",
    "agreement",
    "answers",
    "best_look",
    "compare",
    "firmness",
    "likelihood",
    "load_weights",
    "posterior",
    "shuffled",
    "trials",
]
