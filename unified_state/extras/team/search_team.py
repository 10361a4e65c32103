"""Search what colleagues and one's own other archives sent to the server, together with this archive.

The server proposes, and the same code that ranks a local search ranks everything in one list. A search has a timeout,
so a slow server does not delay what this archive has. A record of a wrong shape is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from itertools import accumulate
from threading import Thread
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import (
    MOST_COUNTED,
    Filters,
    best_matches,
    count_having,
    count_steps,
    index_terms,
    rarest,
)
from unified_state.archive.sessions import known_session
from unified_state.archive.steps import StepPosition, readable, uuid_key
from unified_state.archive.word_forms import Forms, begins_in, forms_of, with_begins
from unified_state.errors import NotFoundError, StorageError
from unified_state.extras.team.rows import LONGEST_TERM, facets, from_body, id_of, is_ref, item_text
from unified_state.extras.team.team_ref import as_foreign
from unified_state.extras.team.team_server import TeamServer
from unified_state.lib.query import is_single_cjk, names_file, query_words, region
from unified_state.lib.record import Record
from unified_state.model.history_records import STEP, StoredItem, StoredStep
from unified_state.model.item import ALIAS_LETTERS
from unified_state.model.step import Hit
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import SearchRequest, filters_of, query_reader
from unified_state.search.search_archive import (
    APART,
    ParsedQuery,
    Reader,
    access_weights,
    hits_of_items,
    item_hits,
    rank,
    step_hits,
    weights_of,
    with_neighbours,
)

if TYPE_CHECKING:
    from unified_state.extras.team.postgres.record_store import ServerRow, TeamStore

T = TypeVar("T")
Key = tuple[str, UUID]

SECONDS = 5.0
_CANDIDATES, _ENOUGH = 100, 60
_RAREST, _MOST_WORDS = 4, 12  # words by which a record is proposed that has not all; words of a query that count
_MOST_BYTES = 32 << 20  # of the records that are read
_NOTHING = "'='"  # what no text has
_MOST_BESIDE = 200_000  # bytes of a record beside a found one
_REGION = 3_000  # characters


class TeamHit(Hit):
    """A step or an item that another member archived, or the user in another archive. `text` is the part around the
    words of the query, and `ref` names it for `recall`.
    """

    said_by: str = ""
    text: str = ""


class _Theirs(Record):
    """What the server has for a query: steps by numbers of their own, with the author and the ref of each, and items,
    each with its author and called by its ref.
    """

    steps: dict[int, StepPosition]
    called: dict[int, tuple[str, str]]
    proposed: set[int]
    items: list[tuple[str, StoredItem]]
    cosines: dict[int, float]


def find_in_team(
    workspace: Workspace, server: TeamServer, wanted: SearchRequest, now: int, seconds: float = SECONDS
) -> list[Hit]:
    """Return the best hits of this archive and of the server, in one list; those of the server are `TeamHit`s.

    Records that cannot be read are reported by their number. Raises StorageError on a timeout.
    """
    search = _Search(wanted, now, query_reader(workspace, is_told=True))  # the local search already reported it
    if not search.words or wanted.limit < 1:
        return []
    theirs, skipped = within(seconds, lambda: search.ask(server))
    if skipped:
        workspace.report(f"damaged on the team's server, not shown: {skipped:,} records; all others were searched")
    if workspace.is_empty:
        return search.rank(None, theirs)
    return workspace.use(lambda archive: search.rank(archive, theirs))


class _Search:
    """One search: what is asked of the server, and how the answers are ranked with what is here."""

    def __init__(self, wanted: SearchRequest, now: int, reader: Reader | None) -> None:
        self.wanted, self.now, self.filters, self.reader = wanted, now, filters_of(wanted, now), reader
        self.meant = reader.vector(wanted.query) if reader is not None else None
        self.words = query_words(wanted.query, MOST_COUNTED)[:_MOST_WORDS]
        self.forms = with_begins(forms_of(wanted.query, self.words), begins_in(self.words))
        self.parts = _expressions(self.words, self.forms)
        self.newest, self.having = 0, [0] * len(self.words)  # of the server's newest records, and those with each word

    def ask(self, server: TeamServer) -> tuple[_Theirs, int]:
        """Return what the server proposes, and how many records were damaged."""
        with server.open() as store:
            self.newest, self.having = store.count_words(list(self.parts.values()))
            found = store.fetch(self._propose(store), self.meant)
            steps = [(one.author, one.archive, _number(one)) for one in found if one.kind == STEP and is_ref(one.ref)]
            near = {(author, archive, f"S{n + side}") for author, archive, n in steps for side in (-1, 1)}
            refs = [(author, ref) for author, _, ref in near]
            beside = store.called(refs, _MOST_BESIDE, self.meant) if self.filters == Filters() else []
        return _placed(found, [one for one in beside if (one.author, one.archive, one.ref) in near])

    def _propose(self, store: TeamStore) -> list[Key]:
        """Return the records with all words, then those with the rarest, then the nearest ones; not too much of it."""
        weights = weights_of(dict(zip(self.words, self.having, strict=True)), self.newest)
        by_part = {self.parts[word]: weight for word, weight in weights.items()}  # the heaviest first
        condition = "".join(f" & '{term}'" for term in self._facets())
        together = f"({' & '.join(by_part)}){condition}"
        totals = accumulate(sorted(self.having))  # of words in few of the newest records all count, but never only few
        count = max(_RAREST, sum(total <= self.newest / 2 for total in totals))
        any_of = f"({' | '.join(list(by_part)[:count])}){condition}"
        found = store.candidates(together, by_part, self.filters.since, _CANDIDATES)
        if len(found) < _ENOUGH and len(by_part) > 1:
            found += store.candidates(any_of, by_part, self.filters.since, _CANDIDATES)
        if self.meant is not None and store.vectors_in and self.filters == Filters():
            found += store.nearest(*self.meant, _CANDIDATES)
        keys: dict[Key, int] = {(author, number): size for author, number, size in found}
        room, chosen = _MOST_BYTES, []
        for key, size in keys.items():
            if size <= room:
                room -= size
                chosen.append(key)
        return chosen

    def _facets(self) -> list[str]:
        """Return the terms that every record must have: of the filters, and of the words of a file."""
        wanted = self.wanted
        named = {term for terms in index_terms([wanted.file or ""]) for term in terms}
        return [*facets(wanted.kind, tool=wanted.tool, session=wanted.session_id), *map(_quoted, named)]

    def rank(self, archive: Archive | None, theirs: _Theirs) -> list[Hit]:
        """Return the best of what is here and of what the server proposed."""
        steps = count_steps(archive) if archive else 0
        counted = count_having(archive, self.words, steps, self.forms) if archive else dict.fromkeys(self.words, 0)
        having = rarest({word: counted[word] + more for word, more in zip(self.words, self.having, strict=True)})
        total, filters = steps + self.newest, self.filters
        if archive and self.wanted.session_id is not None:
            try:
                filters = filters.replace(session=known_session(archive, self.wanted.session_id))
            except NotFoundError:
                archive = None
        weights = weights_of(having, total)
        session, now = self.wanted.session_id, self.now
        asked = ParsedQuery(self.wanted.query, weights, having, self.forms, total, session, filters, now)
        hits = self._items(archive, theirs, asked) + self._steps(archive, theirs, asked, steps, counted)
        return sorted(hits, key=rank)[: self.wanted.limit]

    def _items(self, archive: Archive | None, theirs: _Theirs, asked: ParsedQuery) -> list[Hit]:
        known = "SELECT 1 FROM item WHERE uuid = ?"
        others = [one for one in theirs.items if archive is None or archive.row(known, one[1].uuid) is None]
        authors = {item.alias: author for author, item in others}
        texts = {item.alias: item_text(item) for _, item in others}
        hits = item_hits(archive, asked) if archive else []
        found = hits_of_items([as_foreign(item) for _, item in others if item.status != "dismissed"], asked)
        return [*hits, *(_team_hit(hit, hit.ref, authors[hit.ref], texts[hit.ref], self.words) for hit in found)]

    def _steps(
        self, archive: Archive | None, theirs: _Theirs, asked: ParsedQuery, steps: int, counted: dict[str, int]
    ) -> list[Hit]:
        if asked.filters.kind in ALIAS_LETTERS:
            return []
        own, matches, cosines = self._own(archive, asked, steps, counted)
        known = set() if archive is None else {n for n, placed in theirs.steps.items() if _is_known(archive, placed)}
        others = {number: placed for number, placed in theirs.steps.items() if number not in known}
        placed = {**own, **others}
        proposed = matches | {n for n in theirs.proposed if n in others and self._passes(others[n])}
        accessed = access_weights(archive, matches, asked.now) if archive and matches else {}
        cosines |= {number: cosine for number, cosine in theirs.cosines.items() if number in others}
        asked = asked.replace(cosines=cosines)
        hits: list[Hit] = []
        for number, hit in step_hits(asked, placed, proposed, accessed, self.wanted.limit):
            if number in theirs.called:
                author, ref = theirs.called[number]
                hit = _team_hit(hit, ref, author, readable(placed[number].step), self.words)  # noqa: PLW2901
            hits.append(hit)
        return hits

    def _own(
        self, archive: Archive | None, asked: ParsedQuery, steps: int, counted: dict[str, int]
    ) -> tuple[dict[int, StepPosition], set[int], dict[int, float]]:
        """Return the candidates of this archive with their neighbours, and their cosines."""
        if archive is None:
            return {}, set(), {}
        matches = set(best_matches(archive, rarest(counted), steps, asked.filters, _CANDIDATES, self.forms))
        meant = self.reader.read(archive, asked.text, counted, steps) if self.reader is not None else None
        if meant is not None:
            matches.update(meant.nearest(asked.filters, _CANDIDATES))
        placed = with_neighbours(archive, matches)
        return placed, matches, {} if meant is None else meant.cosines(placed)

    def _passes(self, placed: StepPosition) -> bool:
        """Return whether a step is what was asked for: its author says himself what he sends it as."""
        wanted, step = self.wanted, placed.step
        return (
            wanted.kind in {None, step.kind}
            and wanted.session_id in {None, placed.session_id}
            and (wanted.file is None or names_file(readable(step), wanted.file))
        )


def _expressions(words: Sequence[str], forms: Forms) -> dict[str, str]:
    """Return an expression of the server for each word: it, or one of its other forms."""
    wanted = [(word, form) for word in words for form in (word, *forms.get(word, ()))]
    found: dict[str, list[str]] = {}
    for (word, form), terms in zip(wanted, index_terms([form for _, form in wanted]), strict=True):
        ending = ":*" if is_single_cjk(form) or form.endswith("*") else ""
        if terms and all(len(term) <= LONGEST_TERM for term in terms):
            found.setdefault(word, []).append(" & ".join(f"'{_quoted(term)}'{ending}" for term in terms))
    return {word: f"({' | '.join(f'({one})' for one in found.get(word, [_NOTHING]))})" for word in words}


def _quoted(term: str) -> str:
    return term.replace("\\", "\\\\").replace("'", "''")


def _number(one: ServerRow) -> int:
    return int(str(one.ref)[1:])


def _placed(found: list[ServerRow], beside: list[ServerRow]) -> tuple[_Theirs, int]:
    """Return the records with numbers of their own: those of each archive apart, in the order they have there."""
    theirs = _Theirs({}, {}, set(), [], {})
    archives: dict[tuple[str, str], int] = {}
    sessions: dict[tuple[str, str, str], int] = {}
    skipped = 0
    chosen = {(one.author, one.id): one for one in found}
    neighbours = {(one.author, one.id): one for one in beside}
    for key, one in {**neighbours, **chosen}.items():
        try:
            record = sound(one)
        except ValueError:
            skipped += key in chosen
            continue
        if isinstance(record, StoredItem):
            theirs.items.append((one.author, record.replace(alias=ref_of(one))))
            continue
        place = (archives.setdefault((one.author, one.archive), len(archives)) + 1) * APART
        number = place + _number(one)
        session = place + sessions.setdefault((one.author, one.archive, record.session_id), len(sessions))
        theirs.steps[number] = StepPosition(record, session, record.session_id)
        theirs.called[number] = one.author, ref_of(one)
        if one.cosine is not None:
            theirs.cosines[number] = one.cosine
        if key in chosen:
            theirs.proposed.add(number)
    return theirs, skipped


def sound(one: ServerRow) -> StoredStep | StoredItem:
    """Return the record of a row. Raises ValueError if it is not what the row says."""
    record: StoredStep | StoredItem = from_body(one.body, StoredStep if one.kind == STEP else StoredItem)
    name = record.uuid if isinstance(record, StoredItem) else f"{record.uuid}/{record.block}"
    if not is_ref(one.ref) or id_of(one.kind, name) != one.id or (one.kind == STEP) != str(one.ref).startswith("S"):
        message = "the row has another name than its record"
        raise ValueError(message)
    return record


def ref_of(one: ServerRow) -> str:
    """Return the ref by which everybody names a record."""
    archive = f"@{one.archive[:6]}" if one.is_of_several else ""
    return f"{one.author}{archive}:{one.ref}"


def _is_known(archive: Archive, placed: StepPosition) -> bool:
    known = "SELECT 1 FROM step WHERE uuid = ? AND block = ? AND kind NOT NULL AND id NOT IN (SELECT step FROM pruned)"
    return archive.row(known, uuid_key(placed.step.uuid), placed.step.block) is not None


def _team_hit(hit: Hit, ref: str, author: str, text: str, words: list[str]) -> TeamHit:
    return TeamHit(**{**hit.as_dict(), "ref": ref}, said_by=author, text=region(text, words, _REGION))


def within(seconds: float, action: Callable[[], T]) -> T:
    """Return action(). Raises StorageError on a timeout. The thread then ends with the process."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(action())
        except BaseException as error:  # noqa: BLE001  # it is raised again, in the thread that waits
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    if not wait([future], seconds).done:
        message = f"the team's server did not answer within {seconds:g} seconds"
        raise StorageError(message, "what this archive has was found")
    return future.result()
