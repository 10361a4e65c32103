"""Whether what a text names is in the working tree: files, identifiers."""
