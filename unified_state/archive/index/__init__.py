"""The tables of the archive: numbered migrations, and integrity checks."""
