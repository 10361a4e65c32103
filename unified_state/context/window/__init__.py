"""The context window: its fill, and the next compaction."""
