"""The data model: immutable records without I/O and without a clock."""
