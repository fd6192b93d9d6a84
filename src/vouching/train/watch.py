# pyright: basic
"""After every step of a TRL run: score ``dev`` when due, log, check for alarms, choose the best checkpoint.

Evaluations coincide with checkpoints, so that the best step is kept. Every process does the same, the first one writes:
decisions rest on numbers that all processes have. Not supported: early stopping without an alarm.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from vouching.errors import ConfigError
from vouching.methods.training import WatchSettings
from vouching.train.extra import imported
from vouching.train.monitor import Alarm, alarms
from vouching.train.run_folder import Record, RunLog, columns_of

TELL_EVERY = 10
"""Steps between lines of progress."""
_TOLD = ("loss", "oracle/", "kl", "readable")
"""What lines of progress show besides rewards, the share of truncated completions, and the figure for the best step."""


@dataclass(frozen=True, slots=True)
class Dev:
    """How held-out rows are scored."""

    score: Callable[[], Mapping[str, float]]
    """Gives the figures as of now; every process calls it at the same steps."""
    best_by: str
    """The figure that the best checkpoint is chosen by."""
    higher_is_better: bool = True
    """Which way is better."""


class Watch:
    """Called after every step.

    Args:
        log: the log of the run.
        settings: how the run is watched.
        say: takes lines of progress.
        dev: how ``dev`` is scored; None if there is none.
    """

    def __init__(
        self, log: RunLog, settings: WatchSettings, say: Callable[[str], None], dev: Dev | None = None
    ) -> None:
        if dev is not None and settings.evaluate_every % settings.checkpoint_every:
            raise ConfigError(
                f"watch.evaluate_every ({settings.evaluate_every}) must be a multiple of watch.checkpoint_every "
                f"({settings.checkpoint_every}): the best step is kept as a checkpoint"
            )
        self._log, self._settings, self._say, self._dev = log, settings, say, dev
        self._since, self._told = time.monotonic(), len(log.records)
        self._logged = self._since
        self.alarm: Alarm | None = None
        """The alarm that ended the run."""
        self.worth: float | None = None
        """Score of this step's weights on ``dev``, higher is better; None where they were not scored."""

    def step(self, record: Record, transcripts: Sequence[Mapping[str, Any]], steps: int) -> None:
        """Process one step of ``steps``. Raises InputError if the log cannot be written."""
        number, self.worth = int(record["step"]), None
        if self._dev is not None and (number % self._settings.evaluate_every == 0 or number == steps):
            found, name = self._dev.score(), self._dev.best_by
            if name in found:
                self.worth = found[name] * (1 if self._dev.higher_is_better else -1)
            else:  # a judge that failed on all rows, which is not a score
                self._say(
                    f"the evaluation on dev in step {number:,} has no {name}, so this step cannot be the best one; it "
                    f"has {', '.join(found)}"
                )
            record = {**record, **{f"dev/{name}": value for name, value in found.items()}}
        now = time.monotonic()
        record, self._logged = {**record, "time/all": now - self._logged}, now
        whole = self._log.write(record, transcripts[: self._settings.transcripts])
        if number % TELL_EVERY == 0 or number == steps or self.worth is not None:
            self._tell(whole, steps)
        for alarm in alarms(columns_of(self._log.records)):
            if alarm.step == number:
                self._say(f"alarm in step {number:,}: {alarm.kind} ({alarm.about}): {alarm.message}")
                if self._settings.on_alarm == "stop":
                    self.alarm = self.alarm or alarm

    def _tell(self, record: Record, steps: int) -> None:
        number, now = int(record["step"]), time.monotonic()
        each = (now - self._since) / max(1, number - self._told)
        self._since, self._told = now, number
        best = None if self._dev is None else f"dev/{self._dev.best_by}"
        parts = [f"{name} {value:.3g}" for name, value in record.items() if name == best or _is_shown(name)]
        self._say(
            f"step {number:,} of {steps:,}: {', '.join(parts)}; {each:.2g} s per step, "
            f"{each * (steps - number) / 60:.0f} min left"
        )


def steer(trainer: Any, watch: Watch, every: int = 1) -> None:
    """Let a watch end the run or choose its best checkpoint; call it after the callback that feeds the watch.

    Args:
        trainer: of TRL.
        watch: what has seen the step.
        every: steps between those in which a checkpoint can be written; a run ends in one of them.
    """

    def steered(state: Any, control: Any, _: Mapping[str, Any]) -> None:
        if watch.worth is not None and (state.best_metric is None or watch.worth > state.best_metric):
            state.best_metric, state.best_global_step = watch.worth, state.global_step
            control.should_save = True
        if watch.alarm is not None and state.global_step % every == 0:
            control.should_save = control.should_training_stop = True

    after_steps(trainer, steered)


def after_steps(trainer: Any, call: Callable[[Any, Any, Mapping[str, Any]], None]) -> None:
    """Have ``call`` called after every step, before a checkpoint is written, with TRL's state, control and log."""

    class AfterStep(imported("transformers").TrainerCallback):
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs is not None and "loss" in logs:
                call(state, control, logs)

    trainer.add_callback(AfterStep())


def also_learnt(learned: Sequence[object], scored: Sequence[object]) -> str:
    """A warning about rows to score that are also trained on, whatever their ids; empty if there are none.

    >>> also_learnt([{"id": "a", "prompt": "Hi"}, {"id": "b", "prompt": "Ho"}], [{"id": "c", "prompt": "Ho"}])
    ', 1 of which is also trained on: its figures do not measure generalisation'
    """
    known = set(map(_unnamed, learned))
    count = sum(_unnamed(row) in known for row in scored)
    if not count:
        return ""
    are, their = ("is", "its") if count == 1 else ("are", "their")
    return f", {count:,} of which {are} also trained on: {their} figures do not measure generalisation"


def _unnamed(row: object) -> str:
    if not isinstance(row, Mapping):
        return repr(row)
    fields = cast("Mapping[str, object]", row)
    return repr(sorted((key, value) for key, value in fields.items() if key != "id"))


def _is_shown(name: str) -> bool:
    """Whether a line of progress shows a number."""
    table, _, last = name.partition("/")
    return name.startswith(_TOLD) or (table, last.rpartition("/")[2]) in (("reward", "total"), ("length", "cut"))
