"""Pure rules of transcripts and hosts."""
