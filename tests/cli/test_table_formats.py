# SPDX-License-Identifier: Apache-2.0
"""Formats of tables through the program: converted, asked, compared with what they came from."""
import csv
import io
import itertools
import json

import pytest
from conftest import SPRINKLER, only


def marginals(run, *arguments):
    done = run("marginals", *arguments, "-q")
    assert done.status == 0, done.err
    return {(r["variable"], r["state"]): float(r["probability"])
            for r in csv.DictReader(io.StringIO(done.out))}


def near(a, b):
    assert len(a) == len(b)
    assert all(abs(x - y) < 1e-12 for x, y in zip(a.values(), b.values()))


@pytest.mark.parametrize("ending, lost", [
    ("fg", ["names of variables", "labels of states", "Bayesian network"]),
    ("alchemy", ["labels of states", "Bayesian network"]),
    ("xml", []), ("bifxml", []), ("xmlbif.gz", []),
])
def test_convert(run, ending, lost):
    done = run("convert", SPRINKLER, "-o", f"x.{ending}")
    assert done.status == 0
    assert done.err.count("warning") == len(lost)
    for what in lost:
        assert f"lost the {what}" in done.err or f"lost that the model is a {what}" in done.err
    near(marginals(run, SPRINKLER), marginals(run, f"x.{ending}"))
    if not lost:
        assert marginals(run, f"x.{ending}", "-e", "grass=wet") == pytest.approx(
            marginals(run, SPRINKLER, "-e", "grass=wet"))


@pytest.mark.parametrize("form", ["fg", "alchemy", "xmlbif"])
def test_by_name(run, form):
    text = run("convert", SPRINKLER, "--format", form).out
    again = run("marginals", "-", "--from", form, stdin=text)
    assert again.status == 0
    assert again.out.count("\n") == 7


def test_labels_are_names(run, work):
    (work / "m.fg").write_text("1\n\n2\n5 2\n2 3\n3\n0 1.5\n3 2\n4 0.25\n")
    assert marginals(run, "m.fg") == pytest.approx({
        ("2", "0"): 1.5 / 3.75, ("2", "1"): 2 / 3.75, ("2", "2"): 0.25 / 3.75,
        ("5", "0"): 1.75 / 3.75, ("5", "1"): 2 / 3.75})
    assert marginals(run, "m.fg", "-e", "=5=1")["2", "1"] == 1
    done = run("convert", "m.fg", "--format", "fg")
    assert done.err == "" and "\n5 2\n2 3\n" in done.out


@pytest.mark.parametrize("ending", ["xml", "xmlbif"])
def test_no_network_no_xmlbif(run, work, small, ending):
    done = run("convert", small, "-o", f"x.{ending}")
    assert done.status in (1, 2) and "not directed" in done.err
    only(work, small)


@pytest.mark.parametrize("name, n_variables, n_factors", [
    ("alarm", 37, 37), ("hoi1", 6, 3), ("hoi2", 6, 2), ("twofactors", 4, 2), ("zeroes1", 3, 3),
])
def test_fg_files(run, work, data, name, n_variables, n_factors):
    path = data(f"uai-misc/{name}.fg")
    told = run("info", "-v", path).out
    facts = dict(line.split(None, 1) for line in told.splitlines() if len(line.split()) == 2)
    assert (facts["variables"], facts["factors"]) == (str(n_variables), str(n_factors))
    for ending in ("fg", "uai", "alchemy"):
        assert run("convert", path, "-o", f"x.{ending}").status == 0
        assert run("info", "-v", f"x.{ending}").out.split("\n")[0] == told.split("\n")[0]  # digest


def test_fg_order(run, data):
    """Factor f of alarm.fg is the conditional table of label f: sums over f are 1, but in the right
    order of indices alone (with the last label fastest 23 of the 37 are not)."""
    words = iter(run("convert", data("uai-misc/alarm.fg"), "--format", "uai").out.split()[1:])
    arity = [int(next(words)) for _ in range(int(next(words)))]
    scopes = [[int(next(words)) for _ in range(int(next(words)))]
              for _ in range(int(next(words)))]
    for f, scope in enumerate(scopes):
        table = [float(next(words)) for _ in range(int(next(words)))]
        sums = {}
        for x, value in zip(itertools.product(*(range(arity[v]) for v in scope)), table):
            rest = tuple(s for v, s in zip(scope, x) if v != f)
            sums[rest] = sums.get(rest, 0) + value
        assert all(abs(s - 1) < 1e-3 for s in sums.values()), f


def test_zeroes(run, data):
    """Entry 0 of variable 0 is listed as 0: by hand, f(1, x1) g(x1, x2) over four states."""
    p = marginals(run, data("uai-misc/zeroes1.fg"))
    weight = {(1, b, c): ((2, 1)[b]) * ((1, 2), (2, 1))[b][c] for b in (0, 1) for c in (0, 1)}
    z = sum(weight.values())
    assert p["0", "1"] == 1
    assert p["1", "1"] == pytest.approx(sum(w for x, w in weight.items() if x[1]) / z)
    assert p["2", "1"] == pytest.approx(sum(w for x, w in weight.items() if x[2]) / z)


def test_dog(run, data):
    """The tables of the textbook example: P(dog out), P(hear bark) by summation."""
    p = marginals(run, data("bn/other-formats/dog.bifxml"))
    f, b = 0.15, 0.01
    out = f * b * 0.99 + (1 - f) * b * 0.97 + f * (1 - b) * 0.9 + (1 - f) * (1 - b) * 0.3
    assert p["dog-out", "true"] == pytest.approx(out)
    assert p["hear-bark", "true"] == pytest.approx(0.7 * out + 0.01 * (1 - out))
    assert p["light-on", "true"] == pytest.approx(0.6 * f + 0.05 * (1 - f))


@pytest.mark.parametrize("name, variables", [("alarm", 37), ("insurance", 27)])
def test_bifxml_files(run, data, name, variables):
    """Structure as in the .bif. (Half of the tables of these files list the parents in an order
    that is not the table's: their numbers cannot be compared.)"""
    xml = run("info", data(f"bn/other-formats/{name}.bifxml"), "-q", "--json")
    bif = run("info", data(f"bn/{name}.bif"), "-q", "--json")
    assert xml.status == 0, xml.err
    one, other = json.loads(xml.out), json.loads(bif.out)
    assert one["variables"] == variables and one["bayesian_network"] is True
    for key in ("variables", "mean_arity", "factors", "factors_of_order", "variables_of_degree",
                "table_entries"):
        assert one[key] == other[key], key


@pytest.mark.parametrize("name", ["alarm.dsl"])
def test_other_formats_are_refused_by_ending(run, data, name):
    done = run("info", data(f"bn/other-formats/{name}"))
    assert done.status == 3 and "save it in GeNIe as .xdsl" in done.err and done.out == ""
