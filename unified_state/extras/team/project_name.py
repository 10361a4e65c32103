"""The name by which the clones of one repository recognize each other: the URL that they were cloned from."""

from __future__ import annotations


def shared_name(remote: str | None) -> str | None:
    """Return a name such as `github.com/acme/app` for any URL of that repository, whatever the protocol.

    Return None for a remote that has no meaning on other machines, such as a path.
    """
    if not remote:
        return None
    scheme, separator, rest = remote.partition("://")
    if not separator:
        host, colon, path = remote.partition(":")  # git@github.com:acme/app.git
        if not colon or "/" in host or len(host) == 1:  # a path, also one of Windows
            return None
        rest = f"{host.rpartition('@')[2]}/{path}"
    elif scheme.lower() == "file":
        return None
    host, _, path = rest.rpartition("@")[2].partition("/")
    name, _, port = host.partition(":")
    path = path.strip("/").removesuffix(".git")
    is_usual = port == {"https": "443", "http": "80", "ssh": "22", "git": "9418"}.get(scheme.lower())
    place = name.lower() if is_usual or not port else f"{name.lower()}:{port}"
    return f"{place}/{path}" if name and path else None
