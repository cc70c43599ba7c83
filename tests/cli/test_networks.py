# SPDX-License-Identifier: Apache-2.0
"""Networks as other programs write them: what is read, what is told, and how names are typed."""

import csv
import math

import pytest

OBSERVED = """<?xml version="1.0" encoding="US-ASCII"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>Pump</NAME><OUTCOME>on</OUTCOME><OUTCOME>off</OUTCOME>
<OBSERVED>{}</OBSERVED></VARIABLE>
<VARIABLE TYPE="nature"><NAME>Flow</NAME><OUTCOME>1</OUTCOME><OUTCOME>0</OUTCOME>{}</VARIABLE>
<DEFINITION><FOR>Pump</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>Flow</FOR><GIVEN>Pump</GIVEN><TABLE>0.9 0.1 0.2 0.8</TABLE></DEFINITION>
</NETWORK></BIF>
"""


def probability(done, variable, state):
    for line in done.out.splitlines():
        if line.startswith(f"{variable},{state},"):
            return float(line.split(",")[2])
    raise AssertionError(done.out + done.err)


@pytest.fixture
def pump(run, tmp_path):
    """@return a function that asks a file with those two observations."""
    def ask(*options, first="1", second=""):
        path = tmp_path / "pump.xml"
        path.write_text(OBSERVED.format(first, second))
        return run("marginals", path, *options)

    return ask


def test_observations_of_a_file(pump):
    told = pump()
    assert "1 observation ('Pump' = 'off')" in told.err and "--file-evidence" in told.err
    assert probability(told, "Flow", "1") == pytest.approx(0.375)
    taken = pump("--file-evidence")
    assert probability(taken, "Flow", "1") == pytest.approx(0.2)
    assert "warning" not in taken.err and "P(evidence) = 0.75" in taken.err
    by_label = pump("--file-evidence", "-e", "Flow=0", first="off")
    assert "P(evidence) = 0.6" in by_label.err


def test_observation_that_is_label_and_number(pump):
    """State 0 of Flow is called 1: the label counts, as everywhere, and a warning says so."""
    told = pump("--file-evidence", first="-1", second="<OBS>1</OBS>")
    assert probability(told, "Flow", "1") == 1.0
    assert "observation '1' of 'Flow' is the label of state 0 and the number of another: it is taken for the label" in told.err
    assert "('Flow' = '1')" in pump(first="-1", second="<OBS>1</OBS>").err


JAVABAYES = """<?XML VERSION="1.0"?>
<!-- Produced by JavaBayes -->
<!DOCTYPE BIF [
	<!ELEMENT BIF ( NETWORK )*>
	<!ELEMENT PROBABILITY ( FOR | GIVEN | TABLE | ENTRY | DEFAULT | PROPERTY )* >
]>
<BIF{}>
<NETWORK>
<VARIABLE><NAME>power</NAME><TYPE>{}</TYPE><VALUE>on</VALUE><VALUE>off</VALUE><PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
<VARIABLE><NAME>flow</NAME><TYPE>discrete</TYPE><VALUE>none</VALUE><VALUE>low</VALUE><VALUE>high</VALUE></VARIABLE>
<PROBABILITY><FOR>power</FOR><TABLE>0.75 0.25 </TABLE></PROBABILITY>
<PROBABILITY><FOR>flow</FOR><GIVEN>power</GIVEN><TABLE>0.1 0.6 0.2 0.3 0.7 0.1</TABLE></PROBABILITY>
</NETWORK>
</BIF>
"""


