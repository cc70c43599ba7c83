# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings print what they say, from the root of the sources."""
import doctest
import importlib

import pytest
from conftest import ROOT

MODULES = ["_data", "_learning", "_making", "_model", "_pictures", "_results", "_sequences", "_trust"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    module = importlib.import_module(f"gibbsite.{name}")
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0
    assert found.attempted > 0 or name == "_results"
