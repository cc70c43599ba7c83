# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Magnets through their transition
# The energy of 32 x 32 Ising spins on a torus by coupling, with error bars, beside Onsager's exact
# result for the infinite plane (Phys. Rev. 65:117, 1944), and the same by NumPy alone.
# %%
import time
import warnings

import numpy as np

import gibbsite as gb

side = 32
couplings = [0.2, 0.3, 0.4, 0.4407, 0.5, 0.6]


def onsager(j):
    """Energy per spin, in units of the coupling, of the infinite plane: by the complete elliptic integral."""
    k = 2.0 * np.sinh(2 * j) / np.cosh(2 * j) ** 2
    a, b = 1.0, np.sqrt(max(1.0 - k * k, 0.0))
    for _ in range(60):  # arithmetic-geometric mean
        a, b = (a + b) / 2, np.sqrt(a * b)
    elliptic = np.pi / (2 * a) if a > 0 else np.inf
    last = 2 * np.tanh(2 * j) ** 2 - 1
    return -(1 + 2 / np.pi * last * elliptic) / np.tanh(2 * j) if abs(last) > 1e-9 else -1 / np.tanh(2 * j)


# %% A run for each coupling
begun = time.perf_counter()
rows = []
for j in couplings:
    m = gb.ising((side, side), j, torus=True)
    with warnings.catch_warnings():  # below the transition no chain of single spins turns all of them over
        warnings.simplefilter("ignore", gb.NotConverged)
        answer = m.query("0", method="sample", estimator="count", lattice="always", chains=16, sweeps=6000,
                         burn_in=1500, seed=1)
    lattice = answer.summary["lattice"]  # mean of minus the log density per spin, and its error
    rows.append((j, lattice["energy"] / j, lattice["energy_mcse"] / j))
seconds = time.perf_counter() - begun
for j, e, error in rows:
    print(f"J = {j:.4f}: energy {e:.3f}, plane {onsager(j):.3f}, error below 0.005: {error < 0.005}")

# %% The same by NumPy alone, at one coupling
rng = np.random.default_rng(3)
begun = time.perf_counter()
j, spin, energies = 0.3, np.ones((16, side, side)), []
y, x = np.mgrid[:side, :side]
black = (x + y) % 2 == 0
for sweep in range(1500):
    for half in (black, ~black):
        around = sum(np.roll(spin, s, axis=a) for s in (1, -1) for a in (1, 2))
        up = 1.0 / (1.0 + np.exp(-2.0 * j * around))
        spin = np.where(half, np.where(rng.random(spin.shape) < up, 1.0, -1.0), spin)
    if sweep >= 300:
        energies.append(-(spin * (np.roll(spin, 1, 1) + np.roll(spin, 1, 2))).mean((1, 2)))
by_numpy = np.array(energies).mean(0)
numpy_seconds = time.perf_counter() - begun
error = np.hypot(by_numpy.std(ddof=1) / 4.0, rows[1][2])
print(f"NumPy agrees within 4 errors: {abs(by_numpy.mean() - rows[1][1]) < 4 * error}")
if __name__ == "__main__":
    import sys
    print(f"seconds: gibbsite {seconds:.2f} for six couplings and 7500 sweeps, NumPy {numpy_seconds:.2f} for one and 1500",
          file=sys.stderr)
