# SPDX-License-Identifier: Apache-2.0
"""Marginals and states on a terminal: a table for people; CSV elsewhere."""
import json
import os
import re
import subprocess

import pytest

from conftest import SPRINKLER, on_terminal

UNICODE = {"LC_ALL": "C.UTF-8"}


def show(work, *arguments, env):
    status, shown = on_terminal(work, *arguments, "-qq", env=env)
    assert status == 0, shown
    return shown.replace("\r\n", "\n")


def test_a_table_on_a_terminal_and_csv_elsewhere(run, work):
    shown = show(work, "marginals", SPRINKLER, "-e", "grass=wet", env=UNICODE)
    lines = shown.splitlines()
    assert lines[0].endswith("sprinkler.bif given grass=wet: exact") and lines[2] == ""
    assert lines[1].startswith("P(evidence) = 0.45798,")
    assert lines[3].split() == ["variable", "state", "probability"]
    assert lines[5].split()[:2] == ["yes", "0.350190"] and lines[5].rstrip()[-1] in "█▏▎▍▌▋▊▉"
    assert run("marginals", SPRINKLER).out.startswith("variable,state,probability,mcse")
    assert run("marginals", SPRINKLER, "--format", "table").out.startswith("Marginals of")
    assert on_terminal(work, "marginals", SPRINKLER, "-e", "grass=wet", env=UNICODE)[1].count("ln P(evidence)") == 1
    forced = show(work, "marginals", SPRINKLER, "--format", "csv", env=UNICODE)
    assert forced.startswith("variable,state,probability,mcse")


def test_a_state_on_a_terminal_and_csv_elsewhere(run, work):
    lines = show(work, "map", SPRINKLER, "-e", "grass=wet", env=UNICODE).splitlines()
    assert lines[0].startswith("Most probable state of ") and lines[0].endswith("given grass=wet: proved") and lines[1] == ""
    assert [line.split() for line in lines[2:]] == [["variable", "state"], ["rain", "no"], ["sprinkler", "on"], ["grass", "wet"]]
    assert run("map", SPRINKLER, "-e", "grass=wet").out == "variable,state\nrain,no\nsprinkler,on\ngrass,wet\n"
    assert run("generate", "ising", "--grid", "15x15", "--coupling-spread", "3", "-o", "glass.gbm").status == 0
    found = run("map", "glass.gbm", "--method", "sample", "--sweeps", "9", "--format", "table").out
    assert "the best that was found" in found.splitlines()[0]
    assert show(work, "map", SPRINKLER, "--format", "csv", env=UNICODE).startswith("variable,state")
    assert show(work, "map", SPRINKLER, "-o", "x.csv", env=UNICODE) == "" and (work / "x.csv").read_text().startswith("variable,")


def test_bars_without_unicode(work):
    shown = show(work, "marginals", SPRINKLER, env={"LC_ALL": "C"})
    assert shown.isascii() and "####" in shown


def test_errors_have_two_digits(run):
    done = run("marginals", SPRINKLER, "--method", "sample", "--sweeps", "2k", "--format", "table")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert "sampled, 16 chains of 2000 sweeps" in lines[0]
    assert lines[2].split() == ["variable", "state", "probability", "error", "ESS", "R-hat"]
    words = lines[3].split()
    assert words[:2] == ["rain", "no"] and words[3] == "+-"
    assert len(words[2]) == len(words[4]) and len(words[4].lstrip("0.")) == 2


@pytest.mark.parametrize("name", ["x" * 60, "å" * 60])
def test_long_names_are_cut(run, work, name):
    (work / "m.bif").write_text(f"""network m {{ }}
variable {name} {{ type discrete [ 2 ] {{ no, yes }}; }}
probability ( {name} ) {{ table 0.25, 0.75; }}
""")
    done = run("marginals", "m.bif", "--format", "table")
    assert done.status == 0, done.err
    assert all(len(line) < 80 for line in done.out.splitlines()[2:])
    assert name[:26] + ".." in done.out and "0.750000" in done.out


