"""Where no archive can be used: a journal stands in, and merges back later."""
