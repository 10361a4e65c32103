"""Store sessions, items, links and compactions on the server: read, merge and write back under the project's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from unified_state.lib.record import Record
from unified_state.model.history_records import (
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    is_masked_later,
)
from unified_state.model.item import ALIAS_LETTERS
from unified_state.team.postgres.connections import OWN, Asker
from unified_state.team.postgres.forget_rows import Forgetting
from unified_state.team.postgres.postgres_values import (
    TABLES,
    columns_of,
    from_record,
    from_text,
    to_record,
    to_text,
)
from unified_state.team.postgres.team_items import item_words

if TYPE_CHECKING:
    from psycopg import Connection

R = TypeVar("R", StoredSession, StoredItem, StoredCompaction)

# Numbers follow the counted ones and not an invented one, unless there is no other number.
_NEXT_NUMBER = f"""
SELECT CASE WHEN coalesce(counted, 0) < 999999 THEN coalesce(counted, 0) + 1 ELSE largest + 1 END::text FROM (
    SELECT max(number) FILTER (WHERE number < 1000000) AS counted, max(number) AS largest
    FROM (SELECT substr(alias, 2)::numeric AS number FROM (
        SELECT alias FROM unified_state.item_alias WHERE {OWN} UNION SELECT unnest(%(given)s::text[])
    ) AS known (alias) WHERE alias ~ %(counted)s) AS numbers
) AS known
"""
# A name is shared as its item is.
_KEEP_ALIAS = f"""
INSERT INTO unified_state.item_alias (project, author, alias, uuid, shared)
SELECT project, author, %(alias)s, uuid, shared FROM unified_state.item WHERE {OWN} AND uuid = %(uuid)s
ON CONFLICT DO NOTHING
"""
# Columns that follow from the whole record.
_DERIVED: dict[type[Record], tuple[str, ...]] = {StoredSession: (), StoredItem: ("words",), StoredCompaction: ()}
# How a value is written that is no plain one.
_WRITTEN = {"words": "to_tsvector('unified_state.words', %(words)s::text)"}


def keep_sessions(connection: Connection[Any], asker: Asker, forgetting: Forgetting) -> None:
    """Store the batch's sessions, and create sessions that records only name."""
    _keep(connection, asker, forgetting.remaining_sessions(), _learned)


def keep_items(connection: Connection[Any], asker: Asker, forgetting: Forgetting) -> int:
    """Store items, the newer version of each. Return how many are new."""
    items = forgetting.remaining_items()
    rows = connection.execute(
        f"SELECT alias, uuid FROM unified_state.item_alias WHERE {OWN} AND alias = ANY(%(aliases)s)",
        asker.given(aliases=[to_text(item.alias) for item in items]),
    ).fetchall()
    taken = {(from_text(alias), from_text(uuid)) for alias, uuid in rows}
    before_batch = set(taken)

    def newer(before: StoredItem | None, item: StoredItem) -> StoredItem:
        if before is not None and (item.changed_at or "") <= (before.changed_at or ""):
            return before
        alias = before.alias if before else item.alias
        if before is None and any(name == alias and uuid != item.uuid for name, uuid in taken):
            alias = _next_alias(connection, asker, item, [name for name, _ in taken])
        names = dict.fromkeys((*item.aliases, item.alias, *(before.aliases if before else ())))
        names.pop(alias, None)
        taken.update((name, item.uuid) for name in (alias, *names))
        return item.replace(alias=alias, aliases=tuple(names))

    added = _keep(connection, asker, items, newer)
    with connection.cursor() as cursor:
        cursor.executemany(
            _KEEP_ALIAS, [asker.given(alias=to_text(alias), uuid=to_text(uuid)) for alias, uuid in taken - before_batch]
        )
    return added


def keep_links(connection: Connection[Any], asker: Asker, forgetting: Forgetting) -> int:
    """Store links between items. Return how many are new."""
    return _insert(
        connection, asker, forgetting.remaining_links(), "(project, author, from_uuid, to_uuid, relation)", []
    )


