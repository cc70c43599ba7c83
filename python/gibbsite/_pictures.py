# SPDX-License-Identifier: Apache-2.0
"""Restoration of noisy pictures, and segmentation of pictures into regions."""
from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._data import Path, Picture, is_path, picture_of
from ._results import Report, _Told, _warn
from ._text import INT_MAX, MOST, real, whole

if TYPE_CHECKING:
    from ._model import Model

NOISES, SMOOTHINGS = ("flip", "gauss"), ("potts", "quadratic")  # gbs_noise, gbs_smoothing
MIDDLE = 0xFFFFFFFF


def _named(option, text, names, default):
    """Returns the number of a name, and the number after ':' or NaN."""
    if text is None:
        return default, float("nan")
    name, colon, number = str(text).partition(":")
    try:
        value = float(number) if colon else float("nan")
    except ValueError:
        value, name = float("nan"), ""
    if name not in names:
        raise ValueError(f"{option}: found {text!r}, expected {' or '.join(names)}, perhaps with a number as in {names[0]}:0.1")
    return names.index(name), value


class Denoised(Report, _Told):
    """A restored picture; see gibbsite/denoise.h.

    picture : the most probable level of each pixel, a Picture
    mean : the mean level, as a grey picture; not for labels
    uncertainty : the probability that a pixel of ``picture`` is wrong, as a grey picture in which white is 1 - 1/levels
    best : the most probable picture as a whole, with best=True
    p, errors : [height, width, levels] probabilities and their standard errors
    noise, noise_level, coupling : given or estimated values; ``noise_error`` and ``coupling_error`` are standard errors of
        estimates, and 0 for given values
    wrong : with truth: {noisy_wrong, wrong, noisy_square, square, expected_wrong}, the figures of ``gibbsite denoise --truth``
    """

    picture: Picture
    mean: Picture | None
    uncertainty: Picture
    best: Picture | None
    noise: str
    noise_level: float
    noise_error: float
    coupling: float
    coupling_error: float
    levels: int
    wrong: dict[str, float] | None

    def __init__(self, about: dict[str, Any]):
        kept = ("marginals", "summary", "picture", "mean", "uncertainty", "best", "errors")
        super().__init__({k: x for k, x in about.items() if k not in kept})
        self.summary = {**json.loads(about["summary"]), "stopped": about["stopped"]}
        pictures = {k: Picture(about[k]) for k in ("picture", "mean", "uncertainty", "best") if k in about}
        self.picture, self.uncertainty = pictures["picture"], pictures["uncertainty"]
        self.mean, self.best = pictures.get("mean"), pictures.get("best")
        self.wrong = about["errors"]
        shape = (*self.picture.shape[:2], self.levels)
        self.p, self.errors = (np.asarray(x).reshape(shape) for x in about["marginals"])

    def to_numpy(self) -> npt.NDArray[Any]:
        """The array [height, width] of ``picture``."""
        return self.picture.to_numpy()

    def _shown(self):
        level = f"{self.noise}:{self.noise_level:.4g}" + (f" +- {self.noise_error:.2g}" if self.noise_error > 0 else "")
        coupling = f"{self.coupling:.4g}" + (f" +- {self.coupling_error:.2g}" if self.coupling_error > 0 else "")
        shown = [("pixels", f"{self.picture.shape[1]} x {self.picture.shape[0]}"), ("levels", self.levels), ("noise", level),
                 ("coupling", coupling)]
        if self.wrong:
            shown.append(("wrong pixels", f"{100 * self.wrong['wrong']:.3g} %, {100 * self.wrong['noisy_wrong']:.3g} % seen"))
        return shown


def denoise(image: Any, *, noise: str | None = None, coupling: float | None = None, levels: int | None = None,
            labels: bool = False, smoothing: str = "potts", neighbours: int = 4,
            truth: Any = None, best: bool = False, **options: Any) -> Denoised:
    """Restore a noisy picture, as ``gibbsite denoise`` does.

    image : a path, a Picture, or an array: [height, width] of bool (True is black), uint8, uint16, or [height, width, 3]
    noise : "flip:P", "gauss:S", or a kind without a number; a number that is not given is estimated. The default kind is flips if
        the picture has no more values than levels
    coupling : cost of neighbours that differ; estimated if it is not given
    levels : number of levels of the picture without noise; 2 if it is not given
    labels : whether values of pixels are labels, 0 to levels - 1
    smoothing : "potts", "quadratic" or "quadratic:T"
    neighbours : 4 or 8
    truth : the picture without noise, to compare with
    best : also search for the most probable picture as a whole
    options : those of ``gibbsite marginals``: sweeps, chains, seed, time, ...

    Raises Error for a picture that cannot be read, ArgumentError for options out of range, TypeError for other arrays.
    Warns NotConverged.

    >>> import gibbsite as gb
    >>> found = gb.denoise("examples/leaf-noisy.pbm", truth="examples/leaf.pbm", noise="flip:0.1", coupling=1.5)
    >>> found.picture, found.converged, found.wrong["wrong"] < 0.03
    (picture of 96 x 72 pixels, black and white, True, True)
    """
    from ._model import _ask
    kind, level = _named("noise", noise, NOISES, -1)
    smooth, truncation = _named("smoothing", smoothing, SMOOTHINGS, 0)
    how = (whole(levels or 0, "levels", 0, INT_MAX), bool(labels), whole(neighbours, "neighbours", 0, INT_MAX), kind, level,
           float("nan") if coupling is None else real(coupling, "coupling"), smooth, truncation if truncation == truncation else 0.0)
    return _warn(_ask(Denoised, _core.denoise, picture_of(image), None if truth is None else picture_of(truth), how,
                      "chains" in options, bool(best), options=options))


