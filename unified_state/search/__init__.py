"""Search and recall, by words and by meaning."""
