"""The version of the package, and its data files.

`hooks`, `commands`, `schemas` and the rest of the plugin are folders of the repository's top level. The wheel has them
in `unified_state/assets`, which makes that folder a plugin and a marketplace too.
"""

from __future__ import annotations

import os

__version__ = "0.1.0"


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
