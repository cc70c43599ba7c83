# SPDX-License-Identifier: Apache-2.0
"""The examples print what they say; what depends on a clock goes to standard error."""
import subprocess
import sys

import pytest
from conftest import ROOT

SAYS = {
    "medical.py": ["(exact)", "P(asia, dysp) = 0.004501375", "xray   no 0.0012   yes 0.4887", "10000 cases",
                   "NumPy agrees on 200 cases"],
    "denoising.py": ["wrong pixels: 402 seen", "converged", "largest difference below 0.15: True, mean below 0.01: True"],
    "transition.py": ["J = 0.2000: energy -0.42", "plane -1.106", "NumPy agrees within 4 errors: True"],
}


@pytest.mark.parametrize("name", sorted(SAYS))
def test_example(name):
    done = subprocess.run([sys.executable, ROOT / "examples" / "python" / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for text in SAYS[name]:
        assert text in done.stdout
