"""Agents that run us: their transcripts, their settings, and the gate of their hooks."""
