"""What every HTML report of Vouch shares: the page around it, and a file that is written whole or not at all.

A page is one file that fetches nothing: style and script stand in it, and its content security policy names the script
by its hash, so that no other script runs, whatever a claim or a source holds. Every value that a template prints goes
through ``vouching.types.visible`` and is escaped. Left out: what the reports say, which is their templates' business.
"""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from vouching.errors import InputError
from vouching.report.points import LONGEST_QUOTATION, confidence_words, percent
from vouching.types.spans import SIGNS
from vouching.types.visible import shorten, visible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
"""Folder of the templates, styles and scripts."""


@cache
def environment(*folders: Path) -> Environment:
    r"""Templates of ``folders`` and of this package; a page of its own extends ``base.html.jinja``.

    Args:
        folders: where else to look for templates, styles and scripts, before the package's own folder.

    >>> environment().from_string("{{ words }}").render(words="<b>\u202e")
    '&lt;b&gt;&lt;U+202E&gt;'
    """
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
        """A style or a script as it stands in its file."""
        return Markup(loader.get_source(made, name)[0])

    def script_hash(name: str) -> Markup:
        """What the content security policy calls a script."""
        digest = hashlib.sha256(asset(name).encode()).digest()
        return Markup(f"'sha256-{base64.b64encode(digest).decode()}'")

    cast("dict[str, object]", made.globals).update(asset=asset, signs=SIGNS)
    made.filters.update(
        script_hash=script_hash, shortened=_shortened, confidence_words=confidence_words, percent=percent
    )
    return made


def _made_visible(value: object) -> object:
    """A plain string with its control characters written out; what is HTML already stays as it is."""
    return visible(value) if type(value) is str else value


def _shortened(text: str) -> str:
    """A quotation without its middle, if it is longer than anybody reads in a table."""
    return shorten(text, LONGEST_QUOTATION)


def write_page(path: str | Path, template: str, *folders: Path, **values: Any) -> None:
    """Fill in a template and write it to ``path``, which afterwards holds the whole page or what it held before.

    Args:
        path: the file to write; an existing file is replaced.
        template: name of the template; it extends ``base.html.jinja`` and needs ``title`` and ``lead`` in ``values``.
        folders: where else to look for templates.
        values: what the template shows.

    Raises:
        InputError: the path is a folder or no regular file, its folder is missing, or it cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(f"{folder}/page.html", "base.html.jinja", title="Empty", lead="Nothing yet.")
    ...     "Nothing yet." in Path(folder, "page.html").read_text(encoding="utf-8")
    True
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
    """Whether a report at ``path`` is to be Markdown, by how its name ends.

    >>> is_markdown("report.md"), is_markdown("report.html")
    (True, False)
    """
    return Path(path).suffix.lower() == ".md"


def page_target(path: str | Path, markdown: bool = False) -> Path:
    """The file that a report at ``path`` will replace or create; to be asked before the work that it reports on.

    The name says what is written: a page if it ends in .html or .htm; Markdown, into a new file, if it ends in .md.

    Args:
        path: the file.
        markdown: whether the report can be written as Markdown.

    Raises:
        InputError: the path is a folder, no regular file or a file that is no page, its name ends in something else,
            its folder is missing, or it may not be written.

    >>> page_target("no-such-folder/report.html")
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: the report cannot be written to no-such-folder/report.html: there is no folder
    no-such-folder; make it first, or name another place
    """
    refusal = f"the report cannot be written to {path}"
    try:
        # A link stays a link: what it points to is replaced.
        target = Path(path).resolve()
        mode = target.stat().st_mode if target.exists() else None
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{refusal}: {getattr(error, 'strerror', None) or error}") from None
    if mode is not None and stat.S_ISDIR(mode):
        raise InputError(f"{refusal}: it is a folder; name a file in it, e.g. {Path(path) / 'report.html'}")
    if mode is not None and not stat.S_ISREG(mode):
        raise InputError(f"{refusal}: it is no regular file; name a file, e.g. report.html")
    possible = "a name that ends in .html" + (", or in .md for Markdown" if markdown else "")
    if is_markdown(path) and not markdown:
        raise InputError(f"{refusal}: this report cannot be written as Markdown; wanted {possible}")
    if Path(path).suffix.lower() not in (".html", ".htm", ".md"):
        raise InputError(f"{refusal}: wanted {possible}")
    if not target.parent.is_dir():
        raise InputError(f"{refusal}: there is no folder {Path(path).parent}; make it first, or name another place")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"{refusal}: its folder may not be written by you; check its permissions")
    if mode is not None and is_markdown(path):
        raise InputError(f"{refusal}: it is there already, and would be lost; name a new file")
    if mode is not None and not _is_page(target):
        raise InputError(f"{refusal}: the file that is there is no HTML page and would be lost; name another place")
    return target


def _is_page(file: Path) -> bool:
    """Whether a file is HTML, or empty; one that cannot be read is told nothing about and left to the writing."""
    try:
        with file.open("rb") as there:
            start = there.read(100).lstrip().lower()
    except OSError:
        return True
    return not start or start.startswith((b"<!doctype html", b"<html"))
