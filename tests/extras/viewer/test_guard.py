"""Who may read the pages: who knows the secret address, by this machine's own name, and nobody else."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from urllib.parse import urlencode

from .conftest import Open
from .viewing import Viewer, fetch, run, viewing


def test_without_the_secret_there_is_nothing(seen: Viewer) -> None:
    for path in ("", "/", "/K1", "/state", "/static/viewer.js", "/live/1", "/nothing", "/wrong/", "//", "/wrong/K1"):
        status, _, body = fetch(f"{seen.server}{path}", {"Referer": f"{seen.base}/K1"})
        assert (status, "token bucket" in body) == (403, False), path
    assert seen.get("/")[0] == 200


def test_no_cookie_and_no_referrer_takes_the_secret_to_another_port(seen: Viewer, opened: Open) -> None:
    page = opened(seen)
    page.goto(f"{seen.base}/K1")
    page.locator(".fates tbody tr").first.click()
    page.get_by_role("link", name="State").click()
    page.wait_for_url("**/state")
    assert page.context.cookies() == []
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"http://127.0.0.1:{other.getsockname()[1]}/"
        page.evaluate("(to) => { const link = document.createElement('a'); link.href = to; document.body.append(link); "
                      "setTimeout(() => link.click()); }", address)  # fmt: skip
        with other.accept()[0] as asked:
            sent = asked.recv(65_536).decode()
            asked.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert sent.startswith("GET / ")
    assert seen.secret not in sent


def test_another_name_of_this_machine_is_refused(seen: Viewer) -> None:
    for host in ("evil.example", f"evil.example:{seen.port}", "127.0.0.1", "127.0.0.1:1", ""):
        assert seen.get("/", Host=host)[0] == 421, host
    assert seen.get("/", Host=f"localhost:{seen.port}")[0] == 200


def test_a_page_of_another_origin_changes_nothing(told: Path) -> None:
    with viewing(told) as viewer:
        fields = urlencode({"ref": "D1", "why": "x"}).encode()
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            assert fetch(f"{viewer.base}/change/drop", headers, fields)[0] == 403
        assert fetch(f"{viewer.server}/change/drop", {}, fields)[0] == 403
        assert fetch(f"{viewer.server}/wrong/change/drop", {}, fields)[0] == 403
    assert {one["id"] for one in json.loads(run(told, "decision", "list", "--json"))} == {"D1", "D2"}


def test_every_page_forbids_foreign_scripts_frames_and_caches(seen: Viewer) -> None:
    for path in ("/", "/K1", "/session/1", "/static/viewer.css", "/K9", "/%00"):
        headers = seen.get(path)[1]
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert (headers["x-frame-options"], headers["cache-control"]) == ("DENY", "no-store")
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_no_path_leads_to_another_file(seen: Viewer) -> None:
    for path in (
        "/static/../viewer_app.py",
        "/static/..%2fviewer_app.py",
        "/static/%2e%2e/%2e%2e/hook.py",
        "/static//etc/passwd",
        "/p/..%2f..%2fx/",
        "/session/99999",
        "/step/99999999999999999999",
        f"/session/{'9' * 4301}",
        f"/step/{'9' * 4301}",
        "/S0",
        "/T0",
    ):
        status, _, body = seen.get(path)
        assert status in {400, 404}, path
        assert "import" not in body.replace("unified-state import", "")
        assert "root:" not in body


def test_the_address_in_a_browsers_arguments_opens_once(told: Path, tmp_path: Path) -> None:
    program, seen = tmp_path / "browser", tmp_path / "arguments"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" >{seen}.new && mv {seen}.new {seen}\n', encoding="utf-8")
    program.chmod(0o755)
    with viewing(told, "K1", opens_browser=True, BROWSER=str(program), DISPLAY=":0") as viewer:
        until = time.monotonic() + 60
        while not seen.exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        address = seen.read_text(encoding="utf-8")
        assert address.startswith(f"{viewer.server}/")
        assert viewer.secret not in address
        status, headers, _ = fetch(address, {})
        assert (status, headers["location"]) == (303, f"/{viewer.secret}/K1")
        assert fetch(address, {})[0] == 403
        assert fetch(viewer.address, {})[0] == 200


def test_a_taken_port_is_one_clear_line(told: Path) -> None:
    from tests.interfaces.cli.screen import run as run_command

    with viewing(told) as viewer:
        done = run_command("view", "--no-browser", "--port", str(viewer.port), cwd=told)
        assert done.returncode == 1
        assert f"port {viewer.port} of 127.0.0.1 cannot be used" in done.stderr


def test_a_compaction_that_is_not_there_opens_no_page(told: Path) -> None:
    from tests.interfaces.cli.screen import run as run_command

    done = run_command("view", "--no-browser", "K99", cwd=told)
    assert done.returncode == 1
    assert "K99" in done.stderr
