"""The state file itself: its format, its versions, what of it can be used."""
