# SPDX-License-Identifier: Apache-2.0
"""Pages with blocks of Python print what they show, by tools/blocks.py."""
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import blocks

PAGES = [page for page in blocks.pages() if any(block.kind == "python" for block in blocks.read(page.read_text()))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(tmp_path, page, program, monkeypatch):
    monkeypatch.setenv("GIBBSITE", program)
    outcome = blocks.run_page(page.read_text(), tmp_path, python=True)
    assert outcome.wrong == [], "\n".join(outcome.wrong)
