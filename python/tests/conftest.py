# SPDX-License-Identifier: Apache-2.0
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def clinic():
    import gibbsite as gb
    return gb.read(ROOT / "examples" / "clinic.bif")


@pytest.fixture(scope="session")
def program():
    """The command line of the same sources, built beside: GIBBSITE=build/cli/gibbsite."""
    path = os.environ.get("GIBBSITE")
    if not path:
        pytest.skip("GIBBSITE does not name the program")
    return os.path.join(ROOT, path) if not os.path.isabs(path) else path
