# SPDX-License-Identifier: Apache-2.0
"""Converts data to the forms that the library takes: rows of states, sequences, pictures.

The path of a file may take the place of any data.
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._results import Draws
from ._tables import Path, read_table, tell
from ._text import MOST, is_missing, reals, text, whole, wholes

UNOBSERVED = 0xFFFFFFFF  # GBS_UNOBSERVED
BITMAP, GREY, COLOR, PALETTE = range(4)  # gbs_image_kind

Table = Any  # a path, DataFrame, dict of columns, list of dicts, array of numbers of states, or Draws


def is_path(x: Any) -> bool:
    return isinstance(x, (str, os.PathLike))


def options_of(given: Mapping[str, Any], **named: Any) -> dict[str, Any]:
    """Merges options that are given by name with arguments that have their own parameters; None means not given."""
    return {**given, **{k: x for k, x in named.items() if x is not None}}


# ---- rows of states -----------------------------------------------------------------------------


def columns_of(table: Table) -> tuple[dict[str, list[Any]], Any, int]:
    """Returns a dict of columns, the labels of rows, and the number of rows."""
    if isinstance(table, Sequence) and table and isinstance(table[0], Mapping):
        table = {name: [row.get(name) for row in table] for name in dict.fromkeys(n for row in table for n in row)}
    if hasattr(table, "columns") and hasattr(table, "index"):
        if len({text(c) for c in table.columns}) < len(table.columns):
            raise ValueError("two columns have the same name")
        columns = {text(c): table[c].astype(object).tolist() for c in table.columns}
        return columns, table.index, len(table)
    if not isinstance(table, Mapping):
        raise TypeError(f"expected a DataFrame, a dict of columns, a list of dicts or a path, found {type(table).__name__}")
    single = next((c for c, x in table.items() if isinstance(x, (str, bytes)) or not isinstance(x, Iterable)), None)
    if single is not None:
        raise TypeError(f"expected a column of values for {single!r}, found {table[single]!r}")
    columns = {text(c): list(x) for c, x in table.items()}
    if len(columns) < len(table):
        raise ValueError("two columns have the same name")
    lengths = {len(x) for x in columns.values()} if columns else {0}
    if len(lengths) != 1:
        raise ValueError(f"columns have {', '.join(map(str, sorted(lengths)))} rows, expected as many in each")
    return columns, None, lengths.pop()


def _is_array(table):
    return isinstance(table, (np.ndarray, Draws)) or (isinstance(table, Sequence) and not isinstance(table, (str, bytes)) and
                                                      not (table and isinstance(table[0], Mapping)))


def states_of(array: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    """Returns an array [rows, columns] of numbers of states; values below 0, NaN and masked values mean not observed."""
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    x = np.asarray(np.ma.getdata(array) if masked is not None else array)
    if x.ndim != 2 or x.dtype.kind not in "buif":
        raise TypeError(f"expected an array [rows, columns] of numbers of states, found {x.ndim} dimensions of {x.dtype}")
    missing = x != x if x.dtype.kind == "f" else np.zeros(x.shape, bool)
    if x.dtype.kind in "if":
        missing = missing | (x < 0)
    if masked is not None:
        missing = missing | masked
    states = wholes(np.where(missing, 0, x), "numbers of states", 0, UNOBSERVED - 1)
    return np.where(missing, np.uint32(UNOBSERVED), states)


# ---- rows of a model's variables ----------------------------------------------------------------


def model_data(model: Any, table: Table, weights: Any = None, complete: bool = False, **of_tables: Any) -> tuple[Any, ...]:
    """Returns (columns, number of rows, states, weights or None) of a table of a model's variables.

    complete : whether each variable with several states must have a column, as for a pseudo-likelihood
    of_tables : states and strict, for tables with names of columns
    """
    column = weights if isinstance(weights, str) else None
    if is_path(table):
        columns, _, states, read = read_table(model, table, column, complete, **of_tables)
        weights = weights if column is None else read
    elif of_tables and (isinstance(table, Draws) or _is_array(table)):
        raise ValueError(f"{', '.join(of_tables)}: said of a table without names of columns")
    elif isinstance(table, Draws):
        columns = [model._find(n) for n in table.names]
        states = np.ascontiguousarray(table.to_numpy().reshape(-1, len(columns)), np.uint32)
    elif _is_array(table):
        states = states_of(table)
        if states.shape[1] != len(model):
            raise ValueError(f"found {states.shape[1]} columns, expected one of each of {len(model)} variables; a DataFrame or a "
                             f"dict names those that there are")
        columns = list(range(len(model)))
    else:
        cells = columns_of(table)[0]
        if list(cells)[:2] == ["chain", "draw"] and list(cells)[2:3] != ["lp"] and "chain" not in model.names:
            cells = dict(list(cells.items())[2:])  # columns of chains and draws, as in Draws.to_pandas()
        columns, _, states, read = read_table(model, cells, column, complete, **of_tables)
        weights = weights if column is None else read
    if complete:
        lacking = [v for v in set(range(len(model))) - set(columns) if len(model._labels(v)) > 1]
        if lacking:
            raise ValueError(f"found no column of variable {model.names[min(lacking)]}, expected one of each variable")
    if weights is not None:
        weights = reals(weights, "weights").ravel()
        if len(weights) != len(states):
            raise ValueError(f"found {len(weights)} weights of {len(states)} rows")
    return columns, len(states), np.ascontiguousarray(states), weights


def share_of(held_out: Any) -> float | None:
    """Returns a share of rows, given as 0.2 or "20%"; None if other data were given."""
    if isinstance(held_out, str):
        text = held_out[:-1] if held_out.endswith("%") else held_out
        try:
            share = float(text) * (0.01 if held_out.endswith("%") else 1.0)
        except ValueError:
            return None
    elif isinstance(held_out, (int, float, np.integer, np.floating)):
        share = float(held_out)
    else:
        return None
    if not 0.0 < share < 1.0:
        raise ValueError(f"held_out: found {held_out}, expected rows, or a share above 0 and below 1")
    return share


def hold_out(data: tuple[Any, ...], share: float) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Chooses the held-out rows among n rows: floor(n share) rows, evenly spread, as in gibbsite fit --held-out."""
    columns, n, states, weights = data
    at = np.arange(n, dtype=np.float64)
    out = np.floor((at + 1.0) * share) > np.floor(at * share)
    parts = []
    for chosen in (~out, out):
        parts.append((columns, int(chosen.sum()), np.ascontiguousarray(states[chosen]),
                      None if weights is None else np.ascontiguousarray(weights[chosen])))
    return parts[0], parts[1]


