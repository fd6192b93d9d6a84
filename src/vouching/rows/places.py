"""Files of a folder on this machine or in an object store: listed, opened, and written at once or not at all.

An address with "://" is opened by pyarrow (s3, gs, abfs, hdfs), any other by fsspec (az and what is installed). Not
supported: appending to an object, deleting.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from os.path import realpath
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast
from uuid import uuid4

from vouching.errors import InputError, needed
from vouching.types.visible import visible_line

_MAGIC = "*?["
_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of an input."""

    path: str
    """Its path or address."""
    name: str
    """Its path below the folder that was given, with "/"."""
    size: int
    """In bytes."""
    stamp: str = ""
    """Another one after the file was written again: its time, or what the object store says of it; empty if unknown."""


def is_remote(path: str) -> bool:
    """Whether a path is an address.

    >>> is_remote("s3://lake/rows"), is_remote("/data/rows")
    (True, False)
    """
    return "://" in path


def whole_path(path: str) -> str:
    """A path that does not depend on the folder of the process; an address as it is."""
    return path if is_remote(path) else realpath(path)


def is_folder(path: str) -> bool:
    """Whether a path names several files: a folder, a pattern such as ``rows/*.jsonl``, or an address."""
    return is_remote(path) or _is_pattern(path) or Path(path).is_dir()


def found_files(path: str) -> list[FoundFile]:
    """The files of a folder and those below it, of a pattern, or the file itself; sorted by name.

    Names that begin with "." or "_" (such as _SUCCESS) are skipped. Raises InputError if there is none.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.jsonl", "a.jsonl", "_SUCCESS"):
    ...     _ = (folder / name).write_text("{}")
    >>> [file.name for file in found_files(str(folder))]
    ['a.jsonl', 'b.jsonl']
    """
    base, pattern = _split_pattern(path)
    listed = _remote_files(base) if is_remote(path) else _local_files(Path(base))
    found = [file for file in listed if not any(part.startswith((".", "_")) for part in file.name.split("/"))]
    if pattern:
        found = [file for file in found if fnmatch(file.name, pattern) and file.name.count("/") == pattern.count("/")]
    if not found:
        raise InputError(f"{path}: no file was found; pass a folder with files, or a pattern such as rows/*.jsonl")
    return sorted(found, key=lambda file: file.name)


def open_file(path: str) -> IO[bytes]:
    """Open a file, in which one can seek, for reading. Raises InputError."""
    try:
        if not is_remote(path):
            return Path(path).open("rb")
        system, inner = _opened(path)
        return cast("IO[bytes]", io.BufferedReader(system.open_input_file(inner), _BUFFER))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


class OutputFolder:
    """A folder that several processes or machines write, each file at once.

    Args:
        path: the folder or its address; it is created with the first file.

    >>> import tempfile
    >>> folder = OutputFolder(tempfile.mkdtemp())
    >>> folder.write("blocks/000001.json", b"{}")
    True
    >>> folder.read("blocks/000001.json"), folder.read("blocks/000002.json"), folder.names("blocks")
    (b'{}', None, ['000001.json'])
    """

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/") or "/"
        self.remote = is_remote(path)

    def write(self, name: str, content: bytes, new: bool = False) -> bool:
        """Write a file, so that readers see all of it or nothing.

        Args:
            name: its path below the folder.
            content: its bytes.
            new: whether to leave a file that is already there as it is.

        Returns:
            Whether it was written. Two writers of a new file cannot both get True, except in an object store.

        Raises:
            OSError: it cannot be written, for example because the disk is full.
        """
        if self.remote:
            if new and self.read(name) is not None:
                return False
            system, inner = _opened(f"{self.path}/{name}")
            system.create_dir(str(PurePosixPath(inner).parent), recursive=True)
            with system.open_output_stream(inner) as file:
                file.write(content)
            return True
        target = Path(self.path, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{target.name}.{uuid4().hex}")
        try:
            with fresh.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            return _take_place(fresh, target, new)
        finally:
            fresh.unlink(missing_ok=True)

    def read(self, name: str) -> bytes | None:
        """The bytes of a file; None if there is none."""
        try:
            if not self.remote:
                return Path(self.path, name).read_bytes()
            system, inner = _opened(f"{self.path}/{name}")
            with system.open_input_stream(inner) as file:
                return cast("bytes", file.read())
        except FileNotFoundError:
            return None

    def names(self, below: str) -> list[str]:
        """The names of the files in a folder below, sorted; none if it does not exist."""
        if self.remote:
            return sorted(file.name for file in _remote_files(f"{self.path}/{below}"))
        place = Path(self.path, below)
        return sorted(p.name for p in place.iterdir() if p.name[0] != ".") if place.is_dir() else []


def _take_place(fresh: Path, target: Path, new: bool) -> bool:
    if not new:
        fresh.replace(target)
        return True
    try:
        os.link(fresh, target)
    except FileExistsError:
        return False
    return True


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in _MAGIC) and not Path(path).exists()


