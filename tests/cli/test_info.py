# SPDX-License-Identifier: Apache-2.0
"""info: exact inference, influences, and memory as it is predicted and as it is."""
import json
import math
import re

import pytest
from conftest import ROOT, SPRINKLER, nightly, only, program

MIB = 1 << 20


def info(run, *arguments, stdin=None):
    done = run("info", *arguments, "--json", stdin=stdin)
    assert done.status == 0, done.err
    return json.loads(done.out)


def generated(run, *kind):
    done = run("generate", *kind, "--format", "lg")
    assert done.status == 0, done.err
    return done.out


KEYS = ["schema", "digest", "bayesian_network", "convention", "variables", "observed",
        "implied", "free", "min_arity", "max_arity", "mean_arity", "factors", "factors_of_kind", "factors_of_order",
        "variables_of_degree", "tied_weights", "fixed_weights", "tied_factors", "table_entries", "zero_share", "has_zeros", "components",
        "largest_component", "barren_variables", "enumerable_components", "bipartite", "elimination_search",
        "elimination_width", "elimination_entries", "elimination_log2_entries", "entry_limit", "exact_fits", "exact_bytes",
        "exact_least_bytes", "exact_seconds",
        "auto_components", "auto_forms", "auto_cases", "auto_nonzero_entries", "auto_seconds",
        "max_influence", "mean_influence", "dobrushin_condition", "colors", "levels", "mean_batch",
        "variables_of_class", "double_sums", "lattice_bits", "lattice_share",
        "loading_bytes", "run_bytes", "model_bytes",
        "plan_bytes", "state_bytes", "estimator_bytes", "draw_bytes", "draws_stopped"]


def test_keys(run):
    found = info(run, SPRINKLER)
    assert list(found) == KEYS and found["draw_bytes"] is None
    found = info(run, SPRINKLER, "--draws")
    assert list(found) == KEYS and found["draws_stopped"] is False
    assert list(found["draw_bytes"]) == ["random", "herded", "herded-shared", "herded-complete",
                                         "discretized", "one-bin", "randomly-discretized",
                                         "bounded-error", "cud"]
    assert found["draw_bytes"]["random"] == 0


@pytest.mark.parametrize("kind, width, entries", [
    (["ring", "--variables", "30"], 2, 28 * 8),
    (["complete", "--variables", "9"], 8, 2**9),
    (["powerlaw", "--variables", "60", "--edges", "1"], 1, 59 * 4),
    (["ising", "--grid", "1x50"], 1, 49 * 4),
    (["ising", "--grid", "3x40"], 3, None),
])
def test_width(run, kind, width, entries):
    found = info(run, "-", "--from", "lg", stdin=generated(run, *kind))
    assert found["elimination_search"] == "done" and found["exact_fits"] is True
    assert found["elimination_width"] == width
    assert entries is None or found["elimination_entries"] == entries
    assert found["auto_components"] == found["components"] == 1


def test_width_after_evidence(run):
    cycle = generated(run, "ring", "--variables", "30")
    found = info(run, "-", "--from", "lg", "-e", "7=0", stdin=cycle)
    assert (found["elimination_width"], found["elimination_entries"]) == (1, 28 * 4)
    found = info(run, "-", "--from", "lg", "-e", ",".join(f"{v}=0" for v in range(30)), stdin=cycle)
    assert (found["free"], found["elimination_width"], found["elimination_entries"]) == (0, 0, 0)
    assert found["exact_fits"] is True and found["max_influence"] == 0


def test_search_stops_at_the_limit(run):
    grid = generated(run, "ising", "--grid", "18x18")
    full = info(run, "-", "--from", "lg", stdin=grid)
    limit = full["exact_least_bytes"]
    assert limit < full["exact_bytes"]
    fits = info(run, "-", "--from", "lg", "--memory-limit", limit, stdin=grid)
    assert fits["exact_fits"] is True and fits["exact_bytes"] == limit
    limit -= 1
    less = info(run, "-", "--from", "lg", "--memory-limit", limit, stdin=grid)
    assert less["exact_fits"] is False and less["auto_components"] == 0
    assert less["elimination_log2_entries"] == math.log2(less["elimination_entries"])
    text = run("info", "-v", "-", "--from", "lg", "--memory-limit", limit - 100000, stdin=grid).out
    assert re.search(r"^width of elimination +\d+$", text, re.M)
    assert re.search(r"^    log2 +\d+", text, re.M)
    assert re.search(r"^  exact inference +does not fit the limit of ", text, re.M)


