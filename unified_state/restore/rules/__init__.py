"""Rules that choose and word the lines of a restore."""
