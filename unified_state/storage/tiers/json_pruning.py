"""Pruning a JSON store: old steps leave its files, to have room. Their keys stay, so that neither their refs are given
again nor a transcript brings them back.

What an item comes from is evidence, and never chosen. A prune leaves no tombstone: elsewhere everything stays.
"""

from __future__ import annotations

from unified_state.storage.pruned import Prunable
from unified_state.storage.tiers.json_cleaning import clean
from unified_state.storage.tiers.json_files import split_lines
from unified_state.storage.tiers.json_forms import key_in, readable_fields
from unified_state.storage.tiers.json_tables import CLEANING, GONE, Tables, session_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.storage.tiers.json_files import LineFiles


def choose_older(files: LineFiles, before: int) -> tuple[Prunable, list[bytes]]:
    """The steps from before a time: how many they are, and their keys."""
    tables = Tables(files)
    evidence = {item.source_uuid for item in tables.items.values()}
    keys: list[bytes] = []
    times: list[int] = []
    size = kept = sessions = 0
    for number in tables.numbers.values():
        known = len(keys)
        for line in (line for _, part in files.parts(session_file(number)) for line in split_lines(part)):
            for fields in readable_fields([line]):
                key, at = key_in(fields), fields.get("at")
                if key is None or "of" in fields or key in tables.gone or not isinstance(at, int) or at >= before:
                    continue
                if fields["uuid"] in evidence:
                    kept += 1
                    continue
                keys.append(key)
                times.append(at)
                size += len(line)
        sessions += len(keys) > known
    first, last = min(times, default=None), max(times, default=None)
    return Prunable(len(keys), size, sessions, first, last, kept), keys


def prune_older(files: LineFiles, before: int) -> Prunable:
    """Let them go. Whoever is killed in between leaves the rest of it to the next that writes."""
    with files:  # an item may come meanwhile, and what it comes from
        chosen, keys = choose_older(files, before)
        if keys:
            files.append({GONE: b"".join(key + b"\n" for key in keys), CLEANING: b"\n"})
            clean(files)
    return chosen
