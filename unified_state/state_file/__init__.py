"""The state file: its format, its versions, and a tolerant reader."""
