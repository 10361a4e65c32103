"""The formats of other programs, a module each: `NAME`, `told` recognises a file, `read` yields its records."""
