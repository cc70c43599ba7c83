# SPDX-License-Identifier: Apache-2.0
"""What crosses the border from Python: names, labels, tables, numbers, other libraries' objects, Ctrl-C."""
import itertools
import math
import os
import re
import signal
import subprocess
import sys
import types
import warnings

import gibbsite as gb
import numpy as np
import pytest


def street():
    """Two variables with numbers for labels, and one of True and False; 7 is the name of a variable, and number 7 is none."""
    m = gb.Model()
    m.add(7, [1, 2, 3], p=[0.5, 0.3, 0.2])
    m.add((0, 1), [0, 1], parents=[7], p=[[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    m.add("lamp", [False, True], parents=[(0, 1)], p=[[0.75, 0.25], [0.1, 0.9]])
    return m


# ---- names and labels ---------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2, 2.0, "2", np.int8(2), np.uint64(2), np.float32(2), np.str_("2"), b"2"])
def test_a_number_is_its_text(value):
    m = street()
    assert m.query((0, 1), evidence={7: value})[(0, 1)]["1"] == pytest.approx(0.6)
    assert m.query("(0, 1)", evidence={"7": [value, 3]})["(0, 1)"][1] == pytest.approx((0.3 * 0.6 + 0.2 * 0.8) / 0.5)
    assert m.query(7)[7][value] == pytest.approx(0.3)
    assert m.mpe({7: value})[(np.int64(0), 1)] == "1"
    with pytest.raises((TypeError, gb.Error)):
        m.query(7, evidence={7: 4})


@pytest.mark.parametrize("value", [True, np.True_, 1, 1.0, "True", np.int64(1)])
def test_truth_is_its_text(value):
    m = street()
    assert m.query("lamp", evidence={7: 2})["lamp"][value] == pytest.approx(0.4 * 0.25 + 0.6 * 0.9)
    assert m.prob({"lamp": value}) == pytest.approx(float(m.query("lamp")["lamp"]["True"]))
    bits = gb.from_tables([2, 2], [([0, 1], [[1, 2], [3, 4]])])
    assert bits.query(1, evidence={0: value if value != "True" else 1})[1][1] == pytest.approx(4 / 7)


def test_names_that_are_numbers_are_not_places():
    """Variables 2, 1, 0 in this order: the name counts."""
    m = gb.Model()
    for name, p in ((2, 0.2), (1, 0.1), (0, 0.4)):
        m.add(name, 2, p=[1 - p, p])
    for asked in (2, "2", 2.0, np.int32(2)):
        assert m.query(asked)[2][1] == pytest.approx(0.2)
    assert m.query(gb.index(2))[0][1] == pytest.approx(0.4)
    assert m.prob({2: 1}) == pytest.approx(0.2) and m.log_density({0: 0, 1: 0, 2: 0}) == pytest.approx(math.log(0.8 * 0.9 * 0.6))
    with pytest.raises(TypeError, match=r"gb\.index\(3\)"):
        m.query(3)
    with pytest.raises(gb.Error, match="no variable"):
        m.query("3")


def test_one_or_several_names(clinic):
    wanted = clinic.query("cold", "fever").to_numpy()
    for asked in ((["cold", "fever"],), (("cold", "fever"),), (np.array(["cold", "fever"]),), (iter(["cold", "fever"]),)):
        found = clinic.query(*asked)
        assert list(found) == ["cold", "fever"] and np.array_equal(found.to_numpy(), wanted)
    assert np.array_equal(clinic.query(variables=["cold", "fever"]).to_numpy(), wanted)
    assert clinic.joint(["cold", "fever"])["yes", "no"] == clinic.joint("cold", "fever")["yes", "no"]
    assert clinic.sample(10, ["cold", "fever"]).names == ("cold", "fever")
    assert list(clinic.mmap(["cold"], evidence={"fever": "yes"})) == ["cold"]
    assert clinic.query_table({"fever": ["yes"]}, ["cold"]).names == ("cold",)
    for bad, error in ((["cold", "cold"], ValueError), ([], ValueError), ({"cold": "yes"}, TypeError), (["cold", "flu"], gb.Error)):
        with pytest.raises(error):
            clinic.query(bad)


def test_evidence_of_other_shapes():
    m = street()
    for one in (np.array(2), np.array([2]), [2], {2}, iter([2])):
        assert m.query((0, 1), evidence={7: one})[(0, 1)][1] == pytest.approx(0.6)
    for bad in ({2: 0.5}, None, float("nan"), [2, None], 2.5, "4"):
        with pytest.raises((TypeError, gb.Error)):
            m.query((0, 1), evidence={7: bad})
    for bad in ({7: 2}, {7: "12"}, [1, 2]):
        with pytest.raises(TypeError):
            m.query_table(bad)


# ---- tables -------------------------------------------------------------------------------------


def test_cells_of_frames():
    pandas = pytest.importorskip("pandas")
    m = street()
    wanted = [0.1, 0.6, 0.5 * 0.1 + 0.3 * 0.6 + 0.2 * 0.8, 0.8]
    cells = [1, 2, None, 3]
    columns = [pandas.Series(cells, dtype="Int64"), pandas.Series(cells, dtype="float64"), pandas.Series(cells, dtype=object),
               pandas.Series([1, 2, None, 3], dtype="category"), pandas.Series(["1", "2", "", "3"]),
               pandas.Series(["1.0", "2.0", np.nan, "3.0"]), [np.int8(1), 2.0, pandas.NA, "3"], [1, 2, float("nan"), 3],
               np.ma.array([1, 2, 9, 3], mask=[0, 0, 1, 0])]
    for column, with_frame in itertools.product(columns, (False, True)):
        table = {7: column}
        found = m.query_table(pandas.DataFrame(table) if with_frame else table, [(0, 1)])
        assert found[(0, 1)][:, 1] == pytest.approx(wanted)
    told = pandas.DataFrame({"lamp": [True, None, False]})
    assert m.query_table(told, 7)["7"][1] == pytest.approx([0.5, 0.3, 0.2])
    with pytest.warns(UserWarning, match=r"2 cells have no value: 1 NA, 1 \?"):
        assert m.query_table({7: ["1", "?", "NA"]}, "lamp").p.shape == (3, 2)
    with pytest.raises((TypeError, gb.Error)):
        m.query_table({7: [1, 4]})


def test_draws_as_frames():
    pytest.importorskip("pandas")
    m = street()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert m.fit(m.sample(50).to_pandas()).n_rows == 200


def test_columns_that_are_no_variables():
    pandas = pytest.importorskip("pandas")
    m = street()
    table = {"7": [1, 2], "remark": ["a", "b"], "Unnamed: 0": [0, 1]}
    for form in (table, pandas.DataFrame(table), [dict(zip(table, row)) for row in zip(*table.values())]):
        with pytest.warns(UserWarning, match="2 columns are no variable and left out: 'remark', 'Unnamed: 0'") as told:
            found = m.query_table(form, "lamp")
        assert len(told) == 1 and told[0].filename == __file__ and len(found) == 2
        with pytest.warns(UserWarning, match="left out"):
            assert m.fit(form).n_rows == 2
    for bad in ({"7": [1], "Lamp": [True]}, {"7": [1], "la mp": [True]}, {"7": [1], "lamb": [True]}, {"remark": [1]}):
        with pytest.raises(ValueError, match="lamp|no variable 'remark'|expected a variable"):
            m.query_table(bad)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.query_table({"7": [1]})


@pytest.mark.parametrize("sign", [*gb._core.missing_signs(), ""])
def test_frames_have_the_signs_of_files(tmp_path, sign):
    m, path = street(), tmp_path / "t.csv"
    path.write_text(f'7,lamp\n2,"{sign}"\n')
    with pytest.warns(UserWarning, match=f"1 cell has no value: 1 {re.escape(sign) or 'empty'}"):
        from_file = m.query_table(path).p
    with pytest.warns(UserWarning, match=f"1 cell has no value: 1 {re.escape(sign) or 'empty'}"):
        assert np.array_equal(m.query_table({7: [2], "lamp": [sign]}).p, from_file)


def test_frames_are_checked_as_files_are(tmp_path):
    m, path = street(), tmp_path / "t.csv"
    for name in ("Lamp", "lmap", "la-mp", "lampe"):
        path.write_text(f"7,{name}\n2,True\n")
        for table in (path, {7: [2], name: [True]}):
            with pytest.raises(gb.Error, match=f"column 2: found '{name}'|:1:3: found '{name}'"):
                m.query_table(table)
    with pytest.raises(ValueError, match="table, row 2, column '7': found '4', expected a state"):
        m.query_table({7: [1, 4]})
    with pytest.raises(ValueError, match="found 'note', expected a variable in every column"):
        m.query_table({7: [2], "note": ["x"]}, strict=True)
    numbers = m.query_table({7: [1]}, states="numbers")
    assert np.array_equal(numbers.p, m.query_table({7: [2]}).p)
    assert m.fit({7: [1, 2], "w": [0.5, 2]}, weights="w").weight == 2.5
    for weights in ({"w": [-1]}, {"v": [1]}):
        with pytest.raises(ValueError, match="weight"):
            m.fit({7: [1], **weights}, weights="w")
    with pytest.raises(ValueError, match="NUL"):
        m.query_table({7: ["1\0"]})


def test_states_that_are_signs():
    """A state may be called NA or None; what pandas has made of it is told."""
    m = gb.Model().add("harm", ["None", "NA", "much"], p=[0.5, 0.25, 0.25])
    m.add("cost", ["low", "high"], parents=["harm"], p=[[1, 0], [0.5, 0.5], [0, 1]])
    assert m.query_table({"harm": ["None", "NA", "much"]})["cost"][:, 1] == pytest.approx([0, 0.5, 1])
    with pytest.warns(UserWarning, match="keep_default_na"):
        assert m.query_table({"harm": [None, float("nan")]})["cost"][:, 1] == pytest.approx([0.375, 0.375])


def test_rows_are_cast_with_care():
    m = gb.from_tables([2, 3], [([0, 1], np.ones((2, 3)))])
    for bad in (np.array([[2**32, 0]]), np.array([[0.5, 0.0]]), np.array([[1e300, 0.0]]), np.array([[2**32 - 1, 0]])):
        with pytest.raises(ValueError):
            m.query_table(bad)
    assert len(m.query_table(np.array([[1, -1], [0, 2]]))) == 2
    for column in ([0, 1.5], [0, 2**32], [0, None], [0, -1]):
        with pytest.raises(ValueError):
            gb.learn_potts({"a": column, "b": [0, 1]})


# ---- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ask", [
    lambda: gb.from_tables([2**32 + 2], []),
    lambda: gb.from_tables([-1], []),
    lambda: gb.from_tables([2.9], []),
    lambda: gb.from_tables([2 + 0j], []),
    lambda: gb.from_tables(["2"], []),
    lambda: gb.from_tables([2], [([2**32], [1, 1])]),
    lambda: gb.from_tables([2], [([0.5], [1, 1])]),
    lambda: gb.from_tables([2], [([0], np.array([1, 1j]))]),
    lambda: gb.from_tables([2], [([0], np.ma.array([1.0, 1.0], mask=[0, 1]))]),
    lambda: gb.Model().add("a", 2**32 + 2),
    lambda: gb.Model().add("a", 2.5),
    lambda: gb.Model().add("a", 2, p=[0.5 + 0.1j, 0.5]),
    lambda: gb.Model().add("a", 2).factor(["a"], [1, 2j]),
    lambda: gb.ising((2, 2.5), 0.1),
    lambda: gb.ising((2, 2), 0.1 + 1j),
    lambda: gb.ising((2, 2), 0.1, field=1j),
    lambda: gb.potts((2, 2), 3.5, 1.0),
    lambda: gb.potts((2, 2), 2**32 + 3, 1.0),
    lambda: gb.from_arrays(np.array([[0, 1j], [1j, 0]])),
    lambda: gb.from_arrays(([0, 1, 1], [-1], [0.5])),
    lambda: gb.from_arrays(([0, 1, 1], [2**32 + 1], [0.5])),
    lambda: gb.from_arrays([[0, 1], [1, 0]], fields=[1j, 0]),
    lambda: gb.from_arrays([[0, 1], [1, 0]], states=2.5),
    lambda: gb.ising((2, 2), 0.1).sample(2.9),
    lambda: gb.ising((2, 2), 0.1).sample(10, thin=1.5),
    lambda: gb.ising((2, 2), 0.1).log_density([0, 0.9, 0, 0]),
    lambda: gb.ising((2, 2), 0.1).log_density([0, 2**32, 0, 0]),
    lambda: gb.ising((2, 2), 0.1).optimise_scan(3.5),
    lambda: gb.ising((2, 2), 0.1).certify(steps=[1.5]),
    lambda: gb.ising((2, 2), 0.1).query(evidence={"0": 0.5}),
    lambda: gb.ising((2, 2), 0.1).query(evidence={"0": 1 + 0j}),
    lambda: gb.ising((2, 2), 0.1).query(evidence={"0": None}),
    lambda: gb.ising((2, 2), 0.1).query(evidence={"0": float("nan")}),
    lambda: gb.ising((2, 2), 0.1).query(likelihood={"0": [1, 1j]}),
    lambda: gb.ising((2, 2), 0.1).query(gb.index(2**32)),
    lambda: gb.ising((2, 2), 0.1).query(evidence={"0": gb.index(2**32)}),
    lambda: gb.loads("p edge 2 1\ne 1 2\n", "col", states=2**32 + 2),
    lambda: gb.generate("ising", grid=(2, 2.5)),
    lambda: gb.generate("potts", grid=(2, 2), states=2.5),
    lambda: gb.generate("ising", grid=(2**32 + 2, 2)),
])
def test_numbers_that_do_not_fit(ask):
    with pytest.raises((ValueError, TypeError, OverflowError, IndexError)):
        ask()


def test_numbers_that_fit():
    assert gb.from_tables([2.0, np.int8(3)], []).states(1) == ("0", "1", "2")
    assert gb.from_tables([], [([], 2.0)]).logz() == pytest.approx(math.log(2))
    assert gb.Model().add("a", np.float64(2)).factor([], np.array(3.0)).logz() == pytest.approx(math.log(6))
    assert len(gb.generate("ising", grid=np.array([2, 3]))) == 6
    assert gb.ising(4, 0.1).sample(np.int64(5)).shape == (4, 5, 4)


def test_a_nul_is_no_end():
    m = gb.ising((2, 2), 0.1)
    for ask in (lambda: m.query(method="exact\0sample"), lambda: m.query(**{"method\0x": "exact"}), lambda: gb.options("fit\0"),
                lambda: gb.Model().add("a\0b", 2).query(), lambda: gb.Model().add("a", ["x\0y", "x\0z"]).query(),
                lambda: m.query("0\0"), lambda: m.query(evidence={"0": "1\0"}), lambda: gb.loads("", "uai\0x")):
        with pytest.raises(ValueError, match="(?i)nul"):
            ask()


# ---- objects of other libraries -------------------------------------------------------------------


def model_of(linear, quadratic, kind, offset):
    return types.SimpleNamespace(variables=list(linear), linear=linear, quadratic=quadratic, offset=offset,
                                 vartype=types.SimpleNamespace(name=kind))


@pytest.mark.parametrize("kind, values", [("SPIN", (-1, 1)), ("BINARY", (0, 1))])
def test_constants_of_dimod(kind, values, tmp_path):
    """ln Z and densities are those of the energy, also where it is read from a file."""
    linear = {(0, "a"): 0.75, 3: -1.25, "c": 0.0}
    quadratic = {((0, "a"), 3): -0.5, (3, "c"): 2.0, ("c", (0, "a")): 0.25}
    m = gb.from_dimod(model_of(linear, quadratic, kind, 1.5), beta=0.7, offset=0.25)

    def energy(state):
        x = dict(zip(linear, state))
        return sum(h * x[v] for v, h in linear.items()) + sum(q * x[u] * x[v] for (u, v), q in quadratic.items()) + 1.75
    states = list(itertools.product(values, repeat=3))
    for state in states:
        assert m.log_density(dict(zip(linear, state))) == pytest.approx(-0.7 * energy(state), abs=1e-12)
    assert m.logz() == pytest.approx(math.log(sum(math.exp(-0.7 * energy(s)) for s in states)), abs=1e-12)
    lines = [f"{i} {i} {h}" for i, h in enumerate(linear.values())]
    lines += [f"{list(linear).index(u)} {list(linear).index(v)} {q}" for (u, v), q in quadratic.items()]
    text = "\n".join([f"# vartype={kind}", *lines])
    read = gb.loads(text, "coo", offset=1.75)
    assert [read.log_density([values.index(x) for x in s]) for s in states] == pytest.approx([-energy(s) for s in states])
    read.write(tmp_path / "m.coo")
    assert gb.read(tmp_path / "m.coo").logz() == pytest.approx(read.logz(), abs=1e-12)
    assert gb.loads("\n".join(lines), "coo", vartype=kind, offset=1.75).digest == read.digest


def test_large_penalties():
    """Four bits of which exactly one is set, by a penalty whose weights have no exponential."""
    names = "wxyz"
    q = {pair: 2 * 5000.0 for pair in itertools.combinations(names, 2)}
    m = gb.from_dimod(model_of(dict.fromkeys(names, -5000.0), q, "BINARY", 5000.0))
    assert m.logz() == pytest.approx(math.log(4))
    assert m.query("w")["w"]["1"] == pytest.approx(0.25) and m.joint("w", "x")["1", "1"] == 0


def test_fields_of_networkx():
    networkx = pytest.importorskip("networkx")
    grid = networkx.grid_2d_graph(2, 2)
    grid.nodes[0, 1]["field"] = 0.7
    assert gb.from_networkx(grid).query((0, 1))[(0, 1)][1] > 0.5
    with pytest.raises(ValueError, match="3 log-weights"):
        gb.from_networkx(grid, states=3)
    grid.nodes[0, 1]["field"] = [0.0, 1.0, -1.0]
    m = gb.from_networkx(grid, states=3)
    weight = {s: math.exp([0, 1, -1][s[1]] + sum(s[a] == s[b] for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))))
              for s in itertools.product(range(3), repeat=4)}
    assert m.query((0, 1))[(0, 1)][1] == pytest.approx(sum(w for s, w in weight.items() if s[1] == 1) / sum(weight.values()))
    assert m.logz() == pytest.approx(math.log(sum(weight.values())))
    grid.add_edge((0, 0), (0, 0))
    with pytest.raises(ValueError, match="to itself"):
        gb.from_networkx(grid, states=3)
    both = networkx.DiGraph()
    both.add_edge("a", "b", weight=0.5)
    both.add_edge("b", "a", weight=0.5)
    assert gb.from_networkx(both).joint("a", "b")["1", "1"] == pytest.approx(0.5 / (1 + math.exp(-1)))
    both["b"]["a"]["weight"] = 1.0
    with pytest.raises(ValueError, match="differ"):
        gb.from_networkx(both)
    twins = networkx.Graph()
    twins.add_edge(1, "1")
    with pytest.raises((ValueError, gb.Error)):
        gb.from_networkx(twins)


