"""The journal: a history as JSON lines, used where no archive can be used and merged into it later."""
