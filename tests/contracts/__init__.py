"""What the archive of every tier promises of records of history."""
