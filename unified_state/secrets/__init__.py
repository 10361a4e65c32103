"""Secrets are masked before anything is written."""
