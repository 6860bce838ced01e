"""Draw the text boxes for the word whose logit is attributed and for its foil."""
