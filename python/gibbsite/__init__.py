# SPDX-License-Identifier: Apache-2.0
"""Questions about discrete graphical models: probabilities, joint tables, samples, most probable
states, partition functions, and how far the answers can be trusted.

    import gibbsite as gb

    m = gb.read("clinic.bif")
    answer = m.query("cold", "influenza", evidence={"fever": "yes"})
    answer["influenza"]["yes"]        # a probability
    answer.errors["influenza"]["yes"] # its standard error; 0 where the answer is exact

A model has variables with names and states with labels; questions use names and labels.
``gb.index(3)`` stands for a number in place of a name or label. The options of a call are the
options of the command line (``gibbsite help marginals``), with ``_`` for ``-``: ``m.query("cold",
method="sample", seed=2)``. Equal options give equal digests in Python, on the command line, and on
any number of threads.
"""
try:
    import numpy as _numpy  # noqa: F401
except ModuleNotFoundError as _missing:
    raise ModuleNotFoundError("gibbsite needs NumPy: pip install numpy, or on Debian apt install python3-numpy",
                              name="numpy") from _missing

from ._convert import from_arrays, from_dimod, from_networkx, from_pgmpy, from_pyagrum, from_tables, ising, potts
from ._core import ArgumentError, Error, OptionError
from ._core import version as __version__
from ._data import Picture, read_picture
from ._drawing import Drawing
from ._learning import Fit, Learnt, LearntPotts, LearntRbm, LearntWeights, learn_potts, learn_rbm
from ._making import Grounding, generate, ground
from ._model import Model, index, loads, options, read
from ._pictures import Aspects, Denoised, Segments, denoise, learn_aspects, read_aspects
from ._results import (Cases, Certificate, Couplings, Distribution, Draws, Influences, Joint, LogZ, Marginals, NotConverged, Report, Scan,
                       State)
from ._sequences import Crf, Labels, learn_crf, read_crf
from ._trust import Comparison, Diagnoses, Sensitivities, compare, diagnose, report

__all__ = ["ArgumentError", "Aspects", "Cases", "Certificate", "Comparison", "Couplings", "Crf", "Denoised", "Diagnoses", "Distribution",
           "Drawing", "Draws", "Error", "Fit", "Grounding", "Influences", "Joint", "Labels", "Learnt", "LearntPotts", "LearntRbm",
           "LearntWeights", "LogZ", "Marginals", "Model", "NotConverged", "OptionError", "Picture", "Report", "Scan", "Segments",
           "Sensitivities", "State", "__version__", "compare", "denoise", "diagnose", "from_arrays", "from_dimod",
           "from_networkx", "from_pgmpy", "from_pyagrum", "from_tables", "generate", "ground", "index", "ising", "learn_aspects",
           "learn_crf", "learn_potts", "learn_rbm", "loads", "options", "potts", "read", "read_aspects", "read_crf",
           "read_picture", "report"]