def test_entries_of_matrices_add_up():
    """As SciPy reads them: J is 0.75, in one half or in both."""
    coo = types.SimpleNamespace(shape=(2, 2), row=np.array([0, 0]), col=np.array([1, 1]), data=np.array([0.5, 0.25]))
    coo.tocoo = lambda: coo
    whole = gb.from_arrays([[0, 0.75], [0.75, 0]])
    assert gb.from_arrays(coo).digest == whole.digest
    assert gb.from_arrays([[0, 1], [1, 0]], fields=[[0.5, 0, 0], [0, 0, 0]], states=3).query("0")["0"][0] == pytest.approx(
        math.exp(0.5) / (math.exp(0.5) + 2))
    with pytest.raises(ValueError, match="log-weights"):
        gb.from_arrays([[0, 1], [1, 0]], fields=[0.5, 0], states=3)


class Table:  # of the shape of pgmpy's TabularCPD: values [child][parents...]
    def __init__(self, variables, values, state_names):
        self.variable, self.variables, self.values, self.state_names = variables[0], variables, np.array(values), state_names


def student():
    """The network of the textbooks, with the numbers of states that TabularCPD gives where none are named."""
    states = {"D": [0, 1], "I": [0, 1], "G": [0, 1, 2], "L": [0, 1], "S": [0, 1]}
    tables = [Table(["G", "I", "D"], [[[0.3, 0.05], [0.9, 0.5]], [[0.4, 0.25], [0.08, 0.3]], [[0.3, 0.7], [0.02, 0.2]]], states),
              Table(["L", "G"], [[0.1, 0.4, 0.99], [0.9, 0.6, 0.01]], states), Table(["D"], [0.6, 0.4], states),
              Table(["I"], [0.7, 0.3], states), Table(["S", "I"], [[0.95, 0.2], [0.05, 0.8]], states)]
    return types.SimpleNamespace(get_cpds=lambda: tables)


