# SPDX-License-Identifier: Apache-2.0
"""Converts values of Python: names and labels become texts; numbers are checked before they become types of C."""
from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

MOST = 2**32 - 1  # largest number of a variable or state
INT_MAX = 2**31 - 1


def plain(x: Any) -> Any:
    """Returns Python's value of a NumPy scalar or array of one element, also inside a tuple, so that str() gives the text of
    Python's value."""
    if type(x) is tuple:
        return tuple(plain(part) for part in x)
    if isinstance(x, np.ndarray) and not x.ndim:
        x = x[()]
    if isinstance(x, np.floating):
        return float(str(x))  # 0.1 in single precision is 0.1
    if isinstance(x, np.generic) and x.dtype.kind not in "mM":
        x = x.item()
    return x.decode("utf-8", "surrogateescape") if isinstance(x, bytes) else x


def text(x: Any) -> str:
    """Returns the name or label that a value stands for."""
    return str(plain(x))


def texts(x: Any) -> tuple[str, ...]:
    """Returns the texts that a value may stand for, its own text first: 1 is "1", "1.0" or "True", because 1, 1.0 and True are
    equal in Python."""
    value = plain(x)
    forms = [str(value)]
    if isinstance(value, (int, float)) and math.isfinite(value) and value == int(value):
        forms += [str(int(value)), f"{int(value)}.0"]
        if value in (0, 1):
            word = str(bool(value))
            forms += [word, word.lower(), word.upper()]
    return tuple(dict.fromkeys(forms))


def place_of(places: Mapping[str, int], x: Any) -> int | None:
    """Returns the number of a text, or None."""
    return next((places[t] for t in texts(x) if t in places), None)


def is_missing(x: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT, pandas.NA, or masked."""
    return x is None or x is np.ma.masked or type(x).__name__ == "NAType" or (
        isinstance(x, (float, np.generic)) or type(x).__name__ == "NaTType") and bool(x != x)


# ---- numbers ------------------------------------------------------------------------------------


def _whole(x):
    """Returns a value as an int, or None if it is not a whole number: 2.0 is 2, but 2.5, "2" and 2j give None."""
    try:
        return operator.index(x)
    except TypeError:
        value = plain(x)
        return int(value) if isinstance(value, float) and value.is_integer() else None


def whole(x: Any, what: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """Returns a whole number in a range. Raises ValueError for other numbers, TypeError for values that are not numbers."""
    value = _whole(x)
    if value is None or not least <= value <= most:
        error = TypeError if value is None and not isinstance(x, (float, np.floating)) else ValueError
        raise error(f"{what}: found {x!r}, expected a whole number from {least} to {most}")
    return value


def wholes(x: npt.ArrayLike, what: str, least: int = 0, most: int = MOST) -> npt.NDArray[np.uint32]:
    """Returns an array of whole numbers. Raises as ``whole()`` does."""
    if np.ma.is_masked(x):
        raise ValueError(f"{what}: found masked values, expected all numbers")
    array = np.asarray(x)
    if array.dtype.kind in "bui" or not array.size:
        inside = array.size == 0 or (least <= int(array.min()) and int(array.max()) <= most)
    else:
        inside = False
    if not inside:  # slow path, which names the first wrong value
        array = np.array([whole(value, what, least, most) for value in array.ravel().tolist()], np.uint32).reshape(array.shape)
    return np.asarray(array, np.uint32, order="C")


def reals(x: npt.ArrayLike, what: str) -> npt.NDArray[np.float64]:
    """Returns an array of real numbers. Raises TypeError for numbers with an imaginary part, and for values that are not
    numbers."""
    if np.ma.is_masked(x):
        raise ValueError(f"{what}: found masked values, expected all numbers")
    array = np.asarray(x)
    if array.dtype.kind not in "buifO":
        raise TypeError(f"{what}: found {array.dtype}, expected real numbers")
    return np.asarray(array, np.float64, order="C")


def real(x: Any, what: str) -> float:
    """Returns a real number."""
    value = reals(x, what)
    if value.ndim:
        raise TypeError(f"{what}: found {value.ndim} dimensions, expected a number")
    return float(value)