@pytest.mark.parametrize("columns", [40, 60, 66, 80, 200])
def test_lines_fit_the_terminal(work, columns):
    """Bars go first, then names are cut, then ESS and R-hat are left out; a heading breaks at blanks."""
    name, label = "a_name_of_a_variable", "a_label_of_a_state"
    (work / "m.bif").write_text(f"""network m {{ }}
variable {name} {{ type discrete [ 2 ] {{ no, {label} }}; }}
variable y {{ type discrete [ 2 ] {{ no, yes }}; }}
probability ( {name} ) {{ table 0.25, 0.75; }}
probability ( y | {name} ) {{ (no) 0.9, 0.1; ({label}) 0.2, 0.8; }}
""")

    def lines_of(*arguments):
        status, shown = on_terminal(work, *arguments, "-qq", columns=columns, env=UNICODE)
        lines = shown.replace("\r\n", "\n").splitlines()
        assert status == 0 and all(len(line) < columns for line in lines), shown
        return lines

    sampled = ["--method", "sample", "--sweeps", "500"]
    lines = lines_of("marginals", "m.bif", *sampled)
    assert " ".join(" ".join(lines[:lines.index("")]).split()) == "Marginals of m.bif: sampled, 16 chains of 500 sweeps"
    head, *rows = lines[lines.index("") + 1:]
    assert (len(head.split()) == 4) == (columns == 40) and "+-" in rows[0]
    assert len(rows) == 4 and (label in rows[1]) == (columns >= 80) and ("█" in rows[1]) == (columns == 200)
    assert rows[1].split()[0] == label or rows[1].split()[0].endswith("..") and label.startswith(rows[1].split()[0][:-2])
    lines = lines_of("marginals", "m.bif", *sampled, "--joint", f"{name},y", "-e", "y=no|yes")
    head, *rows = lines[lines.index("") + 1:]
    assert len(rows) == 4 and all("+-" in row for row in rows) and ("R-hat" in head) == (columns > 40)
    lines = lines_of("marginals", "examples/clinic.bif", "--joint", "smoker,vaccinated,influenza,cold,allergy,fever,cough")
    states = " ".join(" ".join(lines[lines.index("") + 1:]).split())
    assert states.count("fever=no") == (2 ** 6 if columns == 40 else 0)  # listed where columns would not hold them
    for command in ("info", "certify", "certify --accuracy 0.01", "sensitivity --query influenza=yes -e fever=yes"):
        verb, *options = command.split()
        lines_of(verb, "examples/clinic.bif", *options)
    lines_of("marginals", "examples/clinic.bif", "-e", "fever=yes,cough=yes")
    head, *rows = lines_of("marginals", "examples/clinic.bif", "--cases", "examples/clinic.csv", "--query", "influenza,cold")
    shown = [name for name in ("influenza=no", "influenza=yes", "cold=no", "cold=yes") if name in head]
    assert head.split() == ["case", *shown, "ln", "P"] and (len(shown) == 4) == (columns >= 80)
    assert [row.split()[:2] for row in rows] == [["0", "0.3173"], ["1", "0.9700"], ["2", "0.8282"], ["3", "0.9882"]]
    lines = lines_of("info", "examples/clinic.bif", "--variables", "-e", "fever=yes")
    assert ("factors" in lines[0]) == (columns > 40) and "states" in lines[0]


VERDICTS = [(["--target-error", "0.01"], "32"), (["--sweeps", "20"], "33")]


@pytest.mark.parametrize("options, colour", VERDICTS)
def test_verdict_in_colour(work, run, options, colour):
    """Where standard error is a terminal, and neither NO_COLOR nor the terminal minds."""
    command = ["marginals", SPRINKLER, "--method", "sample", "--progress", "never", *options]
    plain = {"TERM": "xterm", "NO_COLOR": ""}
    status, shown = on_terminal(work, *command, env=plain)
    assert f"gibbsite: \x1b[{colour}m" in shown and shown.count("\x1b[") == 2
    assert shown.rstrip().endswith("\x1b[0m")
    for env in ({**plain, "NO_COLOR": "1"}, {**plain, "TERM": "dumb"}, {**plain, "TERM": ""}):
        assert "\x1b" not in on_terminal(work, *command, env=env)[1]
    done = run(*command)
    assert "converged" in done.err and "\x1b" not in done.err + done.out


