"""What goes over a network is encrypted, unless the user says otherwise: a real server, with a certificate of its
own.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.postgres_kinds import programs_of
from tests.postgres_server import PostgresServer, start_server, stop_server
from unified_state.errors import UnifiedStateError
from unified_state.extras.team.postgres.connect import failures, open_connection
from unified_state.extras.team.postgres.server_dsn import find_server

if TYPE_CHECKING:
    from psycopg import Connection

PASSWORD = "hunter2-of-ada"
NAME = "history.example"
ELSEWHERE = {"host": NAME, "hostaddr": "127.0.0.1"}  # by its name no server of this machine
HERE = {"host": "127.0.0.1"}


def certificate(folder: Path) -> Path:
    """A self-signed certificate and its key, as files in a folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.crt"
    path.write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "server.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path


@pytest.fixture(scope="module")
def with_tls() -> Iterator[PostgresServer]:
    """A server that speaks TLS, and of whom `only_tls` asks for it."""
    folder = Path(os.environ["PYTEST_POSTGRES_FOLDER"]) / f"tls-{os.getpid()}"
    folder.parent.mkdir(exist_ok=True)
    server = start_server(folder, programs_of("debian"))  # the bundled one was built without TLS
    certificate(folder)
    for name in ("server.crt", "server.key"):
        os.chmod(folder / name, 0o600)
        shutil.chown(folder / name, (folder / "PG_VERSION").owner())
    hba = folder / "pg_hba.conf"
    hba.write_text("hostnossl all +only_tls 127.0.0.1/32 reject\n" + hba.read_text())
    with server.admin() as connection:
        connection.execute("CREATE ROLE only_tls")
        connection.execute("ALTER SYSTEM SET ssl = on")
        connection.execute("SELECT pg_reload_conf()")
    yield server
    stop_server(folder)


def opened(dsn: str) -> Connection[Any]:
    server = find_server(dsn, {}, trusts_environment=False)
    with failures(server):
        return open_connection(server)


def failure(dsn: str) -> UnifiedStateError:
    with pytest.raises(UnifiedStateError) as raised:
        opened(dsn)
    assert PASSWORD not in str(raised.value)
    assert "\n" not in str(raised.value)
    return raised.value


@pytest.mark.parametrize(
    ("place", "is_encrypted"),
    [(ELSEWHERE, True), (HERE, True), ({"host": "localhost"}, True), ({**ELSEWHERE, "sslmode": "disable"}, False)],
    ids=["elsewhere", "here", "localhost", "disabled"],
)
def test_tls_is_used_where_the_server_has_it(
    with_tls: PostgresServer, place: dict[str, str], is_encrypted: bool
) -> None:
    with opened(with_tls.dsn(**place, application_name=str(place))), with_tls.admin() as connection:
        found = connection.execute(
            "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = left(%s, 63)",
            [str(place)],
        ).fetchall()
    assert found == [(is_encrypted,)]


def test_a_server_elsewhere_that_has_no_tls_is_told_nothing(postgres: PostgresServer) -> None:
    error = failure(postgres.dsn(user=postgres.role(PASSWORD), password=PASSWORD, **ELSEWHERE))
    assert "does not support SSL" in error.message
    assert "sslmode=disable" in error.hint


def test_a_server_that_asks_for_tls_is_reached_and_who_turned_it_off_is_told(with_tls: PostgresServer) -> None:
    role = with_tls.role(PASSWORD)
    with with_tls.admin() as connection:
        connection.execute(f"GRANT only_tls TO {role}")
    dsn = with_tls.dsn("postgres", role, password=PASSWORD, **HERE)
    opened(dsn).close()
    error = failure(f"{dsn} sslmode=disable")
    assert "no encryption" in error.message
    assert "pg_hba.conf" in error.hint


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sslrootcert": "another"}, "certificate verify failed"),
        ({}, "root certificate file"),
        ({"sslrootcert": "its own", "host": "another.example"}, "does not match host name"),
    ],
    ids=["another's", "none to check by", "another name"],
)
def test_a_certificate_that_cannot_be_trusted_ends_it_where_the_user_asked_for_that(
    with_tls: PostgresServer, tmp_path: Path, given: dict[str, str], told: str
) -> None:
    roots = {"another": str(certificate(tmp_path)), "its own": str(with_tls.folder / "server.crt")}
    asked = {**ELSEWHERE, **given, "sslmode": "verify-full"}
    if "sslrootcert" in given:
        asked["sslrootcert"] = roots[given["sslrootcert"]]
    error = failure(with_tls.dsn(user=with_tls.role(PASSWORD), password=PASSWORD, **asked))
    assert told in error.message
    assert "sslrootcert" in error.hint


def test_a_certificate_that_is_checked_and_right_gets_in(with_tls: PostgresServer) -> None:
    opened(with_tls.dsn(**ELSEWHERE, sslmode="verify-full", sslrootcert=str(with_tls.folder / "server.crt"))).close()