def test_influence(run):
    torus = generated(run, "ising", "--grid", "10x10", "--torus", "--coupling", "0.25")
    found = info(run, "-", "--from", "lg", stdin=torus)
    assert abs(found["max_influence"] - 0.97967) < 1e-5  # 4 tanh 0.25
    assert abs(found["mean_influence"] - 0.97967) < 1e-5
    assert found["dobrushin_condition"] is True
    torus = generated(run, "ising", "--grid", "10x10", "--torus", "--coupling", "0.26")
    assert info(run, "-", "--from", "lg", stdin=torus)["dobrushin_condition"] is False


def test_one_screen(run, work):
    """What a person asks, on at most 24 lines of 80 columns; -v and --json have the rest."""
    shown = run("info", SPRINKLER, "-e", "grass=wet").out
    lines = shown.splitlines()
    assert lines[0] == f"{SPRINKLER}: a Bayesian network"
    for line in ("variables   3 variables of 2 states", "evidence    1 variable observed: 2 free variables left",
                 "structure   1 component of 2 variables"):
        assert line in lines, shown
    assert re.search(r"^exact +possible: .* \(width 1\)$", shown, re.M)
    assert re.search(r"^by default +exact, ", shown, re.M)
    (work / "one.uai").write_text("MARKOV 1 2 1 1 0 2 0.25 0.75")
    lines = run("info", "one.uai").out.splitlines()
    assert lines[0] == "one.uai: a Markov random field"
    for line in ("variables   1 variable of 2 states", "factors     1 factor (1 table) of at most 1 variable",
                 "evidence    none: 1 free variable", "structure   1 component of 1 variable"):
        assert line in lines, lines
    assert "nothing is left" in run("info", "one.uai", "-e", "0=1").out
    (work / "none.uai").write_text("MARKOV 0 0")
    assert "variables   none" in run("info", "none.uai").out


def test_one_screen_of_large_models(run, work):
    (work / "grid.LG").write_text(generated(run, "ising", "--grid", "60x60", "--coupling", "0.9"))
    done = run("info", "grid.LG", "-e", "0=1,7=0", "--chains", "1")
    lines = done.out.splitlines()
    assert len(lines) <= 24 and all(len(line) <= 80 for line in lines), done.out
    text = re.sub(r"\s+", " ", done.out)
    assert "2 variables observed: 3598 free variables left" in text
    assert re.search(r"exact (no|not known): ", text) and "by default sampled by 1 chain " in text
    assert "for a run of 1 chain at most" in text and "couplings may be strong" in text
    clauses = "p wcnf 3 2 9\n9 1 2 0\n3 -1 3 0\n"
    (work / "c.wcnf").write_text(clauses)
    assert "hard zeros  remain" in run("info", "c.wcnf").out


def test_list_of_variables(run, work):
    done = run("info", "examples/clinic.bif", "--variables", "-e", "fever=yes")
    lines = done.out.splitlines()
    assert lines[0].split() == ["variable", "factors", "observed", "states"] and len(lines) == 16
    assert lines[1].split() == ["0", "season", "4", "4:", "winter,", "spring,", "summer,", "autumn"]
    assert lines[10].split() == ["9", "fever", "1", "yes", "2:", "no,", "yes"]
    labels = [f"quite_a_long_label_{i}" for i in range(9)]
    (work / "m.bif").write_text(f"""network m {{ }}
variable x {{ type discrete [ 9 ] {{ {", ".join(labels)} }}; }}
probability ( x ) {{ table 0.2, {", ".join(["0.1"] * 8)}; }}
""")
    lines = run("info", "m.bif", "--variables").out.splitlines()
    assert len(lines) > 3 and all(len(line) <= 80 for line in lines)
    assert re.sub(r"\s+", " ", " ".join(lines[1:])).endswith(" 9: " + ", ".join(labels))
    (work / "g.uai").write_text("MARKOV 2 2 3 0")
    assert run("info", "g.uai", "--variables").out.splitlines()[2].split() == ["1", "x1", "0", "3"]
    done = run("info", "g.uai", "--variables", "--json")
    assert done.status == 2 and "exclude each other" in done.err