def test_questions_of_pgmpy():
    """As its tutorials ask them; the numbers are those of the textbook."""
    for network in (student(), {"model": student(), "adjmat": None}):
        m = gb.from_pgmpy(network)
        assert m.query(["G"], evidence={"D": 0, "I": 1})["G"].to_numpy() == pytest.approx([0.9, 0.08, 0.02])
        assert m.query(variables=["G"])["G"][0] == pytest.approx(0.362)
        assert m.query(variables=["G"], evidence={"D": np.int64(1)}, show_progress=False)["G"][0] == pytest.approx(0.185)
        assert m.query(["D", "I"], joint=True)[0, 1] == pytest.approx(0.18)
        assert list(m.query(["D", "I"], joint=False)) == ["D", "I"]
        assert dict(m.map_query(["G"], evidence={"D": 0, "I": 1})) == {"G": "0"}
        assert dict(m.map_query(variables=["G"])) == {"G": "0"}
        assert m.map_query(evidence={"D": 0})["D"] == "0"
        assert m.query_table([{"D": 0, "I": 1}, {"D": 1, "I": None}], "G")["G"][0] == pytest.approx([0.9, 0.08, 0.02])


def test_names_of_pgmpy():
    states = {0: [True, False], (1, 2): ["a", 2.5]}
    network = types.SimpleNamespace(get_cpds=lambda: [Table([(1, 2), 0], [[0.25, 0.5], [0.75, 0.5]], states),
                                                      Table([0], [0.1, 0.9], states)])
    m = gb.from_pgmpy(network)
    assert m.query([(1, 2)], evidence={0: True})[(1, 2)][2.5] == pytest.approx(0.75)
    assert m.query((1, 2), evidence={0: False})["(1, 2)"]["a"] == pytest.approx(0.5)


