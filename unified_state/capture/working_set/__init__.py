"""The working set of each session: files, names, commands and errors, weighted by their present importance."""
