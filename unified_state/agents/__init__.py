"""Support for each agent: readers of its transcripts, and the installation of our hooks into it."""