def split(model: Any, data: Table, held_out: Any, weights: Any, complete: bool = False, **of_tables: Any) -> tuple[Any, Any]:
    """Returns the rows for learning, and the held-out rows or None."""
    rows = model_data(model, data, weights, complete, **of_tables)
    if held_out is None:
        return rows, None
    share = share_of(held_out)
    if share is not None:
        return hold_out(rows, share)
    return rows, model_data(model, held_out, weights if isinstance(weights, str) else None, complete, **of_tables)


def _site_state(name, x):
    if is_missing(x):
        raise ValueError(f"found a missing value in the column {name!r}: rows of sites have none")
    return x if isinstance(x, str) else str(whole(x, f"the column {name!r}", 0, MOST))


def site_rows(table: Table, name: str = "rows") -> tuple[Any, ...]:
    """Returns rows of states of sites that all have the same number of states, as gibbsite/machines.h reads them."""
    if is_path(table):
        return os.fspath(table), None
    if isinstance(table, Draws):
        table = dict(zip(table.names, table.to_numpy().reshape(-1, len(table.names)).T))
    if _is_array(table):
        states = states_of(table)
        if (states == UNOBSERVED).any():
            raise ValueError("rows of sites have no missing values")
        return states.shape[1], max(2, int(states.max(initial=0)) + 1), np.ascontiguousarray(states)
    columns, _, _ = columns_of(table)
    lines = [columns.keys(), *zip(*([_site_state(name, x) for x in values] for name, values in columns.items()))]
    return name, "".join(",".join(f'"{x}"' if "," in x or '"' in x else x for x in line) + "\n" for line in lines).encode()


