"""The lab: attributions of a translation, perturbation tests, and comparisons."""
