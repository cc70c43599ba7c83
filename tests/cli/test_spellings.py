# SPDX-License-Identifier: Apache-2.0
"""Files that people and other programs write a little otherwise are read as they mean, or refused with what to write."""
import pytest

NET = """network n { }
variable Smoke { type discrete [2] { no, yes }; }
variable Risk { type discrete [3] { low, mid, high }; }
probability (Smoke) { table .7, .3; }
probability (Risk | Smoke) { (no) .7, .2, .1; (yes) .2, .3, .5; }
"""
GIVEN_HIGH = .15 / .22  # P(Smoke = yes | Risk = high)
GIVEN_LOW = .06 / .55


@pytest.fixture
def smoke(run, work):
    """P(Smoke = yes | evidence file), or the refusal"""
    (work / "net.bif").write_text(NET)

    def ask(name, text, *more):
        (work / name).write_text(text)
        done = run("marginals", "net.bif", "-e", name, "--query", "Smoke", *more)
        return float(done.out.splitlines()[2].split(",")[2]) if done.status == 0 else done
    return ask


def xml(outcomes, observed):
    return "<BIF><NETWORK><VARIABLE><NAME>Risk</NAME>{}{}</VARIABLE></NETWORK></BIF>".format(
        "".join(f"<OUTCOME>{name}</OUTCOME>" for name in outcomes.split()), observed)


@pytest.mark.parametrize("outcomes, observed, expected", [
    ("high mid low", "<OBS>0</OBS>", GIVEN_HIGH), ("high mid low", "<OBSERVED>2</OBSERVED>", GIVEN_LOW),
    ("high", "<OBS>0</OBS>", GIVEN_HIGH), ("", "<OBS>0</OBS>", GIVEN_LOW), ("high mid low", "<OBS>low</OBS>", GIVEN_LOW)])
def test_a_number_counts_the_outcomes_of_the_file(smoke, outcomes, observed, expected):
    assert smoke("e.xml", xml(outcomes, observed)) == pytest.approx(expected)
    if outcomes:  # the observation may stand before the outcomes
        assert smoke("e.xml", xml("", observed + xml(outcomes, "").split("</NAME>")[1].split("</VAR")[0])) == \
            pytest.approx(expected)


@pytest.mark.parametrize("outcomes, observed, message", [
    ("top mid low", "<OBS>0</OBS>", "found the observation '0', which is the outcome 'top' in this file"),
    ("low high", "<OBS>2</OBS>", "found the observation '2', expected the number or the label"),
    ("", "<OBS>3</OBS>", "found the observation '3', expected the number or the label")])
def test_an_outcome_that_the_model_lacks(smoke, outcomes, observed, message):
    refused = smoke("e.xml", xml(outcomes, observed))
    assert refused.status == 3 and "e.xml:1:" in refused.err and message in refused.err, refused.err


@pytest.mark.parametrize("line", ["Risk=high # comment", "Risk=high #comment", '"Risk"="high"', '"Risk" = high',
                                  "Risk=#2 # the last one", "# first\nRisk=high\t# comment"])
def test_evidence_in_lines(smoke, line):
    assert smoke("e.txt", line + "\n") == pytest.approx(GIVEN_HIGH)


def test_evidence_with_a_colon(smoke):
    refused = smoke("e.txt", "Risk: high\n")
    assert refused.status == 3 and "e.txt:1:1: " in refused.err and \
        "expected NAME=STATE, found 'Risk: high'" in refused.err, refused.err


def test_labels_with_hashes_and_quotes_are_themselves(run, work):
    (work / "n.xml").write_text(
        "<BIF><NETWORK><VARIABLE><NAME>\"a\"</NAME><OUTCOME>x #y</OUTCOME><OUTCOME>\"x\"</OUTCOME></VARIABLE>"
        "<DEFINITION><FOR>\"a\"</FOR><TABLE>.25 .75</TABLE></DEFINITION></NETWORK></BIF>")
    for line, p in [('"a"=x #y', "1"), ('"a"="x" # y', "0")]:
        (work / "e.txt").write_text(line)
        done = run("marginals", "n.xml", "-e", "e.txt")
        assert done.status == 0 and done.out.splitlines()[1].split(",")[2] == p, done.out + done.err


# ---- tables ----------------------------------------------------------------------------------------------------------

@pytest.fixture
def fit(run, work):
    (work / "net.bif").write_text(NET)

    def learn(name, text, model="net.bif"):
        (work / name).write_text(text)
        return run("fit", model, name, "-o", "f.bif")
    return learn