# ---- Ctrl-C -----------------------------------------------------------------------------------------


def interrupt(after):
    """A progress function that presses Ctrl-C once it was called so often."""
    calls = itertools.count(1)
    return lambda p: os.kill(os.getpid(), signal.SIGINT) if next(calls) == after else None


@pytest.fixture
def control_c():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell has run this in the background
    yield
    signal.signal(signal.SIGINT, before)


LONG = {"method": "sample", "sweeps": 10**9, "time": 300, "burn_in": 0}


@pytest.mark.parametrize("ask, kind", [
    (lambda m, **o: m.query("0", **o, **LONG), "Marginals"),
    (lambda m, **o: m.sample(10**6, "0", evidence={"1": 1}, **o, method="sample", memory_limit="4G"), "Draws"),
    (lambda m, **o: m.map(method="sample", sweeps=10**9, time=300, **o), "State"),
])
def test_ctrl_c_ends_a_loop(control_c, ask, kind):
    m = gb.ising((64, 64), 0.2)
    rounds = 0
    with pytest.raises(KeyboardInterrupt) as found:
        for _ in range(3):
            rounds += 1
            ask(m, progress=interrupt(2))
    answer = found.value.partial
    assert rounds == 1 and type(answer).__name__ == kind
    assert gb.ising((2, 2), 0.1).query("0")["0"][1] == pytest.approx(0.5)  # the next question is not interrupted


