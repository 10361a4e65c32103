"""Sessions and turns in order, in pages, for people who read them."""
