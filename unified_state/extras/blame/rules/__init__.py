"""Rules of blame: pure functions over lines and edits."""