def test_ctrl_c_among_cases(control_c):
    """The cases that were answered are there, the others are NaN."""
    m = gb.ising((40, 40), 0.2)
    table = {"0": [0, 1] * 10000}
    with pytest.raises(KeyboardInterrupt) as found:
        m.query_table(table, "1", method="sample", sweeps=200, burn_in=0, progress=interrupt(8))
    p = found.value.partial["1"][:, 1]
    assert len(p) == 20000 and 0.0 < p[0] < 1.0 and np.isnan(p[-1])


def test_ctrl_c_inside_of_a_progress_function(control_c):
    def pressed(p):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt) as found:
        gb.ising((64, 64), 0.2).query("0", progress=pressed, **LONG)
    assert found.value.partial.stopped


# ---- memory -----------------------------------------------------------------------------------------


def test_draws_count_towards_the_memory_limit():
    m = gb.from_tables([2, 2], [([0, 1], [[1, 2], [3, 4]])])
    for draws, limit in ((10**8, "300M"), (10**12, "1G"), (10**18, "1G"), (10**12, None)):
        for method in ("sample", "exact"):
            with pytest.raises(gb.Error) as found:
                m.sample(draws, method=method, **({} if limit is None else {"memory_limit": limit}))
            assert found.value.status in ("limit", "argument") and "draws" in str(found.value) or "sweeps" in str(found.value)
    assert m.sample(1000, memory_limit="300M").shape == (4, 1000, 2)


