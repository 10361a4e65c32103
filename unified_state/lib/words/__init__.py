"""Words of texts and of code, for the index and for comparisons."""
