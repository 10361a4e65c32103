from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.capture.rules.commits import commits, may_make, pull_requests

MADE = "[main 1a2b3c4] Cache the prices\n 2 files changed, 45 insertions(+), 2 deletions(-)"
ADDRESS = "https://github.com/ada/shop/pull/136"


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'Cache the prices'",
        "git add a.py && git -C /home/ada/shop commit -m x && git status",
        "cd shop && git commit --amend --no-edit",
        "git -c user.name=ada cherry-pick abc",
        "/usr/bin/git revert --no-edit HEAD",
    ],
)
def test_a_commit_that_git_tells_of_is_evidence(command: str) -> None:
    (fact,) = commits(command, MADE)
    assert (fact.kind, fact.origin, fact.status) == ("evidence", "observed", "active")
    assert fact.body == {"type": "commit", "content": "1a2b3c4 Cache the prices", "source": "git commit on main"}
    assert fact.quote == "[main 1a2b3c4] Cache the prices"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git log", MADE),
        ("cat commit.txt", MADE),
        ("echo git commit", MADE),
        ("grep 'git commit' notes.md", MADE),
        ("git commit --dry-run", MADE),
        ("git commit", "On branch main\nnothing to commit"),
        ("git commit", "[main] warning\n[main 12345] short\n[main 1a2b3cx] no hash\n  [main 1a2b3c4] indented"),
    ],
)
def test_what_only_looks_like_a_commit_is_none(command: str, output: str) -> None:
    assert list(commits(command, output)) == []


@pytest.mark.parametrize("command", ["gh pr create --title x --body y", "git push && gh pr create --draft"])
def test_a_pull_request_that_was_made_is_evidence(command: str) -> None:
    (fact,) = pull_requests(command, f"Creating draft pull request\n{ADDRESS}\nWarning: 1 uncommitted change")
    assert fact.body["type"] == "pull_request"
    assert fact.body["content"] == fact.quote == ADDRESS


def test_a_merge_request_counts_too() -> None:
    address = "https://gitlab.example.com/ada/shop/-/merge_requests/7"
    assert [fact.quote for fact in pull_requests("glab mr create --fill", address)] == [address]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("gh pr view 136", ADDRESS),
        ("gh pr create", "a pull request already exists"),
        ("gh pr create --dry-run", ADDRESS),
        ("git push", f"Create a pull request by visiting: {ADDRESS}/new"),
    ],
)
def test_an_address_alone_is_no_pull_request(command: str, output: str) -> None:
    assert list(pull_requests(command, output)) == []


def test_only_some_commands_are_worth_a_look() -> None:
    assert may_make('{"command":"git commit -m x"}')
    assert not may_make('{"command":"git status"}')


@given(st.text())
def test_a_quote_stands_in_the_output(output: str) -> None:
    for fact in (*commits("git commit", output), *pull_requests("gh pr create", output)):
        assert fact.quote in output
