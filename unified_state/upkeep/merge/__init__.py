"""Merging: what a journal kept while an archive could not be used joins that archive."""
