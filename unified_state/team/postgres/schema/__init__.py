"""The schema of the server and its migrations."""