def test_text_is_aligned(run, work):
    (work / "grid.LG").write_text(generated(run, "ising", "--grid", "30x30"))
    lines = run("info", "grid.LG", "--chains", "64", "--draws").out.splitlines()
    assert all(len(line) <= 80 and line[25:27].strip() in ("", line[26:27]) for line in lines)
    memory = [line for line in lines if line.endswith(" bytes")]
    assert len(memory) >= 7
    assert len({len(line) for line in memory}) == 1
    for line in memory:
        assert re.search(r"[0-9.]+ ([KMG]i)?B +\d+ bytes$", line), line


# ---- memory ---------------------------------------------------------------------------------

MODELS = {
    "grid": ["ising", "--grid", "300x300", "--coupling", "0.3", "--coupling-spread", "0.1"],
    "potts": ["potts", "--grid", "120x120", "--states", "5", "--noise", "0.7"],
    "bayes": ["bayes", "--variables", "12000", "--parents", "3", "--states", "2:4"],
    "rbm": ["rbm", "--visible", "500", "--hidden", "400", "--coupling", "0",
            "--coupling-spread", "0.1"],
}


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Large models, made once."""
    import subprocess
    made = {}

    def find(name):
        if name not in made:
            made[name] = tmp_path_factory.mktemp("models") / f"{name}.LG"
            subprocess.run([program(), "generate", *MODELS[name], "-q", "-o", made[name]],
                           check=True, timeout=60)
        return made[name]

    return find


@pytest.fixture(scope="module")
def plain_memory():
    """Sanitizers take memory of their own."""
    with open(program(), "rb") as f:
        text = f.read()
    if b"__asan_init" in text or b"__tsan_init" in text:
        pytest.skip("memory under a sanitizer is not that of the program")


def measured(run, work, path, *options):
    # Meson has the C library fill what it allocates, which touches memory that a run leaves alone.
    output = () if "traces" in options else ("-o", "x.csv")
    done = run("marginals", path, "--method", "sample", "--burn-in", "2", *output,
               "--summary", "s.json", *options, env={"MALLOC_PERTURB_": "0"})
    assert done.status == 0, done.err
    summary = json.loads((work / "s.json").read_text())
    return summary["peak_rss_bytes"], summary["predicted_bytes"]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("chains", ["1", "64"])
@pytest.mark.long
def test_memory_of_short_runs(run, work, model_file, plain_memory, name, chains):
    """A prediction is an upper bound: how many of its pages are touched is the kernel's affair."""
    path = model_file(name)
    loading = info(run, path)["loading_bytes"] + MIB  # as another process measured it
    for estimator in ("rao-blackwell", "count"):
        peak, predicted = measured(run, work, path, "--chains", chains, "--estimator", estimator,
                                   "--sweeps", "8")
        assert peak <= max(loading, predicted), (name, chains, estimator, peak, predicted)


LARGE = {
    "torus": ["ising", "--grid", "700x700", "--torus", "--coupling-spread", "0.1",
              "--random-field", "0.1"],  # 490000 variables, couplings of their own
    "uniform": ["ising", "--grid", "600x600"],  # one coupling
    "regular": ["regular", "--variables", "300000", "--degree", "4"],
    "potts": ["potts", "--grid", "300x300", "--states", "5"],
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=nightly) if name in ("torus", "uniform") else name for name in LARGE])
@pytest.mark.long
def test_memory_of_large_runs(run, work, plain_memory, name):
    """A prediction is an upper bound: of what the run adds and of what the program is at start, all of
    its libraries counted whole. Beyond the peak it is a quarter and 8 MiB at most."""
    assert run("generate", *LARGE[name], "-q", "-o", "model.gbm").status == 0
    for options in (["--chains", "1"], ["--chains", "16"], ["--chains", "16", "--estimator", "count"],
                    ["--chains", "2", "--scan", "random"]):
        options += ["--sweeps", "5"]
        peak, predicted = measured(run, work, "model.gbm", *options)
        assert peak <= predicted <= 1.25 * peak + 8 * MIB, (name, options, peak, predicted)


