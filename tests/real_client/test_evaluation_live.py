"""The experiment with a model, against a mock API on the loopback: client, relay, budget, results and grades."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .messages import Request, bash, reply
from .mock_api import Answer, MockApi
from .scenario import API_KEY, OLD_MODEL

ROOT = Path(__file__).resolve().parents[2]
OWN_TASKS = ROOT / "evaluation" / "own_tasks"
PRICES = {OLD_MODEL: {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}
BUG = "refused again"
MEASURED = {"solved": True, "solved_at_once": False, "corrections": 1, "rules_broken": 1, "compactions": 1}
WRONG = "sed -i 's/int((count - self.tokens) . REFILL)/int(-(-(count - self.tokens) \\/\\/ REFILL))/' shop/limiter.py"
RIGHT = (
    "sed -i 's/return int(.*/return min(60, 1 + int(-(-(count - self.tokens) \\/\\/ REFILL)))/' shop/limiter.py"
    " && echo '# checked' >> shop/health.py"
)

pytestmark = pytest.mark.usefixtures("client")


class Model:
    """A scripted agent: its first fix passes the visible test alone; the reviewer's failures bring the right one."""

    def __init__(self) -> None:
        self.fixes = [WRONG, RIGHT]
        self.made: set[str] = set()

    def __call__(self, request: Request) -> Answer:
        asked = request.last_user_text()
        if BUG in asked and "wrong" not in self.made:
            self.made.add("wrong")
            return reply(bash(WRONG))
        if "ran more tests" in asked and "right" not in self.made:
            self.made.add("right")
            return reply(bash(RIGHT))
        if asked.startswith("This is what we agreed") or "Rules for all" in asked:
            self.made.clear()
        return "OK"


@pytest.fixture
def api() -> Iterator[MockApi]:
    """The model's API."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        mock = MockApi(listener)
        mock.always("main", Model())
        yield mock
        mock.close()


class Command:
    """The command of the experiment, and its folder of results."""

    def __init__(self, folder: Path, api: MockApi) -> None:
        self.folder, self.results = folder, folder / "results"
        self.prices = folder / "prices.json"
        self.prices.write_text(json.dumps(PRICES), encoding="utf-8")
        self.environment = {**os.environ, "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": API_KEY}

    def run(self, *more: str, budget: float = 50, model: str = OLD_MODEL, arms: str = "bare") -> Any:
        command = [sys.executable, "-m", "evaluation.live", str(OWN_TASKS), model, "--names", "own-limiter"]
        given = ["--prices", str(self.prices), "--budget", str(budget), "--results", str(self.results)]
        return subprocess.run(
            [*command, *given, "--arms", arms, "--compactions", "1", *more],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    def spent(self) -> list[dict[str, Any]]:
        path = self.results / "spending.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


@pytest.fixture
def command(tmp_path: Path, api: MockApi) -> Command:
    return Command(tmp_path, api)


def one_line(done: Any) -> str:
    """What a command that could not start says; it has to be one line."""
    assert (done.returncode, done.stdout) == (1, ""), done
    assert done.stderr.count("\n") == 1
    return str(done.stderr)


def test_a_run_is_graded_measured_and_kept_whole(command: Command) -> None:
    done = command.run(arms="bare unified-state")
    assert done.returncode == 0, done.stderr
    assert "minimum detectable effect of 1 pairs" in done.stdout
    for arm in ("bare", "unified-state"):
        folder = command.results / "runs" / f"own-limiter--{arm}--compacted"
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        assert {name: result[name] for name in MEASURED} == MEASURED
        assert result["tokens"] > 0
        assert result["dollars"] == pytest.approx(sum(line["dollars"] for line in read(folder / "requests.jsonl")))
        assert list(folder.glob("*-*.jsonl"))
        assert "shop/health.py" in (folder / "patch.diff").read_text(encoding="utf-8")
    registered = json.loads((command.results / "preregistration.json").read_text(encoding="utf-8"))
    assert (registered["arms"], registered["model"]) == (["bare", "unified-state"], OLD_MODEL)
    assert not list((command.results / ".unfinished").iterdir())


def test_the_key_is_in_no_file_and_reaches_the_api_alone(command: Command) -> None:
    key = "sk-ant-the-users-own-" + "1" * 20
    command.environment["ANTHROPIC_API_KEY"] = key
    assert command.run().returncode == 0
    assert not [path for path in command.folder.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]


def test_a_budget_of_one_dollar_stops_at_one_dollar_and_a_larger_one_goes_on(command: Command, api: MockApi) -> None:
    api.always("count_tokens", reply(input_tokens=40_000))
    dear = {OLD_MODEL: {"input": 60, "output": 15, "cache_read": 0.3, "cache_write": 60, "cache_write_1h": 60}}
    command.prices.write_text(json.dumps(dear), encoding="utf-8")  # the mock says 1,000 tokens: six cents
    done = command.run("--output-tokens", "4000", budget=1)
    assert done.returncode == 3
    assert "own-limiter--bare--compacted: the budget of $1.00 stops the run" in done.stderr.splitlines()[-1]
    assert sum(line.get("dollars", 0) for line in command.spent()) <= 1
    assert len(api.of("main")) < 20
    assert not list((command.results / "runs").iterdir())
    assert not list((command.results / ".unfinished").iterdir())
    assert command.run("--output-tokens", "4000", budget=100).returncode == 0


def test_a_missing_key_is_one_line_and_nothing_is_written(command: Command, api: MockApi) -> None:
    command.environment.pop("ANTHROPIC_API_KEY")
    assert "there is no key: set ANTHROPIC_API_KEY" in one_line(command.run())
    assert (api.requests, command.results.exists()) == ([], False)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
