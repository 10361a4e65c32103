"""The commands: arguments and output, one group in each file."""
