# SPDX-License-Identifier: Apache-2.0
"""What people type by mistake, and what must be said to each: the name or the text to type instead."""
import pytest
from conftest import ROOT

CLINIC = "examples/clinic.bif"

# What is typed after the program's name, and what the one line of the message must hold.
MISTAKES = [
    ("marginals {} --query =cmd", 'there is no variable "cmd"'),
    ("marginals {} -e fever yes", "type -e 'fever=yes'"),
    ("fit rows.csv {}", "found a table before a model: type gibbsite fit"),
    ("learn weights rows.csv {}", "found a table before a model: type gibbsite learn weights"),
    ("marginals .", ".: found a folder, expected a file"),
    # evidence
    ("marginals {} -e fever", "expected a state of fever: type -e 'fever=no'"),
    ("marginals {} -e fever:yes", "type -e 'fever=yes'"),
    ("marginals {} fever=yes", "to observe it, type -e 'fever=yes'"),
    ("marginals {} -e feverr=yes", "did you mean fever"),
    ("marginals {} -e feverr", "did you mean fever"),
    ("marginals {} -e fever=maybe", "its states are no, yes"),
    ("marginals {} -e fever=1", "state number 1 is typed with # before it"),
    ("marginals {} -e fever=", "expected NAME=STATE"),
    ("marginals {} --given fever=yes", "it is called --evidence"),
    ("marginals {} --query fevr", "did you mean fever"),
    ("marginals {} --query FEVER", "did you mean fever"),
    ("marginals {} examples/sprinkler.csv", "to answer its rows, type --cases examples/sprinkler.csv"),
    ("marginals {} -e maybe", "there is no such file"),
    ("marginals {} --scan none.txt", "--scan none.txt: found no such file; otherwise expected chromatic|"),
    ("marginals {} -e mild", "type -e 'copd=mild' or the like"),
    ("marginals {} -e fever=yes;cough=no", "commas separate what is observed"),
    ("marginals {} -e fever=yes&cough=no", "commas separate what is observed"),
    ("marginals {} -e examples/clinic.csv", "for a table of cases, type --cases examples/clinic.csv"),
    ("marginals {} --virtual-evidence fever=yes:0.8", "type --likelihood 'fever=yes:0.8'"),
    ("marginals {} --joint cold;fever", "commas separate names"),
    # probabilities as they are written on paper
    ("marginals {} --query P(cold|fever=yes)", "type --query cold -e fever=yes"),
    ("marginals {} --query cold|fever=yes", "type --query cold -e fever=yes"),
    ("marginals {} --query cold|fever=yes,cough=no", "type --query cold -e fever=yes,cough=no"),
    ("marginals {} --query cold|fever", "type --query cold -e fever=STATE"),
    ("marginals {} --query p(cold)", "names of variables alone: type --query cold"),
    ("marginals {} --query cold=yes", "type --query cold, which shows all states"),
    ("marginals {} --query P(cold=yes|age=young|adult)", "type --query cold -e 'age=young|adult'"),
    ("marginals {} --query P(cold,influenza|fever=yes)", "type --joint cold,influenza -e fever=yes"),
    ("marginals {} --joint P(cold,influenza|fever=yes)", "type --joint cold,influenza -e fever=yes"),
    ("marginals {} P(cold|fever=yes)", "type --query cold -e fever=yes"),
    ("marginals {} cold=yes|fever=yes", "type --query cold -e fever=yes"),
    ("marginals {} age=young|adult", "to observe it, type -e 'age=young|adult'"),
    ("marginals {} cold", "to ask for it, type --query cold"),
    ("marginals {} --joint cold fever", "to ask for it, type --joint cold,fever"),
    ("marginals {} --query cold fever", "to ask for it, type --query cold,fever"),
    ("marginals {} -e fever = yes", "what is observed is one word: type -e 'NAME=STATE'"),
    ("sensitivity {} -e fever=yes cold=yes", "to ask for it, type --query 'cold=yes'"),
    ("sensitivity {} --query P(cold=yes|fever=yes)", "type --query cold=yes -e fever=yes"),
    ("sensitivity {} --query P(cold=yes)", "a variable and its state: type --query cold=yes"),
    ("sensitivity {} P(cold=yes|fever=yes)", "type --query cold=yes -e fever=yes"),
    ("map {} --query cold", "that of all variables together, so leave it out"),
    # options of other programs
    ("marginals {} --warmup 100", "it is called --burn-in"),
    ("marginals {} --tune 100", "it is called --burn-in"),
    ("sample {} --samples 100", "it is called --sweeps"),
    ("sample {} --iter 100", "it is called --sweeps"),
    ("sample {} -n 100", "--sweeps is meant"),
    ("sample {} --num-chains 4", "it is called --chains"),
    ("sample {} --query fever", "it is called --monitor"),
    ("marginals {} --jobs 2", "it is called --threads"),
    ("marginals {} -j 2", "--threads is meant"),
    ("marginals {} --random-seed 2", "it is called --seed"),
    ("map {} --timeout 2s", "it is called --time"),
    ("marginals {} --sweps 5", "did you mean '--sweeps'"),
    ("info {} --sweeps 5", "see 'gibbsite help info'"),
    ("marginals {} --condition fever=yes", "it is called --evidence"),
    ("marginals {} --num_chains 4", "it is called --chains"),
    ("marginals {} --n.iter 400", "it is called --sweeps"),
    ("marginals {} --n-jobs 4", "it is called --threads"),
    ("marginals {} -f csv", "--format is meant"),
    ("marginals {} --json", "type --format json"),
    ("marginals {} --csv", "type --format csv; for a table of cases, --cases FILE"),
    ("marginals {} --exact", "type --method exact"),
    ("marginals {} --do fever=yes", "take the parents of the variable out of MODEL, then observe it with -e"),
    ("marginals {} --target cold", "to choose variables, type --query"),
    ("sensitivity {} --target cold=yes", "it is called --query"),
    ("map {} --k-best 3", "it finds one state"),
    ("map {} --cases examples/clinic.csv", "it answers one case"),
    ("logz {} --cases examples/clinic.csv", "type gibbsite marginals MODEL --cases FILE"),
    ("fit {} --data examples/clinic.csv", "type gibbsite fit NETWORK DATA"),
    ("fit {} examples/clinic.csv --equivalent-sample-size 10", "it is called --prior"),
    ("fit {} examples/clinic.csv --max_iter 10", "type --iterations N"),
    ("fit {} examples/clinic.csv --test 20%", "it is called --held-out"),
    ("fit {} examples/clinic.csv --intervals -o out.bif", "option '--intervals' needs a value, found the option -o"),
    ("sensitivity {} --query cold=yes --top -o out.csv", "option '--top' needs a value, found the option -o"),
    ("marginals {} --temperature 2", "generate ising --coupling J/T"),
    ("generate ising --grid 3x3 --beta 0.4", "generate ising --coupling J/T"),
    ("generate ising --grid 3x3 --periodic", "it is called --torus"),
    ("sample {} --swendsen-wang", "--scan cluster and --scan wolff"),
    ("sample {} --cluster", "'--clusters' needs a value"),
    ("marginals {} --plot x.svg", "--report FILE.html has charts"),
    ("marginals {} --T 2", "generate ising --coupling J/T"),
    ("generate ising --grid 3x3 --J 0.4", "it is called --coupling"),
    ("generate ising -J 0.4", "--coupling is meant"),
    ("generate ising --L 4", "it is called --grid"),
    ("marginals {} --lbp", "type --method bp"),
    ("marginals {} --mcmc", "type --method sample"),
    ("marginals {} --mpe", "type gibbsite map MODEL"),
    ("marginals {} --thin 2", "every sweep counts"),
    ("marginals {} --rhat", "have R-hat, ESS and errors"),
    ("marginals {} --svg a.svg", "it is called --drawing"),
    ("marginals {} --magnetization", "--summary FILE.json"),
    ("marginals {} --gpu", "--threads N"),
    # values
    ("marginals {} --threads 0", "must be from 1 to 1024"),
    ("marginals {} --sweeps ten", "such as 5000, 5k or 2e6"),
    ("marginals {} --target-error 150%", "at most 1"),
    ("marginals {} --time 10x", "such as 90s"),
    ("marginals {} --memory-limit lots", "such as 512M"),
    ("marginals {} --method gibs", "expected auto|exact|sample|mean-field"),
    ("marginals {} --method gibbs", "here it is called 'sample'"),
    ("map {} --method junction_tree", "here it is called 'exact'"),
    ("marginals {} --format JSON", "did you mean 'json'"),
    ("marginals {} --scan sistematic", "did you mean 'systematic'"),
    # files
    ("convert {} out.uai", "to write this file, type -o out.uai"),
    ("convert {} -o out.xyz", "use --format"),
    ("sample {} -o out.json", "the formats are --format csv|"),
    ("marginals no-such.bif", "no-such.bif: cannot be opened"),
    ("marginals clinic", "clinic: cannot be opened"),
    ("marginals {} -o out.xlsx", "files of other programs, which this verb does not write"),
    ("marginals examples/clinic.csv", "type gibbsite marginals MODEL --cases examples/clinic.csv"),
    ("fit examples/clinic.csv {} -o out.bif", f"type gibbsite fit {CLINIC} examples/clinic.csv"),
    ("report {}", "type gibbsite marginals examples/clinic.bif --report FILE.html"),
    ("fit {}", "fit: DATA is missing"),
    ("learn {} examples/clinic.csv", "type gibbsite fit NETWORK DATA"),
    ("marginals examples/clinic.csv {}", "type gibbsite marginals examples/clinic.bif --cases examples/clinic.csv"),
    # verbs
    ("curve {}", "make a model for each temperature"),
    ("lattice {}", "it is called 'generate ising'"),
    ("anneal {}", "it is called 'map'"),
    ("magnetization {}", "--summary FILE.json"),
    ("plot {}", "convert -o FILE.svg draws the model"),
    ("marginal {}", "did you mean 'marginals'"),
    ("query {} fever", "it is called 'marginals'"),
    ("{}", "a verb comes first: type gibbsite marginals " + CLINIC),
    ("cases {}", "it is called 'marginals --cases'"),
    ("predict {} examples/clinic.csv", "it is called 'marginals --cases'"),
    ("joint {} --query cold,fever", "it is called 'marginals --joint'"),
    ("variable_elimination {}", "it is called 'marginals'"),
    ("P(cold|fever=yes) {}", "type marginals MODEL --query cold -e fever=yes"),
    ("map_query {}", "it is called 'map'"),
    ("train {} examples/clinic.csv", "it is called 'fit'"),
    ("whatif {}", "it is called 'sensitivity'"),
    ("marginals help", "type gibbsite help marginals"),
    ("help --joint", "'--joint' is an option of marginals: type gibbsite help marginals all"),
    ("mpe {}", "it is called 'map'"),
    ("help infer", "it is called 'marginals'"),
    ("frobnicate {}", "see 'gibbsite help'"),
    ("generate grid", "expected ising, potts"),
]


