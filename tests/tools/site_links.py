"""Links that lead out of `docs/`, for the site: to the published repository, or plain text before."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath
from typing import Any

from unified_state.lib.package import PUBLISHED_AT

_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>\.\./[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the page with its links out of `docs/` changed. mkdocs calls this by its name."""
    return with_links(markdown, f"docs/{page.file.src_uri}", PUBLISHED_AT)


def with_links(markdown: str, page: str, published_at: str | None) -> str:
    """Return the text of a page with its links out of `docs/` changed."""

    def changed(link: re.Match[str]) -> str:
        target = normpath(join(dirname(page), link["target"]))
        if target.startswith("docs/"):
            return link[0]
        if published_at is None:
            return link["text"]
        return f"[{link['text']}](https://github.com/{published_at}/blob/main/{target}{link['anchor'] or ''})"

    return _LINK.sub(changed, markdown)
