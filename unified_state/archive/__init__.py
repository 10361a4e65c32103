"""The archive: one SQLite file with every step, item and compaction."""
