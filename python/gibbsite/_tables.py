# SPDX-License-Identifier: Apache-2.0
"""Tables in files, which the library reads as for the command line: gibbsite-formats(5), Tables of data."""
from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _core

if TYPE_CHECKING:
    from ._model import Model

Path = Union[str, "os.PathLike[str]"]


def tell(*told: str) -> None:
    """Warns, at the first caller outside this package."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    for text in told:
        warnings.warn(text, stacklevel=level)


def options_of_files(options: dict[str, Any]) -> dict[str, Any]:
    """Takes the options about tables in files out of those of a question: states="numbers", strict=True."""
    found = {k: options.pop(k) for k in ("states", "strict") if k in options}
    if found.get("states", "labels") not in ("labels", "numbers"):
        raise ValueError(f"states: found {found['states']!r}, expected 'labels' or 'numbers'")
    return found


def read_table(model: Model, path: Path, weights: str | None = None, complete: bool = False, states: str = "labels",
               strict: bool = False) -> tuple[Any, ...]:
    """Returns (columns, number of rows, states, weights or None) of a table of a model's variables."""
    if weights is not None and not isinstance(weights, str):
        raise TypeError(f"expected the name of the column of weights in {os.fspath(path)}, found {type(weights).__name__}")
    told: list[str] = []
    columns, n, x, w = _core.read_table(model._core, os.fspath(path), weights, complete, states == "numbers", bool(strict), told)
    tell(*told)
    return np.asarray(columns).tolist(), n, np.asarray(x), None if weights is None else np.asarray(w)


def read_draws(paths: Iterable[Path]) -> dict[str, Any]:
    """Returns {name: [chains, draws]} of tables of draws, which have a column of chains or one chain each."""
    told: list[str] = []
    draws = _core.read_draws(tuple(os.fspath(x) for x in paths), told)
    tell(*told)
    return {name: np.asarray(x) for name, x in draws.items()}
