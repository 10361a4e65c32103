"""The subcommands. Each module has `configure(name, parser)`, which adds arguments and sets `run`."""
