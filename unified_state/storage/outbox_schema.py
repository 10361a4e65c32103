"""The tables that tell what a server does not have yet."""

OUTBOX = ""
