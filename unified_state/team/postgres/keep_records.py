"""Keeping what is few: sessions, items, links, compactions. It is read, decided here, and written back, all under the
project's lock.
"""

from __future__ import annotations

from unified_state.lib.record import disk_value
from unified_state.lib.stdlib import dump_ascii_json
from unified_state.model.history_records import StoredCompaction, StoredItem, StoredSession, is_masked_later
from unified_state.model.item import ALIAS_LETTERS
from unified_state.team.postgres.postgres_values import from_body, from_json, from_text, to_body, to_number, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

    from unified_state.team.postgres.connections import Asker
    from unified_state.team.postgres.forget_rows import Batch, Forgetting

_OWN = "project = %s AND author = %s"
# Numbers go on behind those that were counted, not behind one that somebody made up; unless there is no other way.
_NEXT_NUMBER = f"""
SELECT CASE WHEN coalesce(counted, 0) < 999999 THEN coalesce(counted, 0) + 1 ELSE largest + 1 END::text FROM (
    SELECT max(number) FILTER (WHERE number < 1000000) AS counted, max(number) AS largest
    FROM (SELECT substr(alias, 2)::numeric AS number FROM unified_state.item_alias WHERE {_OWN} AND alias ~ %s) AS given
) AS known
"""


def keep_sessions(connection: Connection[Any], asker: Asker, batch: Batch, forgetting: Forgetting) -> None:
    """Keep what was learned of sessions, and make those that records only name."""
    told = forgetting.remaining_sessions(batch)
    own = [asker.project, asker.author]
    rows = connection.execute(
        f"SELECT session_id, record FROM unified_state.session WHERE {_OWN} AND session_id = ANY(%s)",
        [*own, [to_text(session.session_id) for session in told]],
    ).fetchall()
    known = {from_text(name): decode(StoredSession, record) for name, record in rows}
    kept = dict(known)
    for session in told:
        before = kept.get(session.session_id)
        kept[session.session_id] = session if before is None else learned(before, session)
    made = [session for name, session in kept.items() if name not in known]
    changed = [session for name, session in kept.items() if name in known and session != known[name]]
    last = asker.take(connection, len(made)) if made else 0
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO unified_state.session (project, author, number, session_id, record) "
            "VALUES (%s, %s, %s, %s, %s)",
            [
                [*own, last + number, to_text(session.session_id), encode(session)]
                for number, session in enumerate(made, 1)
            ],
        )
        cursor.executemany(
            f"UPDATE unified_state.session SET record = %s WHERE {_OWN} AND session_id = %s",
            [[encode(session), *own, to_text(session.session_id)] for session in changed],
        )


def learned(before: StoredSession, now: StoredSession) -> StoredSession:
    """What is known of a session: of each field what was learned last; its earliest and its latest times."""
    fields = {name: value for name, value in now.as_dict().items() if value is not None}
    for names, choose in ((("started_at",), min), (("seen_at", "ended_at"), max)):
        for name in names:
            known = [value for value in (getattr(before, name), getattr(now, name)) if value is not None]
            fields[name] = choose(known, default=None)
    return before.replace(**{**fields, "unknown": {**before.unknown, **now.unknown}})


def keep_items(connection: Connection[Any], asker: Asker, batch: Batch, forgetting: Forgetting) -> int:
    """Keep items, the newer version of each; how many are new."""
    items = [item for item in batch.items if not forgetting.of_item(item.uuid)]
    if not items:
        return 0
    own = [asker.project, asker.author]
    added = 0
    last = asker.take(connection, len(items))
    for number, item in enumerate(items, last + 1):
        row = connection.execute(
            f"SELECT record FROM unified_state.item WHERE {_OWN} AND uuid = %s", [*own, to_text(item.uuid)]
        ).fetchone()
        before = decode(StoredItem, row[0]) if row else None
        if before is not None and version(item) <= version(before):
            continue
        kept = _named(connection, own, item, before)
        added += before is None
        connection.execute(
            "INSERT INTO unified_state.item (project, author, number, uuid, alias, changed_at, record) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (project, author, uuid) DO UPDATE SET "
            "alias = excluded.alias, changed_at = excluded.changed_at, record = excluded.record",
            [*own, number, to_text(kept.uuid), to_text(kept.alias), to_text(version(kept)), encode(kept)],
        )
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO unified_state.item_alias VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
                [[*own, to_text(alias), to_text(kept.uuid)] for alias in (kept.alias, *kept.aliases)],
            )
    return added


