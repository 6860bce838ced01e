"""Fuzzing with damaged input of every kind."""
