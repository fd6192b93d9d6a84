"""The pages of figures say what the result files say, and no more than there are files for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.bench.test_compare import write_run, wrong
from tests.bench.test_evaluate import scored
from tests.bench.test_ranking_figures import line
from tests.house.source_tree import ROOT
from vouching.bench.compare import compare_runs
from vouching.bench.evaluate import pooled_figures, set_figures
from vouching.bench.ranking_figures import ranking_figures

FEW = 500
MEASURED = {"version": "1", "date": "2026-11-22", "machine": "a laptop"}
MARKS = "# Page\n<!-- figures -->\nold\n<!-- /figures -->\nend\n"


def render(root: Path) -> subprocess.CompletedProcess[str]:
    """Run the script on another root."""
    command = [sys.executable, str(ROOT / "benchmarks/render.py"), str(root)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with two pages to fill and no results."""
    (tmp_path / "docs").mkdir()
    for page in ("README.md", "docs/figures.md", "docs/how-good.md"):
        (tmp_path / page).write_text(MARKS, encoding="utf-8")
    return tmp_path


def pages(root: Path, results: Mapping[str, Any]) -> tuple[str, str]:
    """README.md and docs/figures.md made from these results, which are named by their paths."""
    for name, record in results.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(json.dumps(record), encoding="utf-8")
    done = render(root)
    assert done.returncode == 0, done.stderr
    readme, figures = ((root / page).read_text(encoding="utf-8") for page in ("README.md", "docs/figures.md"))
    assert all(len(line) <= 100 for page in (readme, figures) for line in page.splitlines() if line[:1] != "|")
    return unwrapped(readme), unwrapped(figures)


def unwrapped(page: str) -> str:
    """A page with each paragraph and item on one line."""
    return re.sub(r"(?<=[^\n|>])\n(?=[^\n|#<*-])", " ", page).replace("   ", " ")


