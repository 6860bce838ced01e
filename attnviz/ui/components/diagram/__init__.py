"""Draw the architecture diagram of the translator, with the numbers of the current step."""
