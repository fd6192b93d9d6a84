from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import PromptError
from vouching.prompts import Prompt, load_prompt


def test_a_value_that_looks_like_a_placeholder_stays_as_it_is() -> None:
    prompt = Prompt("Claim: {{claim}}\nSource: {{source}}")
    filled = prompt.fill(claim="{{source}}", source="{{claim}} {{other}}")
    assert filled == "Claim: {{source}}\nSource: {{claim}} {{other}}"


@given(st.text(max_size=30), st.text(max_size=30))
def test_every_value_is_put_in_letter_for_letter(claim: str, source: str) -> None:
    filled = Prompt("<{{claim}}|{{source}}|{{claim}}>").fill(claim=claim, source=source)
    assert filled == f"<{claim}|{source}|{claim}>"


@pytest.mark.parametrize("value", [r"\1 \g<0>", "{}", "{{", "}}", "%s", "{claim}"])
def test_signs_with_a_meaning_elsewhere_have_none_in_a_value(value: str) -> None:
    assert Prompt("[{{claim}}]").fill(claim=value) == f"[{value}]"


def test_single_braces_are_no_placeholders() -> None:
    prompt = Prompt('Answer with {"label": {{label}}} or {x} or {{ y }}')
    assert prompt.names == {"label"}
    assert prompt.fill(label="1") == 'Answer with {"label": 1} or {x} or {{ y }}'


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({}, "missing: claim; unknown: none"),
        ({"claim": "x", "clam": "y"}, "missing: none; unknown: clam"),
        ({"clam": "y"}, "missing: claim; unknown: clam"),
    ],
)
def test_a_missing_or_an_unknown_value_is_refused_by_name(values: dict[str, str], told: str) -> None:
    with pytest.raises(PromptError, match=told):
        Prompt("{{claim}}").fill(**values)


def test_a_prompt_without_placeholders_is_its_own_text() -> None:
    assert Prompt("Say yes.").fill() == "Say yes."


def test_the_digest_changes_with_the_template() -> None:
    # SHA-256 of the empty string is a constant of the standard (FIPS 180-4).
    assert Prompt("").digest == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert Prompt("a").digest != Prompt("a ").digest


@pytest.mark.parametrize("package", ["vouching.text", "vouching.no_such_package"])
def test_a_prompt_that_is_not_there_is_refused_with_its_place(package: str) -> None:
    with pytest.raises(PromptError, match=f"cannot read the prompt 'missing' in {package}"):
        load_prompt(package, "missing")


def test_a_prompt_is_read_from_a_text_file_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "prompts_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "judge.txt").write_text("Prüfe {{claim}}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_prompt("prompts_of_a_test", "judge").fill(claim="es") == "Prüfe es"
