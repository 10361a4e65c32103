"""The version of the package, how to get it, and its data files.

`hooks`, `commands`, `schemas` and the rest of the plugin are folders of the repository's top level. The wheel has them
in `unified_state/assets`, which makes that folder a plugin and a marketplace too.
"""

from __future__ import annotations

import os

__version__ = "0.1.0"

# Where the repository is published, as OWNER/NAME, from the day on which the package index has our package. All install
# lines in messages and documentation follow it. Until then no line may name the package: it could be a stranger's.
PUBLISHED_AT: str | None = None
WHEEL = f"dist/unified_state-{__version__}-py3-none-any.whl"


def install_line(published_at: str | None = PUBLISHED_AT) -> str:
    """Return the command that installs the program for good."""
    return "uv tool install unified-state" if published_at else f"uv tool install ./{WHEEL}"


def extra_line(extra: str, published_at: str | None = PUBLISHED_AT) -> str:
    """Return the command that installs the program with an extra."""
    if published_at:
        return f"pip install 'unified-state[{extra}]'"
    wheel = f"'./{os.path.basename(WHEEL)}[{extra}]'"
    return f"in a clone of the repository: pip install '.[{extra}]', or the wheel: pip install {wheel}"


def upgrade_line(published_at: str | None = PUBLISHED_AT) -> str:
    """Return the command that upgrades the program."""
    own = "in a clone of the repository: git pull, pip install ."
    return "pip install --upgrade unified-state" if published_at else own


def marketplace_line(published_at: str | None = PUBLISHED_AT) -> str:
    """Return the command that adds the plugin's marketplace to the client."""
    return f"claude plugin marketplace add {published_at or '.'}"


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_CHECKOUT = os.path.dirname(_PACKAGE)
PACKAGE_ROOT = _CHECKOUT  # the folder that holds the package `unified_state`, here or in site-packages


def asset_path(*names: str) -> str:
    """Return the path of a file of the plugin or of a schema, in an installed package or in a checkout."""
    installed = os.path.join(_PACKAGE, "assets", *names)
    return installed if os.path.exists(installed) else os.path.join(_CHECKOUT, *names)


def package_path(*names: str) -> str:
    """Return the path of a data file inside the package."""
    return os.path.join(_PACKAGE, *names)


USE_ANOTHER = "unified-state: this Python has no SQLite; install with one that has it"


def lacks_sqlite(error: BaseException) -> bool:
    """Return whether a program failed because this Python was built without SQLite."""
    return isinstance(error, ImportError) and error.name in {"sqlite3", "_sqlite3"}
