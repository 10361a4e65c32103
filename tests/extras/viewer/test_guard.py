"""Who may read the pages: the user's own browser, with the token, by this machine's own name, and nobody else."""

from __future__ import annotations

import json
import time
from pathlib import Path
from urllib.parse import urlencode

from .conftest import Open
from .viewing import Viewer, fetch, run, viewing


def cookie(viewer: Viewer) -> dict[str, str]:
    """What the user's browser sends."""
    return {"Cookie": f"unified_state_{viewer.port}={viewer.token}"}


def test_without_the_token_there_is_nothing(seen: Viewer) -> None:
    for path in ("/", "/K1", "/state", "/static/viewer.js", "/live/1", "/nothing", "/?token=wrong", "/?token="):
        status, _, body = fetch(f"{seen.base}{path}", {})
        assert (status, "token bucket" in body) == (403, False), path
    assert fetch(f"{seen.base}/", {"Cookie": f"unified_state_{seen.port}=wrong"})[0] == 403
    assert seen.get("/")[0] == 200


def test_the_token_becomes_a_cookie_and_leaves_the_address(told: Path) -> None:
    with viewing(told, "K1") as viewer:
        assert f"{viewer.base}/K1?token=" in viewer.address
        status, headers, _ = fetch(viewer.address, {})
        assert (status, headers["location"]) == (303, "/K1")
        assert "HttpOnly" in headers["set-cookie"]
        assert "SameSite=strict" in headers["set-cookie"]
        assert headers["referrer-policy"] == "same-origin"
        status, headers, _ = fetch(f"{viewer.base}//evil.example/?token={viewer.token}", {})
        assert not headers.get("location", "/").startswith("//")


def test_no_referrer_has_the_token_and_one_in_a_referrer_opens_nothing(seen: Viewer, opened: Open) -> None:
    address = f"{seen.base}/K1?token={seen.token}"
    status, _, body = fetch(f"{seen.base}/K1", {"Referer": address})
    assert (status, "token bucket" in body) == (403, False)
    page = opened(seen)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.all_headers().get("referer", "")))
    page.goto(address)
    page.locator(".fates tbody tr").first.click()
    page.get_by_role("link", name="State").click()
    page.wait_for_url("**/state")
    assert any(sent)
    assert not any(seen.token in referrer for referrer in sent)
    assert seen.token not in page.evaluate("performance.getEntries().map((one) => one.name).join()")


def test_another_name_of_this_machine_is_refused(seen: Viewer) -> None:
    for host in ("evil.example", f"evil.example:{seen.port}", "127.0.0.1", "127.0.0.1:1", ""):
        assert fetch(f"{seen.base}/", {**cookie(seen), "Host": host})[0] == 421, host
    assert seen.get("/", Host=f"localhost:{seen.port}")[0] == 200


def test_a_page_of_another_origin_changes_nothing(told: Path) -> None:
    with viewing(told) as viewer:
        form = form_token(viewer)
        fields = urlencode({"form": form, "ref": "D1", "why": "x"}).encode()
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            assert fetch(f"{viewer.base}/change/drop", {**cookie(viewer), **headers}, fields)[0] == 403
        wrong = urlencode({"form": "wrong", "ref": "D1"}).encode()
        assert fetch(f"{viewer.base}/change/drop", cookie(viewer), wrong)[0] == 403
        assert fetch(f"{viewer.base}/change/drop", {}, fields)[0] == 403
    assert {one["id"] for one in json.loads(run(told, "decision", "list", "--json"))} == {"D1", "D2"}


def form_token(viewer: Viewer) -> str:
    """The token of the forms, from a page."""
    return viewer.get("/D1")[2].partition('name="form" value="')[2].partition('"')[0]


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
    with viewing(told, opens_browser=True, BROWSER=str(program), DISPLAY=":0") as viewer:
        until = time.monotonic() + 60
        while not seen.exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        address = seen.read_text(encoding="utf-8")
        assert address.startswith(f"{viewer.base}/?token=")
        assert viewer.token not in address
        assert fetch(address, {})[0] == 303
        assert fetch(address, {})[0] == 403
        assert fetch(viewer.address, {})[0] == 303


def test_a_taken_port_is_one_clear_line(told: Path) -> None:
    from tests.interfaces.cli.screen import run as run_command

    with viewing(told) as viewer:
        done = run_command("view", "--no-browser", "--port", str(viewer.port), cwd=told)
        assert done.returncode == 1
        assert f"port {viewer.port} of 127.0.0.1 cannot be used" in done.stderr
