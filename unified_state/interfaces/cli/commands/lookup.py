"""`search`, `show`: find the contents of the archive, and print them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unified_state.errors import (
    MissingExtraError,
    NewerVersionError,
    NotFoundError,
    SettingError,
    StorageError,
    UsageError,
)
from unified_state.extension import need
from unified_state.interfaces.cli.command_context import Command, Context, argument, count, either, flag, option
from unified_state.lib.json_text import dump_json
from unified_state.lib.text import counted, cut, one_line
from unified_state.lib.times import current_time
from unified_state.model.hook_event import HOST_MARK
from unified_state.model.step import Hit
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import (
    LocatedHit,
    SearchRequest,
    find,
    find_everywhere,
    is_team_ref,
    recall_and_note,
)
from unified_state.search.log import LogRequest, log, time_and_words
from unified_state.settings import environment

if TYPE_CHECKING:
    from argparse import Namespace

Found = tuple[list[str], list[dict[str, Any]]]

_MARK = "**"  # around each word that was found
_ORIGINS = {"user_said": "the user said it", "observed": "it was observed", "inferred": "a model inferred it"}
_CHARACTERS, _NAME_WIDTH = 300, 10
_HASH, _UUID = 12, 8  # characters that tell one from another; --json has all
_UUID_LENGTH = 36  # of a session's id


def _search(context: Context, arguments: Namespace) -> None:
    if not arguments.query:
        if arguments.tool or arguments.file or arguments.kind or arguments.wrote or arguments.team:
            message = "without words only --since, --session and --all-projects choose"
            raise UsageError(message, "add the words to search for")
        wanted_log = LogRequest(arguments.since, True, arguments.session or "", limit=arguments.limit)
        return _show_log(context, wanted_log, everywhere=arguments.all_projects)
    wanted = SearchRequest(
        query=" ".join(arguments.query),
        limit=arguments.limit,
        session_id=arguments.session,
        since=arguments.since,
        tool=arguments.tool,
        file=arguments.file,
        kind=arguments.kind,
        turns=_turns_of(context, arguments.wrote),
    )
    look = _everywhere if arguments.all_projects else _in_team if arguments.team else _here
    lines, shown = look(context, wanted)
    if not lines:
        return context.nothing(shown, f"no hits for {wanted.query[:80]!r}")
    return context.show(shown, "\n".join(lines), style="hits")


def _log(context: Context, arguments: Namespace) -> None:
    when, words = time_and_words(arguments.when, current_time())
    wanted = LogRequest(when, False, arguments.session or "", words, arguments.limit, arguments.sessions)
    _show_log(context, wanted, everywhere=arguments.all_projects)


def _show_log(context: Context, wanted: LogRequest, *, everywhere: bool) -> None:
    workspace = context.workspace(create=False) if everywhere else context.reading()
    found = log(workspace, wanted, current_time(), everywhere=everywhere)
    if not found:
        return context.nothing(found, "nothing was asked then")
    lines = []
    for entry in found:
        ref = entry.get("ref") or counted(entry["turns"], "turn")
        place = f"  {entry['worktree']}" if everywhere else ""
        text = cut(entry["text"], _CHARACTERS)
        lines.append(f"{ref:>9}  {entry['timestamp'][:16]}Z  {entry['session_id'][:_UUID]}{place}  {text}")
    return context.show(found, "\n".join(lines), style="hits")


def _turns_of(context: Context, place: str | None) -> tuple[int, ...] | None:
    """Return the turns that wrote a place, to search only them."""
    if place is None:
        return None
    turns: tuple[int, ...] = need("TURNS_THAT_WROTE")(context.reading(), place)
    return turns


def _here(context: Context, wanted: SearchRequest) -> Found:
    hits = find(context.reading(), wanted, current_time())
    return list(map(_hit_line, hits)), [hit.as_dict() for hit in hits]


def _everywhere(context: Context, wanted: SearchRequest) -> Found:
    workspace = context.workspace(create=False)
    found, lines = find_everywhere(workspace, wanted, current_time()), list[str]()
    for archive in dict.fromkeys(one.archive for one in found):
        of_archive = [one for one in found if one.archive == archive]
        lines.append(of_archive[0].worktree or archive)
        for name in dict.fromkeys(one.hit.session_id for one in of_archive):
            of_session = [one for one in of_archive if one.hit.session_id == name]
            lines += [*_session_line(of_session[0]), *(_hit_line(one.hit) for one in of_session)]
    if any(one.archive != workspace.place.archive_path for one in found):
        lines.append("`unified-state show REF --project FOLDER` opens a hit of another project")
    shown = ({"archive": one.archive, "worktree": one.worktree, "title": one.title} for one in found)
    return lines, [{**place, **one.hit.as_dict()} for place, one in zip(shown, found, strict=True)]


def _session_line(one: LocatedHit) -> Iterator[str]:
    """Yield the title of a hit's session, and the command that resumes it, where its client is Claude Code."""
    name = one.hit.session_id or ""
    resume = f"claude --resume {name}" if len(name) == _UUID_LENGTH and HOST_MARK not in name else ""
    if one.title or resume:
        yield f"  {': '.join(filter(None, (one.title and one_line(one.title), resume)))}"


