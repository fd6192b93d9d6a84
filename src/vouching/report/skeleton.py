"""The frame of every HTML report, and a file that is written whole or not at all.

A page is self-contained: it includes styles and scripts, and its content security policy names each by its hash, so
that no other takes effect, whatever a claim or a source holds. Every value that a template prints goes through
``vouching.types.visible`` and is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from vouching.errors import InputError
from vouching.report.points import MAX_QUOTATION, confidence_words, percent
from vouching.report.tables import blocks_of
from vouching.types.spans import SIGNS
from vouching.types.visible import shorten, visible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
"""Folder of the templates, styles and scripts."""


@cache
def environment(*folders: Path) -> Environment:
    """Templates of ``folders``, which come first, and of this package; a page extends ``base.html.jinja``."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    loader = FileSystemLoader([*folders, TEMPLATES])
    made = Environment(
        autoescape=True,
        loader=loader,
        finalize=_made_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def asset(name: str) -> Markup:
        """The content of a style or script file."""
        return Markup(loader.get_source(made, name)[0])

    def asset_hash(name: str) -> Markup:
        """The hash of a style or script in the content security policy."""
        digest = hashlib.sha256(asset(name).encode()).digest()
        return Markup(f"'sha256-{base64.b64encode(digest).decode()}'")

    cast("dict[str, object]", made.globals).update(asset=asset, signs=SIGNS)
    filters: dict[str, Callable[..., object]] = {
        "blocks": blocks_of,
        "shortened": _shortened,
        "confidence_words": confidence_words,
        "percent": percent,
    }
    made.filters.update(asset_hash=asset_hash, **filters)
    return made


def _made_visible(value: object) -> object:
    """A plain string with its control characters made visible; HTML stays as it is."""
    return visible(value) if type(value) is str else value


def _shortened(text: str) -> str:
    """A quotation without its middle, if it is too long for a table."""
    return shorten(text, MAX_QUOTATION)


def write_page(path: str | Path, template: str, *folders: Path, **values: Any) -> None:
    """Fill in a template and write it to ``path`` as a whole, replacing an existing file.

    The template extends ``base.html.jinja``, which needs ``title`` and ``lead`` in ``values``; ``folders`` are searched
    for templates too. Raises InputError if the file cannot be written.
    """
    target = page_target(path)
    pieces = environment(*folders).get_template(template).generate(**values)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("x", encoding="utf-8", newline="\n") as out:
            out.writelines(pieces)
        part.replace(target)
    except OSError as error:
        raise InputError(f"the report cannot be written to {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def is_markdown(path: str | Path) -> bool:
    """Whether a report at ``path`` is to be Markdown, by the ending of its name."""
    return Path(path).suffix.lower() == ".md"


def page_target(path: str | Path, markdown: bool = False) -> Path:
    """The file that a report at ``path`` will replace or create; check it before the work that it reports on.

    A name in .html or .htm gets a page; one in .md, if ``markdown`` is possible, a new Markdown file. Raises InputError
    for a path that is a folder, another kind of file or not writable, and for another ending.
    """
    refusal = f"the report cannot be written to {path}"
    try:
        # A link is kept: its target is replaced.
        target = Path(path).resolve()
        mode = target.stat().st_mode if target.exists() else None
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{refusal}: {getattr(error, 'strerror', None) or error}") from None
    if mode is not None and stat.S_ISDIR(mode):
        raise InputError(f"{refusal}: this is a folder; choose a file in it, such as {Path(path) / 'report.html'}")
    if mode is not None and not stat.S_ISREG(mode):
        raise InputError(f"{refusal}: this is not a regular file; choose a file such as report.html")
    possible = "a name that ends in .html" + (", or .md for Markdown" if markdown else "")
    if is_markdown(path) and not markdown:
        raise InputError(f"{refusal}: this report has no Markdown version; expected {possible}")
    if Path(path).suffix.lower() not in (".html", ".htm", ".md"):
        raise InputError(f"{refusal}: expected {possible}")
    if not target.parent.is_dir():
        raise InputError(f"{refusal}: the folder {Path(path).parent} does not exist; create it or choose another path")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"{refusal}: the folder is not writable; check its permissions")
    if mode is not None and is_markdown(path):
        raise InputError(f"{refusal}: the file exists and would be overwritten; choose a new name")
    if mode is not None and not _is_page(target):
        raise InputError(
            f"{refusal}: the existing file is not an HTML page and would be overwritten; choose another path"
        )
    return target


def _is_page(file: Path) -> bool:
    """Whether a file is HTML or empty; an unreadable one counts as a page, so that writing reports the error."""
    try:
        with file.open("rb") as there:
            start = there.read(100).lstrip().lower()
    except OSError:
        return True
    return not start or start.startswith((b"<!doctype html", b"<html"))
