"""Files that travel with the package.

`hooks`, `commands`, `schemas` and the rest of the plugin are folders of the repository's top level; the wheel carries
them in here, which makes this folder a plugin and a marketplace too.
"""

from __future__ import annotations

import os

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CHECKOUT = os.path.dirname(os.path.dirname(_PACKAGE))
PACKAGE_ROOT = _CHECKOUT  # the folder that holds the package `unified_state`, here or in site-packages


def asset_path(*names: str) -> str:
    """The path of a file that travels with us, in an installed package or in a checkout."""
    installed = os.path.join(_PACKAGE, *names)
    return installed if os.path.exists(installed) else os.path.join(_CHECKOUT, *names)
