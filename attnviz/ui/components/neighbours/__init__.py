"""List the vectors of a corpus that are nearest to one of the current step."""
