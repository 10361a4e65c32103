"""The product without an open SQLite archive: what it can do over a history in files of JSON."""
