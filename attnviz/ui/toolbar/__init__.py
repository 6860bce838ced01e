"""What stands above a translation: the sentence, examples, model and search, files in and out."""