def _in_team(context: Context, wanted: SearchRequest) -> Found:
    """Return the user's own hits and the team's in one list. If the server fails, print one line to stderr."""
    find_in_team, workspace = need("FIND_IN_TEAM"), context.workspace(create=False)
    try:
        lines, shown = _here(context, wanted)
    except NotFoundError:  # another user's session, or nothing is archived here yet
        lines, shown = [], []
    try:
        hits: list[Hit] = find_in_team(workspace, _team(workspace), wanted, current_time())
    except (MissingExtraError, NewerVersionError, SettingError, StorageError) as error:
        context.say(str(error))
        return lines, shown
    return list(map(_hit_line, hits)), [hit.as_dict() for hit in hits]


def _hit_line(hit: Hit) -> str:
    status = f"  ({hit.status})" if hit.status not in {None, "active"} else ""
    author = getattr(hit, "said_by", None)  # of a colleague's
    beside = "" if author is not None or _MARK in hit.snippet else "  (beside a hit, or alike)"
    said_by = "" if author is None else f"{author}: "
    return f"{hit.ref:>7}  {hit.timestamp[:16]}Z  {hit.kind:<11}  {said_by}{hit.snippet}{status}{beside}"


def _show(context: Context, arguments: Namespace) -> None:
    from unified_state.search.recall_ref import Part, part_of

    context.named = context.named or arguments.project
    part = Part(arguments.lines, arguments.grep) if arguments.lines or arguments.grep else None
    if arguments.source:
        if part is not None:
            message = "--lines and --grep choose of the content of a step"
            raise UsageError(message, "leave them out, or --source")
        if re.fullmatch("[Kk][0-9]+", arguments.id):
            from unified_state.interfaces.cli.commands.compaction import show_survival  # it loads the restore

            return show_survival(context, arguments.id)
        return _show_source(context, arguments.id)
    if is_team_ref(arguments.id):
        found = need("RECALL_OF_TEAM")(_team(context.workspace(create=False)), arguments.id)
        found = found if part is None else part_of(found, part)
    else:
        found = recall_and_note(context.reading(), arguments.id, current_time(), part)
    if arguments.content:
        return context.write_bare(_bare_content(found))
    return context.show(found, "" if context.as_json else _content_text(found), style="headings")


def _team(workspace: Workspace) -> Any:
    return need("TEAM_SERVER")(workspace, environment(), only_reads=True)


