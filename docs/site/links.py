"""Hook of mkdocs: links out of docs/ become names of files; pages that do not exist yet leave the tree.

Set ``VOUCH_REPOSITORY`` to the address of the repository's files (``https://host/owner/name/blob/main``) to link them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(\.\./([^)#\s]+)(?:#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_config(config: Any) -> Any:
    """Keep the pages of the tree that exist: a page may be added to the tree before it is written."""
    config.nav = kept(config.nav, Path(config.docs_dir))
    return config


def kept(tree: list[Any], folder: Path) -> list[Any]:
    """The tree without pages that do not exist."""
    found: list[Any] = []
    for entry in tree:
        [(title, content)] = entry.items()
        if isinstance(content, list):
            found.append({title: kept(content, folder)})
        elif (folder / content).is_file():
            found.append(entry)
    return found


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn each link to a file outside docs/ into its name; a file that does not exist is an error."""
    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(lambda link: outside(link[1], link[2], page.file.src_path), part) for part in parts[::2]]
    return "".join(parts)


def outside(text: str, path: str, page: str) -> str:
    """What stands on the site for a link to a file of the repository."""
    if not (ROOT / path).exists():
        raise FileNotFoundError(f"{page} links to {path}, which is not in the repository")
    if address := os.environ.get("VOUCH_REPOSITORY"):
        return f"[{text}]({address.rstrip('/')}/{path})"
    name = f"`{path}`"
    return name if text.strip("`") in path else f"{text} ({name})"