class Segments(Report, _Told):
    """The segmentation of a picture into regions; see gibbsite/segment.h.

    labels : [rows, columns] numbers of the classes of patches; ``classes`` has their names
    alone : [rows, columns] classes of the patches, each found without its neighbours
    shares : {class: share of the picture}
    p, errors : [rows, columns, classes] probabilities and their standard errors
    map : a Picture whose pixel values are classes; overlay : the picture in the colours of its classes
    right : with truth: {class: (patches in the truth, right, right alone)}; "all" stands for all classes
    target : (row, column, rows, columns) of patches, or None
    model : the factor graph of the patches
    """

    labels: npt.NDArray[np.uint32]
    alone: npt.NDArray[np.uint32]
    classes: list[str]
    map: Picture
    overlay: Picture
    model: Model
    target: tuple[int, int, int, int] | None
    scan: tuple[int, float, float] | None

    def __init__(self, about: dict[str, Any], classes: list[str]):
        from ._model import Model
        kept = ("marginals", "summary", "labels", "alone", "map", "overlay", "score", "score_alone", "shares", "model", "shape")
        super().__init__({k: x for k, x in about.items() if k not in kept})
        self.summary = {**json.loads(about["summary"]), "stopped": about["stopped"]}
        shape = about["shape"]
        self.classes = classes
        self.labels, self.alone = (np.asarray(about[k]).reshape(shape) for k in ("labels", "alone"))
        self.shares = dict(zip(classes, np.asarray(about["shares"]).tolist()))
        self.p, self.errors = (np.asarray(x).reshape(*shape, len(classes)) for x in about["marginals"])
        self.map, self.overlay = Picture(about["map"]), Picture(about["overlay"])
        self.model = Model._of(about["model"])
        self.right = None
        if about["score"] is not None:
            score, alone = (np.asarray(about[k]).astype(int).tolist() for k in ("score", "score_alone"))
            self.right = {name: (a[0], a[1], b[1]) for name, a, b in zip([*classes, "all"], score, alone)}

    def counts(self) -> dict[str, int]:
        """The number of patches that have each class, in the target if there is one."""
        row, column, rows, columns = self.target or (0, 0, *self.labels.shape)
        inside = self.labels[row:row + rows, column:column + columns]
        return {name: int((inside == k).sum()) for k, name in enumerate(self.classes)}

    def to_numpy(self) -> npt.NDArray[np.uint32]:
        """An array [rows, columns] of the numbers of the classes."""
        return self.labels

    def to_pandas(self) -> Any:
        """A row for each class: patches, and with truth: true, right, right_alone."""
        import pandas
        frame = pandas.DataFrame({"patches": self.counts()})
        if self.right is not None:
            for k, name in enumerate(("true", "right", "right_alone")):
                frame[name] = [self.right[c][k] for c in frame.index]
        return frame

    def _shown(self):
        right = self.right["all"] if self.right else None
        return [("patches", f"{self.labels.shape[0]} x {self.labels.shape[1]}"), *self.counts().items(),
                *([("right", f"{right[1]} of {right[0]}")] if right else [])]


