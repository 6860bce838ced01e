"""The controls above a translation: the sentence, examples, model and search, opening and saving files."""
