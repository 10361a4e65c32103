"""The journal: the history of the tier json, a file of JSON lines that SQLite replays in memory."""
