"""The files of a release agree with each other: version, changelog, citation, workflow."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml
from jsonschema import Draft7Validator

from tests.house.source_tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
CITATION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["cff-version", "message", "title", "authors"],
    "properties": {
        "cff-version": {"const": "1.2.0"},
        "type": {"enum": ["software", "dataset"]},
        "date-released": {"pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "authors": {"minItems": 1, "items": {"anyOf": [{"required": ["name"]}, {"required": ["family-names"]}]}},
        "keywords": {"uniqueItems": True, "items": {"type": "string", "minLength": 1}},
        **{key: {"type": "string", "minLength": 1} for key in ("message", "title", "version", "license", "abstract")},
    },
}
"""The part of the schema of the Citation File Format 1.2.0 that the file uses."""


def workflow(name: str) -> dict[str, Any]:
    """A workflow; YAML reads its key ``on`` as True."""
    return yaml.safe_load((ROOT / ".github/workflows" / name).read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere_and_the_changelog_has_it() -> None:
    from vouching import __version__

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert PROJECT["version"] == __version__ == cited["version"]
    assert f"## {__version__}" in CHANGES.splitlines()
    assert cited["license"] == PROJECT["license"]


def test_the_citation_file_is_valid() -> None:
    Draft7Validator(CITATION).validate(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")))


def test_each_release_in_the_changelog_lists_its_changes_by_kind() -> None:
    parts = re.split(r"^## (.+)$", CHANGES, flags=re.MULTILINE)[1:]
    releases = dict(zip(parts[::2], parts[1::2], strict=True))
    assert [name for name in releases if not re.fullmatch(r"Unreleased|\d+\.\d+\.\d+", name)] == []
    for name, text in releases.items():
        kinds = re.findall(r"^### (.+)$", text, re.MULTILINE)
        assert kinds, name
        assert kinds == [kind for kind in KINDS if kind in kinds], name


def test_a_release_is_tested_built_attested_and_published_in_this_order_without_a_stored_secret() -> None:
    jobs = workflow("release.yml")["jobs"]
    assert [(name, job.get("needs")) for name, job in jobs.items()] == [
        ("build", None),
        ("attest", "build"),
        ("publish", "attest"),
        ("image", "publish"),
    ]
    assert ".ci/run" in [step.get("run") for step in jobs["build"]["steps"]]
    assert jobs["publish"]["environment"] == "release"
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")


def test_only_the_jobs_that_need_it_may_write() -> None:
    for name in ("release.yml", "test.yml"):
        flow = workflow(name)
        may_write = {
            job: [right for right, level in body.get("permissions", {}).items() if level == "write"]
            for job, body in flow["jobs"].items()
        }
        assert "write" not in flow["permissions"].values()
        assert {job: rights for job, rights in may_write.items() if rights} == (
            {"attest": ["attestations", "id-token"], "publish": ["id-token"], "image": ["packages"]}
            if name == "release.yml"
            else {}
        )


def test_every_action_is_pinned_to_a_commit_and_named_with_its_version() -> None:
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        used = re.findall(r"uses: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert used
        assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", one)] == []
