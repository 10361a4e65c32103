"""Hand-over: the state and the open work in one file, for another person or agent, and how it is taken in."""
