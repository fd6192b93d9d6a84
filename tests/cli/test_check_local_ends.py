"""Ctrl-C while a model in this process computes."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.models.tiny_llama import write_tiny_llama

INTERRUPTED = """
import os, signal, sys, threading, time
from vouching.cli.app import main

def interrupt():
    while not any(thread.name == "vouching-batches" for thread in threading.enumerate()):
        time.sleep(0.01)
    time.sleep(0.5)
    print("interrupted", flush=True)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
sys.exit(main())
"""
"""The command line, which is interrupted half a second after a model began to compute."""


@pytest.mark.skipif(find_spec("torch") is None, reason="the extra train (torch) is not installed")
def test_an_interrupt_while_a_local_model_computes_ends_with_130_and_no_abort(tmp_path: Path) -> None:
    folder = write_tiny_llama(tmp_path, context=1 << 16)
    words = ["check", "It has two towers.", "--source-text", "It has one.", "--max-tokens", "50000"]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *words, "--model", f"local:{folder}"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stdout) == (128 + signal.SIGINT, "interrupted\n"), done.stderr
    assert "terminate called" not in done.stderr
