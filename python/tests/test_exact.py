# SPDX-License-Identifier: Apache-2.0
"""Random small models: every question against enumeration in NumPy."""
import itertools

import gibbsite as gb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.filterwarnings("ignore::gibbsite.NotConverged")  # of short runs
SETTINGS = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@st.composite
def models(draw):
    """A model of factors with zeros, its weights as one array, and evidence of positive weight or none."""
    arities = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = gb.Model()
    for v, k in enumerate(arities):
        m.add(f"v{v}", [f"s{a}" for a in range(k)])
    weights = np.ones(arities)
    for _ in range(draw(st.integers(0, 4))):
        scope = sorted(rng.choice(len(arities), size=rng.integers(1, min(3, len(arities)) + 1), replace=False).tolist())
        table = rng.exponential(size=[arities[v] for v in scope])
        if draw(st.booleans()):
            table.flat[rng.integers(table.size)] = 0.0
        m.factor([f"v{v}" for v in scope], table)
        weights = weights * table.reshape([arities[v] if v in scope else 1 for v in range(len(arities))])
    observed = {}
    if draw(st.booleans()):
        v = int(rng.integers(len(arities)))
        a = int(rng.integers(arities[v]))
        if np.take(weights, a, v).sum() > 0.0:
            observed[f"v{v}"] = f"s{a}"
    return m, weights, observed


def given_evidence(weights, observed):
    kept = weights.copy()
    for name, state in observed.items():
        v, a = int(name[1:]), int(state[1:])
        keep = np.zeros(weights.shape[v])
        keep[a] = 1.0
        kept = kept * keep.reshape([-1 if u == v else 1 for u in range(weights.ndim)])
    return kept


@SETTINGS
@given(models())
def test_every_question(case):
    m, weights, observed = case
    kept = given_evidence(weights, observed)
    if kept.sum() == 0.0:
        with pytest.raises(gb.Error) as error:
            m.query(evidence=observed)
        assert error.value.status == "impossible"
        return
    p = kept / kept.sum()
    answer = m.query(evidence=observed)
    assert answer.exact and answer.converged and not answer.errors["v0"].to_numpy().any()
    for v in range(weights.ndim):
        others = tuple(u for u in range(weights.ndim) if u != v)
        assert np.allclose(answer[f"v{v}"], p.sum(others), atol=1e-12)
    pair = [f"v{v}" for v in range(min(2, weights.ndim))][::-1]
    joint = m.joint(*pair, evidence=observed)
    wanted = p.sum(tuple(range(len(pair), weights.ndim)))
    assert np.allclose(joint.to_numpy(), wanted.T, atol=1e-12)
    assert m.logz(observed) == pytest.approx(np.log(kept.sum()), abs=1e-9)
    assert m.prob(observed) == pytest.approx(kept.sum() / weights.sum(), abs=1e-12)
    best = m.mpe(observed)
    at = tuple(int(best[f"v{v}"][1:]) for v in range(weights.ndim))
    assert best.optimal and kept[at] == pytest.approx(kept.max(), rel=1e-12)
    assert m.log_density(dict(best)) == pytest.approx(np.log(kept[at]), abs=1e-9)
    draws = m.exact_samples(4000, evidence=observed).to_numpy()[0]
    assert all(kept[tuple(x)] > 0.0 for x in draws)
    for v in range(weights.ndim):
        others = tuple(u for u in range(weights.ndim) if u != v)
        share = np.bincount(draws[:, v], minlength=weights.shape[v]) / len(draws)
        wanted = p.sum(others)
        assert np.all(np.abs(share - wanted) <= 5.0 * np.sqrt(np.clip(wanted * (1 - wanted), 0, None) / len(draws)) + 1e-3)


@SETTINGS
@given(models())
def test_sampled(case):
    m, weights, observed = case
    kept = given_evidence(weights, observed)
    if kept.min() == 0.0:  # hard zeros may split the states
        return
    answer = m.query(evidence=observed, method="sample", sweeps=2000, threads=1)
    for v in range(weights.ndim):
        others = tuple(u for u in range(weights.ndim) if u != v)
        error = answer.errors[f"v{v}"].to_numpy()
        assert np.all(np.abs(np.asarray(answer[f"v{v}"]) - kept.sum(others) / kept.sum()) <= 6.0 * error + 2e-3)


@SETTINGS
@given(models())
def test_table_of_cases(case):
    m, weights, _ = case
    rows = list(itertools.islice(itertools.product(*[[None] + list(m.states(f"v{v}")) for v in range(min(2, weights.ndim))]), 8))
    columns = {f"v{v}": [row[v] for row in rows] for v in range(min(2, weights.ndim))}
    if weights.sum() == 0.0:
        return
    last = f"v{weights.ndim - 1}"
    found = m.query_table(columns, last)
    for i, row in enumerate(rows):
        kept = given_evidence(weights, {f"v{v}": s for v, s in enumerate(row) if s is not None})
        if kept.sum() == 0.0:
            assert np.isnan(found[last][i]).all() and found.log_p[i] == -np.inf
        else:
            assert np.allclose(found[last][i], kept.sum(tuple(range(weights.ndim - 1))) / kept.sum(), atol=1e-9)


def test_what_was_not_found_is_not_impossible(tmp_path):
    """Twelve pigeons in eleven holes, which no search proves in short time: ln Z is NaN, not minus infinity, and no probability is zero."""
    at = [[11 * p + h + 1 for h in range(11)] for p in range(12)]
    rows = at + [[-at[p][h], -at[q][h]] for h in range(11) for p in range(12) for q in range(p)]
    (tmp_path / "p.cnf").write_text(f"p cnf 132 {len(rows)}\n" + "".join(" ".join(map(str, row)) + " 0\n" for row in rows))
    m = gb.read(str(tmp_path / "p.cnf"))
    with pytest.warns(UserWarning, match="unknown: no state of positive weight was found"):
        z = m.logz(method="sample", sweeps=16, temper="off")
    assert np.isnan(z) and np.isnan(z.low) and not z.converged and z.verdict.startswith("unknown: ")
    with pytest.raises(gb.Error, match="no state found") as error:
        m.query(evidence={"0": 0, "1": 0}, method="sample", sweeps=16)
    assert error.value.status == "not found"
