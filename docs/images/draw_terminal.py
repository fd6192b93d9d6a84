"""Draw the terminal recording in README.md: real commands, whose lines appear one after the other.

    python docs/images/draw_terminal.py

The commands run in the root of the repository. Without animation (``prefers-reduced-motion``) every line is shown.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from draw_verdict import picture
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 84
COMMANDS = (
    'vouch check "The bridge opened in 1937." --source-text "The bridge opened to traffic in 1973." --fail',
    "vouch gate docs examples/answer.txt --source examples/source.txt --allowed 0.1",
)
SECONDS = {"command": 1.2, "line": 0.12}
"""How long a command and a line of output stay the last ones."""


def draw() -> str:
    """The recording as SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for command in COMMANDS:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        done = run(command)
        console.print(Text.from_ansi(done.stdout.rstrip("\n")))
        console.print(Text(f"exit status {done.returncode}\n", style="dim"))
    return animated(picture(console, "vouch"))


def run(command: str) -> subprocess.CompletedProcess[str]:
    """A command, with the colours that a terminal gets."""
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    arguments = [sys.executable, "-m", "vouching", *shlex.split(command)[1:]]
    return subprocess.run(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=ROOT, check=False
    )


def animated(svg: str) -> str:
    """The picture with a moment for each line of text, at which it appears."""
    lines = {int(number): text for number, text in _lines(svg)}
    moment, moments = 0.0, dict[int, float]()
    for number in sorted(lines):
        moments[number] = moment
        moment += SECONDS["command" if lines[number].startswith("$") else "line"]
    svg = re.sub(
        r'(<text [^>]*clip-path="url\(#vouch-line-(\d+)\)")',
        lambda found: f'{found[1]} style="animation-delay:{moments[int(found[2])]:.2f}s"',
        svg,
    )
    rules = """
    @keyframes appear { from { opacity: 0 } to { opacity: 1 } }
    @media (prefers-reduced-motion: no-preference) {
        text[style] { animation: appear 1ms linear both }
    }
    """
    return svg.replace("</style>", rules + "</style>", 1)


def _lines(svg: str) -> Iterator[tuple[str, str]]:
    """The number and the text of each line."""
    for number, text in re.findall(r'clip-path="url\(#vouch-line-(\d+)\)">([^<]*)<', svg):
        yield number, text.replace("&#160;", " ")


if __name__ == "__main__":
    Path(__file__).with_name("terminal.svg").write_text(draw(), encoding="utf-8")
