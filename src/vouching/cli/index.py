"""``vouch index``: build, change and search an index of your own documents.

Not supported: serving an index to other machines, and watching folders for changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.options import argument_text
from vouching.cli.streams import Exit, RowProgress, draw, progress, usage_errors, write_error, write_json, write_result
from vouching.errors import InputError
from vouching.types.visible import hint, visible, visible_line

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.search.documents import DocumentReader, RowFields
    from vouching.search.index_writer import IndexWriter
    from vouching.types import Passage

app = typer.Typer()

LISTED = 20
"""Documents that ``vouch index info`` lists on a terminal."""
_MAX_COMPARED = 10_000
"""Ids that an unknown one is compared with."""
_Folder = Annotated[Path, typer.Argument(metavar="INDEX", help="Folder of the index.")]
_Paths = Annotated[list[Path], typer.Argument(help="Files, and folders of files, to index.")]
_Words = Annotated[int, typer.Option(metavar="N", help="Maximum number of words per passage; at least 64.")]
_Dense = Annotated[
    str | None, typer.Option(metavar="ENCODER", help='Also search by meaning: a folder with an encoder, or "shipped".')
]
_Text = Annotated[str | None, typer.Option(metavar="NAME", help="Field of rows that contains the text.")]
_Title = Annotated[str | None, typer.Option(metavar="NAME", help="Field of rows that contains the title.")]
_Id = Annotated[str | None, typer.Option(metavar="NAME", help="Field of rows that contains the id.")]
_Url = Annotated[str | None, typer.Option(metavar="NAME", help="Field of rows that contains the URL.")]
_Names = Annotated[list[str], typer.Argument(help="Documents to remove: ids, files, folders or patterns of files.")]
_Query = Annotated[str, typer.Argument(help="Words, a question or a claim to search for.")]
_Limit = Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of passages.")]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of text.")]

_EPILOG = """
**Example**

vouch index build handbook.index handbook/ papers.jsonl

**Exit status**: 0 done; 2 the command line, a file or the index cannot be used; 3 some files or rows could not be
read and were skipped, or the disk is full.
"""
_ADD_EPILOG = """
**Example**

vouch index add handbook.index handbook/new.md

**Exit status**: 0 done; 2 the command line, a file or the index cannot be used; 3 some files or rows could not be
read and were skipped, or the disk is full.
"""
_REMOVE_EPILOG = """
**Example**

vouch index remove handbook.index handbook/old.md

**Exit status**: 0 done; 2 the command line or the index cannot be used; 3 a name does not exist (the others are
removed), or the disk is full.
"""
_SEARCH_EPILOG = """
**Example**

vouch index search handbook.index "Who may sign contracts?" --limit 3

**Exit status**: 0 done, whatever was found; 2 the command line is invalid, or the index is missing or damaged.
"""
_INFO_EPILOG = """
**Example**

vouch index info handbook.index --json

**Exit status**: 0 done; 2 the index is missing or damaged.
"""


@app.callback(invoke_without_command=True)
def index(context: typer.Context) -> None:
    """Make documents searchable: text, Markdown, HTML, PDF, and rows of JSONL, CSV or Parquet."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("build", epilog=_EPILOG)
def build_command(
    folder: _Folder,
    paths: _Paths,
    words: _Words = 160,
    dense: _Dense = None,
    text_field: _Text = None,
    title_field: _Title = None,
    id_field: _Id = None,
    url_field: _Url = None,
) -> None:
    """Build an index of files. The index exists once all files are read; an interrupted build leaves none."""
    from vouching.search.documents import RowFields
    from vouching.search.index_writer import create_index
    from vouching.search.vectors import SHIPPED, open_encoder

    with usage_errors():
        encoder = None if dense is None else open_encoder(dense)
        if dense == SHIPPED:
            write_error(
                "the shipped encoder was trained to check claims: a search by words alone finds more (docs/search.md)"
            )
        _fill(
            create_index(folder, words, encoder), paths, RowFields(text_field, title_field, id_field, url_field), folder
        )


@app.command("add", epilog=_ADD_EPILOG)
def add_command(
    folder: _Folder,
    paths: _Paths,
    text_field: _Text = None,
    title_field: _Title = None,
    id_field: _Id = None,
    url_field: _Url = None,
) -> None:
    """Add files to an index, and replace earlier versions of them."""
    from vouching.search.documents import RowFields
    from vouching.search.index_writer import change_index

    with usage_errors():
        _fill(change_index(folder), paths, RowFields(text_field, title_field, id_field, url_field), folder)


