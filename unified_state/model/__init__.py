"""The nouns: immutable records without I/O and without a clock."""
