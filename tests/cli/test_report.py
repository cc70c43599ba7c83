# SPDX-License-Identifier: Apache-2.0
"""report and --report: pages that stand alone, say what the summary says, and open without an error."""
import html.parser
import json
import re
import shutil
import subprocess

import pytest
from conftest import SPRINKLER

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(html.parser.HTMLParser):
    """A page whose elements are closed in order; its text, and what assistive programs ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.ids, self.headings, self.tags, self.refers = [], "", [], [], set(), []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.add(tag)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.refers += attributes.get("aria-labelledby", "").split()
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert attributes.get("src", "data:image/png;base64,").startswith("data:image/png;base64,")
        assert attributes.get("href", "#").startswith("#")
        assert tag != "img" or attributes["alt"]
        if tag in ("h1", "h2", "h3", "h4"):
            assert int(tag[1]) <= (self.headings[-1] if self.headings else 0) + 1, "a heading is skipped"
            self.headings.append(int(tag[1]))
        if tag == "svg" and "aria-hidden" not in attributes:
            assert attributes["role"] == "img" and attributes["aria-labelledby"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def page_of(text):
    page = Page(text)
    assert {"header", "main", "footer", "title", "caption"} <= page.tags | {"caption"}
    assert "script" not in page.tags and "link" not in page.tags
    assert len(page.ids) == len(set(page.ids)) and set(page.refers) <= set(page.ids)
    assert "http:" not in text and "https:" not in text and "@import" not in text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
    return page


def report(run, work, *arguments):
    done = run(*arguments, "--report", "r.html")
    assert done.status in (0, 4), done.err
    text = (work / "r.html").read_text()
    return text, page_of(text)


def grid(run, coupling="0.3"):
    assert run("generate", "ising", "--grid", "12x20", "--coupling", coupling, "--random-field", "0.4", "-o", "g.gbm").status == 0


SAMPLED = ["marginals", SPRINKLER, "-e", "grass=wet", "--method", "sample", "--sweeps", "2000", "--chains", "4"]


def test_page_says_what_the_summary_says(run, work):
    text, page = report(run, work, *SAMPLED, "--summary", "s.json", "-o", "m.csv")
    summary = json.loads((work / "s.json").read_text())
    assert "Marginals of sprinkler.bif" in page.text and "given grass=wet" in page.text
    assert ("Converged." if summary["converged"] else "Not converged.") in page.text
    assert summary["digest"] in page.text and summary["model"]["digest"] in page.text and summary["command"] in page.text
    assert page.text.index("onverged.") < page.text.index("What was asked") < page.text.index("Do the chains agree?")
    for variable in summary["marginals"]["shown"]:
        for state in variable["states"]:
            assert f"{state['p']:.4f}" in page.text
    assert run("report", "s.json", "-o", "again.html").status == 0
    assert (work / "again.html").read_text() == text
    assert run("report", "s.json").out == text


def test_the_network_is_drawn(run, work):
    text, page = report(run, work, *SAMPLED, "--summary", "s.json", "-o", "m.csv")
    network = json.loads((work / "s.json").read_text())["marginals"]["network"]
    assert network["directed"] is True and network["observed"] == [2]
    assert [(sorted(factor[:-1]), factor[-1]) for factor in network["factors"]] == [([0], 1), ([0, 1], 2)]
    assert text.count('class="edge"') == 3 and text.count('class="variable seen"') == 1
    assert "Observed variables have a thick frame" in page.text
    grid(run)
    text, _ = report(run, work, "marginals", "g.gbm", "--sweeps", "10")
    assert "gibbsite-network" not in text
    text, page = report(run, work, "marginals", "examples/grid.uai")
    assert "a line between two variables" in page.text and text.count('class="edge"') == 12


def test_the_network_around_a_query_is_drawn(run, work):
    """As --drawing draws it: the queried variables with their bars, and names of those that share a factor with one of them."""
    text, page = report(run, work, "marginals", "examples/clinic.bif", "-e", "fever=yes", "--query", "cold,influenza", "--summary", "s.json",
                        "--drawing", "d.svg", "-o", "m.csv")
    network = json.loads((work / "s.json").read_text())["marginals"]["network"]
    assert network["others"][:2] == ["season", "age"] and network["observed"] == [2 + network["others"].index("fever")]
    drawing = (work / "d.svg").read_text()
    for of_node in ('class="edge"', 'class="variable seen"', '<text class="name"', '<text class="number"'):
        assert text.count(of_node) == drawing.count(of_node) > 0, of_node
    assert text.count('class="variable') == len(network["others"]) + 2 and "whose box has a name only" in page.text
    assert run("report", "s.json").out == text
    grid(run)
    report(run, work, "marginals", "g.gbm", "--sweeps", "10", "--query", "17,0", "--summary", "s.json", "-o", "m.csv")
    network = json.loads((work / "s.json").read_text())["marginals"]["network"]
    assert network["others"] == ["1", "16", "18", "20", "37"]
    assert sorted(map(sorted, network["factors"])) == [[0, 3], [0, 4], [0, 6], [1, 2], [1, 5]]


@pytest.mark.parametrize("network, expected", [
    ({"others": [7], "factors": []}, "the name of a variable"),
    ({"factors": [[0, 3]]}, "the position of a variable"),
    ({"factors": [[0, -1]]}, "the position of a variable"),
    ({"factors": [[0, 0.5]]}, "the position of a variable"),
    ({"factors": [[0, "rain"]]}, "the position of a variable"),
    ({"factors": [[1, 1]]}, "each variable once"),
    ({"factors": [7]}, "an array of positions"),
    ({"factors": [[0, 1], [1, 0]], "directed": True}, "without directed cycles"),
    ({"factors": [], "observed": [9]}, "the position of a variable"),
    (7, "an object"),
])
def test_networks_that_are_wrong(run, work, network, expected):
    assert run("marginals", SPRINKLER, "--summary", "s.json", "-o", "m.csv").status == 0
    summary = json.loads((work / "s.json").read_text())
    summary["marginals"]["network"] = network
    (work / "s.json").write_text(json.dumps(summary))
    done = run("report", "s.json", "-o", "r.html")
    assert done.status == 3 and expected in done.err and done.err.startswith("gibbsite: s.json:1:"), done.err
    assert not (work / "r.html").exists()


def test_exact_answers_have_no_sweeps(run, work):
    _, page = report(run, work, "marginals", SPRINKLER)
    assert "Seconds" in page.text and "Sweeps of each chain" not in page.text and "Updates of variables" not in page.text
    _, page = report(run, work, *SAMPLED)
    assert "Sweeps of each chain" in page.text and "Updates of variables" in page.text


def test_marginals_of_the_summary(run, work):
    done = run(*SAMPLED, "--query", "2,rain", "--format", "json", "--summary", "s.json")
    shown = json.loads((work / "s.json").read_text())["marginals"]["shown"]
    for ours, theirs in zip(shown, json.loads(done.out)["variables"], strict=True):
        assert (ours["id"], ours["name"], ours["arity"]) == (theirs["id"], theirs["name"], len(theirs["states"]))
        assert [s["state"] for s in ours["states"]] == theirs["states"]
        for ours_key, key in (("p", "probability"), ("mcse", "mcse"), ("ess", "ess"), ("rhat", "rhat")):
            assert [s[ours_key] for s in ours["states"]] == theirs[key]


def test_largest_errors_are_shown(run, work):
    grid(run)
    done = run("marginals", "g.gbm", "--method", "sample", "--sweeps", "100", "--format", "json", "--summary", "s.json")
    errors = {v["id"]: max(v["mcse"]) for v in json.loads(done.out)["variables"]}
    m = json.loads((work / "s.json").read_text())["marginals"]
    assert m["variables"] == 240 and m["order"] == "error"
    assert [v["id"] for v in m["shown"]] == sorted(errors, key=lambda v: (-errors[v], v))[:40]
    rhat = [r for v in json.loads(done.out)["variables"] for r in v["rhat"]]
    assert m["rhat"]["values"] == sum(m["rhat"]["counts"]) == len(rhat)
    assert (m["rhat"]["least"], m["rhat"]["most"]) == (min(rhat), max(rhat))
    assert m["rhat"]["above"] == sum(r > 1.01 for r in rhat)
    assert m["ess"]["values"] == sum(m["ess"]["counts"])


@pytest.mark.parametrize("kind", ["exact", "converged", "disagree", "grid", "picture", "ladder", "mean-field", "joint", "sample"])
def test_kinds_of_runs(run, work, kind):
    arguments = {
        "exact": ["marginals", SPRINKLER],
        "converged": SAMPLED,
        "disagree": ["marginals", "g.gbm", "--method", "sample", "--temper", "off", "--sweeps", "64"],
        "grid": ["marginals", "g.gbm", "--method", "sample", "--sweeps", "64"],
        "picture": ["marginals", "g.gbm", "--method", "sample", "--sweeps", "64", "--picture", "12x20", "-o", "g.png"],
        "ladder": ["marginals", "g.gbm", "--method", "sample", "--temper", "4", "--sweeps", "200"],
        "mean-field": ["marginals", SPRINKLER, "--method", "mean-field"],
        "joint": ["marginals", SPRINKLER, "--joint", "rain,sprinkler"],
        "sample": ["sample", SPRINKLER, "--method", "sample", "--sweeps", "50", "-o", "d.csv"],
    }[kind]
    grid(run, "2" if kind == "disagree" else "0.3")
    text, page = report(run, work, *arguments)
    assert ("ladder of temperatures" in page.text) == (kind == "ladder")
    assert kind != "disagree" or "within chains, not reliable" in page.text
    if kind in ("grid", "picture") and "data:image/png" in text:
        assert text.count("<img ") == 2 and 'alt="Probability of each variable, 12 rows of 20"' in text


def test_names_are_escaped(run, work):
    (work / "n.bif").write_text('network x { }\nvariable "a<b>&\\u00e9é" { type discrete [ 2 ] { "<i>", no }; }\n'
                                'probability ( "a<b>&\\u00e9é" ) { table 0.5, 0.5; }\n')
    done = run("info", "n.bif")
    if done.status != 0:
        pytest.fail(done.err)
    text, page = report(run, work, "marginals", "n.bif", "--method", "sample", "--sweeps", "64")
    assert "a<b>&" in page.text and "<i>" in page.text and "<b>&" not in text


def test_threads_and_sets_make_no_difference(run, work):
    """But for what a clock or the system says, and the command line itself."""
    grid(run)
    pages = set()
    for more, simd in ((["--threads", "1"], "portable"), (["--threads", "3"], "avx512")):
        done = run("marginals", "g.gbm", "--method", "sample", "--sweeps", "64", *more, "--summary", "s.json", env={"GIBBSITE_SIMD": simd})
        assert done.status in (0, 4)
        summary = json.loads((work / "s.json").read_text())
        for name in ("compile_seconds", "sampling_seconds", "updates_per_second", "peak_rss_bytes", "command"):
            summary[name] = None
        summary["options"]["threads"] = None
        (work / "s.json").write_text(json.dumps(summary))
        pages.add(run("report", "s.json").out)
    assert len(pages) == 1


def test_comparison(run, work):
    assert run("marginals", SPRINKLER, "-e", "grass=wet", "--summary", "exact.json", "-o", "e.csv").status == 0
    assert run(*SAMPLED, "--summary", "sampled.json", "-o", "s.csv").status in (0, 4)
    assert run("marginals", SPRINKLER, "--summary", "other.json", "-o", "o.csv").status == 0
    done = run("report", "exact.json", "sampled.json")
    page = page_of(done.out)
    assert "The runs beside one another" in page.text and "differs" not in page.text
    assert "rain = yes" in page.text
    done = run("report", "other.json", "sampled.json")
    assert "differs" in page_of(done.out).text


def test_other_answers(run, work):
    grid(run)
    for verb, says in (("logz", "The partition function of g.gbm"), ("map", "The most probable state of g.gbm")):
        done = run(verb, "g.gbm", "--method", "sample", "--sweeps", "64", "--format", "json", "-o", "a.json", "--report", "r.html")
        assert done.status == 0, done.err
        answer = json.loads((work / "a.json").read_text())
        page = page_of((work / "r.html").read_text())
        assert says in page.text and answer["model"] in page.text and f"gibbsite {verb} g.gbm" in page.text
        assert page_of(run("report", "a.json").out).text.count("Repeat it") == 1
        assert run(verb, SPRINKLER, "--report", "r.html").status == 0
        assert "exact" in page_of((work / "r.html").read_text()).text or verb == "map"
        assert run(verb, "g.gbm", "--report", "-").status == 2


def test_traces(run, work):
    """Of the log density unasked, of variables with --monitor; also on a page that is made later; not of exact answers."""
    text, page = report(run, work, *SAMPLED, "-o", "m.csv")
    assert "Traces of the chains" in page.text and "log density" in re.findall(r"<h4>(.*?)</h4>", text)
    text, page = report(run, work, *SAMPLED, "--monitor", "rain,sprinkler", "--summary", "s.json", "-o", "m.csv")
    assert {"log density", "rain=yes", "sprinkler=on"} <= set(re.findall(r"<h4>(.*?)</h4>", text))
    assert len(re.findall("caption[^<]*>Mean of the draws so far", text)) == 2
    assert run("report", "s.json").out == text
    _, page = report(run, work, "marginals", SPRINKLER, "-o", "m.csv")
    assert "Traces" not in page.text
    assert json.loads((work / "s.json").read_text())["monitored"]["traces"]["schema"] == "draws/1"


def test_draws(run, work):
    assert run("sample", SPRINKLER, "--method", "sample", "--sweeps", "300", "--chains", "3", "-o", "d.npz").status == 0
    assert run(*SAMPLED, "--summary", "s.json", "-o", "m.csv").status in (0, 4)
    page = page_of(run("report", "s.json", "d.npz").out)
    assert "3 chains of 300 draws." in page.text and "Autocorrelation" in page.text and "Ranks" in page.text


def test_refusals(run, work):
    (work / "bad.json").write_text('{"schema": "run/1", "marginals": {},\n "verdict": 3}')
    (work / "cut.json").write_text('{"schema": "run/1"')
    (work / "other.json").write_text('{"schema": "info/1"}')
    for arguments, status, message in (
            (["report"], 2, "SUMMARY is missing"),
            (["report", "bad.json"], 3, "bad.json:2:13: found '3', expected a string or null"),
            (["report", "cut.json"], 3, "cut.json:1:19: found the end of the file"),
            (["report", "other.json"], 3, "other.json:1:12: found '\"', expected a summary"),
            (["report", "none.json"], 3, "none.json"),
            (["report", "none.npz"], 3, "none.npz"),
            (["report", *["s.json"] * 65], 2, "at most 64"),
            (["marginals", SPRINKLER, "--report", "-"], 2, "standard output is for the result"),
            (["marginals", SPRINKLER, "--report", "a", "--summary", "a"], 2, "same file"),
            (["marginals", SPRINKLER, "--report", "a", "-o", "a"], 2, "same file"),
            (["marginals", SPRINKLER, "--report", "none/a.html"], 1, "cannot write"),
            (["exact", SPRINKLER, "--task", "pr", "--report", "a.html"], 2, "--report applies with"),
            (["marginals", SPRINKLER, "--cases", "x.csv", "--report", "a.html"], 2, "tells of one run")):
        done = run(*arguments, *(["-o", "page.html"] if arguments[0] == "report" else []))
        assert done.status == status and message in done.err, (arguments, done.err)
        assert not (work / "page.html").exists() and not (work / "a.html").exists()


def test_several_samples_of_evidence(run, work):
    (work / "e.tab").write_text("grass\n\n0\n1\n")
    assert run("marginals", SPRINKLER, "-e", "e.tab", "-o", "m.csv", "--report", "r.html").status == 0
    assert [page_of((work / f"r.{k}.html").read_text()) is not None for k in (0, 1)] == [True, True]


# ---- a browser ---------------------------------------------------------------------------------

WATCH = """<!DOCTYPE html><title>x</title><iframe src="PAGE" width="360" height="800"></iframe>"""


def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is not installed: how a browser takes a page is not looked at")
    return path


# What Chromium asks for by itself, where it is not told from asking.
OWN = r"(file|data|about|chrome[\w-]*):|https?://([\w-]+\.)*(google|googleapis|gvt1)\.com/"


def browse(work, page, *more):
    """What the browser says, and the addresses that it was asked for."""
    done = subprocess.run([chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           "--hide-scrollbars", f"--user-data-dir={work / 'profile'}", "--enable-logging=stderr", "--v=0",
                           "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                           f"--log-net-log={work / 'net.json'}", "--window-size=500,800", *more, (work / page).as_uri()],
                          cwd=work, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    asked = set(re.findall(r'"url":"([^"]*)"', (work / "net.json").read_text()))
    return done, {url for url in asked if not re.match(OWN, url)}


def test_browser(run, work):
    grid(run)
    report(run, work, "marginals", "g.gbm", "--method", "sample", "--sweeps", "200", "--summary", "s.json")
    assert run(*SAMPLED, "--summary", "t.json", "-o", "m.csv").status in (0, 4)
    assert run("sample", SPRINKLER, "--method", "sample", "--sweeps", "300", "--chains", "3", "-o", "d.npz").status == 0
    assert run("report", "s.json", "t.json", "d.npz", "-o", "r.html").status == 0
    done, asked = browse(work, "r.html", "--dump-dom", "--virtual-time-budget=2000")
    assert "CONSOLE" not in done.stderr and not asked
    assert done.stdout.count("<article") == 3 and "Content-Security-Policy" in done.stdout
    # what these two would look like: a script that the policy forbids, a picture from elsewhere
    text = (work / "r.html").read_text()
    (work / "bad.html").write_text(text.replace("</body>", "<script>1</script></body>"))
    assert "CONSOLE" in browse(work, "bad.html", "--dump-dom")[0].stderr
    (work / "asks.html").write_text('<img src="http://127.0.0.1:9/x.png">')
    assert browse(work, "asks.html", "--dump-dom")[1] == {"http://127.0.0.1:9/x.png"}
    # a narrow window: the page measures itself, in a copy that may run a script
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    text = text.replace("</body>", "<script>document.title='wide '+document.documentElement.scrollWidth</script></body>")
    (work / "inner.html").write_text(text)
    (work / "outer.html").write_text(WATCH.replace("PAGE", "inner.html") + "<script>onload=()=>{document.title="
                                     "frames[0].document.title}</script>")
    done, _ = browse(work, "outer.html", "--dump-dom", "--virtual-time-budget=2000", "--allow-file-access-from-files")
    assert "<title>wide 360</title>" in done.stdout


@pytest.mark.parametrize("schema, expected", [
    ("run/1", 'a summary of a run, with "marginals"'), ("logz/1", 'an answer of gibbsite logz, with "verdict"'),
    ("map/1", 'an answer of gibbsite map, with "state"'), ("draws/1", 'an object with draws, with "quantities"'),
    ("certify/1", 'an answer of gibbsite certify, with "influences"')])
def test_objects_without_answers_are_refused(run, work, schema, expected):
    (work / "empty.json").write_text('{"schema": "%s"}' % schema)
    done = run("report", "empty.json", "-o", "r.html")
    assert done.status == 3 and f"empty.json:1:1: found '{{', expected {expected}" in done.err, done.err
    assert not (work / "r.html").exists()



def test_one_pass_is_singular(run, work):
    done = run("certify", "examples/sprinkler.bif", "--scan", "random", "--couplings", "2", "--sweeps", "40", "--json", "-o", "c.json")
    assert done.status == 0
    found = json.loads((work / "c.json").read_text())
    for row in found["couplings"]:
        row.update(pairs=1, met=1, longest=1)
    (work / "c.json").write_text(json.dumps(found))
    assert "the last pair after 1 pass. Longer" in page_of(run("report", "c.json").out).text


def test_a_page_of_coupled_chains(run, work):
    assert run("generate", "ising", "--grid", "5x5", "--coupling", "3", "-o", "modes.uai").status == 0
    asked = ("--scan", "systematic", "--couplings", "30", "--sweeps", "50")
    assert run("certify", "modes.uai", *asked, "--accuracy", "0.1", "--json", "-o", "modes.json").status == 0
    text = run("report", "modes.json").out
    page, found = page_of(text), json.loads((work / "modes.json").read_text())
    apart = 30 - found["couplings"][0]["met"]
    assert f"No. The systematic scan: {apart} of 30 pairs of chains did not meet within 50 passes. Do not trust a run" in page.text
    assert "Not proved. The systematic scan: no number of passes is proved" in page.text and "at least" in page.text
    assert run("certify", "examples/grid.uai", "--couplings", "40", "--accuracy", "0.1", "--json", "-o", "grid.json").status == 0
    page, found = page_of(run("report", "grid.json").out), json.loads((work / "grid.json").read_text())
    for scan in "chromatic", "systematic", "random":
        longest = next(row["longest"] for row in found["couplings"] if row["scan"] == scan)
        assert f"No proof. The {scan} scan: all 40 pairs of chains met, the last pair after {longest} passes." in page.text
        assert f"Proved. The {scan} scan: " in page.text
    (work / "wrong.json").write_text((work / "grid.json").read_text().replace('"joint": ', '"joint": "', 1).replace(', "joint_mcse"', '", "joint_mcse"', 1))
    done = run("report", "wrong.json")
    assert done.status == 3 and "wrong.json:" in done.err, done.err
