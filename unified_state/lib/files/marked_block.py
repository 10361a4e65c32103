"""A block of ours in a file of the user's: put in and taken out so that every other byte stays as it was.

The block ends with a line break just if the file did, which tells later what has to go with it.
"""

from __future__ import annotations

BEGIN, END = b"<!-- unified-state: begin", b"<!-- unified-state: end -->"


def with_block(content: bytes | None, lines: list[str]) -> bytes:
    """The content with a block of these lines at its end, in place of a block that it has; None where there is no file
    yet.
    """
    content = None if content is None else without_block(content)
    line_break = b"\r\n" if content and b"\r\n" in content else b"\n"
    block = line_break.join([BEGIN + b" -->", *(line.encode() for line in lines), END])
    if content is None:
        return block + line_break
    if content.endswith(b"\n"):
        return content + line_break + block + line_break
    return content + line_break * 2 + block


def without_block(content: bytes) -> bytes | None:
    """The content as it was before it had a block, None where there was no file. A block that nothing closes stays."""
    begin = content.find(BEGIN)
    end = content.find(END, begin)
    if begin < 0 or end < 0:
        return content
    before, block, after = content[:begin], content[begin:end], content[end + len(END) :]
    line_break = b"\r\n" if b"\r\n" in block else b"\n"
    if after.startswith(line_break):
        rest = before.removesuffix(line_break) + after.removeprefix(line_break)
        return rest or None if not before else rest
    return before + after if after else before.removesuffix(line_break * 2)
