"""The table of the vectors of steps, which only a search by meaning needs."""

VECTORS = ""
