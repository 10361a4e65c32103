"""The working set of each session: files, names, commands, errors, by how much they matter now."""