def test_memory_of_a_pilot(run, work, plain_memory):
    """Splashes of growing width are tried side by side, in at most 1 GiB whatever the threads, and
    the prediction counts those that were."""
    assert run("generate", "ising", "--grid", "12x12", "--coupling", "1.2", "-q", "-o",
               "cold.gbm").status == 0
    for threads in ("1", "8"):
        peak, predicted = measured(run, work, "cold.gbm", "--chains", "4", "--sweeps", "5",
                                   "--scan", "auto", "--threads", threads)
        assert len(json.loads((work / "s.json").read_text())["pilot"]["trials"]) > 3
        assert peak <= predicted <= 1024 * MIB + 32 * MIB, (threads, peak, predicted)


@pytest.mark.long
def test_memory_of_a_long_run(run, work, plain_memory):
    """Long batches touch sums that short runs leave alone, here 5 MiB: info counts on them."""
    assert run("generate", "ising", "--grid", "100x100", "-q", "-o", "grid.LG").status == 0
    options = ["--chains", "64", "--estimator", "count"]
    said = info(run, "grid.LG", *options)["run_bytes"]
    peak, predicted = measured(run, work, "grid.LG", *options, "--sweeps", "4300")
    assert peak <= predicted == said
    peak, predicted = measured(run, work, "grid.LG", *options, "--sweeps", "400")
    assert peak <= predicted < said - 4 * MIB


@pytest.mark.long
def test_a_lattice_needs_no_plan(run, work, plain_memory):
    """Bit by bit, no graph and no plan: what a run takes beside the model is a fraction of it."""
    assert run("generate", "ising", "--grid", "1000x1000", "-q", "-o", "grid.gbm").status == 0
    for estimator, share in (("traces", 0.6), ("count", 2.2)):
        options = ["--chains", "1", "--estimator", estimator]
        said = info(run, "grid.gbm", *options)
        peak, predicted = measured(run, work, "grid.gbm", *options, "--sweeps", "8")
        assert peak <= predicted <= said["run_bytes"]
        assert predicted < (1 + share) * said["model_bytes"] + 16 * MIB, (estimator, predicted)


def test_memory_limit_is_the_prediction(run, work, model_file):
    path = model_file("potts")
    options = ["--chains", "64", "--sweeps", "5", "--burn-in", "0", "-o", "x.csv"]
    _, predicted = measured(run, work, path, "--chains", "64", "--sweeps", "5")
    done = run("sample", path, *options, "--memory-limit", predicted - 1)
    assert done.status == 1 and f"({predicted} bytes)" in done.err
    assert "this run would take" in done.err and "--memory-limit" in done.err
    for name in ("x.csv", "s.json"):
        (work / name).unlink()
    only(work)
    done = run("sample", path, "--chains", "1", "--sweeps", "1", "--burn-in", "0", "-o", "x.csv",
               "--memory-limit", predicted)
    assert done.status == 0, done.err


def test_hopeless_runs_are_refused_early(run, work, model_file):
    """By what is to be sampled alone, before anything is compiled."""
    done = run("marginals", model_file("potts"), "--chains", "4096", "--memory-limit", "1G")
    assert done.status == 1 and "this run would take at least " in done.err
    done = run("marginals", model_file("potts"), "--chains", "1", "--memory-limit", "12M")
    assert done.status == 1 and "exceed the memory limit of 12.0 MiB" in done.err
    only(work)


@pytest.mark.parametrize("verb", ["info", "certify"])
def test_format(run, verb):
    """--format json is --json; two that differ are refused, and so is another word."""
    model = ROOT / "examples" / "grid.uai"
    assert json.loads(run(verb, model, "--format", "json").out)["schema"] == verb + "/1"
    assert run(verb, model, "--json", "--format", "json").status == 0
    text = run(verb, model, "--format", "text").out.split("\n")  # further lines of info predict memory
    assert text[:2] == run(verb, model).out.split("\n")[:2] and not text[0].startswith("{")
    for typed, said in [(["--json", "--format", "text"], "--json and --format text exclude each other"),
                        (["--format", "yaml"], "--format yaml: expected text|json"),
                        (["--format", ""], "--format: its value is empty")]:
        done = run(verb, model, *typed)
        assert (done.status, done.out) == (2, "") and said in done.err
