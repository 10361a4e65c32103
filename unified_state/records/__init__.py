"""What we keep: immutable values. No input, no output, no clock here."""