def version(item: StoredItem) -> str:
    """What tells the newer of two versions of an item."""
    return item.changed_at or ""


def _named(connection: Connection[Any], own: list[int], item: StoredItem, before: StoredItem | None) -> StoredItem:
    """The item under an alias that no other one has or had, with all other names that it ever had."""
    names = [*item.aliases, item.alias]
    if before is not None:
        alias = before.alias
        names += before.aliases
    else:
        row = connection.execute(
            f"SELECT 1 FROM unified_state.item_alias WHERE {_OWN} AND alias = %s AND uuid <> %s LIMIT 1",
            [*own, to_text(item.alias), to_text(item.uuid)],
        ).fetchone()
        alias = item.alias if row is None else _next_alias(connection, own, item)
    return item.replace(alias=alias, aliases=tuple(dict.fromkeys(name for name in names if name != alias)))


def _next_alias(connection: Connection[Any], own: list[int], item: StoredItem) -> str:
    letter = ALIAS_LETTERS.get(item.kind, "X")
    row = connection.execute(_NEXT_NUMBER, [*own, f"^{letter}[0-9]+$"]).fetchone()
    return f"{letter}{row[0] if row else 1}"


def keep_links(connection: Connection[Any], asker: Asker, batch: Batch, forgetting: Forgetting) -> int:
    """Keep links; how many are new."""
    added = 0
    last = asker.take(connection, len(batch.links)) if batch.links else 0
    for number, link in enumerate(batch.links, last + 1):
        if not (forgetting.of_item(link.from_uuid) or forgetting.of_item(link.to_uuid)):
            added += connection.execute(
                "INSERT INTO unified_state.link (project, author, number, from_uuid, to_uuid, relation, at) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s) "
                "ON CONFLICT (project, author, from_uuid, to_uuid, relation) DO NOTHING",
                [
                    asker.project,
                    asker.author,
                    number,
                    *map(to_text, (link.from_uuid, link.to_uuid, link.relation, link.at)),
                ],
            ).rowcount
    return added


def keep_compactions(connection: Connection[Any], asker: Asker, batch: Batch, forgetting: Forgetting) -> int:
    """Keep compactions, each with its summary where one was told; how many are new."""
    own = [asker.project, asker.author]
    added = 0
    last = asker.take(connection, len(batch.compactions)) if batch.compactions else 0
    for number, compaction in enumerate(batch.compactions, last + 1):
        if forgetting.of_compaction(compaction):
            continue
        boundary = to_text(compaction.boundary_uuid)
        row = connection.execute(
            f"SELECT record FROM unified_state.compaction WHERE {_OWN} AND boundary = %s", [*own, boundary]
        ).fetchone()
        if row is None:
            added += 1
            connection.execute(
                "INSERT INTO unified_state.compaction (project, author, number, boundary, at, session_id, record) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s)",
                [
                    *own,
                    number,
                    boundary,
                    to_number(compaction.at),
                    to_text(compaction.session_id),
                    to_body(encode(compaction)),
                ],
            )
        elif _is_better(compaction, decode(StoredCompaction, from_body(row[0]))):
            connection.execute(
                f"UPDATE unified_state.compaction SET record = %s WHERE {_OWN} AND boundary = %s",
                [to_body(encode(compaction)), *own, boundary],
            )
    return added


def _is_better(told: StoredCompaction, known: StoredCompaction) -> bool:
    """Whether a compaction is known better by what is told: by its summary, or the same with its secrets masked."""
    return is_masked_later(told, known.masked_at) or (told.summary is not None and known.summary is None)


def encode(record: Any) -> str:
    """A record as JSON in ASCII, whatever its texts hold."""
    return dump_ascii_json({**disk_value(record.replace(unknown={})), "unknown": record.unknown})


def decode(kind: Any, stored: str) -> Any:
    """The record again."""
    return kind.from_disk(from_json(stored))
