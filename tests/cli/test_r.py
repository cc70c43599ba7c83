# SPDX-License-Identifier: Apache-2.0
"""The code of docs/r.md runs in R and finds what gibbsite says."""
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

PAGE = (ROOT / "docs" / "r.md").read_text()


def has(package):
    return shutil.which("Rscript") is not None and subprocess.run(
        ["Rscript", "-e", f"library({package})"], capture_output=True).returncode == 0


@pytest.mark.parametrize("package, ends", [("posterior", ["-o", "draws.csv"]), ("coda", ["--format", "coda", "-o", "clinic"])])
def test_page(run, work, package, ends):
    if not has(package):
        pytest.skip(f"R and its package {package} are not installed")
    asked = ["--sweeps", "2000", "--chains", "4"]
    clinic = str(ROOT / "examples" / "clinic.bif")
    done = run("sample", clinic, "-e", "fever=yes", *asked, "--monitor", "influenza,cold", *ends)
    assert done.status == 0, done.err
    code = next(c for c in re.findall(r"```r\n(.*?)```", PAGE, re.S) if f"library({package})" in c)
    (work / "page.R").write_text(code)
    found = subprocess.run(["Rscript", "page.R"], cwd=work, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    if package == "coda":
        assert "influenza" in found.stdout and "Point est." in found.stdout
        return
    exact = run("marginals", clinic, "-e", "fever=yes", "--query", "influenza", "--format", "csv").out
    wanted = float(next(line.split(",")[2] for line in exact.splitlines() if line.startswith("influenza,yes")))
    assert float(found.stdout.split()[-1]) == pytest.approx(wanted, abs=0.04)
