"""The memory inside an agent of the Claude Agent SDK: the hooks and the tools in the program's own process."""
