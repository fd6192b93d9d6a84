"""What other packages add by entry points: judges, data sets and commands; see docs/plugins.md.

Names of our own cannot be replaced: a plug-in is looked up only where nothing of ours has the name.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, TypeAlias

from vouching.errors import ConfigError, cause_of

Group: TypeAlias = Literal["vouching.judges", "vouching.data_sets", "vouching.commands"]


@cache
def plugins(group: Group) -> dict[str, EntryPoint]:
    """The entry points of a group, by name. Raises ConfigError if two packages use the same name."""
    by_name: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        other = by_name.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise ConfigError(
                f"two plug-ins of {group} have the name {entry.name!r}, {other.value} and {entry.value}: "
                "uninstall one of their packages"
            )
    return by_name


def load_plugin(entry: EntryPoint, kind: type | None = None) -> Any:
    """What an entry point names. Raises ConfigError if it cannot be imported, or is not of the kind."""
    package = entry.dist.name if entry.dist else entry.value
    try:
        found = entry.load()
    except Exception as error:
        raise ConfigError(
            f"the plug-in {entry.name!r} of {package} cannot be loaded ({cause_of(error)}): repair or uninstall it"
        ) from error
    if kind is not None and not isinstance(found, kind):
        raise ConfigError(
            f"the plug-in {entry.name!r} of {package} is a {type(found).__name__}, expected a {kind.__name__}"
        )
    return found
