"""Words of grammar, which one language may say twice and the other leave out. Nothing else in findings is French or
English."""

from __future__ import annotations

FUNCTION_WORDS = frozenset({
    "ait", "aux", "avaient", "avait", "avec", "avez", "avions", "avoir", "avons", "ces", "cette", "dans", "des", "elle",
    "elles", "est", "étaient", "était", "été", "être", "ils", "les", "leur", "leurs", "mes", "nos", "notre", "nous",
    "ont", "par", "pas", "plus", "pour", "que", "qui", "sera", "seront", "ses", "sommes", "son", "sont", "suis", "sur",
    "tes", "ton", "une", "vos", "votre", "vous",
})  # fmt: skip
"""French words that a sentence says twice for its grammar: les plus grands, vous vous souvenez, ne … pas, the verbs of
the compound tenses."""
SOURCE_FUNCTION_WORDS = frozenset({
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "being", "but",
    "by", "can", "could", "did", "do", "does", "down", "each", "for", "from", "get", "going", "got", "had", "has",
    "have", "he", "her", "here", "herself", "him", "himself", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "itself", "just", "let", "may", "me", "mid", "might", "much", "must", "my", "no", "not", "of", "off", "on", "one",
    "only", "or", "other", "our", "out", "over", "own", "shall", "she", "should", "so", "some", "such", "than", "that",
    "the", "their", "them", "themselves", "then", "there", "these", "they", "this", "those", "to", "too", "up", "us",
    "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will",
    "with", "would", "you", "your",
})  # fmt: skip
"""English words that French may do without, or say by an ending: nobody need look at them."""
