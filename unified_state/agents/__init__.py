"""The agents' own programs: their transcripts, and how we are installed into them."""