def test_verdict_of_states_out_of_reach_is_red(work):
    (work / "split.uai").write_text("MARKOV 2 2 2 1 2 0 1 4 0.5 0 0 0.5")
    status, shown = on_terminal(work, "marginals", "split.uai", "--method", "sample", "--scan", "systematic", "--temper", "off",
                                "--sweeps", "100", "--progress", "never", env={"TERM": "xterm", "NO_COLOR": ""})
    assert "\x1b[31mnot converged" in shown, shown


HIDDEN = {"\u202e": "\\u202e", "\u200b": "\\u200b", "\u2066": "\\u2066", "\ufeff": "\\ufeff", "\u061c": "\\u061c"}


def write_names(work, *names):
    """A network of these variables, each with the states =1+1 and none."""
    text = "network n { }\n"
    for name in names:
        text += 'variable "%s" { type discrete [ 2 ] { "=1+1", none }; }\nprobability ( "%s" ) { table 0.25, 0.75; }\n' % (name, name)
    (work / "names.bif").write_text(text)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_characters_that_are_not_seen_are_shown(run, work, hidden):
    """Two variables must not look alike; other programs get the names as they are."""
    write_names(work, "dose", "do%sse" % hidden)
    status, shown = on_terminal(work, "marginals", "names.bif")
    assert status == 0 and "do%sse" % HIDDEN[hidden] in shown and hidden not in shown
    status, shown = on_terminal(work, "marginals", "names.bif", "-e", "do%sse=x" % hidden)
    assert status != 0 and HIDDEN[hidden] in shown and hidden not in shown
    page = run("marginals", "names.bif", "--report", "page.html", "--format", "csv")
    html = (work / "page.html").read_text()
    assert page.status == 0 and "do%sse" % hidden in page.out
    assert "do%sse" % HIDDEN[hidden] in html and hidden not in html


def test_texts_like_formulas(run, work):
    write_names(work, "@sum", "plain", "-2+3", 'quo=te')
    plain = run("marginals", "names.bif", "--format", "csv").out
    safe = run("marginals", "names.bif", "--format", "csv", "--csv-safe").out
    assert "\n@sum,=1+1,0.25" in plain and "\n-2+3,none,0.75" in plain and "'" not in plain
    assert "\n'@sum,'=1+1,0.25" in safe and "\n'-2+3,none,0.75" in safe
    assert "\nplain,'=1+1,0.25" in safe and "\nquo=te,none,0.75" in safe
    assert "\n@sum,none" in run("map", "names.bif", "--format", "csv").out
    assert "\n'@sum,none" in run("map", "names.bif", "--format", "csv", "--csv-safe").out
    (work / "rows.csv").write_text("@sum\nnone\n")
    assert run("fit", "names.bif", "rows.csv", "-o", "f.bif", "--intervals", "i.csv", "--csv-safe").status == 0
    assert "\n'@sum,'=1+1," in (work / "i.csv").read_text()


@pytest.mark.skipif(not os.environ.get("GIBBSITE_CLOCKED"), reason="GIBBSITE_CLOCKED names no program")
@pytest.mark.parametrize("verb", ["marginals", "exact", "logz", "map"])
def test_progress_names_exact_work(run, work, verb):
    """The clock of this program is a second later at each reading, so that each look at it shows the progress."""
    run("generate", "ising", "--grid", "13x13", "--coupling", "0.3", "--random-field", "0.4", "-o", "g.gbm")
    output = {"logz": "r.pr", "map": "r.map"}.get(verb, "r.csv")
    said = {}
    for how in ("json", "always"):
        done = subprocess.run([os.environ["GIBBSITE_CLOCKED"], verb, "g.gbm", "--threads", "1", "--progress", how, "-o", output], cwd=work,
                              capture_output=True, text=True, env=dict(os.environ, CLOCK_STEP="1"))
        assert done.returncode == 0, done.stderr
        said[how] = done.stderr
    lines = [json.loads(line) for line in said["json"].splitlines() if line.startswith("{")]
    shares = [line["share"] for line in lines if line["phase"] == "junction tree"]
    assert len(shares) > 2 and shares == sorted(shares) and 0 <= shares[0] and 0.5 < shares[-1] <= 1, shares
    assert "burn-in" not in said["json"] + said["always"] and re.search(r"\d % junction tree", said["always"])