# ---- sequences ----------------------------------------------------------------------------------


def sequences_of(data: Any, name: str = "sequences") -> tuple[str, bytes | None]:
    """Converts column data: a path, the bytes of a file, or a list of sequences. A sequence is a list of tokens, or a DataFrame
    with a row for each token; a token is a text or a tuple of texts."""
    if is_path(data):
        return os.fspath(data), None
    if isinstance(data, (bytes, bytearray)):
        return name, bytes(data)
    parts = []
    for sequence in [data] if hasattr(data, "columns") else data:
        tokens = sequence.itertuples(index=False) if hasattr(sequence, "columns") else sequence
        for token in tokens:
            texts = [token] if isinstance(token, str) else [str(x) for x in token]
            for text in texts:
                if not text or any(c.isspace() for c in text):
                    raise ValueError(f"found the text {text!r}, expected one without blanks")
            parts.append("\t".join(texts))
        parts.append("")
    return name, ("\n".join(parts) + "\n").encode("utf-8", "surrogateescape")


# ---- pictures -----------------------------------------------------------------------------------


class Picture:
    """A picture. ``to_numpy()`` is [height, width], or [height, width, 3] in colour. Values are bool in black and white (True is
    black), else uint8, or uint16 if the largest value is above 255.

    >>> import gibbsite as gb
    >>> gb.read_picture("examples/leaf.pbm")
    picture of 96 x 72 pixels, black and white
    """

    def __init__(self, parts: tuple[Any, Any, int, int]):
        self._handle, samples, self.kind, self.maxval = parts
        array = np.asarray(samples)
        self._array = array.astype(bool if self.kind == BITMAP else np.uint8 if self.maxval < 256 else np.uint16)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    def to_numpy(self) -> npt.NDArray[Any]:
        return self._array

    def __array__(self, dtype: Any = None) -> npt.NDArray[Any]:
        return np.asarray(self._array, dtype)

    def write(self, path: Path) -> None:
        """Write a file .png, .pbm, .pgm or .ppm."""
        _core.write_picture(self._handle, os.fspath(path))

    def _repr_png_(self):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            self.write(os.path.join(folder, "p.png"))
            with open(os.path.join(folder, "p.png"), "rb") as file:
                return file.read()

    def __repr__(self) -> str:
        words = ("black and white", "grey", "colour", "palette")[self.kind]
        return f"picture of {self.shape[1]} x {self.shape[0]} pixels, {words}"


def picture_of(image: Any) -> Any:
    """Converts a path, a Picture, or an array: [height, width] of bool (True is black), or of uint8 or uint16 (grey), or [height,
    width, 3] of uint8 or uint16 (colour)."""
    if is_path(image):
        return (os.fspath(image),)
    if isinstance(image, Picture):
        return image._handle
    x = np.asarray(image)
    if x.dtype not in (np.dtype(bool), np.dtype(np.uint8), np.dtype(np.uint16)) or not (
            x.ndim == 2 or (x.ndim == 3 and x.shape[2] == 3 and x.dtype != bool)):
        raise TypeError(f"expected a picture of bool, uint8 or uint16, [height, width] or [height, width, 3], found {x.dtype} "
                        f"{x.shape}")
    kind = COLOR if x.ndim == 3 else BITMAP if x.dtype == bool else GREY
    most = 1 if kind == BITMAP else 255 if x.dtype == np.uint8 else 65535
    return kind, x.shape[1], x.shape[0], most, np.ascontiguousarray(x, np.uint16)


def read_picture(path: Path) -> Picture:
    """Read a picture: PNG, JPEG or PNM."""
    return Picture(_core.read_picture((os.fspath(path),)))
