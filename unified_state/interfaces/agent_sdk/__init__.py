"""Agents of the Claude Agent SDK; only this folder imports it."""
