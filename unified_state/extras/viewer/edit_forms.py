"""Changes of items by forms. What weakens or confirms a rule is asked at the terminal in which the viewer runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from unified_state.errors import UsageError
from unified_state.extras.viewer.open_projects import Project
from unified_state.ledger.correct_item import close, drop, edit, reopen
from unified_state.ledger.item_table import find_item
from unified_state.model.item import MAIN_FIELDS, Entry
from unified_state.project.workspace.workspace import WRITER_SECONDS, Workspace
from unified_state.state_file.writer.correct_state import correct, decide_proposals, lift_constraint, undo_newest

Fields = Mapping[str, str]


def change_item(project: Project, verb: str, fields: Fields) -> str:
    """Change an item, and return the address of the page that shows it. Raises UsageError and NotFoundError."""
    workspace = project.workspace
    if workspace is None:
        message = f"{project.name} is another project"
        raise UsageError(message, "run `unified-state view` there to change its items")
    workspace = workspace.replace(seconds=WRITER_SECONDS)
    if verb == "undo":
        undone = undo_newest(workspace)
        return f"{project.base}/{undone.items[0].alias}" if len(undone.items) == 1 else f"{project.base}/state"
    if verb not in {"edit", *_VERBS}:
        message = f"there is no change {verb[:20]!r}"
        raise UsageError(message, "go back to the page of the item")
    ref = fields.get("ref", "")
    workspace.use(lambda archive: find_item(archive, ref))
    now = _edited(workspace, ref, fields) if verb == "edit" else _VERBS[verb](workspace, ref, fields).id
    return f"{project.base}/{now or ref}"


def _edited(workspace: Workspace, ref: str, fields: Fields) -> str:
    """Change the fields of a form that differ, and return the id of the item that holds now."""
    item = workspace.use(lambda archive: find_item(archive, ref))
    names = {MAIN_FIELDS[item.kind], *item.body} & fields.keys()
    changes = {name: fields[name].replace("\r\n", "\n").rstrip("\n") for name in names}
    changed = {name: text for name, text in changes.items() if text != str(item.body.get(name) or "")}
    return correct(workspace, edit, ref, changed).id if changed else ref


# What each verb does with an item. It returns the item that holds now.
_VERBS: dict[str, Callable[[Workspace, str, Fields], Entry]] = {
    "accept": lambda workspace, ref, _: decide_proposals(workspace, [ref], accepted=True)[0],
    "close": lambda workspace, ref, fields: correct(workspace, close, ref, fields.get("text", "")),
    "drop": lambda workspace, ref, fields: correct(workspace, drop, ref, why=fields.get("why", "")),
    "lift": lambda workspace, ref, _: lift_constraint(workspace, ref),
    "reject": lambda workspace, ref, fields: decide_proposals(
        workspace, [ref], accepted=False, why=fields.get("why", "")
    )[0],
    "reopen": lambda workspace, ref, _: correct(workspace, reopen, ref),
}
