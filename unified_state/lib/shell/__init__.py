"""Lines of the shell: words, commands, what they run."""
