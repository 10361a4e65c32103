"""Support for agents of the Claude Agent SDK. Only this folder imports it."""
