"""Damaged files of the data folder: a line is `FILE OFFSET HEX`, bytes that are written over those of a file; `FILE cut
OFFSET` cuts it there.

`make damages` tries one byte at each place and knows what each may cost; here many come together.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.campaign.kind import Kind, expect
from tests.campaign.world import World

_FILES = ("archive.db", "enforced.json", "about.json", "mask.key", "unified-state-id", "settings.json")
_MOST = 8
_LONGEST = 64  # bytes of one line


def seeds() -> list[bytes]:
    """Damage of each file, at its beginning and further in."""
    places = [f"{name} {offset} ff00fe41" for name in _FILES for offset in (0, 40)]
    pages = [f"archive.db {page * 4096 + at} 00ff" for page in (0, 1, 2, 5, 9, 20) for at in (0, 5, 100, 3000)]
    cuts = [f"{name} cut {offset}" for name in _FILES for offset in (0, 17, 5000)]
    return [line.encode() for line in (*places, *pages, *cuts, "\n".join(places[:4]))]


def meet(world: World, data: bytes) -> None:
    """Hooks and commands meet the damage, and what is recorded behind it is there."""
    files = {
        path.name: path for folder in (world.archive.parent, world.repository / ".git") for path in folder.iterdir()
    }
    files |= {path.name: path for path in world.archive.parents[2].iterdir()}
    for line in data.split(b"\n")[:_MOST]:
        _damage(files, line.decode("latin-1").split())
    world.hook("SessionStart", "brief", source="startup")
    world.hook("PreToolUse", tool_name="Bash", tool_input={"command": "git push --force"})
    world.hook("UserPromptSubmit", prompt="go on")
    world.run("search", "gold", "--json")
    world.hook("Stop")
    added = world.run("decision", "add", "one more", "--rationale", "r", "--json")
    world.run("status")
    listed = world.run("decision", "list", "--json")
    if added.code == 0 and listed.code == 0:
        shown = [item["decision"] for item in json.loads(listed.out)]
        expect("one more" in shown, f"what was recorded behind the damage is gone: {shown} {added}")
    log = world.home / ".local" / "share" / "unified-state" / "hook.log"
    if log.is_file():
        expect(b"Traceback" not in log.read_bytes(), log.read_bytes()[-1500:])


def _damage(files: dict[str, Path], words: list[str]) -> None:
    """Do what a line says, if it says anything."""
    if len(words) < 3 or words[0] not in files or not files[words[0]].is_file():
        return
    path = files[words[0]]
    content = path.read_bytes()
    try:
        at = int(words[2] if words[1] == "cut" else words[1]) % (len(content) + 1)
        put = b"" if words[1] == "cut" else bytes.fromhex(words[2])[:_LONGEST]
    except ValueError:
        return
    path.write_bytes(content[:at] if words[1] == "cut" else content[:at] + put + content[at + len(put) :])


KIND = Kind("archives", seeds, meet, (*_FILES, "cut", "00", "ff", "7f", "4096", "8192", "53514c697465"))
