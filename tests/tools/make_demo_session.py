"""Write the bundled session of `unified-state demo`: a small piece of work as the client would have recorded it.

The facts are what somebody who goes on with this work needs; the summary is one as a model writes it: good, and lossy.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "unified_state" / "interfaces" / "cli" / "demo_session"
SESSION = "5e551011-0000-4000-8000-000000000001"
CWD = "/home/dev/shop"

Entry = dict[str, Any]

LIMITER = '''"""Token bucket per API key."""


class RateLimiter:
    def __init__(self, redis, burst: int = 40, per_second: float = 8.0) -> None:
        self._redis, self._burst, self._per_second = redis, burst, per_second

    def allow(self, key: str, now: float) -> bool:
        return bool(self._redis.eval(TAKE_TOKEN, 1, f"rl:{key}", self._burst, self._per_second, now))
'''
FAILURE = """FAILED tests/test_limiter.py::test_burst_is_allowed - redis.exceptions.ResponseError: WRONGTYPE Operation against a key
1 failed, 11 passed in 2.31s"""
# What is said and done, turn by turn: a prompt, then texts and (tool, input, result) in order.
TURNS: list[list[Any]] = [
    [
        "Our API has no rate limit. Add one per API key, 8 requests a second with bursts of 40. Never touch the /health route.",
        "I'll look at how requests come in.",
        (
            "Grep",
            {"pattern": "def create_app", "path": "src"},
            "src/shop/app.py:14:def create_app(settings: Settings) -> FastAPI:",
        ),
        (
            "Read",
            {"file_path": f"{CWD}/src/shop/app.py"},
            "14\tdef create_app(settings: Settings) -> FastAPI:\n15\t    app = FastAPI()",
        ),
        "A token bucket in Redis fits: the four workers share it, and a sliding window would need a sorted set per key.",
        ("Write", {"file_path": f"{CWD}/src/shop/limiter.py", "content": LIMITER}, "File created successfully"),
        "The limiter stands in `src/shop/limiter.py` as `RateLimiter`, with the script `TAKE_TOKEN`.",
    ],
    [
        "Good. Wire it in as middleware, and test it.",
        (
            "Edit",
            {
                "file_path": f"{CWD}/src/shop/app.py",
                "old_string": "app = FastAPI()",
                "new_string": "app = FastAPI()\n    app.add_middleware(RateLimitMiddleware, limiter=limiter)",
            },
            "The file has been updated.",
        ),
        (
            "Write",
            {"file_path": f"{CWD}/tests/test_limiter.py", "content": "def test_burst_is_allowed(redis): ..."},
            "File created successfully",
        ),
        ("Bash", {"command": "uv run pytest tests/test_limiter.py -q"}, FAILURE),
        "The key `rl:` is used by the session store with another type. I rename ours to `bucket:`.",
        (
            "Edit",
            {"file_path": f"{CWD}/src/shop/limiter.py", "old_string": 'f"rl:{key}"', "new_string": 'f"bucket:{key}"'},
            "The file has been updated.",
        ),
        ("Bash", {"command": "uv run pytest tests/test_limiter.py -q"}, "12 passed in 2.28s"),
        "All 12 pass. `RateLimitMiddleware` answers 429 with a `Retry-After` header.",
    ],
    [
        "The load test in staging hits 429 far too early, see issue #482.",
        ("Bash", {"command": "k6 run load/steady.js --env RATE=7"}, "http_req_failed: 31.20% (429)\nchecks: 68.80%"),
        (
            "Read",
            {"file_path": f"{CWD}/deploy/gunicorn.conf.py"},
            '1\tworkers = 4\n2\tworker_class = "uvicorn.workers.UvicornWorker"',
        ),
        "The clock comes from each worker; they differ by up to 300 ms. The script must use Redis `TIME` instead of `now`.",
        (
            "Edit",
            {
                "file_path": f"{CWD}/src/shop/limiter.py",
                "old_string": "self._per_second, now",
                "new_string": "self._per_second",
            },
            "The file has been updated.",
        ),
        ("Bash", {"command": "k6 run load/steady.js --env RATE=7"}, "http_req_failed: 0.00%\nchecks: 100.00%"),
        "Fixed: with the server's clock the steady load passes. Next: `Retry-After` must round up, it says 0 now.",
    ],
]
SUMMARY = """<analysis>
The user wants rate limiting. I built it and fixed a problem found under load.
</analysis>

<summary>
1. Primary Request and Intent: add rate limiting per API key to the shop's API.
2. Key Technical Concepts: FastAPI middleware, token bucket, Redis.
3. Files and Code Sections: src/shop/limiter.py holds the limiter, src/shop/app.py wires the middleware in.
4. Errors and fixes: a key collision in Redis was fixed by another prefix; the load test failed because of clock differences.
5. Current Work: the load test passes.
6. Next Step: the Retry-After header.
</summary>"""
FACTS = [
    ["the limits", "bursts of 40"],
    ["the user's rule", "Never touch the /health route"],
    ["the limiter's file", "src/shop/limiter.py"],
    ["why a token bucket", "the four workers share it"],
    ["the prefix that collides", "rl:"],
    ["the command of the tests", "uv run pytest tests/test_limiter.py -q"],
    ["the command of the load test", "k6 run load/steady.js --env RATE=7"],
    ["the issue", "#482"],
    ["the cause of the early 429", "Redis `TIME`"],
    ["what is still wrong", "must round up"],
    ["the open question", "Should trusted partners get a higher burst?"],
]


def entries() -> list[Entry]:
    """The session's entries."""
    written: list[Entry] = []
    for number, (prompt, *happened) in enumerate(TURNS):
        _add(written, number, "user", {"role": "user", "content": prompt})
        for step in happened:
            if isinstance(step, str):
                _add(written, number, "assistant", {"role": "assistant", "content": [{"type": "text", "text": step}]})
                continue
            name, given, result = step
            use = f"toolu_demo{len(written):04}"
            call = {"type": "tool_use", "id": use, "name": name, "input": given}
            _add(written, number, "assistant", {"role": "assistant", "content": [call]})
            failed = {"is_error": True} if "FAILED" in result else {}
            block = {"type": "tool_result", "tool_use_id": use, "content": result, **failed}
            _add(written, number, "user", {"role": "user", "content": [block]})
    return written


def _add(written: list[Entry], turn: int, kind: str, message: Entry) -> None:
    number = len(written)
    written.append(
        {
            "parentUuid": written[-1]["uuid"] if written else None,
            "isSidechain": False,
            "cwd": CWD,
            "sessionId": SESSION,
            "version": "2.1.330",
            "gitBranch": "rate-limit",
            "type": kind,
            "message": message,
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"unified-state-demo/{number}")),
            "timestamp": f"2026-06-01T09:{turn * 15 + number % 15:02}:{number % 60:02}.000Z",
        }
    )


def main() -> None:
    """Write the session, the summary and the facts."""
    FOLDER.mkdir(exist_ok=True)
    lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries())
    (FOLDER / "session.jsonl").write_text(lines, encoding="utf-8")
    (FOLDER / "summary.txt").write_text(SUMMARY + "\n", encoding="utf-8")
    (FOLDER / "facts.json").write_text(json.dumps(FACTS, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
