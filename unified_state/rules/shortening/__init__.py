"""The rules of lean context: how a long tool output is shortened before the model reads it, one small rule a kind."""
