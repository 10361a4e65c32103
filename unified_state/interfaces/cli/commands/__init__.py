"""The commands: arguments and output, one group a file."""
