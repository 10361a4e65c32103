"""`docs/extras/run-a-team-server.md` from top to bottom, on Debian's PostgreSQL with the access rules of Debian.

What needs the machine's own rights stands in: `sudo` only takes the administrator's account, and `apt-get` and `pip`
do nothing.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, blocks
from tests.passwd import set_home
from tests.postgres_kinds import programs_of
from tests.postgres_server import PostgresServer, start_server, stop_server
from tests.terminal import Talk, run_at_terminal, talk_at_terminal

PAGE = ROOT / "docs" / "extras" / "run-a-team-server.md"
PASSWORD = "kerfuffle-4711"
_HBA = """
local all postgres trust
local all all peer
host all all 127.0.0.1/32 scram-sha-256
"""
_SUDO = '#!/bin/sh\nif [ "$1" = -u ]; then export PGUSER="$2"; shift 2; fi\nexec "$@"\n'
_NOTHING = "#!/bin/sh\n"


@pytest.fixture
def debian() -> Iterator[PostgresServer]:
    """A server of its own, as Debian's package makes one."""
    data = Path(os.environ["PYTEST_POSTGRES_FOLDER"]) / f"page-{os.getpid()}"
    data.parent.mkdir(mode=0o755, exist_ok=True)
    start_server(data, programs_of("debian"))
    server = PostgresServer(data)
    (data / "pg_hba.conf").write_text(_HBA, encoding="utf-8")
    with server.admin() as connection:
        connection.execute("DROP DATABASE shared")
        connection.execute("DROP ROLE unified_state")
        connection.execute("ALTER SYSTEM SET log_statement = 'all'")
        connection.execute("SELECT pg_reload_conf()")
    yield server
    stop_server(data)
    shutil.rmtree(data)


class Reader:
    """A person who does what the page says, with the server's address, port and password in place of the page's."""

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self.server, self.home = server, folder / "home"
        self.project = self.home / "notes"
        self.project.mkdir(parents=True)
        set_home(self.home)
        programs = folder / "programs"
        programs.mkdir()
        for name, text in {"sudo": _SUDO, "apt-get": _NOTHING, "pip": _NOTHING}.items():
            (programs / name).write_text(text, encoding="utf-8")
            (programs / name).chmod(0o755)
        psql = programs_of("debian")
        self.environment = {
            "PATH": f"{programs}:{ROOT / '.venv' / 'bin'}:{psql}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "USER": pwd.getpwuid(os.getuid()).pw_name,
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "PGHOST": str(server.folder),  # Debian's own programs and ours look there without it
            "PGPORT": str(server.port),
        }
        self.do("git init --quiet && unified-state decision add 'Serve on port 8443' --rationale '8080 is taken'")

    def do(self, script: str) -> str:
        """Run a script at a terminal; what stood there. It has to go well."""
        given = script.replace("history.example", "127.0.0.1").replace(":5432", f":{self.server.port}")
        command = ["bash", "-euc", given.replace("PASSWORD", PASSWORD)]
        talk: Talk = talk_at_terminal(command, self.project, self.environment, [f"{PASSWORD}\n"] * 2)
        assert talk.code == 0, talk.shown
        return talk.shown

    def follow(self, block: Block) -> str:
        """Do what a block says; what stood at the terminal."""
        if block.kind == "toml":
            path, text = re.fullmatch(r"# (\S+)\n(.*)", block.text, re.DOTALL).groups()  # type: ignore[union-attr]
            return self.do(f"mkdir -p $(dirname {path}) && cat > {path} <<'END'\n{text}END")
        *lines, last = block.text.strip().splitlines()
        if last != "unified-state sync --on":
            return self.do(block.text)
        shown = self.do("\n".join(lines))
        agreed = run_at_terminal(["bash", "-euc", last], self.project, self.environment, answer="yes")
        assert agreed.code == 0, agreed
        return shown + agreed.asked + agreed.out.decode()


def section(title: str) -> list[Block]:
    """The blocks of a section of the page."""
    text = PAGE.read_text(encoding="utf-8")
    return blocks(re.split(r"^## ", text.partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0])


def test_a_person_sets_a_server_up_by_the_page_and_the_first_member_syncs(
    debian: PostgresServer, tmp_path: Path
) -> None:
    reader = Reader(debian, tmp_path)
    admin, settings, member = section("Set it up")
    shown = reader.follow(admin)
    assert "'unified_state' was created" in shown
    assert "install pgvector" in shown
    printed = re.findall(r"^postgres_\w+ = .*$", shown, re.MULTILINE)
    written = settings.text.replace("history.example:5432", f"HOST:{debian.port}").splitlines()
    assert printed == written[1:]  # what the page shows is what `admit` prints
    reader.follow(settings)
    shown = reader.follow(member)
    assert "BAD" not in shown
    assert "it has everything" in shown
    assert "read there by nobody else, and by who is admitted later" in shown
    assert "logs in as ada_acme" in reader.do(
        "unified-state server members --organisation acme --dsn dbname=unified_state"
    )
    assert "has no access" in reader.do(
        "unified-state server remove ada --organisation acme --dsn dbname=unified_state"
    )
    log = (debian.folder / "log").read_text(encoding="utf-8")
    assert 'ALTER ROLE "ada_acme" PASSWORD \'SCRAM-SHA-256$' in log
    assert PASSWORD not in log