def _content_text(found: dict[str, Any]) -> str:
    """Return the whole content, with a heading above each part."""
    match found["kind"]:
        case "todo" | "note":
            end = ", done" if found["done"] else ""
            return f"{found['id']}  {found['kind']}{end}, {found['timestamp']}\n{found['text']}"
        case "turn":
            of_agent = f", subagent {found['agent']}" if found.get("agent") else ""
            head = f"{found['ref']}  session {found['session_id']}{of_agent}  {found['timestamp']}"
            return "\n\n".join([head, *map(_step, found["steps"])])
        case "compaction":
            return _compaction(found)
        case _:
            told = _item(found) if "body" in found else _step(found)
            return told.replace("\n", "\n    ") if "said_by" in found else told  # no line of a colleague's is a heading


def _item(item: dict[str, Any]) -> str:
    origin = "recorded" if "said_by" in item else item["origin"]
    facts = [f"{item['status']}, {origin}, {item['created_at']}"]
    facts += [": ".join(row) for row in _said_by(item)]
    facts += [f"superseded by {item['superseded_by']}"] if item.get("superseded_by") else []
    facts += [f"session {item['session_id']}"] if item.get("session_id") else []
    facts += [_commit(item).strip()] if item.get("commit") else []
    facts += [f"{link['relation']} {link['ref']}" for link in item["links"]]
    facts += [f"another {item['ref']} is {alias} now" for alias in item.get("also", ())]
    fields = [f"{name}: {value}" for name, value in item["body"].items()]
    return "\n".join([f"{item['ref']}  {'; '.join(facts)}", *fields])


def _commit(item: dict[str, Any]) -> str:
    return f" at {item['commit'][:10]} on {item['branch'] or 'a detached HEAD'}" if item["commit"] else ""


def _step(step: dict[str, Any]) -> str:
    tool = f" {step['tool']}" if step.get("tool") else ""
    error = " (error)" if step.get("is_error") else ""
    part = f" {_part(step['part'])}" if "part" in step else ""
    told = "".join(f" {name} {text}" for name, text in _said_by(step))
    return f"--- {step['ref']} {step['kind']}{tool}{error} {step['timestamp']}{part}{told}\n{_content(step)}"


def _bare_content(found: dict[str, Any]) -> str:
    """Return the text of a step alone; of a call that wrote a file the file. Raises UsageError."""
    written = found.get("input", found).get("content") if "input" in found else found.get("result", found.get("text"))
    if not isinstance(written, str):
        message = f"{found['ref']} holds no text or file of its own"
        raise UsageError(message, "--content takes a step: a Write, a result, a prompt or an answer")
    return written


def _content(step: dict[str, Any]) -> str:
    return dump_json(step["input"]) if "input" in step else step.get("result", step.get("text", ""))


def _part(part: dict[str, Any]) -> str:
    which = f"lines {part['first']:,}:{part['last']:,} of {part['lines']:,}"
    if "grep" not in part:
        return which
    rest = f", the first {part['shown']:,} shown" if part["shown"] < part["matches"] else ""
    return f"{part['matches']:,} of {which} match{rest}"


def _compaction(found: dict[str, Any]) -> str:
    what = f"{found['trigger'] or 'unknown'} compaction of session {found['session_id']}"
    parts = [f"{found['ref']}  {what}  {found['timestamp']}", f"--- summary\n{found['summary'] or 'not known'}"]
    for restored in found["restored"]:
        arrived = "delivered" if restored["delivered"] else "not seen in the transcript"
        parts.append(f"--- restored {restored['part']} ({arrived})\n{restored['text']}")
    return "\n\n".join(parts)


def _show_source(context: Context, ref: str) -> None:
    from unified_state.ledger.explain_item import explain

    if is_team_ref(ref):
        found: dict[str, Any] = need("EXPLAIN_OF_TEAM")(_team(context.workspace(create=False)), ref)
    else:
        workspace = context.reading()
        found = workspace.use(lambda archive: explain(archive, workspace.place.repository, ref))
    lines = (f"{name:<{_NAME_WIDTH}} {text}" if name else text for name, text in _reasons(found))
    context.show(found, "" if context.as_json else "\n".join(lines), style="labels")


