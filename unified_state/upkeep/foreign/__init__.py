"""Files of other programs: reading, text, records."""
