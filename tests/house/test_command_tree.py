"""The command line is the one that docs/cli.md shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.house.source_tree import ROOT

GUIDE = ROOT / "docs" / "cli.md"
CHECK_OPTIONS = 27


def lines_of(command: Any, name: str, depth: int = 0) -> Iterator[str]:
    """One line per command: arguments in capitals, in brackets if they may be left out, then the long options."""
    shown = [p for p in command.params if not getattr(p, "hidden", False)]
    arguments = [p.name.upper() for p in shown if p.param_type_name == "argument" and p.required]
    arguments += [f"[{p.name.upper()}]" for p in shown if p.param_type_name == "argument" and not p.required]
    spellings = [p.opts for p in shown if p.param_type_name == "option"]
    options = [next((o for o in opts if o.startswith("--")), opts[0]) for opts in spellings]
    options = [o for o in options if o not in {"--help", "--install-completion", "--show-completion"}]
    yield "  " * depth + " ".join([name, *arguments, *options])
    for key, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from lines_of(child, key, depth + 1)


def shown_tree() -> str:
    """The tree in the guide: its first block that starts with a line "vouch"."""
    found = re.search(r"^```text\n(vouch\b.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found, "docs/cli.md has no ```text block that starts with 'vouch'"
    return found[1].rstrip("\n")


def real_tree() -> str:
    """The tree of the program itself."""
    from typer.main import get_command

    from vouching.cli.app import app

    return "\n".join(lines_of(get_command(app), "vouch"))


def test_the_command_tree_is_the_one_in_the_guide() -> None:
    tree = real_tree()
    print(tree)  # noqa: T201 - shown when the test fails, ready to paste into the guide
    assert tree == shown_tree()


def test_check_has_no_more_options_than_one_can_read() -> None:
    [line] = [line for line in real_tree().splitlines() if line.startswith("  check ")]
    assert line.count(" --") <= CHECK_OPTIONS


def leaves_of(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The commands that do something, each with its whole name."""
    children = getattr(command, "commands", {})
    if not children:
        yield name, command
    for key, child in children.items():
        yield from leaves_of(child, f"{name} {key}")


def test_the_help_of_every_command_has_an_example_and_what_its_exit_statuses_mean() -> None:
    from typer.main import get_command

    from vouching.cli.app import app

    for name, command in leaves_of(get_command(app), "vouch"):
        ending = command.epilog or ""
        assert re.search(rf"^{re.escape(name)} ", ending, re.MULTILINE), f"{name}: no example"
        assert "**Exit status**: 0 " in ending, f"{name}: no exit status"


def test_every_option_is_explained() -> None:
    from typer.main import get_command

    from vouching.cli.app import app

    for name, command in leaves_of(get_command(app), "vouch"):
        unsaid = [parameter.name for parameter in command.params if not getattr(parameter, "help", None)]
        assert not unsaid, f"{name}: {unsaid}"
