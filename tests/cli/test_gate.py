"""``vouch gate``, run as pipelines, pre-commit and agents run it."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from tests.house.source_tree import ROOT
from vouching.cli.app import app_for

SOURCE = "The bridge opened to traffic in 1973. It has two towers."
MODEL = ("--model", "embedded:rules")
GOOD, BAD = "The bridge has two towers.\n", "# Bridge\n\nThe bridge opened in 1937.\n\n```python\nyear = 1999\n```\n"
SHIM = f"""#!/bin/sh
exec {sys.executable!r} -c 'import sys; sys.argv[0] = "vouch"; from vouching.cli.app import main; sys.exit(main())' "$@"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two documents and their source."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "facts").mkdir()
    for name, text in {"docs/good.md": GOOD, "docs/bad.md": BAD, "facts/bridge.txt": SOURCE}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def vouch(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app_for("gate"), arguments, input=stdin)


def gate(*options: str) -> Any:
    return vouch("gate", "docs", "docs/good.md", "docs/bad.md", "--source", "facts", *MODEL, *options)


def test_a_failing_claim_is_shown_as_compilers_do(folder: Path) -> None:
    done = gate()
    assert (done.exit_code, done.stdout) == (
        1,
        "docs/bad.md:3:1: temporal shift: The bridge opened in 1937. - Change 1937 to 1973.\n",
    )
    assert "2 claims judged, 1 failed (50.0%, 0.0% allowed)" in done.stderr


def test_folders_give_their_documents_and_front_matter_is_no_claim(folder: Path) -> None:
    (folder / "docs/new").mkdir()
    (folder / "docs/new/page.md").write_text(f"---\ntitle: The bridge of 1999\nyear: 1937\n---\n\n{GOOD}", "utf-8")
    (folder / "docs/new/toml.md").write_text(f'+++\ntitle = "Opened in 1937"\n+++\n{GOOD}', "utf-8")
    (folder / "docs/new/rule.md").write_text(f"{GOOD}\n---\n\nIt opened in 1937.\n\n---\n", "utf-8")  # no front matter
    (folder / "docs/picture.svg").write_text("<svg>It opened in 1937.</svg>", "utf-8")
    done = vouch("gate", "docs", "docs", "--source", "facts", *MODEL)
    assert [line.partition(" temporal")[0] for line in done.stdout.splitlines()] == [
        "docs/bad.md:3:1:",
        "docs/new/rule.md:5:1:",
    ], done.stdout
    (folder / "docs/only.md").write_text("---\ntitle: The bridge opened in 1937\n---\n", "utf-8")
    assert "no claim was found" in vouch("gate", "docs", "docs/only.md", "--source", "facts", *MODEL).stderr
    (folder / "empty").mkdir()
    refused = vouch("gate", "docs", "empty", "--source", "facts", *MODEL)
    assert refused.exit_code == 2
    assert "DOCUMENTS empty is a folder without files in .md, .markdown, .txt" in " ".join(refused.stderr.split())


def test_an_allowed_share_passes_and_one_claim_more_does_not(folder: Path) -> None:
    assert gate("--allowed", "0.5").exit_code == 0
    assert gate("--allowed", "0.49").exit_code == 1
    wrong = gate("--allowed", "2")
    assert (wrong.exit_code, wrong.stderr) == (2, "vouch: the allowed share must be in [0, 1], got 2.0\n")


def test_a_baseline_accepts_what_it_lists_and_says_what_it_need_not(folder: Path) -> None:
    assert gate("--baseline", "accepted.json", "--accept").exit_code == 0
    accepted = gate("--baseline", "accepted.json", "--report", "out.xml")
    assert accepted.exit_code == 0
    assert "1 accepted" in accepted.stderr
    cases = ElementTree.parse("out.xml").getroot().iter("testcase")
    assert [[child.tag for child in case] for case in cases] == [[], ["skipped"]]
    (folder / "docs/bad.md").write_text(BAD.replace("1937", "1938"), encoding="utf-8")
    changed = gate("--baseline", "accepted.json")
    assert changed.exit_code == 1
    assert "accepted, but no longer failing: docs/bad.md: The bridge opened in 1937." in changed.stderr


