"""Rules that extract certain facts from a step, one rule in each file."""
