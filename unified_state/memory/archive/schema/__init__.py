"""The tables of the archive: numbered migrations, and the checks that they are whole."""
