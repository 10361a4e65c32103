"""What a search of the team finds: colleagues' steps and items and those of one's own other archives, in one list."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.minilm_folder import minilm_folder
from tests.builders import NOW, prompt
from tests.contracts.contract import decision, session, step, turn, uuid
from tests.extras.team.team import PROJECT, Team, found, send, sent
from unified_state.errors import NotFoundError, StorageError
from unified_state.extras.team.recall_team import explain_of_team, recall_of_team
from unified_state.extras.team.search_team import TeamHit, find_in_team, within
from unified_state.extras.team.sync_server import sync
from unified_state.extras.team.team_ref import as_foreign, is_team_ref
from unified_state.extras.team.team_server import TeamServer, agree
from unified_state.extras.vectors.open_model import open_model
from unified_state.model.step import full_name
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import SearchRequest

if TYPE_CHECKING:
    from unified_state.archive.archive import Archive

Keep = Callable[..., None]
Find = Callable[..., list[Any]]


@pytest.fixture
def server(team: Team) -> TeamServer:
    """The server, as ada, whose archive this is."""
    team.admit("ada")
    return TeamServer(found(team.dsn("ada")), team.organisation, PROJECT)


@pytest.fixture
def synced(workspace: Workspace, archive: Archive, server: TeamServer) -> Callable[[], object]:
    """Sends ada's archive."""
    with server.open(begins=True) as store:
        agree(archive, store)
    return lambda: sync(workspace, server, lambda: NOW)


@pytest.fixture
def find(workspace: Workspace, server: TeamServer) -> Find:
    """Searches as ada."""
    return lambda query, **wanted: find_in_team(workspace, server, SearchRequest(query=query, **wanted), NOW, 30.0)


@pytest.fixture
def bobs(team: Team) -> Callable[..., int]:
    """Sends what bob has."""
    return lambda *records, **others: send(team.open("bob"), *records, **others)


def test_own_and_colleagues_hits_stand_in_one_list_the_best_first(
    keep: Keep, find: Find, bobs: Callable[..., int], synced: Callable[[], object]
) -> None:
    keep(*(prompt(number, f"something about retries and number {number}") for number in range(1, 12)))
    synced()
    bobs(session("his"), step(50, "the backoff of retries is capped at 8 seconds", session_id="his"))
    hits = find("cap of the backoff of retries")
    assert isinstance(hits[0], TeamHit)
    assert (hits[0].ref, hits[0].said_by, hits[0].session_id) == ("bob:S2", "bob", "his")
    assert "**backoff**" in hits[0].snippet
    assert [hit.ref for hit in hits[1:]] == [hit.ref for hit in hits if not isinstance(hit, TeamHit)]
    assert len(hits) == 10


def test_ones_own_hits_are_told_once_and_those_of_ones_other_archives_are_found(
    keep: Keep, find: Find, team: Team, synced: Callable[[], object]
) -> None:
    keep(prompt(1, "the swordfish is here"))
    synced()
    send(team.open("ada"), step(70, "a swordfish on the laptop"), decision(7, "D1", "a swordfish"), archive="abcdef01")
    refs = {hit.ref for hit in find("swordfish")}
    assert refs == {"S1", "ada@abcdef:S1", "ada@abcdef:D1"}


def test_items_are_found_as_another_persons_and_recalled_and_explained_with_their_source(
    find: Find, bobs: Callable[..., int], server: TeamServer, team: Team
) -> None:
    quote = "always use the blue connection pool"
    rule = decision(
        1, "C4", kind="constraint", origin="user_said", source_uuid=uuid(60), quote=quote, quote_hash="wrong",
        body={"constraint": quote, "blocking": True},
    )  # fmt: skip
    bobs(session("his"), step(60, f"please, {quote}", session_id="his"), rule)
    (item, source) = find("blue connection pool")
    assert (item.ref, item.status, item.kind) == ("bob:C4", "proposed", "constraint")
    assert source.ref == "bob:S2"
    told = recall_of_team(server, "bob:c4")
    assert (told["said_by"], told["status"], told["origin"], told["body"]["constraint"]) == (
        "bob",
        "proposed",
        "inferred",
        quote,
    )
    assert "no rule or decision of this user" in told["trust"]
    why = explain_of_team(server, "bob:C4")
    assert why["turn"]["ref"] == "bob:S2"
    assert why["faults"] == ["its quote was changed: the SHA-256 is not wrong"]
    assert recall_of_team(server, "bob:S2")["text"].endswith(quote)
    of = "project IN (SELECT id FROM unified_state.project WHERE organisation = %s) AND kind = 'step'"
    team.superuser().execute(f"UPDATE unified_state.record SET body = '{{' WHERE {of}", [team.organisation])
    damaged = explain_of_team(server, "bob:C4")
    assert (damaged["turn"], damaged["faults"]) == (None, why["faults"])


