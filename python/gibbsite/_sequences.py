# SPDX-License-Identifier: Apache-2.0
"""Labels of sequences: conditional random fields."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._data import Path, is_path, sequences_of
from ._learning import Learnt
from ._results import Report, _warn
from ._text import INT_MAX, whole


class Labels(Report):
    """Labels that a conditional random field found.

    labels : a list of texts for each sequence
    posterior : [tokens, labels] probabilities of each label, with probabilities=True; columns are ``label_names``
    log_p : [sequences] ln of the probability of the labels found; NaN if probabilities come from chains
    accuracy : share of the labels that are right, with truth
    entities : {class: (true, found, correct, precision, recall, f1)} with truth; "" stands for all classes
    unseen_labels : number of tokens whose true label the model does not have, with truth; such tokens count as wrong
    unseen_tokens : number of tokens of which the model knows no feature, such as words that training never saw
    proved : number of sequences whose labels are proved to be the most probable ones
    """

    labels: list[list[str]]
    label_names: list[str]
    posterior: npt.NDArray[np.float64] | None
    log_p: npt.NDArray[np.float64] | None
    accuracy: float
    entities: dict[str, tuple[Any, ...]]
    unseen_labels: int
    unseen_tokens: int
    proved: int
    links: int
    updates: int

    def __init__(self, about: dict[str, Any], names: list[str]):
        super().__init__({k: x for k, x in about.items() if k not in ("labels", "posterior", "log_p", "scores", "first")})
        self._ids, first = np.asarray(about["labels"]), np.asarray(about["first"]).astype(int)
        self.label_names = names
        self.labels = [[names[y] for y in self._ids[a:b]] for a, b in zip(first[:-1], first[1:])]
        self.posterior = None if about["posterior"] is None else np.asarray(about["posterior"])
        self.log_p = None if about["log_p"] is None else np.asarray(about["log_p"])
        self.accuracy, rows, self.unseen_labels = about["scores"] or (float("nan"), [], 0)
        self.entities = {row[0]: tuple(row[1:]) for row in rows}

    @property
    def converged(self) -> bool:
        return self.about["unconverged"] == 0

    @property
    def verdict(self) -> str:
        if not self.converged:
            return (f"not converged: probabilities of {self.about['unconverged']} of {len(self.labels)} sequences; try more "
                    "sweeps, or method=\"exact\"")
        return "the most probable labels" if self.proved == len(self.labels) else "the best labels that were found"

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int) -> list[str]:
        return self.labels[i]

    def to_numpy(self) -> npt.NDArray[np.uint32]:
        """An array [tokens] of the numbers of labels."""
        return self._ids

    def to_pandas(self) -> Any:
        """A row for each token: sequence, label, and with probabilities a column for each label."""
        import pandas
        frame = pandas.DataFrame({"sequence": np.repeat(np.arange(len(self)), [len(x) for x in self.labels]),
                                  "label": [y for x in self.labels for y in x]})
        if self.posterior is not None:
            for k, name in enumerate(self.label_names):
                frame[name] = self.posterior[:, k]
        return frame

    def _shown(self):
        scored = [("right", f"{100 * self.accuracy:.2f} %")] if self.accuracy == self.accuracy else []
        return [("sequences", len(self)), ("tokens", len(self._ids)), *scored] + [
            (f"F1 of {name}" if name else "F1", f"{100 * score[5]:.2f}") for name, score in self.entities.items()]


class Crf(Learnt):
    """A conditional random field for sequences (Lafferty, McCallum & Pereira 2001); see gibbsite/crf.h.

    ``gb.learn_crf()`` learns a field, ``gb.read_crf()`` reads a field from a file.

    label_names : list of texts
    weights : [weights] values; ``to_pandas()`` describes each weight
    errors : [weights] standard errors, None unless errors=True found them; ``no_errors`` gives the reason for None
    log_likelihood, objective, iterations, converged, ... : report of learning; NaN or 0 for a field that was read
    curve : [iterations, 4] with curve=True: iteration, objective, length of its gradient, NaN
    """

    label_names: list[str]
    weights: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64] | None
    no_errors: str
    n_columns: int
    log_likelihood: float
    objective: float
    iterations: int
    n_features: int
    n_weights: int
    n_active: int
    curve: npt.NDArray[np.float64]

    def __init__(self, handle: Any, about: dict[str, Any]):
        super().__init__(about)
        self._handle = handle
        self.label_names, weights, self.n_columns, self._features = _core.crf_parts(handle)
        self.weights = np.asarray(weights)
        self.errors = None if about.get("errors") is None else np.asarray(about["errors"])
        self.curve = np.asarray(about["curve"]) if "curve" in about else np.empty((0, 4))

    def label(self, data: Any, *, probabilities: bool = False, truth: int | str | None = None, **options: Any) -> Labels:
        """Find the most probable labels of sequences, as ``gibbsite label`` does.

        data : the path of column data, or a list of sequences of tokens, each a text or a tuple of texts, one for each column
        probabilities : also find P(label | sequence) of each token
        truth : the column of true labels to compare with, a number from 0 or "last"
        options : those of ``gibbsite label``: method, sweeps, chains, seed, time, ...

        Raises Error for data that cannot be read, ArgumentError for data that lack columns. Warns NotConverged if probabilities
        come from chains that have not converged.

        >>> import gibbsite as gb
        >>> gb.read_crf("examples/places.crf").label("examples/places.txt", truth="last").accuracy
        1.0
        """
        from ._model import _ask
        column = -1 if truth == "last" else None if truth is None else whole(truth, "truth", -INT_MAX, INT_MAX)
        return _warn(_ask(lambda about: Labels(about, self.label_names), _core.label, self._handle, sequences_of(data),
                          bool(probabilities), column, options=options))

    def sequence_model(self, data: Any, sequence: int = 0) -> Any:
        """Return the factor graph of one sequence, a Model with a variable for each token."""
        from ._model import Model
        return Model._of(_core.crf_model(self._handle, sequences_of(data), whole(sequence, "sequence")))

    def write(self, path: Path) -> None:
        """Write the model in the format of CRF++ or Wapiti; the style of its templates selects the format."""
        _core.write_crf(self._handle, os.fspath(path))

    def to_numpy(self) -> npt.NDArray[np.float64]:
        """An array [weights] of their values."""
        return self.weights

    def to_pandas(self) -> Any:
        """A row for each weight: feature, previous (empty: of a single label), label, value, error."""
        import pandas
        n, rows = len(self.label_names), []
        for feature, single, pairs in self._features:
            if single is not None:
                rows += [(feature, "", y, single + k) for k, y in enumerate(self.label_names)]
            if pairs is not None:
                rows += [(feature, self.label_names[k // n], self.label_names[k % n], pairs + k) for k in range(n * n)]
        at = [row[3] for row in rows]
        frame = pandas.DataFrame([row[:3] for row in rows], columns=["feature", "previous", "label"])
        frame["value"] = self.weights[at]
        frame["error"] = np.nan if self.errors is None else self.errors[at]
        return frame

    @property
    def verdict(self) -> str:
        return super().verdict if "iterations" in self.about else "read from a file"

    def _shown(self):
        learnt = [("ln P(labels)", self.about["log_likelihood"])] if "log_likelihood" in self.about else []
        return [("labels", " ".join(self.label_names[:20])), ("features", len(self._features)),
                ("weights", len(self.weights)), *learnt]


def read_crf(path: Path) -> Crf:
    """Read a text model of CRF++ or Wapiti. Raises Error for other files."""
    return Crf(_core.read_crf(os.fspath(path), None), {"converged": True, "stopped": False, "no_errors": "it was read"})


def learn_crf(templates: Any, data: Any, *, template_style: str = "crf++", errors: bool = False, curve: bool = False,
              **options: Any) -> Crf:
    """Learn a conditional random field from labelled tokens, as ``gibbsite learn crf`` does.

    templates : the path of feature templates, or their lines in a list
    data : the path of column data whose last column is the labels, or a list of sequences of tuples
    template_style : "crf++" or "wapiti"
    errors : also find standard errors
    curve : keep the objective of each iteration
    options : those of ``gb.options("learn crf")``

    Raises as gb.learn_potts() does. Warns NotConverged.

    >>> import gibbsite as gb
    >>> crf = gb.learn_crf("examples/places.template", "examples/places.txt")
    >>> crf.label_names
    ['O', 'B-PLACE', 'I-PLACE']
    """
    import tempfile

    from ._model import _ask
    if template_style not in ("crf++", "wapiti"):
        raise ValueError(f"template_style: found {template_style!r}, expected crf++ or wapiti")
    with tempfile.TemporaryDirectory() as folder:
        path = os.fspath(templates) if is_path(templates) else os.path.join(folder, "templates")
        if not is_path(templates):
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.writelines(f"{line}\n" for line in templates)
        found = _ask(lambda about: Crf(about.pop("crf"), about), _core.learn_crf, path, template_style == "wapiti",
                     sequences_of(data), bool(errors), bool(curve), options=options)
    return _warn(found)