def results_of(model: str, sets: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What ``vouch bench run`` would write of these rows."""
    return {
        **MEASURED,
        "command": "vouch bench run all",
        "settings": {"model": model, "vouching": "1"},
        "bootstrap": {"method": "BCa", "resamples": FEW, "unit": "group", "seed": 0},
        "sets": {name: {"remark": "", **set_figures(rows, FEW)} for name, rows in sets.items()},
        "pooled": pooled_figures(sets, FEW),
    }


def both_models(folder: Path) -> dict[str, Any]:
    """Results of the default model, which is always right, of the rules, and of their comparison."""
    right = [scored(n, part=None if n % 2 else "Other") for n in range(40)]
    some_wrong = [wrong(row) if n < 8 else row for n, row in enumerate(right)]
    names = ("wice", "bump")
    runs = [write_run(folder / run, rows, *names) for run, rows in (("rules", some_wrong), ("best", right))]
    return {
        "docs/results/embedded-rules/results.json": results_of("embedded:rules", dict.fromkeys(names, some_wrong)),
        "docs/results/embedded/results.json": results_of("embedded", dict.fromkeys(names, right)),
        "docs/results/embedded-against-rules.json": compare_runs(*runs, FEW),
    }


def test_the_committed_pages_say_what_the_committed_results_say(tmp_path: Path) -> None:
    for folder in ("docs", "benchmarks/results", "recipes/encoder", "src/vouching"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.py", "*.onnx"))
    shutil.copy(ROOT / "README.md", tmp_path)
    assert render(tmp_path).returncode == 0
    pictures = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/images").glob("good-*.svg"))
    assert len(pictures) == 5
    for page in ("README.md", "docs/figures.md", "docs/how-good.md", *pictures):
        assert (tmp_path / page).read_text(encoding="utf-8") == (ROOT / page).read_text(encoding="utf-8"), page


def test_only_the_text_between_the_marks_changes_and_sections_without_results_are_left_out(root: Path) -> None:
    assert pages(root, {}) == (MARKS.replace("old", ""), MARKS.replace("old", ""))


def test_a_page_without_marks_is_refused(root: Path) -> None:
    (root / "README.md").write_text("# Page\n", encoding="utf-8")
    assert "README.md has no <!-- figures -->" in render(root).stderr


def test_both_models_stand_beside_each_other_and_beside_word_overlap(root: Path) -> None:
    readme, figures = pages(root, both_models(root / "runs"))
    # The rules have 4 of 20 supported claims at .2 and 4 of 20 unsupported ones at .7, the others at .8 and .3: of the
    # 400 pairs the 16 claims at .8 win 320. Word overlap is .5 everywhere. 40 rows in groups of two.
    difference = r"\+0\.200 \[\+0\.\d{3}, \+0\.\d{3}\] better"
    assert re.search(rf"^\| wice \| 40 \| 20 \| 1\.000 \| 0\.800 \| {difference} \| 0\.500 \| \+0\.500 ", figures, re.M)
    assert re.search(rf"^\| mean of sets \| 80 \| \| 1\.000 \| 0\.800 \| {difference} \| 0\.500 ", figures, re.M)
    # Word overlap is constant there: its differences have no interval, so that none of the sets counts.
    assert (
        "- **Better than word overlap**, at telling supported from unsupported claims, on 0 of 0 public sets" in readme
    )


def test_errors_named_and_claims_let_pass_are_counted_by_kind(root: Path) -> None:
    found = both_models(root / "runs")
    # Of the twenty claims of the kind, the rules let the four pass that they get wrong.
    rows = [scored(2 * n, part="Other", **({"label": True, "error_types": []} if n < 4 else {})) for n in range(20)]
    rows += [scored(2 * n + 1, part="None") for n in range(20)]
    found["docs/results/embedded/results.json"] = results_of("embedded", {"bump": rows, "wice": rows})
    del found["docs/results/embedded-against-rules.json"]
    _, figures = pages(root, found)
    assert "| set | kind | rows | fabrication | none |\n" in figures
    assert "| bump | None | 20 | | 20 |\n| bump | Other | 20 | 16 | 4 |\n\n" in figures


def test_a_comparison_of_another_run_is_refused(root: Path) -> None:
    found = both_models(root / "runs")
    rules = found["docs/results/embedded-rules/results.json"]
    (root / "docs/results/embedded").mkdir(parents=True)
    with pytest.raises(AssertionError, match=r"belongs to another run \(wice differs\): repeat make bench"):
        pages(root, {**found, "docs/results/embedded/results.json": rules})


def test_speed_has_a_column_for_each_model(root: Path) -> None:
    claims = {
        "claims": 9,
        "words_per_claim": 17.1,
        "words_per_source": 32.1,
        "not_attributable": 7,
        "fixed": 2,
        "claims_per_second": 500,
    }
    names = ("vouching_seconds", "vouching_check_seconds", "pydantic_seconds")
    record = {
        **MEASURED,
        "command": "python benchmarks/speed.py",
        "model": "embedded:rules",
        "texts": "examples",
        "import": dict.fromkeys((*names, "vouching_to_pydantic", "vouching_check_to_pydantic"), 0.1),
        "cold_command": {"seconds": 0.7},
        "short_claims": claims,
        "long_sources": {"20,000 words": {"cold_seconds": 0.2, "warm_seconds": 0.004, "peak_megabytes": 50}},
    }
    slower = {**record, "model": "embedded", "short_claims": {**claims, "claims_per_second": 90}}
    files = {"speed-embedded-rules": record, "speed-embedded": slower}
    readme, figures = pages(root, {f"benchmarks/results/{name}.json": one for name, one in files.items()})
    assert "| what | embedded | embedded:rules |\n" in figures
    assert "| short claims, one core | 90 per second | 500 per second |\n" in figures
    expected = "on one core: 90 (`embedded`), 500 (`embedded:rules`); a whole command takes 0.7 s."
    assert expected in " ".join(readme.split())


def test_challenged_returns_have_a_row_for_each_mistake(root: Path) -> None:
    counts = {
        "proposals": 2,
        "first_wrong_line_detected": 2,
        "wrong_lines": 5,
        "wrong_lines_challenged": 3,
        "consistent_lines_challenged": 0,
        "right_lines": 33,
        "right_lines_challenged": 1,
    }
    game = {"lines": 38, "right_before": 33, "right_after": 37, "returns_right_after": 1, "case 1": 33, "case 5a": 5}
    record = {
        **MEASURED,
        "command": "python benchmarks/assurance.py",
        "model": "rules",
        "wrong_returns": {"stale_line": counts},
        "right_returns": {
            "returns": 4,
            "lines": 76,
            "lines_apart_from_second_implementation": 0,
            "lines_challenged": 0,
        },
        "milliseconds_per_return": {"median": 6.1, "slowest": 9.0},
        "games": {"named": game, "random": {}},
        "quality_of_cases": {"named": 1.0, "random": 0.5},
    }
    _, figures = pages(root, {"benchmarks/results/assurance.json": record})
    assert "| stale line | 2 | 2 | 3 of 5 | 0 | 1 of 33 |\n" in figures
    assert "By the paper's taxonomy, the lines belong to case 1 (33 lines) and case 5a (5 lines)." in figures
    assert "Of 38 lines, 33 were correct before the game and 37 after it" in figures


def test_the_encoder_has_its_tables(root: Path) -> None:
    flips = {
        "error_type": "negation_flip",
        "claims": 10,
        "embedded:rules": {"passed": 7, "negation_flip": 3},
        "embedded": {"negation_flip": 8, "fabrication": 1, "passed": 1},
    }
    total = {"embedded:rules": {"right": 3, "claims": 10}, "embedded": {"right": 8, "claims": 10}}
    ours = {"seconds": 0.0104, "claims_per_second": 96.2}
    models = {
        "vouch": {
            "peak_megabytes_after_imports": 60,
            "sources": {"32 tokens": ours},
            "short_pairs": {"pairs_per_second": 95.0},
            "long_sources": {"20,000 words": {"seconds": 0.153}},
        },
        "hhem": {
            "project": "HHEM-2.1-Open",
            "parameters_millions": 109.6,
            "peak_megabytes_after_imports": 1200,
            "sources": {"32 tokens": {"seconds": 0.052, "vouch_is_times_as_fast": 5.0}},
        },
    }
    speed = {
        **MEASURED,
        "command": "python benchmarks/encoder_speed.py",
        "model": "encoder abc",
        "threads": 1,
        "limits": {"max_windows": 4},
        "others": "random weights",
        "models": models,
    }
    trained = {
        "settings": {"epochs": 1, "train": ["train", "nli"]},
        "revision": "r",
        "machine": "m",
        "scores": {"dev/x": {"rows": 200, "auroc": 0.8}, "one": {"rows": 9}, "all": {"rows": 209, "auroc": 0.8}},
        "agreement": {"rows": 180, "labels": 0.9889},
    }
    _, figures = pages(
        root,
        {
            "recipes/encoder/held_out_strategies.json": {**MEASURED, "strategies": {"order_flip": flips, "all": total}},
            "benchmarks/results/encoder_speed.json": speed,
            "src/vouching/encoder/weights/encoder.json": {"trained": trained},
        },
    )
    assert "| order_flip | negation_flip | 10 | 3 | 7 | 8 | 1 |\n| all | | 10 | 3 | 7 | 8 | 1 |\n" in figures
    assert "| Vouch | | 10 ms | 60 MB |\n| HHEM-2.1-Open | 109.6 | 52 ms, 5.0 times Vouch's | 1,200 MB |\n" in figures
    assert "`epochs=1`" in figures
    assert "| dev/x | 200 | 0.800 |\n\nOverall figures: mean AUROC over the sets 0.800.\n" in figures
    assert "For 98.9% of 180 held-out rows" in figures


def test_rankings_are_shown_with_baselines_and_what_was_not_measured(root: Path) -> None:
    lines = [line((3, 2, 1), keys=["a"]), line(None, keys=["b"])]
    record = {
        **MEASURED,
        "command": "vouch bench run fgveribench",
        "bootstrap": {"method": "BCa", "resamples": 0},
        "settings": {"model": "embedded:rules", "mode": "full", "vouching": "1"},
        "sets": {"fgveribench": ranking_figures(lines, 0)},
    }
    _, figures = pages(root, {"docs/results/fgveribench-rules.json": record})
    # One ranking is right and one failed: P@1 1 and 0, tau 1 and -1.
    assert "| all rows | 2 | 1 | 0.500 | 0.000 | 1.000 | 1.000 |\n" in figures
    assert "| random order | | | 0.333 | 0.000 | | |\n" in figures
    assert "- Tau by number of answers that the evidence supports: not measured" in figures
    assert "- Failed rankings, counted as wrong (P@1 0, tau -1): unparsable 1.\n" in figures


def test_the_blinded_audit_is_shown_by_kind_of_change(root: Path) -> None:
    share = {"count": 9, "of": 10, "estimate": 0.9, "low": 0.6, "high": 0.98}
    none = {**share, "count": 0, "of": 0}
    figure = {"estimate": 0.5, "low": 0.4, "high": 0.6}
    record = {
        **MEASURED,
        "command": "python benchmarks/blinded.py",
        "model": "embedded",
        "ragtruth": {
            "responses": 900,
            "stretches": 151,
            "with_stretches": 143,
            "questions": 2080,
            "coverage": 0.99,
            "precision": figure,
            "recall": figure,
            "f1": figure,
            "seconds_median": 0.024,
            "seconds_95": 0.07,
        },
        "perturbed": {
            "sentences": 10,
            "detection": share,
            "detection_by_kind": {"number_change": share, "unit_change": none},
            "false_alarms": share,
            "false_alarms_by_kind": {"rounded": share},
            "verbatim": share,
            "seconds_per_sentence": 0.05,
        },
    }
    _, figures = pages(root, {"benchmarks/results/blinded.json": record})
    assert "| RAGTruth data2txt, numbers | 0.500 [0.400, 0.600] |" in figures
    assert "| - number change | 10 | detected | 0.900 [0.600, 0.980] |" in figures
    assert "unit change" not in figures
    assert "24 ms per answer (median) and 70 ms at the 95th percentile" in figures


def test_the_engine_is_told_with_every_round_and_seed_and_a_gpu_only_where_there_was_one(root: Path) -> None:
    engine = {
        "command": "python benchmarks/engine.py",
        "date": "2026-11-22",
        "torch": "2.13.0",
        "rollouts_of_a_step": 64,
        "steps": 12,
        "seconds_of_a_step": [[0.3, 0.4], [0.5, 0.5]],
        "ratios": [0.75, 1.0],
        "median_ratio": 0.875,
        "bookkeeping_ms_per_rollout": 0.057,
    }
    run = {"game": "blinded", "seed": 2, "first": 0.5, "last": 0.75, "gain": 0.25, "lower_95": 0.125}
    runs = [{**run, "date": "2026-11-22"}, {**run, "seed": 3, "date": "2026-11-20"}]
    learning = {"command": "python benchmarks/learning.py", "torch": "2.13.0", "steps_compared": 20, "runs": runs}
    step = {
        "game": "blinded",
        "seconds_of_a_step": 1.25,
        "completions": {"solver": 8, "checker": 16},
        "trained": 16,
        "bookkeeping_ms_per_completion": 0.25,
        "date": "2026-11-21",
    }
    games = {"command": "python benchmarks/games.py", "torch": "2.13.0", "steps": 8, "games": [step]}
    results = {
        "benchmarks/results/engine.json": engine,
        "benchmarks/results/learning.json": learning,
        "benchmarks/results/games.json": games,
    }
    _, figures = pages(root, results)
    for words in (
        "| 1 | 0.300 | 0.400 | 0.750 |",
        "| median | | | 0.875 |",
        "0.057 ms",
        "GPU was not measured",
        "| blinded | 2 | 0.500 | 0.750 | 0.250 | 0.125 |",
        "2026-11-20, 2026-11-22.",
        "| blinded | 1.25 | 24 | solver 8, checker 16 | 16 | 0.250 |",
        "medians of 8 steps",
    ):
        assert words in figures
    side = {"tokens_per_second": 900.5, "seconds_of_a_step": 2.0, "peak_gigabytes": 9.25}
    on_gpu = {"device": "a GPU", "rounds": 3, "vouch": side, "trl": {**side, "tokens_per_second": 800.0}}
    _, figures = pages(root, {**results, "benchmarks/results/engine_gpu.json": on_gpu})
    assert "| tokens per second | 900.5 | 800.0 |" in figures
    assert "not measured" not in figures


def test_the_speeds_on_the_page_of_judges_are_the_measured_ones() -> None:
    measured = json.loads((ROOT / "benchmarks/results/encoder_speed.json").read_text(encoding="utf-8"))["models"]
    page = (ROOT / "docs/judges.md").read_text(encoding="utf-8")
    rows = {
        "`hhem`": "hhem",
        "`lettuce` (base)": "lettucedetect",
        "`minicheck` (Flan-T5)": "minicheck-flan-t5",
        "`minicheck` (DeBERTa), `factcg`": "minicheck-deberta",
    }
    for row, name in rows.items():
        one = measured[name]
        seconds = [one["sources"][length]["seconds"] for length in ("256 tokens", "2000 tokens")]
        memory = one["peak_megabytes_after_imports"]
        assert f"| {row} | {seconds[0]:.1f} s | {seconds[1]:.0f} s | {memory:,} MB |" in page


def test_the_page_of_small_models_is_what_its_results_say(root: Path) -> None:
    for name in (
        "benchmarks/results/small_models.json",
        "benchmarks/results/smollm2_grpo.json",
        "docs/small-models.md",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    page = (ROOT / "docs/small-models.md").read_text(encoding="utf-8")
    before, figures, after = re.split(r"(?s)(?<=<!-- figures -->\n)(.*)(?=<!-- /figures -->)", page)
    assert figures
    (root / "docs/small-models.md").write_text(f"{before}old\n{after}", encoding="utf-8")
    assert render(root).returncode == 0
    assert (root / "docs/small-models.md").read_text(encoding="utf-8") == page