@pytest.mark.parametrize("version", ["", ' VERSION="0.2"', ' VERSION="0.1"'])
def test_the_xml_of_javabayes(run, work, version):
    """Its tables run over the child first, unlike those of XMLBIF 0.3."""
    (work / "pump.xml").write_text(JAVABAYES.format(version, "discrete"))
    done = run("marginals", "pump.xml")
    assert done.status == 0 and "'<?XML' stands in capitals" in done.err, done.err
    for state, p in [("none", 0.225), ("low", 0.225), ("high", 0.55)]:
        assert probability(done, "flow", state) == pytest.approx(p)
    (work / "pump.xml").write_text(JAVABAYES.format(version, "continuous"))
    done = run("marginals", "pump.xml")
    assert done.status == 3 and "found a variable of type 'continuous', expected discrete" in done.err
    (work / "pump.xml").write_text(JAVABAYES.format(version, "discrete").replace("<TABLE>0.75 0.25 </TABLE>", "<ENTRY><TABLE>0.75 0.25</TABLE></ENTRY>"))
    assert "found '<ENTRY>', expected" in run("marginals", "pump.xml").err


@pytest.mark.parametrize("colon", [":", " :", " : "])
def test_a_colon_before_the_values_of_a_row(run, work, colon):
    (work / "pump.bif").write_text(f"""network pump {{ }}
variable power {{ type discrete [ 2 ] {{ on, off }}; }}
variable flow {{ type discrete [ 2 ] {{ low, high }}; }}
probability ( power ) {{ table 0.75, 0.25; }}
probability ( flow | power ) {{ (on){colon}0.1, 0.9; (off){colon}0.6, 0.4; }}
""")
    assert probability(run("marginals", "pump.bif"), "flow", "low") == pytest.approx(0.225)


def test_observations_refused(pump):
    for options, first, second, status, message in [
        ((), "up", "", 3, "found the observation 'up'"),
        ((), "1</OBSERVED><OBSERVED>0", "", 3, "found the observation '0' behind '1', expected one"),
        ((), "-1", "", 3, "found no observation"),
        (("-e", "Pump=on"), "1", "", 2, "observed in state"),
    ]:
        done = pump("--file-evidence", *options, first=first, second=second)
        assert done.status == status and message in done.err and done.out == ""


def test_file_evidence_of_other_formats(run, tmp_path):
    path = tmp_path / "a.bif"
    path.write_text("variable a { type discrete [ 1 ] { x }; } probability ( a ) { table 1; }")
    done = run("marginals", path, "--file-evidence")
    assert done.status == 2 and "expected an XMLBIF file" in done.err


AWKWARD = ["Pay, net", "Pay", " lead", "trail ", "[0,9.5)", "7", "2-3", "@home", "a=b", "caf\u00e9 \u20ac", "*"]


def test_every_name_can_be_typed(run, tmp_path):
    """Names and states as they are, and behind '=' where they could be something else."""
    path = tmp_path / "names.bif"
    states = ", ".join(f'"{name}"' for name in AWKWARD)
    path.write_text("".join(
        f'variable "{name}" {{ type discrete [ {len(AWKWARD)} ] {{ {states} }}; }}\n'
        f'probability ( "{name}" ) {{ table {", ".join(["1"] + ["0.5"] * (len(AWKWARD) - 1))}; }}\n'
        for name in AWKWARD))
    for name in AWKWARD:
        done = run("marginals", path, "--normalize-cpts", "--query", f"={name}", "-e", f"={name}={name}")
        assert done.status == 0, done.err
        rows = list(csv.reader(done.out.splitlines()))[1:]
        assert {row[0] for row in rows} == {name}
        assert [row[1] for row in rows if float(row[2]) == 1.0] == [name]


def test_latin1(run, tmp_path):
    """Letters of other machines, and what can be typed of them in UTF-8."""
    path = tmp_path / "old.net"
    path.write_bytes('net {}\nnode Gr\u00f6\u00dfe { states = ("\u20ac 5" "x"); }\n'
                     "potential (Gr\u00f6\u00dfe) { data = (0.25 0.75); }\n".encode("cp1252"))
    done = run("marginals", path, "-e", "Gr\u00f6\u00dfe=\u20ac 5")
    assert done.status == 0 and "5 bytes are no UTF-8" in done.err
    written = run("convert", path, "-o", tmp_path / "new.bif")
    assert written.status == 0 and "Gr\u00f6\u00dfe" in (tmp_path / "new.bif").read_text()
    path.write_bytes(path.read_bytes().replace(b"net {}", b"net {} % \xc3\xa9"))
    mixed = run("marginals", path)
    assert mixed.status == 3 and f"{path}:2:8: found the byte" in mixed.err and mixed.out == ""
    assert run("marginals", path, "--lenient").status == 0


