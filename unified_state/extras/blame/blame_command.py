"""`blame`: which turn and which commit wrote a file, lines of it, or those of a commit."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter

from unified_state.extras.blame.blame_lines import Blame, Group, blame_place
from unified_state.interfaces.cli.command_context import Command, Context, argument, flag
from unified_state.lib.text import cut, one_line
from unified_state.lib.times import to_text

_SUBJECT, _SHORT, _NAME_WIDTH = 40, 80, 10


def _blame(context: Context, arguments: Namespace) -> None:
    """Print who wrote a place: a file, lines of it, or a commit."""
    found = blame_place(context.workspace(create=False), arguments.place)
    if not found:
        return context.nothing([], f"commit {arguments.place} added no line of text")
    for problem in {one.problem for one in found if one.problem}:
        context.say(f"no commits are shown: {problem}")
    text = "\n".join(_blame_short(one) if arguments.short else _blame_text(one) for one in found)
    shown = [one.as_dict() for one in found]
    return context.show(shown if len(found) > 1 else shown[0], text, style="hits")


def _blame_text(found: Blame) -> str:
    commits = [_commit_line(group) for group in found.groups]
    width = max(map(len, commits), default=0)
    lines = [found.path]
    for group, commit in zip(found.groups, commits, strict=True):
        numbers = f"{group.first}" if group.first == group.last else f"{group.first}-{group.last}"
        lines.append(f"{numbers:>11}  {commit:<{width}}  {_writer(group)}")
    for turn in found.turns.values():
        lines += ["", f"{turn.ref}  session {turn.session_id}  {turn.at[:16]}Z"]
        rows = [("prompt", turn.prompt), *(("recorded", line) for line in turn.recorded)]
        rows += [("then ran", line) for line in turn.tests]
        lines += [f"  {name:<{_NAME_WIDTH}} {text}" for name, text in rows if text]
    return "\n".join(lines)


def _commit_line(group: Group) -> str:
    commit = group.commit
    if commit is None:
        return "not committed"
    return f"{commit.id[:8]}  {to_text(commit.at)[:10]}  {cut(one_line(commit.subject), _SUBJECT)}"


def _writer(group: Group) -> str:
    if group.turn is None:
        return "no recorded edit wrote it"
    return f"{group.turn} {group.step}" + ("" if group.is_certain else "  (likely)")


def _blame_short(found: Blame) -> str:
    """Return one line for all lines asked for: the turn that wrote most of them."""
    count = Counter[str | None]()
    for group in found.groups:
        count[group.turn] += group.last - group.first + 1
    named = [turn for turn, _ in count.most_common() if turn is not None]
    if not named:
        commits = dict.fromkeys(_commit_line(group) for group in found.groups)
        return f"{next(iter(commits), 'no lines')}: no recorded edit wrote it"
    turn = found.turns[named[0]]
    more = f" and {len(named) - 1} more" if named[1:] else ""
    refs = ", ".join(line.partition(" ")[0] for line in turn.recorded)
    parts = (f"{turn.ref}{more}  {turn.at[:10]}  {cut(turn.prompt, _SHORT)}", refs, *turn.tests[-1:])
    return "; ".join(part for part in parts if part)


COMMANDS = {
    "blame": Command(
        _blame,
        argument("place", metavar="FILE[:LINE[-LINE]]", help="a file, or lines of it; or the id of a commit"),
        flag("--short", "one line, for an editor"),
    ),
}