def test_a_ref_that_two_archives_have_says_so_and_a_wrong_one_too(team: Team, server: TeamServer) -> None:
    store = team.open("bob")
    send(store, decision(1, "D1", "here"), archive="aaaaaa11")
    send(store, decision(2, "D1", "there"), archive="bbbbbb22")
    with pytest.raises(NotFoundError) as raised:
        recall_of_team(server, "bob:D1")
    assert "bob@aaaaaa:D1 or bob@bbbbbb:D1" in raised.value.hint
    assert recall_of_team(server, "bob@bbbbbb:D1")["body"]["decision"] == "there"
    for ref in ("bob:D9", "eve:D1", "bob@cccccc:D1"):
        with pytest.raises(NotFoundError):
            recall_of_team(server, ref)
    assert [is_team_ref(ref) for ref in ("ada:D7", "ada b.c@00ff00:S12", "D7", "S1", "ada:T1", ":D1", "a:D")] == [
        True, True, False, False, False, False, False,
    ]  # fmt: skip


def test_neighbours_count_as_they_do_here(find: Find, bobs: Callable[..., int]) -> None:
    """The answer to a question stands beside the words that match."""
    bobs(session("his"), step(1, "Which port does the metrics endpoint use?", session_id="his"),
         step(2, "9464, behind the proxy", kind="text", session_id="his"),
         step(3, "Unrelated words of something else", session_id="his"))  # fmt: skip
    assert {hit.ref for hit in find("which port for the metrics endpoint")} >= {"bob:S2", "bob:S3"}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("planting trees", "they planted a tree"),
        ("getUserProfile", "call get_user_profile first"),
        ("went", "we go there"),
        ("検索", "日本語の検索エンジン"),
        ("café", "the cafe of the corner"),
        ("app.py", "look into src/app.py"),
        ("a24b142c0ffee", "commit a24b142c0ffee99"),
    ],
)
def test_the_server_proposes_what_the_local_index_would(
    find: Find, bobs: Callable[..., int], query: str, text: str
) -> None:
    bobs(step(1, text))
    assert [hit.ref for hit in find(query)] == ["bob:S1"]


@pytest.mark.parametrize(
    "query", ["", "'", "\\", "a' | 'b", "& | ! :*", "\0", "\ud83c", "%s %(x)s", "x" * 5_000, "()<->"]
)
def test_any_text_is_a_query(find: Find, bobs: Callable[..., int], query: str) -> None:
    bobs(step(1, "a or b"))
    assert isinstance(find(query), list)


def test_a_long_step_is_searchable_whole(find: Find, bobs: Callable[..., int]) -> None:
    bobs(step(1, " ".join(f"word{number}" for number in range(60_000)) + " swordfish"))
    assert [hit.ref for hit in find("swordfish")] == ["bob:S1"]


def test_filters_hold(find: Find, bobs: Callable[..., int]) -> None:
    bobs(session("his"), *turn(1, "his"), *turn(20, "hers"), decision(3, "D1", "run the tests", session_id="his"))
    assert {hit.kind for hit in find("tests", kind="tool_result")} == {"tool_result"} or not find(
        "tests", kind="tool_result"
    )
    assert {hit.session_id for hit in find("tests", session_id="his")} == {"his"}
    assert {hit.ref for hit in find("pytest", tool="bash")} == {"bob:S4", "bob:S10"}
    assert find("tests", since="2030-01-01") == []
    assert find("tests", file="app.py") == []


