# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A medical network: evidence, many cases, and which finding matters
# The chest clinic of Lauritzen & Spiegelhalter (1988), and the same by NumPy alone.
# %%
import time

import numpy as np

import gibbsite as gb

yes_no = ["no", "yes"]
tables = {  # parents, and P(yes | parents)
    "asia": ([], 0.01),
    "smoke": ([], 0.5),
    "tub": (["asia"], [0.01, 0.05]),
    "lung": (["smoke"], [0.01, 0.10]),
    "bronc": (["smoke"], [0.3, 0.6]),
    "either": (["tub", "lung"], [[0.0, 1.0], [1.0, 1.0]]),
    "xray": (["either"], [0.05, 0.98]),
    "dysp": (["bronc", "either"], [[0.1, 0.7], [0.8, 0.9]]),
}
m = gb.Model()
for name, (parents, p) in tables.items():
    p = np.asarray(p)
    m.add(name, yes_no, parents=parents, p=np.stack([1 - p, p], -1))
print(m)

# %% Evidence, certain and not
answer = m.query("tub", "lung", "bronc", evidence={"asia": "yes", "dysp": "yes"}, likelihood={"xray": {"yes": 0.8, "no": 0.2}})
print(answer)
print("P(asia, dysp) =", m.prob({"asia": "yes", "dysp": "yes"}))
print("most probable:", m.mpe({"xray": "yes", "dysp": "yes"}))

# %% Which finding moves P(lung) most? One table of cases, a finding in each.
findings = ["asia", "smoke", "xray", "dysp"]
cases = {f: [s if f == g else None for g in findings for s in yes_no] for f in findings}
found = m.query_table(cases, "lung")["lung"][:, 1].reshape(-1, 2)
for f, (without, with_it) in sorted(zip(findings, found), key=lambda x: -abs(x[1][1] - x[1][0])):
    print(f"{f:6} no {without:.4f}   yes {with_it:.4f}")

# %% Ten thousand patients
rng = np.random.default_rng(1)
draws = m.exact_samples(10_000, *findings, seed=3).to_numpy()[0]
patients = {f: np.array(yes_no, object)[draws[:, k]] for k, f in enumerate(findings)}
patients["smoke"][rng.random(10_000) < 0.3] = None  # not all were asked
begun = time.perf_counter()
answers = m.query_table(patients, "lung", "tub")
seconds = time.perf_counter() - begun
print(f"{len(answers)} cases")

# %% The same by NumPy alone: the joint of all variables, and sums over it
letters = dict(zip(tables, "abcdefgh"))
operands = []
for name, (parents, p) in tables.items():
    p = np.asarray(p)
    operands += [np.stack([1 - p, p], -1), "".join(letters[x] for x in [*parents, name])]
joint = np.einsum(",".join(operands[1::2]) + "->abcdefgh", *operands[::2])
axis = {name: k for k, name in enumerate(tables)}


def by_numpy(query, observed):
    at = [slice(None)] * 8
    for name, state in observed.items():
        k = yes_no.index(state)
        at[axis[name]] = slice(k, k + 1)
    kept = joint[tuple(at)]
    p = kept.sum(tuple(k for k in range(8) if k != axis[query]))
    return p / p.sum()


begun = time.perf_counter()
for i in range(200):
    observed = {f: patients[f][i] for f in findings if patients[f][i] is not None}
    assert np.allclose(by_numpy("lung", observed), answers["lung"][i], atol=1e-12)
per_case = (time.perf_counter() - begun) / 200
print("NumPy agrees on 200 cases; it needs all 2^8 states, and a line for each thing asked")
if __name__ == "__main__":
    import sys
    print(f"seconds for 10000 cases: gibbsite {seconds:.3f}, NumPy {1e4 * per_case:.2f}", file=sys.stderr)
