"""docs/reproductions.md is what the analysis says of the committed results, and works with any part of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.noise import study
from benchmarks.world_page import page
from benchmarks.worlds import RESULTS, write_page
from recipes.worlds.claims import CLAIMS
from tests.house.prose import too_long
from tests.house.source_tree import ROOT

ARMS = {"forms": ["paired", "grpo", "costs"]}


def write(folder: Path, arm: str, seed: int, lines: float, steps: int = 60) -> None:
    """Results of an arm on 20 prompts, and a log whose divergence runs away in its second half."""
    outcomes = {f"p{number}": {"oracle/lines": lines + number % 2 / 10} for number in range(20)}
    record: dict[str, Any] = {
        "arm": arm,
        "seed": seed,
        "steps": steps,
        "outcomes": outcomes,
        "command": "python benchmarks/worlds.py arms",
        "machine": "a laptop",
        "date": f"2026-11-2{seed}",
        "cpu_seconds": 900.0,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{arm}-{seed}.json").write_text(json.dumps(record), encoding="utf-8")
    if steps:
        log = "".join(json.dumps({"step": at, "kl": float(at > steps / 2)}) + "\n" for at in range(1, steps + 1))
        (folder / f"{arm}-{seed}.metrics.jsonl").write_text(log, encoding="utf-8")


def test_the_committed_page_is_what_the_committed_results_say(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    write_page(RESULTS, tmp_path)
    assert (tmp_path / "reproductions.md").read_bytes() == (ROOT / "docs/reproductions.md").read_bytes()
    committed = {path.name: path.read_bytes() for path in (ROOT / "docs/images").glob("reproductions-*.svg")}
    assert {path.name: path.read_bytes() for path in (tmp_path / "images").iterdir()} == committed


def test_a_page_without_results_lists_every_claim_as_not_run(tmp_path: Path) -> None:
    text, pictures = page(tmp_path, ARMS)
    assert pictures == {}
    assert text.count("| not run |") == 1 + sum(map(len, CLAIMS.values()))  # 1: the head of the summary
    assert "| Self-evolution, in the world of facts | | | | | | 7 |" in text
    assert text.count("No arm has been run.") == len(CLAIMS)
    assert "Not run: `paired`, `grpo`, `costs`." in text


def test_a_page_of_some_results_has_decisions_monitors_and_what_was_not_run(tmp_path: Path) -> None:
    for seed in range(3):
        write(tmp_path / "forms", "initial", seed, 0.4, steps=0)
        write(tmp_path / "forms", "paired", seed, 0.6 + seed / 100)
        write(tmp_path / "forms", "grpo", seed, 0.61)
    (tmp_path / "remarks.json").write_text(
        json.dumps({"forms": {"the paired game improves what is submitted": "drafts, not repairs"}}), encoding="utf-8"
    )
    text, pictures = page(tmp_path, ARMS)
    assert "2 arms with 3 seeds and 60 steps each, judged on 20 held-out prompts" in text
    # Means with half of the prompts .1 higher: .61 + .05 and .4 + .05; the interval is that of three seeds.
    assert "paired 0.660, initial 0.450, lines: +0.210 [" in text
    assert "**holds** | the interval is above 0, and all 3 seeds agree; drafts, not repairs |" in text
    # .61 - .61 on average, and nobody is .03 better.
    assert "paired 0.660, grpo 0.660, lines: +0.000 [" in text
    assert "**does not hold here** | the interval is between -.03 and .03 |" in text
    assert "Not run: `costs`." in text
    # Of 60 steps the last 30 have kl 1: the mean over 20 steps passes .5 in step 41, but no alarm comes before 40.
    assert "kl_runaway" in text
    assert "| grpo | kl_runaway |" in text.replace("`", "")
    # Three claims are compared: the game and GRPO against the start, and against each other.
    assert "| DPA-GRPO, in the world of forms | 2 | | 1 | | | 10 |" in text
    assert "`paired`: the paired game" in text
    assert list(pictures) == ["reproductions-forms.svg"]
    assert pictures["reproductions-forms.svg"].count("claim ") == 3
    assert not [*too_long(text)]


def test_what_is_built_into_a_world_is_not_counted_as_found(tmp_path: Path) -> None:
    claims = CLAIMS["answers"]
    built_in = sum(bool(claim.built_in) for claim in claims)
    assert 0 < built_in < len(claims)
    for arm, first in (("diva", 0.9), ("full", 0.9), ("agentic", 0.1), ("no-search", 0.3), ("initial", 0.3)):
        for seed in range(3):
            write(tmp_path / "answers", arm, seed, first, steps=0 if arm == "initial" else 60)
            path = tmp_path / f"answers/{arm}-{seed}.json"
            path.write_text(path.read_text(encoding="utf-8").replace("oracle/lines", "oracle/first"), encoding="utf-8")
    text, _ = page(tmp_path, ARMS)
    # Compared: the head against ranking in words and against no search, both built in; and compression, which is not.
    assert "| DiVA, in the world of answers | | | 1 | | 2 | 4 |" in text
    assert text.count("built in: the control has not learned the task") == 1


def test_the_noise_study_is_a_section_of_its_own(tmp_path: Path) -> None:
    record = {
        "prompts": 5,
        "steps": 2,
        "seeds": 2,
        "seed": 0,
        "group": 8,
        "command": "python benchmarks/noise.py",
        "machine": "a laptop",
        "date": "2026-11-28",
        "cpu_seconds": 1.0,
        **study(5, 3, 2, 2),
    }
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise/noise.json").write_text(json.dumps(record), encoding="utf-8")
    text, _ = page(tmp_path, ARMS)
    assert "## Soft-RLVR's Theorem 1" in text
    assert text.count("| by kind |") == 7
    assert "so `vouch train checklist` has no such setting" in " ".join(text.split())
    assert not [*too_long(text)]