OF_BOB = "ref = %s AND author = 'bob'"
IN_TEAM = "project IN (SELECT id FROM unified_state.project WHERE organisation = %s)"
WRONG: list[dict[str, Any] | str] = [
    {},
    {"record": "step"},
    {"record": "item", "uuid": 1},
    {"record": "item", "kind": "decision", "body": {"decision": ["swordfish"]}},
    "no JSON",
    "[" * 100_000,
    "null",
    '"swordfish"',
]


@pytest.mark.parametrize("body", WRONG, ids=range(len(WRONG)))
def test_a_record_of_a_wrong_shape_is_left_out_counted_and_hides_no_other(
    team: Team, find: Find, bobs: Callable[..., int], workspace: Workspace, server: TeamServer, body: Any
) -> None:
    """Any member can write what he likes into his own rows."""
    bobs(step(1, "swordfish one"), decision(1, "D1", "swordfish two"), step(2, "swordfish three"))
    text = body if isinstance(body, str) else repr(body).replace("'", '"')
    with team.connect("bob") as bob:
        for ref in ("S1", "D1"):
            assert bob.execute(f"UPDATE unified_state.record SET body = %s WHERE {OF_BOB}", [text, ref]).rowcount == 1
    told: list[str] = []
    hits = find_in_team(workspace.replace(report=told.append), server, SearchRequest(query="swordfish"), NOW, 30.0)
    assert [hit.ref for hit in hits] == ["bob:S3"] or [hit.ref for hit in hits] == ["bob:S2"]
    assert told == ["damaged on the team's server, not shown: 2 records; all others were searched"]
    with pytest.raises(StorageError, match="damaged"):
        recall_of_team(server, "bob:D1")


@pytest.mark.parametrize("forged", ["ref = 'S1 or so'", "ref = 'D3'", "kind = 'item'", "id = gen_random_uuid()"])
def test_a_row_that_is_not_what_it_says_is_left_out(
    team: Team, find: Find, bobs: Callable[..., int], forged: str
) -> None:
    bobs(step(1, "swordfish"), step(2, "sound swordfish"))
    superuser = team.superuser()
    superuser.execute(
        f"UPDATE unified_state.record SET {forged} WHERE {OF_BOB} AND {IN_TEAM}", ["S1", team.organisation]
    )
    assert [hit.ref for hit in find("swordfish")] == ["bob:S2"]


def test_one_who_floods_the_words_does_not_hide_the_others(team: Team, find: Find, bobs: Callable[..., int]) -> None:
    bobs(step(1, "a swordfish lives here"))
    send(team.open("mallory"), *(step(number, f"a swordfish lives here {number}") for number in range(100, 600)))
    assert "bob" in {hit.said_by for hit in find("swordfish lives", limit=100)}


def test_by_meaning_what_has_no_word_in_common_is_found(workspace: Workspace, server: TeamServer, team: Team) -> None:
    texts = ("the storm broke the mast of the boat", "we had lunch")
    workspace.settings.search_vectors, workspace.settings.minilm_folder = "minilm", minilm_folder()
    model = open_model(workspace.settings.minilm_folder)
    vectors = [tuple(np.frombuffer(vector, "<f2").tolist()) for vector in model.encode(texts) if vector]
    batch = sent(*(step(number, text) for number, text in enumerate(texts, 1)))
    name = full_name(model.name, model.version)
    with team.open("bob") as store:
        store.append([one.replace(model=name, vector=vectors[place]) for place, one in enumerate(batch)], "laptop", 1)
    hits = find_in_team(workspace, server, SearchRequest(query="sailing disaster"), NOW, 30.0)
    assert hits[0].ref == "bob:S1"


def test_a_server_that_does_not_answer_is_not_waited_for() -> None:
    from threading import Event

    with pytest.raises(StorageError, match=r"within 0\.1 seconds"):
        within(0.1, Event().wait)


def test_what_counts_as_ones_own_word_or_rule_is_neither_of_another_one() -> None:
    mine = decision(1, "C1", kind="constraint", origin="user_said", body={"rule": "r"})
    assert (as_foreign(mine).origin, as_foreign(mine).status) == ("inferred", "proposed")
    assert as_foreign(decision(1, "D1", origin="observed")).origin == "observed"