def test_accepting_one_file_keeps_the_entries_of_others(folder: Path) -> None:
    gate("--baseline", "accepted.json", "--accept")
    only = ("docs/good.md", "--source", "facts", "--baseline", "accepted.json", "--accept", *MODEL)
    assert vouch("gate", "docs", *only).exit_code == 0
    assert len(json.loads(Path("accepted.json").read_text(encoding="utf-8"))["accepted"]) == 1


def test_what_cannot_be_used_is_refused_before_anything_is_judged(folder: Path) -> None:
    Path("broken.json").write_text("[]", encoding="utf-8")
    Path("empty").mkdir()
    for options, words in (
        (("--accept",), "--accept requires --baseline"),
        (("--baseline", "broken.json"), 'must be a JSON object with "version": 1'),
        (("--source", "empty"), "--source empty is a folder without files"),
        (("--report", "out.pdf"), "expected a name that ends in .html"),
    ):
        done = gate(*options)
        assert done.exit_code == 2
        assert words in done.stderr


def test_a_judge_that_fails_does_not_pass_and_is_not_accepted(folder: Path) -> None:
    with chat_server(lambda prompt: "who knows") as name:
        options = ("docs/good.md", "--source", "facts", "--model", name, "--baseline", "b.json")
        for extra in ((), ("--accept",), ("--allowed", "1")):
            done = vouch("gate", "docs", *options, *extra)
            assert done.exit_code == 3, done.stderr
            assert "1 not verified" in done.stderr
    assert json.loads(Path("b.json").read_text(encoding="utf-8"))["accepted"] == []


def test_pre_commit_accepts_the_hook_and_its_entry_runs(folder: Path) -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib", reason="pre-commit is not installed")
    [hook] = clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")
    command, *arguments = hook["entry"].split()
    assert command == "vouch"
    assert vouch(*arguments, "--source", "facts", *MODEL, "docs/good.md", "docs/bad.md").exit_code == 1


