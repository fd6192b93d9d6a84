"""The log of a run has every step once, whatever happened, and tells energy as it says it does."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.house.source_tree import ROOT
from vouching.errors import ConfigError, InputError
from vouching.methods.training import PowerSettings
from vouching.train.run_folder import METRICS, TRANSCRIPTS, RunLog, columns_of, read_lines, read_records


def said(step: int) -> list[dict[str, str]]:
    return [{"role": "verifier", "text": f"said in {step}"}]


@given(ran=st.integers(0, 12), done=st.integers(0, 12), torn=st.integers(0, 30))
def test_a_run_that_goes_on_has_every_step_once_in_order(
    tmp_path_factory: pytest.TempPathFactory, ran: int, done: int, torn: int
) -> None:
    folder, done = tmp_path_factory.mktemp("run"), min(ran, done)
    log = RunLog(folder)
    for step in range(1, ran + 1):
        log.write({"loss": step / 10}, said(step))
    for name in (METRICS, TRANSCRIPTS):
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write('{"step": 1, "loss": 0.123456789, "kl'[:torn])  # half a line, as a kill leaves it
    log = RunLog(folder, done)
    for step in range(done + 1, 14):
        log.write({"step": step, "loss": step / 10}, said(step))
    assert [(one["step"], one["loss"]) for one in read_records(folder)] == [(n, n / 10) for n in range(1, 14)]
    assert [one["text"] for one in read_lines(folder / TRANSCRIPTS)] == [f"said in {n}" for n in range(1, 14)]


def test_a_step_that_is_not_the_next_is_refused(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    log.write({"loss": 1.0})
    for step in (1, 3):
        with pytest.raises(InputError, match=f"step {step} cannot be logged after step 1"):
            log.write({"step": step})


def test_a_log_that_lacks_steps_of_its_checkpoint_is_refused(tmp_path: Path) -> None:
    RunLog(tmp_path).write({"loss": 1.0})
    with pytest.raises(InputError, match="has 1 steps, but the checkpoint has 2"):
        RunLog(tmp_path, done=2)


def test_energy_adds_up_over_devices_and_over_a_resumed_run(tmp_path: Path) -> None:
    power = PowerSettings(watts=400, pue=1.4, intensity=0.41)
    log = RunLog(tmp_path, power=power, devices=2)
    log.write({"time/step": 1800.0})
    log = RunLog(tmp_path, done=1, power=power, devices=2)
    last = log.write({"time/step": 1800.0})
    # Two devices for one hour: 2 h x 400 W x 1.4 = 1.12 kWh, x .41 = .4592 kg.
    assert last["energy/device_hours"] == 2.0
    assert last["energy/kwh"] == pytest.approx(1.12)
    assert last["energy/kg_co2e"] == pytest.approx(0.4592)


def test_a_cpu_uses_less_than_a_gpu_unless_its_power_is_set(tmp_path: Path) -> None:
    hour = {"loss": 1.0, "time/step": 3600.0}
    # 65 W, or the 200 W that are set, for an hour with a PUE of 1.4.
    for power, kwh in ((PowerSettings(), 0.091), (PowerSettings(watts=200), 0.28)):
        (folder := tmp_path / str(kwh)).mkdir()
        log = RunLog(folder, power=power, device="cpu")
        assert log.write(hour)["energy/kwh"] == pytest.approx(kwh)
    assert PowerSettings().kwh(1) == pytest.approx(0.42)
    with pytest.raises(ConfigError, match="watts must be at least 0"):
        PowerSettings(watts=-1)


@pytest.mark.parametrize(
    ("watts", "hours", "kwh", "carbon"),
    # SEVA, Table 23: 3B SFT, 3B GRPO, 7B SFT, SE R2, SE R3, SE R4. Its 3B-only row of 28 hours is their sum and idle.
    [
        (300, 4, 1.7, 0.7),
        (300, 16, 6.7, 2.8),
        (400, 7, 3.9, 1.6),
        (400, 5, 2.8, 1.1),
        (400, 21, 11.8, 4.8),
        (400, 72, 40.3, 16.5),
    ],
)
def test_energy_and_carbon_are_those_of_the_paper(watts: float, hours: float, kwh: float, carbon: float) -> None:
    power = PowerSettings(watts=watts)
    assert round(power.kwh(hours), 1) == kwh
    assert power.kwh(hours) * power.intensity == pytest.approx(carbon, abs=0.06)


def test_what_is_undefined_is_null_in_the_file_and_nan_when_read(tmp_path: Path) -> None:
    RunLog(tmp_path).write({"kl": math.nan, "entropy": math.inf})
    assert '"kl": null, "entropy": null' in (tmp_path / METRICS).read_text(encoding="utf-8")
    assert all(math.isnan(read_records(tmp_path)[0][name]) for name in ("kl", "entropy"))
    assert math.isnan(columns_of(read_records(tmp_path))["kl"][0])


def test_a_process_that_does_not_write_keeps_the_same_numbers(tmp_path: Path) -> None:
    first, other = RunLog(tmp_path), RunLog(tmp_path, writes=False)
    record = {"loss": 0.5, "time/step": 1.0}
    assert first.write(record) == other.write(record)
    assert len(read_records(tmp_path)) == 1


def test_a_line_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / METRICS).write_text('{"step": 1}\n[2]\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 2 must be a JSON object, got"):
        read_records(tmp_path)


def test_a_full_disk_leaves_whole_lines_and_says_how_to_go_on(tmp_path: Path) -> None:
    code = """
import resource, sys
from pathlib import Path
from vouching.errors import InputError
from vouching.train.run_folder import RunLog, read_records
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
log = RunLog(Path(sys.argv[1]))
try:
    while True:
        log.write({"loss": 0.5})
except InputError as error:
    print(error)
print(len(read_records(Path(sys.argv[1]))) == len(log.records) > 3)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "free some space and continue with --resume" in done.stdout
    assert done.stdout.endswith("True\n")
    assert (tmp_path / METRICS).read_bytes().endswith(b"}\n")
