"""A corpus of made-up secrets: every kind of token in every context, and named secrets in many notations.

Everything is drawn with a fixed seed. No token stands in this file, so that nobody takes one for a leaked secret.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from random import Random
from urllib.parse import quote

from unified_state.secrets.rules.secret_tokens import read_formats
from unified_state.secrets.rules.secret_values import ALNUM, DIGITS, UPPER

Context = Callable[[str], str]

_NAMES = (
    *("PASSWORD", "DB_PASSWORD", "POSTGRES_PASSWORD", "MYSQL_ROOT_PASSWORD", "REDIS_PASSWORD", "SMTP_PASSWORD"),
    *("ADMIN_PASSWD", "PGPASSWORD", "KEYSTORE_PASSPHRASE", "DB_PASS", "FTP_PWD", "DB_PASSWORD_PROD"),
    *("SECRET", "CLIENT_SECRET", "APP_SECRET", "JWT_SECRET", "WEBHOOK_SECRET", "SESSION_SECRET", "COOKIE_SECRET"),
    *("TOKEN", "API_TOKEN", "ACCESS_TOKEN", "REFRESH_TOKEN", "GITHUB_TOKEN", "CI_JOB_TOKEN", "NPM_TOKEN", "BOT_TOKEN"),
    *("API_KEY", "SECRET_KEY", "ACCESS_KEY", "PRIVATE_KEY", "ENCRYPTION_KEY", "SIGNING_KEY", "MASTER_KEY", "APP_KEY"),
    *("STRIPE_KEY", "MAPS_KEY", "GITHUB_PAT", "AZURE_DEVOPS_PAT", "REGISTRY_AUTH", "NPM_AUTH", "CREDENTIALS"),
)


def tokens() -> Iterator[tuple[str, str]]:
    """A token for each prefix of each kind: its name in the corpus, and the token."""
    for kind, prefixes, characters, least, most in read_formats():
        for prefix in map(bytes.decode, prefixes):
            yield f"{kind} {prefix}{least}", _token(kind, prefix, characters, min(least + 4, most))


def _token(kind: str, prefix: str, characters: bytes, length: int) -> str:
    draw = Random(f"{kind} {prefix}")
    if kind == "jwt":
        header = b64encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()).decode().rstrip("=")
        body = b64encode(json.dumps({"sub": _drawn(draw, ALNUM, 24)}).encode()).decode().rstrip("=")
        return f"{header}.{body}.{_drawn(draw, ALNUM, 43)}"
    usual = bytes(set(characters) & set(ALNUM))  # what a token has most of
    inner = bytes(set(characters) - set(b".=+/"))
    body = _drawn(draw, inner, length - 2)
    while not any(map(str.isdigit, body)) or len(set(body)) < min(9, length // 2):
        body = _drawn(draw, inner, length - 2)
    return prefix + _drawn(draw, usual, 1) + body + _drawn(draw, usual, 1)


def _drawn(draw: Random, characters: bytes, length: int) -> str:
    return "".join(chr(draw.choice(sorted(characters))) for _ in range(length))


CONTEXTS: dict[str, Context] = {
    "alone": lambda token: token,
    "sentence": lambda token: f"The token is {token}, and it works.",
    "end of a sentence": lambda token: f"We use {token}.",
    "line of many": lambda token: f"first\n{token}\nlast",
    "indented": lambda token: f"\t  {token}",
    "coloured": lambda token: f"\x1b[32m{token}\x1b[0m",
    "bright and glued": lambda token: f"x\x1b[1;38;5;196m{token}\x1b[0mx",
    "cut by a colour": lambda token: f"\x1b[01;31m\x1b[K{token[:6]}\x1b[m\x1b[K{token[6:]}",
    "colour behind the equals sign": lambda token: f"TOKEN=\x1b[32m{token}\x1b[0m",
    "colour in one character": lambda token: f"\x9b32m{token}\x9b0m",
    "colour of tput": lambda token: f"\x1b(B\x1b[m{token}\x1b(B\x1b[m",
    "colour in C": lambda token: f"printf '\\033[32m{token}\\033[0m'",
    "colour in Python": lambda token: f'print("\\x1b[32m{token}\\x1b[0m")',
    "colour in bash": lambda token: f"echo -e '\\e[32m{token}\\e[0m'",
    "colour in JSON": lambda token: json.dumps({"out": f"\x1b[32m{token}\x1b[0m"}),
    "removed line": lambda token: f"@@ -1 +1 @@\n-{token}\n+",
    "added line": lambda token: f"@@ -1 +1 @@\n+{token}",
    "dashes": lambda token: f"--{token}",
    "dash and letter": lambda token: f"login -p{token} host",
    "underscores": lambda token: f"__{token}__",
    "name and underscore": lambda token: f"x_{token}",
    "name and dash": lambda token: f"my-app-{token}",
    "word in front": lambda token: f"token{token}",
    "capitals in front": lambda token: f"TOKEN{token}",
    "digits in front": lambda token: f"v2{token}",
    "assigned": lambda token: f"export GITHUB_TOKEN={token}; make",
    "assigned with quotes": lambda token: f'token = "{token}"',
    "single quotes": lambda token: f"value: '{token}'",
    "backquotes": lambda token: f"`{token}`",
    "JSON value": lambda token: json.dumps({"a": [1, token]}),
    "JSON key": lambda token: json.dumps({token: 1}),
    "JSON in JSON": lambda token: json.dumps(json.dumps({"line": f"a\n{token}\n"})),
    "URL user": lambda token: f"https://{token}@example.net/x.git",
    "URL query": lambda token: f"https://example.net/?a=1&t={token}&b=2",
    "URL path": lambda token: f"https://example.net/hooks/{token}/run",
    "URL-encoded": lambda token: f"next=%2Flogin%3Ft%3D{quote(token)}%26x",
    "header": lambda token: f"curl -H 'Authorization: Bearer {token}' https://example.net",
    "HTML": lambda token: f"<td>{token}</td>",
    "Markdown": lambda token: f"* **{token}** _{token}_",
    "CSV": lambda token: f"1,{token},2",
    "brackets": lambda token: f"f({token}) [{token}]",
    "YAML": lambda token: f"  token: {token}  # secret",
    "quoted mail": lambda token: f"> {token}",
    "after a no-break space": lambda token: f"token:\u00a0{token}",
    "file name": lambda token: f"cat notes-{token}.txt",
    "table": lambda token: f"| key | {token} |",
    "log line": lambda token: f"2026-11-23T04:20:00Z [info] auth={token} ok",
}

NOTATIONS: dict[str, Callable[[str, str], str]] = {
    "shell": lambda name, value: f"{name}={value}",
    "export": lambda name, value: f"export {name}={value} && run",
    "double quotes": lambda name, value: f'{name}="{value}"',
    "single quotes": lambda name, value: f"{name}='{value}'",
    "dotenv": lambda name, value: f"A=1\n{name}={value}\nB=2\n",
    "added line": lambda name, value: f"+{name}={value}",
    "removed line": lambda name, value: f"-{name}={value}",
    "YAML": lambda name, value: f"  {name}: {value}",
    "YAML with quotes": lambda name, value: f'{name}: "{value}"',
    "compose": lambda name, value: f"    - {name}={value}",
    "JSON": lambda name, value: json.dumps({name: value}),
    "JSON in JSON": lambda name, value: json.dumps(json.dumps({name: value})),
    "Python": lambda name, value: f'os.environ["{name}"] = "{value}"',
    "JavaScript": lambda name, value: f"process.env.{name} = '{value}';",
    "PowerShell": lambda name, value: f'$env:{name} = "{value}"',
    "Windows": lambda name, value: f"set {name}={value}",
    "Dockerfile": lambda name, value: f"FROM x\nENV {name} {value}\nRUN make",
    "Dockerfile with equals": lambda name, value: f"ENV {name}={value}",
    "fish": lambda name, value: f"set -gx {name} {value}",
    "docker run": lambda name, value: f"docker run -e {name}={value} app",
    "coloured value": lambda name, value: f"{name}=\x1b[32m{value}\x1b[0m",
    "coloured name": lambda name, value: f"\x1b[1m{name}\x1b[0m=\x1b[33m{value}\x1b[0m",
    "colour in JSON": lambda name, value: json.dumps({"stdout": f"\x1b[1m{name}\x1b[0m=\x1b[33m{value}\x1b[0m"}),
    "command in JSON": lambda name, value: json.dumps({"command": f"{name}={value} make"}),
    "log": lambda name, value: f"[info] {name}={value}",
}


def named() -> Iterator[tuple[str, str]]:
    """Names that say that their value is secret, each with a value."""
    for name in _NAMES:
        draw = Random(name)
        value = _drawn(draw, ALNUM, 17) + _drawn(draw, DIGITS, 2) + _drawn(draw, UPPER, 1)
        yield name, value


_PASSWORD = "Tr0ub4dor" + "Horse77"
_PAIR = b64encode(f"ann:{_PASSWORD}".encode()).decode()

_DRAW = Random("forms")
_SECRET = _drawn(_DRAW, ALNUM, 59) + "7"
_HEX64 = _drawn(_DRAW, DIGITS + b"abcdef", 64)

# Secrets that only their place gives away: the text, and what of it is secret.
PLACED: dict[str, tuple[str, str]] = {
    "curl -u": (f"curl -u ann:{_PASSWORD} https://example.net", _PASSWORD),
    "curl -u attached": (f"curl -sS -uann:{_PASSWORD} https://example.net", _PASSWORD),
    "curl --user": (f"curl --user 'ann:{_PASSWORD}' https://example.net", _PASSWORD),
    "curl --user=": (f"curl --user=ann:{_PASSWORD} https://example.net", _PASSWORD),
    "curl in JSON": (json.dumps({"command": f'curl -u "ann:{_PASSWORD}" https://x'}), _PASSWORD),
    "mysql -p": (f"mysql -uroot -p{_PASSWORD} shop", _PASSWORD),
    "mysqldump -p": (f"mysqldump -u root -p'{_PASSWORD}' shop > x.sql", _PASSWORD),
    "redis-cli -a": (f"redis-cli -h cache -a {_PASSWORD} ping", _PASSWORD),
    "sshpass -p": (f"sshpass -p {_PASSWORD} ssh ann@host", _PASSWORD),
    "sshpass -p attached": (f"sshpass -p'{_PASSWORD}' ssh ann@host", _PASSWORD),
    "docker login -p": (f"docker login -u ann -p {_PASSWORD} registry.example.net", _PASSWORD),
    "ldapsearch -w": (f"ldapsearch -x -D cn=admin -w {_PASSWORD}", _PASSWORD),
    "netrc on a line": (f"machine example.net login ann password {_PASSWORD}", _PASSWORD),
    "netrc on lines": (f"machine example.net\n  login ann\n  password {_PASSWORD}\n", _PASSWORD),
    "cookie": (f"Cookie: session={_PASSWORD}; theme=dark", _PASSWORD),
    "set-cookie": (f"Set-Cookie: sid={_PASSWORD}; Path=/; HttpOnly", _PASSWORD),
    "cookie of curl": (f"curl -H 'Cookie: sid={_PASSWORD}' https://example.net", _PASSWORD),
    "docker auth": (json.dumps({"auths": {"registry.example.net": {"auth": _PAIR}}}), _PAIR),
    "npmrc auth": (f"//registry.example.net/:_auth={_PAIR}", _PAIR),
    "basic authorization": (f"Authorization: Basic {_PAIR}", _PAIR),
    "Discord webhook": (f"https://discord.com/api/webhooks/123456789012345678/{_SECRET}", _SECRET),
    "Teams webhook": (f"https://x.webhook.office.com/webhookb2/{_SECRET[:8]}/IncomingWebhook/{_SECRET}/1", _SECRET),
    "Slack webhook": (f"https://hooks.slack.com/services/T0/B0/{_SECRET[-24:]}", _SECRET[-24:]),
    "Azure AD": (f"secret: abc8Q~{_SECRET[-32:]}", _SECRET[-32:]),
    "Terraform": (f"token {_SECRET[:14]}.atlasv1.{_SECRET}a1", _SECRET),
    "Airtable": (f"pat{_SECRET[:14]}.{_HEX64}", _HEX64),
    "Google refresh token": (f"refresh 1//0{_SECRET}", _SECRET),
    "password in a URL": (f"postgres://ann:{_PASSWORD}@db:5432/shop", _PASSWORD),
}
