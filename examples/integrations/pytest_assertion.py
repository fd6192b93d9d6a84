"""pytest: a test that a summary follows its documents; in a project, pytest --vouch-report checks.html.

Prints:
    1 failed
"""

import subprocess
import sys
import tempfile
from pathlib import Path

TEST = """
def test_the_summary_follows_its_documents(assert_attributable):
    assert_attributable("The bridge opened in 1937.", ["The bridge opened in 1973."])
"""

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "test_summary.py").write_text(TEST, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--vouch-report", "checks.html", "test_summary.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "- The bridge opened in 1937." in done.stdout, done.stdout + done.stderr
    assert "Change 1937 to 1973." in Path(folder, "checks.html").read_text(encoding="utf-8")
print(done.stdout.strip().splitlines()[-1].split(" in ")[0])
