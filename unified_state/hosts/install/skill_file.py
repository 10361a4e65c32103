"""The skill that tells the agent when to record and how to look things up, as a file of the client: the plugin's text.

The last line has a checksum of the lines above. A file that does not fit its checksum is the user's: it is never
overwritten and never removed. Line ends do not count, because git may change them.
"""

from __future__ import annotations

import os
from zlib import crc32

from unified_state.errors import StorageError
from unified_state.lib.files import lies_in, remove_if_empty, write_atomically
from unified_state.lib.package import asset_path
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.record import Record

SKILL = "session-memory"
_FILE = "SKILL.md"
_MARK = b"<!-- unified-state install: "
_END = b" -->"
_SHARED = 0o644


class Skill(Record):
    """What becomes of the skill: its file, the content to write (None: nothing), and a message for the user."""

    path: str
    content: bytes | None
    told: str


def plan_skill(skills_folder: str, inside: str, program: str, elsewhere: str) -> Skill:
    """Return what `install` does about the skill. It overwrites only a file that we wrote and that is unchanged.

    `inside` is the worktree that the file must not lead out of, or "". `program` is the agent's name for our program.
    `elsewhere` tells where the agent has the skill from already, or "".
    """
    path = os.path.join(skills_folder, SKILL, _FILE)
    if elsewhere:
        return Skill(path, None, f"the skill {SKILL} is {elsewhere}")
    if problem := _problem(path, inside):
        return Skill(path, None, f"the skill {path} is left alone: {problem}")
    return Skill(path, _content(program), f"the skill {SKILL}, which tells the agent when to record, is {path}")


def write_skill(skill: Skill) -> Skill:
    """Write the file, and return what became of it. A folder that cannot be written to is reported, not raised."""
    if skill.content is None or _read(skill.path) == skill.content:
        return skill
    try:
        write_atomically(skill.path, skill.content, _SHARED)
    except StorageError as error:
        return skill.replace(content=None, told=f"the skill is not there: {error.message}")
    return skill


def remove_skill(skills_folder: str) -> tuple[str | None, str]:
    """Remove the file if it is ours and unchanged. Return its path if it is gone, and a message for the user."""
    path = os.path.join(skills_folder, SKILL, _FILE)
    content = _read(path)
    if _MARK not in content:
        return None, ""
    if os.path.islink(path) or not _is_unchanged(content):
        return None, f"{path} stays: you changed it since `install` wrote it"
    try:
        os.unlink(path)
    except OSError as error:
        return None, f"{path} stays: {error.strerror}"
    if remove_if_empty(os.path.dirname(path)):
        remove_if_empty(skills_folder)
    return path, ""


def has_skill(skills_folder: str) -> bool:
    """Return whether a folder of skills has a file that we wrote, changed or not."""
    return _MARK in _read(os.path.join(skills_folder, SKILL, _FILE))


def _problem(path: str, inside: str) -> str:
    """Return why the file must not be written, or ""."""
    folder = os.path.dirname(path)
    if os.path.islink(path) or os.path.islink(folder):
        return "it is a symlink"
    if inside and not lies_in(os.path.realpath(folder), os.path.realpath(inside)):
        return f"it leads out of the project, to {os.path.realpath(folder)}"
    if not os.path.lexists(path):
        return ""
    content = _read(path)
    if _MARK not in content:
        return "a file of that name exists"
    return "" if _is_unchanged(content) else "you changed it"


def _content(program: str) -> bytes:
    text = read_regular(asset_path("skills", SKILL, _FILE), LARGE_FILE).replace(b"\r\n", b"\n").rstrip(b"\n")
    if program != "unified-state":
        text += f"\n\n`unified-state` is not on the PATH here: call `{program}` in its place.".encode()
    return _marked(text)


def _marked(text: bytes) -> bytes:
    return text + b"\n\n" + _MARK + f"{crc32(text):08x}".encode() + _END + b"\n"


def _is_unchanged(content: bytes) -> bool:
    text = content.replace(b"\r\n", b"\n")
    return text == _marked(text.partition(b"\n\n" + _MARK)[0])


def _read(path: str) -> bytes:
    try:
        return read_regular(path, LARGE_FILE)
    except OSError:
        return b""