def keep_compactions(connection: Connection[Any], asker: Asker, forgetting: Forgetting) -> int:
    """Store compactions, each with its summary if one is known. Return how many are new."""
    return _keep(connection, asker, forgetting.remaining_compactions(), _better)


def _keep(connection: Connection[Any], asker: Asker, records: Sequence[R], merge: Callable[[R | None, R], R]) -> int:
    """Merge records with those of the same keys on the server, and write back the changes. Return how many are new."""
    if not records:
        return 0
    kind = type(records[0])
    key = columns_of(kind)[0]
    rows = connection.execute(
        f"SELECT {key.name}, record FROM unified_state.{TABLES[kind]} WHERE {OWN} AND {key.name} = ANY(%(keys)s)",
        asker.given(keys=[to_text(getattr(record, key.field)) for record in records]),
    ).fetchall()
    known: dict[str, R] = {from_text(name): from_record(kind, record, is_own=True) for name, record in rows}
    kept = dict(known)
    for record in records:
        name = getattr(record, key.field)
        kept[name] = merge(kept.get(name), record)
    changed = [record for name, record in kept.items() if record != known.get(name)]
    others: list[str] = [column.name for column in columns_of(kind)[1:]]
    others += ["record", *_DERIVED[type(records[0])]]
    _insert(connection, asker, changed, f"(project, author, {key.name})", others)
    return len(kept) - len(known)


def _insert(
    connection: Connection[Any], asker: Asker, records: Sequence[Record], unique: str, replaced: list[str]
) -> int:
    """Insert records, and replace some columns of existing rows. Return the number of written rows."""
    if not records:
        return 0
    kind = type(records[0])
    columns = columns_of(kind)
    last = asker.take(connection, len(records))
    values = [
        asker.given(number=number, **{column.name: column.encode(getattr(record, column.field)) for column in columns})
        | ({"record": to_record(record)} if replaced else {})
        | _beside(asker, record)
        for number, record in enumerate(records, last + 1)
    ]
    names = list(values[0])
    change = ", ".join(f"{name} = excluded.{name}" for name in replaced)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO unified_state.{TABLES[kind]} ({', '.join(names)}) "
            f"VALUES ({', '.join(_WRITTEN.get(name, f'%({name})s') for name in names)}) "
            f"ON CONFLICT {unique} DO {f'UPDATE SET {change}' if change else 'NOTHING'}",
            values,
        )
        return cursor.rowcount


def _beside(asker: Asker, record: Record) -> dict[str, Any]:
    """Return the columns of an item or a link that no field of the record has."""
    if isinstance(record, StoredItem):
        return {"shared": record.created_at >= asker.items_since, "words": item_words(record)}
    return {"shared": record.at >= asker.items_since} if isinstance(record, StoredLink) else {}


def _learned(before: StoredSession | None, now: StoredSession) -> StoredSession:
    """Return the merged session: the last known value of each field, the earliest start and the latest end."""
    if before is None:
        return now
    fields = {name: value for name, value in now.as_dict().items() if value is not None}
    for name, choose in (("started_at", min), ("seen_at", max), ("ended_at", max)):
        times = [value for value in (getattr(before, name), getattr(now, name)) if value is not None]
        fields[name] = choose(times, default=None)
    return before.replace(**{**fields, "unknown": {**before.unknown, **now.unknown}})


def _better(before: StoredCompaction | None, now: StoredCompaction) -> StoredCompaction:
    """Return the version with the summary, or the one whose secrets were masked later."""
    if before is None or is_masked_later(now, before.masked_at):
        return now
    return now if now.summary is not None and before.summary is None else before


def _next_alias(connection: Connection[Any], asker: Asker, item: StoredItem, given: list[str]) -> str:
    letter = ALIAS_LETTERS.get(item.kind, "X")
    values = asker.given(given=list(map(to_text, given)), counted=f"^{letter}[0-9]+$")
    row = connection.execute(_NEXT_NUMBER, values).fetchone()
    return f"{letter}{row[0] if row else 1}"
