"""Shell lines: the commands in them, what those run, and the files that reach them."""
