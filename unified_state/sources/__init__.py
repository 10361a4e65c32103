"""How we read what others write: hook input, transcripts, git."""
