"""How a summary's statements are compared with items."""
