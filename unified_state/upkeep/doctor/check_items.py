"""What `doctor --items` finds: items that say the same, results of checks that are out of date, and secrets.

It changes nothing. What cannot be told for certain is no problem. The work is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unified_state.archive.archive import Archive
from unified_state.archive.steps import calls_that_went_well, find_step
from unified_state.capture.rules.failed_calls import is_failed_check
from unified_state.hosts.transcripts.rules.call_effects import read_call
from unified_state.ledger.item_table import ACTIVE, PROPOSED, selected_items
from unified_state.ledger.rules.item_lines import harmless
from unified_state.ledger.rules.same_words import folded, telling_words
from unified_state.ledger.rules.short_item import is_captured, main_text
from unified_state.lib.identifiers import relative_path
from unified_state.lib.json_text import dump_json
from unified_state.lib.text import cut, one_line
from unified_state.lib.times import to_milliseconds
from unified_state.model.check import Check, bad, good
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import ATTEMPT, EVIDENCE, LedgerItem
from unified_state.project.workspace.workspace import Workspace
from unified_state.secrets.masker import Masker

_SECRET, _STALE, _DUPLICATE = "secrets", "stale results", "duplicates"
_MOST_ITEMS = 5_000  # the newest
_MOST_EDITS = 2_000  # the newest
_SHOWN = 80  # characters of an item or a command
_EDITING = ("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch")
_RESULTS = ("error", "output", "command")
_SHELLS = ("Bash: ", "exec_command: ", "shell: ")
_NO_CODE = (".md", ".txt", ".rst", ".json", ".lock", ".csv", ".log")


def check_items(workspace: Workspace) -> list[Check]:
    """Return a check for each problem of the active and proposed items, and one for each kind of problem that there is
    not.
    """

    def action(archive: Archive) -> list[Check]:
        where = f"WHERE status IN (?, ?) ORDER BY id DESC LIMIT {_MOST_ITEMS}"
        items = selected_items(archive, where, ACTIVE, PROPOSED)[::-1]
        return [*_secret_items(items, workspace.masker), *_stale_results(archive, items), *_duplicates(items)]

    found = workspace.use(action)
    missing = {_SECRET, _STALE, _DUPLICATE}.difference(check.name for check in found)
    return [*found, *(good(name, "none") for name in sorted(missing))]


def _secret_items(items: Sequence[LedgerItem], masker: Masker) -> Iterator[Check]:
    for item in items:
        body = dump_json(item.body)
        if masker.json(body) != body or masker.text(item.quote or "") != (item.quote or ""):
            yield bad(_SECRET, f"{item.alias} holds a secret", "unified-state forget --secrets")


def _duplicates(items: Sequence[LedgerItem]) -> Iterator[Check]:
    """Yield the items that say the same as an earlier one of their kind. Evidence and captured attempts say the same
    only in the very same words.
    """
    first: dict[object, LedgerItem] = {}
    for item in items:
        said = main_text(item)
        beside = ("type", "source", "outcome") if item.kind in (EVIDENCE, ATTEMPT) else ()
        group = (item.kind, *(str(item.body.get(name)) for name in beside))
        words = () if item.kind == EVIDENCE or is_captured(item) else telling_words(said)
        keys = [(group, told) for told in (folded(said), words) if told]
        known = next((first[key] for key in keys if key in first), None)
        first.update(dict.fromkeys(keys, known or item))
        if known is not None and known.superseded_by != item.uuid and item.superseded_by != known.uuid:
            # What the user said is kept, then what is active, then the older one.
            kept, left = sorted((known, item), key=lambda one: (one.origin != USER_SAID, one.status != ACTIVE))
            yield bad(_DUPLICATE, f"{left.alias} says the same as {_shown(kept)}", _end_command(left))


def _stale_results(archive: Archive, items: Sequence[LedgerItem]) -> Iterator[Check]:
    """Yield the results of checks whose files, or where they name none, any code was edited after."""
    results = [(item, command) for item in items if item.status == ACTIVE and (command := _check_of(item))]
    edits = _last_edits(archive) if results else {}
    for item, command in results:
        at = to_milliseconds(item.created_at) or 0
        newer = [path for path, edited_at in edits.items() if edited_at > at and _is_tested(path, item)]
        if newer:
            last = max(newer, key=edits.__getitem__)
            told = f"{item.alias}: `{cut(one_line(command), _SHOWN)}` ran before the last edit of {last}"
            yield bad(_STALE, harmless(told), _end_command(item))


def _check_of(item: LedgerItem) -> str:
    """Return the command of a check whose result an item is, or ""."""
    if item.kind != EVIDENCE or item.body.get("type") not in _RESULTS:
        return ""
    source = str(item.body.get("source") or "")
    for shell in _SHELLS:
        source = source.removeprefix(shell)
    return source if is_failed_check(source, str(item.body.get("content") or "")) else ""


def _is_tested(path: str, item: LedgerItem) -> bool:
    named = not item.files or any(path == name or path.endswith(f"/{name}") for name in item.files)
    return named and not path.endswith(_NO_CODE)


def _last_edits(archive: Archive) -> dict[str, int]:
    """Return when each file was edited last. Edits that failed do not count."""
    found: dict[str, int] = {}
    for number, at, root in calls_that_went_well(archive, _EDITING, _MOST_EDITS):
        step = find_step(archive, number)
        for change in read_call(step).changes if step is not None else ():
            path = relative_path(change.path, root or "")
            found[path] = max(at, found.get(path, at))
    return found


def _shown(item: LedgerItem) -> str:
    return harmless(f'{item.alias} "{cut(one_line(main_text(item)), _SHOWN)}"')


def _end_command(item: LedgerItem) -> str:
    if item.status == PROPOSED:
        return f"unified-state inbox reject {item.alias}"
    return f"unified-state {'resolve' if item.kind in (EVIDENCE, ATTEMPT) else 'drop'} {item.alias}"
