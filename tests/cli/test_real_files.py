# SPDX-License-Identifier: Apache-2.0
"""Every file of the collection of real files is read, or refused with the place, as listed."""
import importlib.util
import os
import pathlib

import pytest

from conftest import FULL, ROOT

DATA = ROOT.parent / "shared" / "data"


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no real files: {DATA} is not there")
@pytest.mark.long
def test_every_file():
    """At full scale, else every fourth."""
    spec = importlib.util.spec_from_file_location("formats_table",
                                                  ROOT / "tools" / "formats_table.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    program = os.environ.get("GIBBSITE", str(ROOT / "build" / "gibbsite"))
    step = 1 if FULL else 4
    rows = list(tool.check(pathlib.Path(program).resolve(), DATA, step))
    assert len(rows) > 300 // step
    assert [row for row in rows if not row[3]] == []
    assert sum(row[1] == "refused" for row in rows) < 40