def test_r_names_become_legal(run, tmp_path):
    path = tmp_path / "r.bif"
    path.write_text("variable top.level { type discrete [ 2 ] { 10, 20 }; }\n"
                    "variable top_level { type discrete [ 2 ] { a-b, a_b }; }\n"
                    "probability ( top.level ) { table 0.25, 0.75; }\n"
                    "probability ( top_level | top.level ) { (10) 0.5, 0.5; (20) 0.1, 0.9; }\n")
    done = run("convert", path, "-o", tmp_path / "r.xdsl")
    assert done.status == 0 and "wrote 4 names in another form" in done.err
    back = run("marginals", tmp_path / "r.xdsl")
    assert probability(back, "top_level", "a_b_2") == pytest.approx(0.2)
    assert probability(back, "top_level_2", "s10") == pytest.approx(0.25)


# ---- names that are numbers ----------------------------------------------------------------------

STREETS = """network n { }
variable 1 { type discrete [ 2 ] { a, b }; }
variable 0 { type discrete [ 2 ] { a, b }; }
variable 7 { type discrete [ 2 ] { a, b }; }
probability ( 1 ) { table 0.25, 0.75; }
probability ( 0 ) { table 0.5, 0.5; }
probability ( 7 ) { table 0.125, 0.875; }
"""


def test_a_name_that_is_a_number_is_a_name(run, work):
    """Typed on the command line as in a table; # stands for numbers of variables."""
    (work / "s.bif").write_text(STREETS)
    (work / "t.csv").write_text("1\nb\n")
    for typed, variable, said in (("1", "1", True), ("=1", "1", False), ("#1", "0", False), ("7", "7", False), ("2", "7", False),
                                  ("#2", "7", False)):
        done = run("exact", "s.bif", "--query", typed, "--format", "csv")
        assert done.out.splitlines()[1].startswith(f"{variable},a,"), typed
        assert ("#1 is the one with that number" in done.err) == said
        observed = run("exact", "s.bif", "-e", f"{typed}=b", "--format", "csv")
        assert f"\n{variable},b,1," in observed.out
        assert ("#1 is the one with that number" in observed.err) == said
    cases = run("marginals", "s.bif", "--cases", "t.csv", "--query", "0", "--format", "csv")
    assert float(cases.out.splitlines()[1].split(",")[-1]) == pytest.approx(math.log(0.75))
    refused = run("exact", "s.bif", "--query", "0-2")
    assert refused.status == 2 and "variables have numbers for names" in refused.err and "#0,#1" in refused.err
    assert run("exact", "s.bif", "--query", "2-2").status == 0
    assert run("exact", "s.bif", "--query", "#9").status == 2


def test_couplings_of_dimod_called_txt(run, work):
    (work / "b.txt").write_text("# vartype=SPIN\n0 1 -1\n")
    refused = run("logz", "b.txt")
    assert refused.status == 3 and "b.txt:1:1: found the vartype of a file of dimod" in refused.err and "--from coo" in refused.err
    assert run("logz", "b.txt", "--from", "coo").status == 0


def test_cases_without_rows(run, work):
    (work / "s.bif").write_text(STREETS)
    (work / "t.csv").write_text("7\n")
    done = run("marginals", "s.bif", "--cases", "t.csv")
    assert done.status == 0 and "t.csv: found no cases below the names of columns" in done.err and "exact" not in done.err


def test_elements_in_small_letters_are_named(run, work):
    (work / "s.xml").write_text(OBSERVED.format("on", "").replace("NETWORK>", "network>"))
    done = run("exact", "s.xml")
    assert done.status == 3 and "s.xml:2:20: found '<network>', expected" in done.err
