"""The server of the model context protocol, which an agent starts with its session and asks by tool calls."""
