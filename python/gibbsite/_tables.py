# SPDX-License-Identifier: Apache-2.0
"""Tables in files and frames, which the library reads as for the command line: gibbsite-formats(5), Tables of data."""
from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _core
from ._text import is_missing, text, texts

if TYPE_CHECKING:
    from ._model import Model

Path = Union[str, "os.PathLike[str]"]


def tell(*told: str) -> None:
    """Warns, with the position of the first caller outside this package."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    for text in told:
        warnings.warn(text, stacklevel=level)


def options_of_tables(options: dict[str, Any]) -> dict[str, Any]:
    """Removes the options about tables in files from the options of a question: states="numbers", strict=True."""
    found = {k: options.pop(k) for k in ("states", "strict") if k in options}
    if found.get("states", "labels") not in ("labels", "numbers"):
        raise ValueError(f"states: found {found['states']!r}, expected 'labels' or 'numbers'")
    return found


def _texts_of(column: Iterable[Any], labels: Mapping[str, int]) -> list[str | None]:
    """Returns the cells of a column as texts. A number becomes the label that is equal to it, and a missing value becomes
    None."""
    known: dict[Any, str | None] = {}

    def found(value: Any) -> str | None:
        if isinstance(value, str):
            return value if value in labels else value.strip()
        return None if is_missing(value) else next((t for t in texts(value) if t in labels), text(value))

    cells = []
    for value in column:
        key = (type(value), None if is_missing(value) else value)
        if key not in known:
            known[key] = found(value)
        cells.append(known[key])
    return cells


def _cells_of(model: Model, columns: Mapping[str, Iterable[Any]], weights: str | None, numbers: bool) -> dict[str, Any]:
    """Returns the columns of a frame as texts; None for columns that are left out."""
    numbers = numbers or (list(columns)[:3] == ["chain", "draw", "lp"] and "chain" not in model.names)  # of gibbsite sample
    cells: dict[str, Any] = {}
    lost = []
    for name, column in columns.items():
        v = model._called(name[1:] if numbers and name not in model.names and name[:1] == "x" else name)
        cells[name] = None if v is None and name != weights else _texts_of(column, {} if v is None or numbers else model._places(v))
        sign = None if v is None else next((s for s in _core.missing_signs() if s in model._places(v)), None)
        if sign is not None and None in cells[name]:
            lost.append(f"{name!r} has the state {sign!r}")
    if lost:
        tell(f"None and NaN are missing values, but {', '.join(lost[:5])}: pandas.read_csv() keeps such texts with "
             f"keep_default_na=False")
    return cells


def read_table(model: Model, table: Path | Mapping[str, list[Any]], weights: str | None = None, complete: bool = False,
               states: str = "labels", strict: bool = False) -> tuple[Any, ...]:
    """Returns (columns, number of rows, states, weights or None) of a table of a model's variables: a path, or {name: cells}."""
    frame = isinstance(table, Mapping)
    path = "table" if frame else os.fspath(table)  # type: ignore[arg-type]
    if weights is not None and not isinstance(weights, str):
        raise TypeError(f"expected the name of the column of weights in {path}, found {type(weights).__name__}")
    told: list[str] = []
    numbers = states == "numbers"
    cells = _cells_of(model, table, weights, numbers) if frame else None  # type: ignore[arg-type]
    n_rows = len(next(iter(table.values()), ())) if frame else 0  # type: ignore[union-attr]
    columns, n, x, w = _core.read_table(model._core, path, cells, n_rows, weights, complete, numbers, bool(strict), told)
    tell(*told)
    return np.asarray(columns).tolist(), n, np.asarray(x), None if weights is None else np.asarray(w)


def read_draws(paths: Iterable[Path]) -> dict[str, Any]:
    """Returns {name: [chains, draws]} of tables of draws. A table has a column of chains, or is one chain."""
    told: list[str] = []
    draws = _core.read_draws(tuple(os.fspath(x) for x in paths), told)
    tell(*told)
    return {name: np.asarray(x) for name, x in draws.items()}
