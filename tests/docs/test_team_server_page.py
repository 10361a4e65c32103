"""`docs/extras/run-a-team-server.md` as three members follow it, on Debian's PostgreSQL with Debian's access rules.

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
from tests.passwd import need_own_passwd, set_home
from tests.postgres_kinds import programs_of
from tests.postgres_server import PostgresServer, start_empty, stop_server
from tests.terminal import run_at_terminal, talk_at_terminal

PAGE = ROOT / "docs" / "extras" / "run-a-team-server.md"
PASSWORD = "kerfuffle-4711"
_HBA = """
local all postgres trust
local all all peer
host all all 127.0.0.1/32 scram-sha-256
"""
_SUDO = '#!/bin/sh\nif [ "$1" = -u ]; then export PGUSER="$2"; shift 2; fi\nexec "$@"\n'


@pytest.fixture
def debian() -> Iterator[PostgresServer]:
    """A server of its own, as Debian's package makes one."""
    data = Path(os.environ["PYTEST_POSTGRES_FOLDER"]) / f"page-{os.getpid()}"
    data.parent.mkdir(mode=0o755, exist_ok=True)
    server = start_empty(data, programs_of("debian"), "log_statement = 'all'\n")
    (data / "pg_hba.conf").write_text(_HBA, encoding="utf-8")
    with server.admin() as connection:
        connection.execute("SELECT pg_reload_conf()")
    yield server
    stop_server(data)
    shutil.rmtree(data)


class Person:
    """Who does what the page says, with a name, the server's address and a password in place of the page's."""

    def __init__(self, name: str, server: PostgresServer, folder: Path) -> None:
        self.name, self.server, self.home = name, server, folder / name
        self.project = self.home / "app"
        self.project.mkdir(parents=True)
        programs = folder / "programs"
        programs.mkdir(exist_ok=True)
        for program, text in {"sudo": _SUDO, "apt-get": "#!/bin/sh\n", "pip": "#!/bin/sh\n"}.items():
            (programs / program).write_text(text, encoding="utf-8")
            (programs / program).chmod(0o755)
        self.environment = {
            "PATH": f"{programs}:{ROOT / '.venv' / 'bin'}:{programs_of('debian')}:{os.environ['PATH']}",
            "HOME": str(self.home), "USER": pwd.getpwuid(os.getuid()).pw_name, "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT), "PGHOST": str(server.folder), "PGPORT": str(server.port),
        }  # fmt: skip
        self.do("git init --quiet && git remote add origin https://github.com/acme/app")

    def do(self, script: str) -> str:
        """Run a script at a terminal, and say yes; what it printed. It has to go well."""
        set_home(self.home)
        done = run_at_terminal(self._command(script), self.project, self.environment)
        assert done.code == 0, done
        return (done.out + done.err).decode() + done.asked

    def type_password(self, script: str) -> str:
        """Run a script that asks for a password twice; what stood at the terminal."""
        set_home(self.home)
        talk = talk_at_terminal(self._command(script), self.project, self.environment, [f"{PASSWORD}\n"] * 2)
        assert talk.code == 0, talk.shown
        return talk.shown

    def _command(self, script: str) -> list[str]:
        given = re.sub(r"\bada\b", self.name, script).replace("ada_acme", f"{self.name}_acme")
        given = given.replace("history.example", "127.0.0.1").replace(":5432", f":{self.server.port}")
        return ["bash", "-euc", given.replace("PASSWORD", PASSWORD)]

    def write(self, block: Block) -> None:
        """Write the settings that a block shows."""
        path, text = re.fullmatch(r"# (\S+)\n(.*)", block.text, re.DOTALL).groups()  # type: ignore[union-attr]
        self.do(f"mkdir -p $(dirname {path}) && cat > {path} <<'END'\n{text}END")


def section(title: str) -> list[Block]:
    """The blocks of a section of the page."""
    text = PAGE.read_text(encoding="utf-8")
    return blocks(re.split(r"^## ", text.partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0])


def test_three_people_set_a_server_up_by_the_page_and_find_what_one_of_them_decided(
    debian: PostgresServer, tmp_path: Path
) -> None:
    need_own_passwd()
    admin, settings, member = section("Set it up")
    people = {name: Person(name, debian, tmp_path) for name in ("ada", "bob", "carol")}
    for name, person in people.items():
        person.do(f"unified-state decision add 'Serve the port of {name}' --rationale 'it is free'")
        script = admin.text if name == "ada" else re.sub(r"\bada\b", name, admin.text.splitlines()[-1])
        shown = people["ada"].type_password(script)  # who is a member, too, and has settings by then
        assert ("'unified_state' was created" in shown) == (name == "ada")
        printed = re.findall(r"^postgres_\w+ = .*$", shown.replace("\r", ""), re.MULTILINE)
        written = settings.text.replace("ada_acme", f"{name}_acme")
        assert printed == written.replace("history.example:5432", f"HOST:{debian.port}").splitlines()[1:]
        person.write(settings)
        shown = person.do(member.text)
        assert "BAD" not in shown
        assert "it has everything" in shown
        assert "github.com/acme/app of acme (read there by " in shown
    for person in people.values():
        found = person.do("unified-state search --team 'serve the port'")
        assert [f"{name}: " in found for name in people if name != person.name] == [True, True]
    members = people["ada"].do("unified-state server members --organisation acme")
    assert members.count("logs in as") == 3
    log = (debian.folder / "log").read_text(encoding="utf-8")
    assert 'ALTER ROLE "ada_acme" PASSWORD \'SCRAM-SHA-256$' in log
    assert PASSWORD not in log
