"""The context window: how full it is, and shorter tool outputs that keep it small."""