@pytest.mark.parametrize(("allowed", "status"), [("0", 1), ("0.5", 0)])
def test_the_script_of_the_github_action_runs(folder: Path, allowed: str, status: int) -> None:
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    [_, step] = action["runs"]["steps"]
    shim = folder / "bin" / "vouch"
    shim.parent.mkdir()
    shim.write_text(SHIM, encoding="utf-8")
    shim.chmod(stat.S_IRWXU)
    given = {"documents": "docs/**/*.md", "sources": "facts", "allowed": allowed, "model": "embedded:rules"}
    values = {name: given.get(name, field.get("default", "")) for name, field in action["inputs"].items()}
    environment = {**os.environ, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}"}
    for name, value in step["env"].items():
        environment[name] = values[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]]  # pyright: ignore[reportOptionalSubscript]
    done = subprocess.run(["bash", "-c", step["run"]], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert (
        json.loads(Path("vouch.sarif").read_text(encoding="utf-8"))["runs"][0]["results"][0]["ruleId"]
        == "temporal_shift"
    )


def transcript(path: Path, *messages: tuple[str, Any], **fields: Any) -> str:
    """The record of a hook whose transcript has the messages."""
    lines = [json.dumps({"type": role, "message": {"role": role, "content": content}}) for role, content in messages]
    path.write_text("\n".join([*lines, '{"type": "assis']), encoding="utf-8")  # the last line is being written
    return json.dumps({"transcript_path": str(path), "hook_event_name": "Stop", "stop_hook_active": False, **fields})


def result_of_tool(text: str, **fields: Any) -> tuple[str, Any]:
    return "user", [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": text}], **fields}]


def said(text: str) -> tuple[str, Any]:
    return "assistant", [{"type": "text", "text": text}, {"type": "tool_use", "id": "t", "name": "Read", "input": {}}]


def answers(text: str) -> tuple[str, Any]:
    return "assistant", [{"type": "text", "text": text}]


def stop(record: str, *options: str) -> Any:
    return vouch("gate", "stop", *MODEL, *options, stdin=record)


def test_an_agent_may_not_stop_with_what_its_tools_contradict(tmp_path: Path) -> None:
    told = [
        ("user", "When did it open?"),
        said("I look."),
        result_of_tool(SOURCE),
        answers("The bridge opened in 1937."),
    ]
    done = stop(transcript(tmp_path / "t.jsonl", *told))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Change 1937 to 1973." in done.stderr
    right = [*told[:-1], answers("The bridge opened in 1973.")]
    assert stop(transcript(tmp_path / "t.jsonl", *right)).exit_code == 0


def test_an_agent_that_was_sent_back_may_stop(tmp_path: Path) -> None:
    told = [result_of_tool(SOURCE), answers("The bridge opened in 1937.")]
    assert stop(transcript(tmp_path / "t.jsonl", *told, stop_hook_active=True)).exit_code == 0


def test_errors_of_tools_and_the_agents_own_words_are_no_sources(tmp_path: Path) -> None:
    told = [
        said("The bridge opened in 1937."),
        result_of_tool(SOURCE, is_error=True),
        answers("The bridge opened in 1937."),
    ]
    done = stop(transcript(tmp_path / "t.jsonl", *told))
    assert done.exit_code == 0
    assert "nothing to check against" in done.stderr
    given = stop(transcript(tmp_path / "t.jsonl", *told), "--source-text", SOURCE)
    assert given.exit_code == 2


def test_the_messages_of_a_chat_work_too() -> None:
    messages = [{"role": "tool", "content": SOURCE}, {"role": "assistant", "content": "The bridge opened in 1937."}]
    assert stop(json.dumps({"messages": messages})).exit_code == 2


def test_a_fault_of_the_hook_never_sends_the_agent_back(tmp_path: Path) -> None:
    for record in ("", "[]", "{}", json.dumps({"transcript_path": str(tmp_path / "none")})):
        done = stop(record)
        assert done.exit_code == 3, done.stderr
        assert done.stderr.startswith("vouch: ")
    assert stop(json.dumps({"response": "It opened."}), "--threshold", "2").exit_code == 3


def test_a_judge_that_fails_blocks_only_if_asked() -> None:
    record = json.dumps({"response": "The bridge opened in 1973.", "sources": [SOURCE]})
    with chat_server(lambda prompt: "who knows") as name:
        assert vouch("gate", "stop", "--model", name, stdin=record).exit_code == 0
        done = vouch("gate", "stop", "--model", name, "--block-unverified", stdin=record)
    assert done.exit_code == 2
    assert "Unverified (unparsable)" in done.stderr


def test_a_policy_decides_what_fails_and_what_goes_to_review(folder: Path) -> None:
    Path("outcomes.toml").write_text('[rules.dates]\noutcome = "review"\nkind = "date"\n', encoding="utf-8")
    reviewed = gate("--policy", "outcomes.toml", "--report", "out.xml")
    assert reviewed.exit_code == 3
    assert reviewed.stdout.startswith("docs/bad.md:3:1: to review: temporal shift: The bridge opened in 1937.")
    assert "2 claims judged, 0 failed (0.0%, 0.0% allowed), 1 to review" in reviewed.stderr
    [error] = ElementTree.parse("out.xml").getroot().iter("error")
    assert error.get("type") == "policy"
    accepted = gate("--policy", "outcomes.toml", "--baseline", "accepted.json", "--accept")
    assert (accepted.exit_code, gate("--policy", "outcomes.toml", "--baseline", "accepted.json").exit_code) == (0, 0)

    Path("outcomes.toml").write_text('[rules.words]\noutcome = "fail"\nlabel = "Attributable"\n', encoding="utf-8")
    both = gate("--policy", "outcomes.toml", "--report", "out.sarif")
    assert (both.exit_code, both.stdout.splitlines()[0]) == (
        1,
        "docs/good.md:1:1: fails by the policy: attributable: The bridge has two towers.",
    )
    found = json.loads(Path("out.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert [one["ruleId"] for one in found] == ["policy", "temporal_shift"]

    Path("outcomes.toml").write_text('[rules.all]\noutcome = "pass"\n', encoding="utf-8")
    assert gate("--policy", "outcomes.toml").exit_code == 0
    wrong = gate("--policy", "missing.toml")
    assert (wrong.exit_code, "cannot read missing.toml" in wrong.stderr) == (2, True)


def test_no_policy_lets_a_failed_judge_pass(folder: Path) -> None:
    Path("outcomes.toml").write_text('[rules.all]\noutcome = "pass"\n', encoding="utf-8")
    with chat_server(lambda prompt: "who knows") as name:
        options = ("docs/good.md", "--source", "facts", "--model", name, "--policy", "outcomes.toml")
        assert vouch("gate", "docs", *options).exit_code == 3
