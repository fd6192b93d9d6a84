"""``vouch runs`` and ``vouch diagnose run``: what is in folders of runs is told, drawn and compared."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.train.test_monitor import STEPS, healthy
from vouching.cli.app import app
from vouching.train.run_folder import RunLog


def vouch(*arguments: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, [str(argument) for argument in arguments])


def write(folder: Path, reward: str, drifts: bool = False) -> Path:
    folder.mkdir(parents=True)
    settings = {"model": "base", "reward": reward, "power": {"watts": 300.0, "pue": 1.4, "intensity": 0.41}}
    note = {"kind": "grpo", "settings": settings, "units": {"rows": 8}, "split": {"rows": "ab12"}, "revision": "1a2b"}
    (folder / "run.json").write_text(json.dumps(note), encoding="utf-8")
    log = RunLog(folder)
    for place in range(STEPS):
        record = {name: float(series[place]) for name, series in healthy().items()}
        # The format rises from 0 to 1 in step 100, the chain in step 200.
        record |= {"reward/verifier/format": float(place >= 99), "reward/verifier/chain": float(place >= 199)}
        log.write({**record, "time/step": 10.0, "kl": place / 400 if drifts else record["kl"]})
    return folder


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("runs")
    write(made / "process", "process")
    write(made / "deeper/binary", "binary", drifts=True)
    return made


def test_runs_are_listed_wherever_they_lie_below_a_folder(root: Path) -> None:
    listed = json.loads(vouch("runs", "list", root, "--json").stdout)
    assert [(one["run"], one["steps"], len(one["alarms"])) for one in listed] == [
        (str(root / "deeper/binary"), 350, 1),
        (str(root / "process"), 350, 0),
    ]
    assert "grpo" in vouch("runs", "list", root).stdout
    assert vouch("runs", "list", root / "none").exit_code == 2


def test_a_run_shows_which_part_of_the_reward_rose_when(root: Path) -> None:
    shown = json.loads(vouch("runs", "show", root / "process", "--json").stdout)
    rose = {improvement["part"]: improvement["half"] for improvement in shown["improvements"]}
    # Means over 21 steps around a jump reach a half when it is in their middle.
    assert rose == {"verifier/format": 100, "verifier/chain": 200}
    assert shown["numbers"]["reward/verifier/chain"] == {"first": 0.0, "last": 1.0}
    text = vouch("runs", "show", root / "process").stdout
    assert "Order in which parts improve" in text
    assert text.index("verifier/format") < text.index("verifier/chain")


def test_runs_are_compared_by_what_was_asked_and_what_came_out(root: Path) -> None:
    compared = json.loads(vouch("runs", "compare", root / "process", root / "deeper/binary", "--json").stdout)
    assert compared["settings"] == {"reward": ["process", "binary"]}
    assert "difference" in vouch("runs", "compare", root / "process", root / "deeper/binary").stdout


def test_what_is_wrong_with_a_run_is_told_with_the_step_in_which_it_began(root: Path) -> None:
    found = json.loads(vouch("diagnose", "run", root / "deeper/binary", "--json").stdout)
    # kl is (t - 1) / 400 in step t; its mean over 20 steps is (t - 10.5) / 400, above .5 from t = 211.
    assert [(alarm["kind"], alarm["step"]) for alarm in found["alarms"]] == [("kl_runaway", 211)]
    assert "step 211" in vouch("diagnose", "run", root / "deeper/binary").stdout
    assert "none" in vouch("diagnose", "run", root / "process").stdout


def test_a_page_has_a_curve_for_every_part_and_fetches_nothing(root: Path, tmp_path: Path) -> None:
    assert vouch("runs", "plot", root / "process", "--report", tmp_path / "one.html").exit_code == 0
    page = (tmp_path / "one.html").read_text(encoding="utf-8")
    # Twelve numbers make nine charts by table, the parts of the reward one; the deviation has its own.
    assert page.count("<polyline") > 12
    _, _, order = page.partition("Order in which parts improve")
    assert 0 < order.index("verifier/format") < order.index("verifier/chain")
    assert "src=" not in page
    both = vouch("runs", "plot", root / "process", root / "deeper/binary", "--report", tmp_path / "two.html")
    assert both.exit_code == 0
    assert str(root / "deeper/binary") in (tmp_path / "two.html").read_text(encoding="utf-8")


def test_parts_of_a_reward_are_drawn_on_one_scale_and_runs_by_the_end_of_their_names(
    root: Path, tmp_path: Path
) -> None:
    vouch("runs", "plot", root / "process", root / "deeper/binary", "--report", tmp_path / "two.html")
    page = (tmp_path / "two.html").read_text(encoding="utf-8")
    charts = {chart.partition("<")[0]: chart for chart in page.split("<title>")}
    parts = [charts[f"reward/verifier/{name}"] for name in ("total", "format", "chain")]
    scales = [re.findall(r'text-anchor="end"[^>]*>([^<]*)<', part) for part in parts]
    assert scales[0] == scales[1] == scales[2]
    assert all(name in part for part in parts for name in (">process</text>", ">binary</text>"))


def begun(folder: Path, steps: int) -> Path:
    """A run of a few steps: the loss of step t is t, the whole reward t / 10, a count 4, the energy grows by a step."""
    folder.mkdir()
    (folder / "run.json").write_text('{"kind": "grpo", "settings": {"kl": 0.0}}', encoding="utf-8")
    log = RunLog(folder)
    for step in range(1, steps + 1):
        numbers = {"reward/verifier/chain": 0.0, "reward/verifier/total": step / 10, "groups/verifier/count": 4.0}
        log.write({"step": step, **numbers, "loss": float(step), "time/step": 3600.0})
    return folder


def test_a_short_run_is_compared_half_by_half_and_not_called_healthy(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", 8)
    numbers = json.loads(vouch("runs", "show", run, "--json").stdout)["numbers"]
    # (1 + 2 + 3 + 4) / 4 and (5 + 6 + 7 + 8) / 4.
    assert numbers["loss"] == {"first": 2.5, "last": 6.5}
    # Eight hours of 300 W with a PUE of 1.4: what adds up is told as it stands at last, after one hour at first.
    assert numbers["energy/kwh"] == pytest.approx({"first": 0.42, "last": 3.36})
    assert "monitors start at step 40 (all)" in vouch("diagnose", "run", run).stdout
    assert "monitors start" not in vouch("diagnose", "run", begun(tmp_path / "longer", 40)).stdout


def test_a_run_of_two_policies_says_that_some_of_its_monitors_start_early(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text('{"kind": "assurance", "settings": {}}', encoding="utf-8")
    log = RunLog(run)
    for step in range(1, 5):
        log.write({"step": step, "said/SAC": 0.2, "gradient/default": 1.0, "gradient/verifier": 1.0})
    shown = " ".join(vouch("diagnose", "run", run).stdout.split())
    # policy_still needs 5 steps, the shares of units two windows of 10, everything else two windows of 20.
    assert "monitors start at step 5 (policy_still), 20 (challenge_collapse and case_drift), 40 (the others)" in shown


def test_a_page_begins_with_the_whole_reward_and_leaves_out_what_never_moves(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert vouch("runs", "plot", begun(tmp_path / "run", 8), "--report", page).exit_code == 0
    drawn = page.read_text(encoding="utf-8")
    assert 'aria-label="groups/verifier/count"' not in drawn
    # The reward of the chain stays 0, which is worth a curve.
    assert drawn.index(">total<") < drawn.index(">chain<")


def test_what_is_wrong_stands_at_the_top_of_the_page(root: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert vouch("runs", "plot", root / "deeper/binary", "--report", page).exit_code == 0
    assert "kl_runaway (kl) in step 211" in page.read_text(encoding="utf-8").partition("<polyline")[0]


def test_a_folder_without_a_run_is_one_line_and_status_2(tmp_path: Path) -> None:
    for command in (["runs", "show"], ["runs", "compare"], ["diagnose", "run"]):
        done = vouch(*command, tmp_path)
        assert done.exit_code == 2
        assert "contains no run" in done.stderr
    assert vouch("runs", "export", tmp_path, "--out", tmp_path / "x").exit_code == 2


def test_what_another_command_left_is_no_training_run(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    note = {"command": "vouch bench run wice --split test", "settings": {"model": "embedded"}}
    (tmp_path / "bench/run.json").write_text(json.dumps(note), encoding="utf-8")
    done = vouch("runs", "show", tmp_path / "bench")
    assert (done.exit_code, "written by vouch bench run wice" in done.stderr) == (2, True)
    assert json.loads(vouch("runs", "list", tmp_path, "--json").stdout) == []


def test_an_evolution_is_no_training_run_but_those_below_it_are(tmp_path: Path) -> None:
    inner = tmp_path / "evolution/round-1/student/run"
    inner.mkdir(parents=True)
    for folder, kind in ((tmp_path / "evolution", "evolve"), (inner, "encoder")):
        (folder / "run.json").write_text(json.dumps({"kind": kind, "settings": {}}), encoding="utf-8")
    done = vouch("runs", "plot", tmp_path / "evolution", "--report", tmp_path / "page.html")
    assert (done.exit_code, "open its fingerprint.html" in done.stderr) == (2, True)
    assert [run["kind"] for run in json.loads(vouch("runs", "list", tmp_path, "--json").stdout)] == ["encoder"]


def test_a_run_that_has_only_begun_can_be_shown_and_drawn(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/run.json").write_text('{"kind": "grpo", "settings": {}}', encoding="utf-8")
    assert vouch("runs", "show", tmp_path / "run").exit_code == 0
    assert vouch("runs", "list", tmp_path).exit_code == 0
    assert vouch("diagnose", "run", tmp_path / "run").exit_code == 0
    assert vouch("runs", "plot", tmp_path / "run", "--report", tmp_path / "page.html").exit_code == 0


def test_a_list_of_games_tells_whole_names_and_the_reward_of_who_is_trained_for(tmp_path: Path) -> None:
    kinds = {"assurance": ("approver", "generator", "submitted"), "blinded": ("checker", "solver", "supported")}
    for kind, (other, main, oracle) in kinds.items():
        folder = tmp_path / f"a-folder-with-a-long-name/{kind}"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({"kind": kind, "settings": {}}), encoding="utf-8")
        RunLog(folder).write(
            {
                "step": 1.0,
                "loss": 0.5,
                f"reward/{other}/total": 0.11,
                f"reward/{main}/total": 0.22,
                "oracle/a": 0.33 if kind == "assurance" else 0.44,
                f"oracle/{oracle}": 0.44,
            }
        )
    shown = vouch("runs", "list", tmp_path).stdout
    rows = [line.split() for line in shown.splitlines()]
    for kind in kinds:
        assert any(row.count("0.22") == 1 and row.count("0.44") == 1 for row in rows if kind in row)
    assert "…" not in shown
    folded = "".join(row[0] for row in rows[2:] if row)
    assert all(str(tmp_path / f"a-folder-with-a-long-name/{kind}") in folded for kind in kinds)


def test_a_folder_without_any_run_is_an_empty_list_and_says_so(tmp_path: Path) -> None:
    result = vouch("runs", "list", tmp_path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"vouch: no run was found in {tmp_path}: create one with vouch train --out\n"
    assert json.loads(vouch("runs", "list", tmp_path, "--json").stdout) == []