def _reasons(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    origin = f"{found['said_by']} recorded it" if "said_by" in found else _ORIGINS[found["origin"]]
    yield found["ref"], f"{found['kind']}, {found['status']}: {origin}, {found['created_at']}{_commit(found)}"
    yield from _said_by(found)
    yield from ((name, _short(str(value))) for name, value in found["body"].items())
    if found["quote"] is not None:
        yield "quote", f'"{_short(found["quote"])}"'
        yield "", f"{'':<{_NAME_WIDTH}} SHA-256 {found['quote_hash'][:_HASH]}…"
    yield "taken from", _source(found)
    turn = found["turn"]
    if turn:
        yield "turn", f"{turn['ref']} of session {found['session_id']}"
        steps = [step for step in (turn["prompt"], turn["step"]) if step]
        yield from ((step["ref"], f"{step['kind']}: {_short(_readable(step))}") for step in steps)
    for link in found["links"]:
        other = f"{link['ref']} ({link['status']})"
        yield "link", f"{link['relation']} {other}" if link["isFrom"] else f"{other} {link['relation']} it"
    yield "now", found["validity"]["text"]
    yield from (("fault", fault) for fault in found["faults"])


def _said_by(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield who has it, of what another member of the team has."""
    if "said_by" in found:
        yield "member", f"{found['said_by'] or 'another'}: {found['trust']}"


def _readable(step: dict[str, Any]) -> str:
    """Return the content of a step for a person: of a call of the shell its command."""
    given = step.get("input")
    command = given.get("command") if isinstance(given, dict) else None
    return command if isinstance(command, str) else _content(step)


def _source(found: dict[str, Any]) -> str:
    by = f", captured by the rule {found['rule']}" if found["rule"] else ""
    by += f", read from the summary of {found['compaction']}" if found["compaction"] else ""
    if found["source_uuid"]:
        return f"entry {found['source_uuid'][:_UUID]}…{by}"
    if found["origin"] == "user_said":
        return f"the user's own terminal{by}"
    return f"no archived entry{by}" if by else "a program; no archived entry has its words"


def _short(text: str) -> str:
    return cut(one_line(text), _CHARACTERS)


COMMANDS = {
    "search": Command(
        _search,
        argument("query", nargs="*", metavar="QUERY", help="words to look for; none: all since --since"),
        option("--limit N", "at most so many hits, up to 1,000; default: 10", type=count, default=10),
        option("--session ID", "only this session"),
        option("--since TIME", "only later ones: 2026-03-14, 3d, yesterday"),
        option("--tool NAME", "only calls of this tool and their results"),
        option("--file PATH", "only what names this file"),
        option("--kind KIND", "only prompt, text, tool_call, decision …"),
        either(
            flag("--all-projects", "in the archives of all repositories"),
            flag("--team", "also what others of the team archived, on the server"),
            option("--wrote PLACE", "only turns that wrote a FILE, its lines (FILE:12-20), or a commit, by its id"),
        ),
        empty=[],
    ),
    "log": Command(
        _log,
        argument("when", nargs="*", metavar="WHEN|WORDS", help="yesterday, 3d, 2026-03-14, or words of the prompts"),
        flag("--sessions", "a line for each session in place of each turn"),
        option("--session ID", "only this session; the beginning of its id is enough"),
        option("--limit N", "at most so many lines; default: 20", type=count, default=20),
        flag("--all-projects", "in the archives of all repositories"),
        empty=[],
    ),
    "show": Command(
        _show,
        argument(
            "id", metavar="ID", help="D7 C3 Q1 E12 A2 (items), T41 (turn), S1234 (step), K2 (compaction), ada:D17"
        ),
        flag("--source", "where an item comes from, and the words that say it; what a compaction kept of each item"),
        option("--lines FIRST:LAST", "only these lines of a step: 200:260, 200:, :60"),
        option("--grep REGEX", "only the lines of a step that match, numbered"),
        flag("--content", "the bare text of a step, or the file that a Write wrote: `show S12 --content > FILE`"),
        option("--project FOLDER", "in the memory of another project"),
    ),
}
