"""Files of other programs: one reader a format."""