def _split_pattern(path: str) -> tuple[str, str]:
    """The folder before a pattern, and the pattern; an empty pattern without one."""
    if not any(sign in path for sign in _MAGIC) or (not is_remote(path) and Path(path).exists()):
        return path, ""
    parts = path.split("/")
    first = next(number for number, part in enumerate(parts) if any(sign in part for sign in _MAGIC))
    return "/".join(parts[:first]) or ("/" if path.startswith("/") else "."), "/".join(parts[first:])


def _local_files(base: Path) -> Iterator[FoundFile]:
    if base.is_file():
        yield _local_file(base, base.name)
        return
    if not base.is_dir():
        raise InputError(f"{base} does not exist: pass a data file, a folder with data files, or a pattern")
    for place in base.rglob("*"):
        if place.is_file():
            yield _local_file(place, place.relative_to(base).as_posix())


def _local_file(place: Path, name: str) -> FoundFile:
    found = place.stat()
    return FoundFile(str(place), name, found.st_size, str(found.st_mtime_ns))


def _remote_files(base: str) -> Iterator[FoundFile]:
    system, inner = _opened(base)
    kinds = needed("pyarrow.fs", "data", "reading an object store")
    try:
        info = system.get_file_info(inner)
        if info.type == kinds.FileType.File:
            yield FoundFile(base, PurePosixPath(inner).name, info.size, _stamp(system, info))
            return
        for found in system.get_file_info(kinds.FileSelector(inner, recursive=True, allow_not_found=True)):
            if found.type == kinds.FileType.File:
                name = found.path.strip("/").removeprefix(inner.strip("/")).lstrip("/")
                yield FoundFile(f"{base.rstrip('/')}/{name}", name, found.size, _stamp(system, found))
    except OSError as error:
        raise InputError(f"{base} cannot be listed: {visible_line(str(error))}") from None


def _stamp(system: Any, info: Any) -> str:
    if info.mtime_ns is not None:
        return str(info.mtime_ns)
    handler = getattr(system, "handler", None)
    return "" if handler is None else str(handler.fs.ukey(info.path))


@cache
def _system(scheme: str, authority: str) -> tuple[Any, bool]:
    """The file system of an address, and whether its paths begin with the authority (a bucket)."""
    kinds = needed("pyarrow.fs", "data", "reading an object store")
    broken = needed("pyarrow", "data", "reading an object store").ArrowInvalid
    address = f"{scheme}://{authority}/"
    try:
        system, path = kinds.FileSystem.from_uri(address)
        return system, bool(authority) and str(path).strip("/") == authority
    except broken:
        url_to_fs = needed("fsspec.core", "ray", f"reading {scheme}://").url_to_fs
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise InputError(f"{address}: {error}; use s3://, gs://, abfs://, or install what fsspec needs") from None
    return kinds.PyFileSystem(kinds.FSSpecHandler(system)), str(path).strip("/") == authority


def _opened(path: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    scheme, _, rest = path.partition("://")
    authority, _, inner = rest.partition("/")
    system, whole = _system(scheme, authority)
    return system, f"{authority}/{inner}".rstrip("/") if whole else f"/{inner}".rstrip("/")