class Aspects(Report):
    """Classes of patches for ``segment()``; ``gb.learn_aspects()`` learns them, ``gb.read_aspects()`` reads them.

    classes : names of the classes
    log_likelihood : mean ln P(words) of a patch; n_pictures, n_patches, iterations, ... : report of learning
    curve : [iterations, 4] with curve=True: iteration, ln P(words) of a patch, NaN, NaN
    """

    classes: list[str]
    log_likelihood: float
    n_pictures: int
    n_patches: int
    iterations: int
    curve: npt.NDArray[np.float64]

    def __init__(self, handle: Any, classes: list[str], about: dict[str, Any]):
        super().__init__(about)
        self.curve = np.asarray(about["curve"]) if "curve" in about else np.empty((0, 4))
        self._handle, self.classes = handle, classes

    @property
    def converged(self) -> bool:
        return bool(self.about.get("converged", True))

    @property
    def verdict(self) -> str:
        if "iterations" not in self.about:
            return "read from a file"
        return f"{'converged' if self.converged else 'not converged; try more iterations'}: {self.iterations} iterations"

    def segment(self, image: Any, *, coupling: float | None = None, neighbours: int = 4, target: Sequence[int] | None = None,
                truth: Any = None, **options: Any) -> Segments:
        """Cut a picture into regions of the classes, as ``gibbsite segment`` does.

        image : a path, a Picture, or an array of uint8, [height, width] or [height, width, 3]
        coupling : number that is added to the log-weight if neighbouring patches have equal classes; 0.48 if it is not given
        neighbours : 4 or 8
        target : (rows, columns) of patches in the middle, or (row, column, rows, columns): only this rectangle is segmented
        truth : a label map, whose pixel values are classes, to compare with
        options : those of ``gibbsite marginals``: sweeps, chains, seed, time, scan, ...

        Raises Error for a picture that cannot be read, ArgumentError for a picture smaller than a patch. Warns NotConverged.

        >>> import gibbsite as gb
        >>> found = gb.read_aspects("examples/ground.aspects").segment("examples/ground.png")
        >>> found.labels.shape, sum(found.counts().values()), found.converged
        ((15, 19), 285, True)
        """
        from ._model import _ask
        if target is not None:
            if len(target) not in (2, 4):
                raise ValueError(f"target: found {target!r}, expected (rows, columns) or (row, column, rows, columns)")
            target = tuple(whole(x, "target", 0, MOST) for x in (target if len(target) == 4 else (MIDDLE, MIDDLE, *target)))
            options = {"method": "sample", **options}
        return _warn(_ask(lambda about: Segments(about, self.classes), _core.segment, self._handle, picture_of(image),
                          None if truth is None else picture_of(truth), target, target is not None and "scan" not in options,
                          float("nan") if coupling is None else real(coupling, "coupling"), whole(neighbours, "neighbours", 0, MOST),
                          options=options))

    def write(self, path: Path) -> None:
        """Write the classes as text, which ``gb.read_aspects()`` and ``gibbsite segment`` read."""
        _core.write_aspects(self._handle, os.fspath(path))

    def _shown(self):
        return [("classes", " ".join(self.classes)), *((k, self.about[k]) for k in (
            "n_pictures", "n_patches", "texture_words", "color_words", "position_words", "log_likelihood") if k in self.about)]


def read_aspects(path: Path) -> Aspects:
    """Read classes that ``Aspects.write()`` or ``gibbsite learn aspects`` wrote. Raises Error for other files."""
    return Aspects(*_core.read_aspects(os.fspath(path)), {})


def learn_aspects(pictures: Any, *, patch: Sequence[int] | int | None = None, curve: bool = False, **options: Any) -> Aspects:
    """Learn classes from pictures whose contents are given, as ``gibbsite learn aspects`` does.

    pictures : the path of a list file (a line for each picture: its path relative to the list, and its classes), or a list of
        (path or array, classes)
    patch : the side of a patch in pixels, or (side, step to the next patch); (20, 10) if it is not given
    curve : keep the mean log-likelihood of each iteration
    options : those of ``gb.options("learn aspects")``

    Raises Error for pictures that cannot be read, or if two classes are always shown together. Warns NotConverged.

    >>> import gibbsite as gb
    >>> gb.learn_aspects("examples/ground/list.txt", seed=1).classes
    ['grass', 'tiles', 'gravel', 'planks']
    """
    import tempfile

    from ._model import _ask
    sides = (0, 0) if patch is None else tuple(patch) if isinstance(patch, Sequence) else (patch, 0)
    side, step = (whole(x, "patch", 0, MOST) for x in sides)
    with tempfile.TemporaryDirectory() as folder:
        path = os.fspath(pictures) if is_path(pictures) else os.path.join(folder, "list.txt")
        if not is_path(pictures):
            lines = []
            for i, (image, classes) in enumerate(pictures):
                name = os.path.join(folder, f"{i}.png")
                if is_path(image):
                    os.symlink(os.path.abspath(os.fspath(image)), name)
                else:
                    Picture(_core.read_picture(picture_of(image))).write(name)
                lines.append(" ".join([f"{i}.png", *([classes] if isinstance(classes, str) else classes)]) + "\n")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(lines)
        found = _ask(lambda found: Aspects(found[0][0], list(found[0][1]), found[1]), _core.learn_aspects, path, side, step,
                     bool(curve), options=options)
    return _warn(found)
