"""Pruning a JSON store: old steps leave its files, to have room. Their keys stay, so that neither their refs are given
again nor a transcript brings them back.

What an item comes from, quotes or names (S12, T41), and what a note names, is evidence: it is never among the chosen.
A prune leaves no tombstone: elsewhere everything stays.
"""

from __future__ import annotations

from unified_state.rules.indexing import strings_of
from unified_state.rules.refs import TURN, step_refs
from unified_state.storage.pruned import Prunable
from unified_state.storage.tiers.json_cleaning import clean
from unified_state.storage.tiers.json_desk import NOTES, Desk
from unified_state.storage.tiers.json_files import split_lines
from unified_state.storage.tiers.json_forms import key_in, key_of, readable_fields
from unified_state.storage.tiers.json_steps import steps_of_turn
from unified_state.storage.tiers.json_tables import CLEANING, GONE, Tables, session_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.storage.tiers.json_files import LineFiles


def choose_older(files: LineFiles, before: int) -> tuple[Prunable, list[bytes]]:
    """The steps from before a time: how many they are, and their keys."""
    tables = Tables(files)
    evidence = {item.source_uuid for item in tables.items.values()}
    named = set(_named(files, tables))
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
                if fields["uuid"] in evidence or key in named:
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


def _named(files: LineFiles, tables: Tables) -> Iterator[bytes]:
    """The keys of the steps that items and notes name, by themselves or with their turns."""
    texts = [strings_of(item.body) for item in tables.items.values()]
    texts += [note["text"] for note in Desk(files).read()[NOTES]]
    for kind, place in sorted({ref for text in texts for ref in step_refs(text)}):
        if 0 < place <= len(tables.keys):
            key, _, number = tables.keys[place - 1].rpartition(b" ")
            yield key
            if kind == TURN and number.isdigit() and int(number) in tables.names:
                turn = steps_of_turn(files, tables, int(number), place)
                yield from (key_of(step.uuid, step.block) for _, step in turn)
