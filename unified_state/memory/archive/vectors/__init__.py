"""The vectors of steps, and the files that are made of them."""
