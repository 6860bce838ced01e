"""The lab: what the words of a translation depended on, and what they would have been with other looks."""