def test_a_variable_that_is_called_lp(fit, run, work):
    (work / "lp.bif").write_text(NET.replace("Smoke", "lp"))
    done = fit("t.csv", "chain,draw,lp,Risk\n0,0,yes,low\n0,1,yes,mid\n0,2,no,low\n", "lp.bif")
    assert done.status == 0 and "2 columns are no variable and left out: 'chain', 'draw'" in done.err, done.err
    assert ".666" in (work / "f.bif").read_text()
    done = run("sample", "lp.bif", "--sweeps", "5", "-o", "d.csv")  # its own column of lp stands behind the three
    assert done.status == 0 and (work / "d.csv").read_text().startswith("chain,draw,lp,lp,Risk\n")
    done = run("fit", "lp.bif", "d.csv", "-o", "f.bif")
    assert done.status == 0 and "left out" not in done.err, done.err


def test_comments_below_the_names(fit):
    done = fit("t.csv", "Smoke,Risk\n# a,b\nno,low\n#yes,mid\nyes,mid\n# end\n")
    assert done.status == 0 and "3 lines begin with # below the names: skipped as comments" in done.err and \
        "2 rows" in done.err, done.err
    done = fit("t.csv", "id,Smoke,Risk\n1,no,low\n# b\n")
    assert done.status == 3 and "t.csv:3:1:" in done.err
    done = fit("t.csv", "Smoke,#Risk\n#no,low\n")
    assert done.status == 3


def test_small_letters_of_na(fit):
    done = fit("t.csv", "Smoke,Risk\nno,na\nyes,Na\nyes,low\n")
    assert done.status == 0 and "2 cells have no value: 1 na, 1 Na" in done.err, done.err


ARFF = "@relation r\n@attribute Smoke {no,yes}\n@attribute Risk {low,mid,high}\n@data\n"


def test_comments_behind_data_of_weka(fit):
    done = fit("t.arff", ARFF + "no,low % c\nyes,? %\n'yes',\"mid\"  % d, e\nno,'low'% c\n% whole line\n")
    assert done.status == 0 and "4 rows" in done.err, done.err


def test_weights_of_weka(fit):
    for row in ["no,low,{2}\n", "no,low, {2} % c\n"]:
        done = fit("t.arff", ARFF + row)
        assert done.status == 3 and "t.arff:5:" in done.err and "found a weight of the row in braces" in done.err, done.err


# ---- marginals of others ---------------------------------------------------------------------------------------------

def other(text, change):
    rows = [line.split(",") for line in text.splitlines()]
    return "".join(line + "\n" for line in (change(i, row) for i, row in enumerate(rows)))


@pytest.mark.parametrize("change", [
    lambda i, row: ",".join(["" if i == 0 else str(i - 1)] + row),
    lambda i, row: ",".join(['""' if i == 0 else f'"{i}"'] + (row if i else [f'"{name}"' for name in row])),
    lambda i, row: ";".join(row),
    lambda i, row: ";".join(row).replace(".", ","),
    lambda i, row: "\t".join(row)])
def test_marginals_that_another_program_saved(run, work, change):
    (work / "net.bif").write_text(NET)
    assert run("marginals", "net.bif", "-o", "e.csv").status == 0
    text = (work / "e.csv").read_text()
    (work / "o.csv").write_text(other(text, change))
    same = run("compare", "e.csv", "e.csv")
    done = run("compare", "e.csv", "o.csv")
    assert done.status == 0, done.err
    assert done.out.replace("o.csv", "e.csv") == same.out
    if change(0, ["a"]) != "a":
        assert "the first column has no name" in done.err


def test_lines_of_another_width(run, work):
    (work / "e.csv").write_text("variable,state,probability\na,x,0.5\na,y,0.5\n")
    for line in ["0\n", "0,a,x\n", "0,a,x,0.5,1\n"]:
        (work / "o.csv").write_text(",variable,state,probability\n" + line)
        done = run("compare", "e.csv", "o.csv")
        assert done.status == 3 and "o.csv:2:" in done.err and "expected a line of 3 fields" in done.err, done.err


# ---- weights and offsets in capitals ---------------------------------------------------------------------------------

def test_capitals(run, work):
    (work / "w.cnf").write_text("p cnf 2 1\nc p WEIGHT 1 0.4 0\nc p Weight -1 0.6 0\n1 2 0\n")
    (work / "v.cnf").write_text("p cnf 2 1\nc p weight 1 0.4 0\nc p weight -1 0.6 0\n1 2 0\n")
    assert run("logz", "w.cnf", "-q").out == run("logz", "v.cnf", "-q").out
    (work / "a.coo").write_text("# vartype=SPIN\n# OFFSET = 2\n0 1 1\n")
    (work / "b.coo").write_text("# Vartype=SPIN\n# offset=2\n0 1 1\n")
    (work / "c.coo").write_text("# vartype=SPIN\n0 1 1\n")
    a, b, c = (run("logz", name, "-q").out for name in ("a.coo", "b.coo", "c.coo"))
    assert a == b != c