@pytest.mark.parametrize("typed, said", MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_mistake(run, work, typed, said):
    before = sorted(path.name for path in work.iterdir())
    done = run(*typed.format(CLINIC).split())
    assert done.status in (2, 3) and done.out == ""
    assert said in done.err and done.err.count("\n") == 1
    assert sorted(path.name for path in work.iterdir()) == before


@pytest.mark.parametrize("query, said", [
    ("cold | fever = yes", "type --query cold -e 'fever = yes'"),
    ("P( cold, influenza | fever=yes, cough=no )", "type --joint cold,influenza -e fever=yes,cough=no"),
    (" P(cold = yes)", "type --query cold, which shows all states"),
])
def test_blanks_in_probabilities(run, query, said):
    done = run("marginals", CLINIC, "--query", query)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("evidence, said", [
    ('{"fever": "yes"}', "type -e 'fever=yes'"),
    ("{'fever': 'yes', 'cough': 'no'}", "type -e 'fever=yes,cough=no'"),
    ("fever=yes cough=no", "commas separate what is observed"),
    ("fever=yes and cough=no", "commas separate what is observed"),
])
def test_evidence_of_other_programs(run, evidence, said):
    done = run("marginals", CLINIC, "-e", evidence)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("text, at, said", [
    ("", "1:1", "found an empty file, expected a line that names variables"),
    ("yes,no\nno,no\n", "1:1", "the first line names the variables"),
    ("fever,cough\nyes,none\n", "2:5", "a missing value is an empty cell or NA"),
    ("fever|cough\nyes|no\n", "1:1", "commas, semicolons or tabs separate columns"),
    ("fever,cuogh\nyes,no\n", "1:7", "is written nearly so"),
])
def test_tables_of_other_programs(run, work, text, at, said):
    (work / "cases.csv").write_text(text)
    for command in (["marginals", CLINIC, "--cases", "cases.csv"], ["fit", CLINIC, "cases.csv"]):
        done = run(*command)
        assert done.status == 3 and done.out == ""
        assert f"cases.csv:{at}: found" in done.err and said in done.err and done.err.count("\n") == 1


def test_one_likelihood_is_certain(run):
    done = run("marginals", CLINIC, "--query", "fever", "--likelihood", "fever=yes:0.8")
    assert done.status == 0 and "fever,yes,1," in done.out and "name them too" in done.err
    assert "name them too" not in run("marginals", CLINIC, "--likelihood", "fever=yes:0.8|no:0.2").err


def test_what_is_said_to_type_is_an_answer(run):
    done = run("marginals", CLINIC, "--query", "cold", "-e", "fever = yes", "-e", "cough=no,crp=low")
    assert done.status == 0 and done.out.startswith("variable,state,probability")


def test_names_that_look_like_probabilities_are_names(run, work):
    (work / "odd.uai").write_text("MARKOV 1 2 1 1 0 2 1 3")
    assert run("marginals", "odd.uai", "--query", "0").status == 0
    (work / "odd.xml").write_text(
        '<BIF VERSION="0.3"><NETWORK><NAME>n</NAME><VARIABLE TYPE="nature"><NAME>P(a|b=c)</NAME>'
        "<OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE><DEFINITION><FOR>P(a|b=c)</FOR>"
        "<TABLE>0.5 0.5</TABLE></DEFINITION></NETWORK></BIF>")
    done = run("marginals", "odd.xml", "--query", "P(a|b=c)")
    assert done.status == 0 and "P(a|b=c),x,0.5" in done.out


def test_existing_files_are_not_offered_as_outputs(run, work):
    (work / "other.uai").write_text("MARKOV 1 2 1 1 0 2 1 1")
    assert "-o" not in run("marginals", CLINIC, "other.uai").err


@pytest.mark.parametrize("name", ["result.txt", "result", "result.dat"])
def test_other_names_of_results_are_csv(run, work, name):
    assert run("marginals", CLINIC, "-o", name).status == 0
    assert (work / name).read_text().startswith("variable,state,probability")


@pytest.mark.parametrize("name, text, said", [
    ("a.mln", "1.5 Smokes(x) => Cancer(x)\n", "a.mln:1:15: found '=>', expected a ground clause"),
    ("a.bif", "variable a { type discrete [ 2 ] { n, y }; } probability ( a ) { table 0.6, 0.6; }",
     "a.bif:1:60: found probabilities with sum 1.2, expected 1;"),
])
def test_models_that_are_not_meant(run, work, name, text, said):
    (work / name).write_text(text)
    done = run("marginals", name)
    assert done.status == 3 and said in done.err and done.out == ""
