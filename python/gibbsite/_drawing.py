# SPDX-License-Identifier: Apache-2.0
"""Drawings of models, which need no other library."""
from __future__ import annotations

import os


class Drawing:
    """A drawing as SVG, which notebooks show. ``svg`` is its text; ``save("FILE.svg")`` writes a file."""

    def __init__(self, svg: str):
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file for a browser."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<gibbsite.Drawing: {len(self.svg.encode())} bytes of SVG>"


def shown(draw, n_variables):
    """The drawing of a model as a part of a page, or "" if the model is large: ``draw`` makes the Drawing."""
    return f'<div style="overflow-x:auto">{draw().svg}</div>' if 0 < n_variables <= 60 else ""
