# SPDX-License-Identifier: Apache-2.0
"""Questions about discrete graphical models: probabilities, joint tables, samples, most probable
states, partition functions, and how far the answers can be trusted.

    import gibbsite as gb

    m = gb.read("clinic.bif")
    answer = m.query("cold", "influenza", evidence={"fever": "yes"})
    answer["influenza"]["yes"]        # a probability
    answer.errors["influenza"]["yes"] # its standard error; 0 where the answer is exact

A model has variables with names and states with labels; questions use these. ``gb.index(3)`` stands
for a number where a name or label is meant. The options of a call are those of the command line
(``gibbsite help marginals``), with ``_`` for ``-``: ``m.query("cold", method="sample", seed=2)``.
The same options give the same digest there, here, and on any number of threads.
"""
from ._convert import from_arrays, from_dimod, from_networkx, from_pgmpy, from_pyagrum, from_tables, ising, potts
from ._core import ArgumentError, Error
from ._core import version as __version__
from ._model import Model, index, loads, options, read
from ._results import (Cases, Certificate, Distribution, Draws, Joint, LogZ, Marginals, NotConverged, Scan,
                       State)

__all__ = ["ArgumentError", "Cases", "Certificate", "Distribution", "Draws", "Error", "Joint", "LogZ", "Marginals",
           "Model", "NotConverged", "Scan", "State", "__version__", "from_arrays", "from_dimod", "from_networkx",
           "from_pgmpy", "from_pyagrum", "from_tables", "index", "ising", "loads", "options", "potts", "read"]