@app.command("remove", epilog=_REMOVE_EPILOG)
def remove_command(folder: _Folder, names: _Names) -> None:
    """Remove documents from an index."""
    from vouching.search.index_writer import change_index
    from vouching.search.store import named_by

    unknown: list[str] = []
    removed = 0
    with usage_errors():
        try:
            with change_index(folder) as writer:
                for name in names:
                    # Paths in the index are normalised, e.g. without "./".
                    given = argument_text(name, "NAMES")
                    path = Path(os.path.normpath(given)).as_posix()
                    known = writer.names  # also those that an earlier name removed
                    inside = named_by(path, known)
                    if not re.search(r"\w", path) and (path == "." or len(inside) == len(known)):
                        raise InputError(
                            f"{name!r} stands for all documents of {folder}: name documents, files or folders, or "
                            "delete the folder of the index"
                        )
                    here = writer.remove([given]) or writer.remove([path]) or writer.remove(inside)
                    removed += here
                    if not here and not inside and not {given, path} & {*known}:
                        unknown.append(f"{name!r}{_similar(folder, path, known)}")
        except OSError as error:
            raise _cannot_write(folder, error) from None
        _write_size(folder, f", removed documents {removed:,}")
    for name in unknown:
        write_error(f"{folder} has no document {name}")
    raise typer.Exit(Exit.INCOMPLETE if unknown else Exit.OK)


@app.command("search", epilog=_SEARCH_EPILOG)
def search_command(folder: _Folder, query: _Query, limit: _Limit = 5, as_json: _Json = False) -> None:
    """Show the passages that match a query best."""
    from vouching.search.index import open_index

    with usage_errors(), progress("Searching"):
        query = argument_text(query, "QUERY")
        opened = open_index(folder)
        found = opened.find(query, limit)
        reason = None if found else opened.foreign(query)
    if reason is not None:
        write_error(f"nothing was found: {reason}")
    if as_json:
        write_json({"query": query, "passages": [asdict(passage) for passage in found]})
    elif found:
        draw(lambda console: _paint(console, found))


@app.command("info", epilog=_INFO_EPILOG)
def info_command(folder: _Folder, as_json: _Json = False) -> None:
    """Show the size and settings of an index, and its documents: the first 20, or all with --json."""
    from vouching.search.index import index_documents, index_facts

    with usage_errors(), progress("Counting"):
        facts = index_facts(folder)
        counts = index_documents(folder, None if as_json else LISTED)
    if as_json:
        write_json(facts | {"contents": [{"id": name, "passages": count} for name, count in counts.items()]})
    else:
        draw(lambda console: _paint_facts(console, facts, counts))


def _fill(changing: AbstractContextManager[IndexWriter], paths: list[Path], fields: RowFields, folder: Path) -> None:
    """Read files into an index, report what could not be read, and exit."""
    from vouching.search.documents import DocumentReader, Skipped

    reader = DocumentReader(paths, fields)
    skipped = 0
    try:
        with RowProgress(reader.share, "documents") as shown, changing as writer:
            writer.remove(reader.row_files)
            for document in reader:
                problem = str(document) if isinstance(document, Skipped) else None
                if not isinstance(document, Skipped):
                    try:
                        if not writer.add(document):
                            problem = f"{document.id}: the document contains no words"
                    except InputError as error:
                        problem = f"{document.id}: {error}"
                shown.advance()
                if problem is not None:
                    skipped += 1
                    shown.name(problem)
    except OSError as error:
        raise _cannot_write(folder, error) from None
    _write_size(folder)
    _report_skipped(reader, skipped)
    raise typer.Exit(Exit.INCOMPLETE if skipped else Exit.OK)


def _similar(folder: Path, name: str, known: list[str]) -> str:
    """The end of a message about an unknown document."""
    near = get_close_matches(name, known[:_MAX_COMPARED], n=3)
    return hint(near, f"vouch index info {folder} lists the documents")


def _cannot_write(folder: Path, error: OSError) -> typer.Exit:
    write_error(f"{error.filename or folder} cannot be written: {error.strerror or error}; the index is unchanged")
    return typer.Exit(Exit.INCOMPLETE)


def _write_size(folder: Path, more: str = "") -> None:
    from vouching.search.index import index_facts

    facts = index_facts(folder)
    write_result(f"{folder}: documents {facts['documents']:,}, passages {facts['passages']:,}{more}\n")


def _report_skipped(reader: DocumentReader, skipped: int) -> None:
    if reader.ignored:
        endings = ", ".join(f"{ending} {count:,}" for ending, count in reader.ignored.most_common())
        write_error(f"ignored files of other types in folders: {endings}")
    if skipped:
        write_error(f"skipped {skipped:,} files or rows that could not be used")


def _paint(console: Console, passages: list[Passage]) -> None:
    from rich.padding import Padding

    for number, passage in enumerate(passages, 1):
        span = passage.span
        page = passage.url.rpartition("#page=")[2] if "#page=" in passage.url else ""
        place = f"{span.source_id}:{span.start}-{span.end}{page and f', page {page}'}"
        head = " · ".join(part for part in (passage.title, place, f"score {passage.score:.3g}") if part)
        console.print(f"{number}  {visible_line(head)}", soft_wrap=True)
        console.print(Padding(visible(span.text), (0, 0, 0, 3)))


def _paint_facts(console: Console, facts: dict[str, Any], counts: Mapping[str, int]) -> None:
    width = max(map(len, facts))
    for name, fact in facts.items():
        console.print(f"{name.replace('_', ' '):{width}}  {'none' if fact is None else fact}", soft_wrap=True)
    console.print()
    for name, count in counts.items():
        console.print(f"{visible_line(name)}  {count:,} passage{'s' * (count != 1)}", soft_wrap=True)
    if more := facts["documents"] - len(counts):
        console.print(f"and {more:,} more; use --json to list all")
