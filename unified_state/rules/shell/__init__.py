"""The shell as rules read it: its words, its commands, and when two lines are the same command."""