def test_a_file_cut_while_it_is_used(tmp_path):
    """A model is the module's own copy: what becomes of its file does not matter."""
    path = tmp_path / "m.gbm"
    gb.ising((300, 300), 0.1).write(path)
    assert path.stat().st_size > 1 << 20
    code = ("import gibbsite as gb, os, sys\n"
            "m = gb.read(sys.argv[1])\n"
            "os.truncate(sys.argv[1], 4096)\n"
            "print(m.digest, len(m.query(method='sample', sweeps=2, burn_in=0)), m.log_density([0] * len(m)))\n")
    wanted = gb.read(path).digest
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, path], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done
    assert done.stdout.split()[0] == wanted
    with pytest.raises(gb.Error, match="found the end of the file"):
        gb.read(path)


def test_core_checks_what_it_is_handed():
    """Numbers and buffers that no caller of the module sends."""
    core, m = gb._core, street()
    q = np.array([0.5, 0.5])
    for offsets in ([0, 3], [0, 2, 1], [1, 2], []):
        with pytest.raises(ValueError, match="offsets"):
            core.compare_marginals(np.array(offsets, np.uint64), q, q, q, q)
    for call, arguments in ((core.read_picture, (5,)), (core.label, (None, 5, False, None, {}, None))):
        with pytest.raises((TypeError, ValueError)):
            call(*arguments)
    noted = []
    run = core.run
    core.run = lambda *a: noted.append(a) or run(*a)
    try:
        m.sample(4, 7)
    finally:
        core.run = run
    with pytest.raises(ValueError, match="numbers of variables"):
        run(*noted[0][:4], [3], *noted[0][5:])
