# SPDX-License-Identifier: Apache-2.0
"""Inputs of tools/surface: correct commands that take milliseconds, values, and typing mistakes."""
import os
import re

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples")

# ---- files ---------------------------------------------------------------------------------------


def picture(rows, columns, depth, kind, pixel):
    """@return a PNM picture as text."""
    lines = [f"P{kind}", f"{columns} {rows}", *([str(depth)] if depth > 1 else [])]
    lines += [" ".join(str(pixel(r, c)) for c in range(columns)) for r in range(rows)]
    return "\n".join(lines) + "\n"


def noise(r, c):
    return (r * 7919 + c * 104729 + r * c * 31) % 97


def stripes(r, c):
    return int((r // 3 + c // 4) % 2)


def colors(r, c):
    grey = 60 + noise(r, c) if c < 30 else 150 + noise(r, c) // 4
    return f"{grey} {(grey + 40 * stripes(r, c)) % 256} {grey // 2}"


def draws(chain):
    rows = [(0.1 * noise(i, chain) - 7, noise(i, chain + 9) % 2, 3) for i in range(40)]
    return "lp__,x,y\n" + "".join(f"{a:.1f},{b},{c}\n" for a, b, c in rows)


def example(name):
    with open(os.path.join(EXAMPLES, name), "rb") as file:
        return file.read()


FOLDERS = {"ground": "list.txt"}  # folders, and the word of a command that names all their files
FILES = {name: example(name) for name in [
    "sprinkler.bif", "sprinkler.csv", "clinic.bif", "clinic.csv", "grid.uai", "umbrella.bif", "places.crf",
    "places.txt", "places.template", "news.template", "news.txt", "bars.csv", "friends.gbm", "friends.csv", "smokers.mln",
    "smokers.db", "ground.aspects",
    *(f"{folder}/{name}" for folder in FOLDERS for name in sorted(os.listdir(os.path.join(EXAMPLES, folder))))]}
FILES.update((name, text.encode()) for name, text in {
    "start.txt": "0 1 1\n",
    "soft.txt": "1\n2 2 0.3 0.7\n",
    "seen.evid": "1 1 1\n",
    "three.evid": "3\n1 1 1\n2 1 0 2 1\n0\n",
    "seen.tab": "1\t2\n\n1\t0\n0\t\n",
    "asked.txt": "1 0\n",
    "edges.txt": "edges 1\nvariables 3\n0 2\n",
    "all.scan": "scan 1\nvariables 3\n0 1 2 1\n",
    "part.scan": "scan 1\nvariables 3\n0 1\n",
    "nine.scan": "scan 1\nvariables 9\n0 1 2 3 4 5 6 7 8\n",
    "targets.txt": "weights 1\nvariables 9\n0 1\n3 0.5\n",
    "words.mln": "Alike0(paper, paper)\nAlike50(paper, paper)\nSame(paper, paper)\n1 Alike50(x, y) => Same(x, y)\n",
    "words.db": "Same(Deep_nets, Deep_trees)\nSame(Wide_trees, Deep_nets)\n",
    "cases.csv": "rain,grass\nyes,\n,wet\n",
    "counted.csv": "rain,sprinkler,grass,count\nno,off,dry,3\nyes,on,wet,2\nno,on,wet,1.5\n",
    "counted-friends.csv": "0,1,2,3,4,5,count\n0,0,0,0,0,0,2\n1,0,0,1,0,0,3\n1,1,0,1,1,0,1\n",
    "empty.txt": "",
    "a.MAR": "MAR\n3 2 0.8 0.2 2 0.7 0.3 2 0.5 0.5\n",
    "b.MAR": "MAR\n3 2 0.79 0.21 2 0.7 0.3 2 0.5 0.5\n",
    "a.MAP": "MAP\n3 0 0 0\n",
    "b.MAP": "MAP\n3 0 1 1\n",
    "a.PR": "PR\n-0.5\n",
    "b.PR": "PR\n-0.25\n",
    "draws_1.csv": draws(1),
    "draws_2.csv": draws(2),
    "noisy.pbm": picture(12, 10, 1, 1, lambda r, c: stripes(r, c) ^ (noise(r, c) % 9 == 0)),
    "clean.pbm": picture(12, 10, 1, 1, stripes),
    "noisy.pgm": picture(12, 10, 255, 2, lambda r, c: 60 + 110 * stripes(r, c) + noise(r, c) // 2),
    "floor.ppm": picture(40, 60, 255, 3, colors),
    "floor.pgm": picture(40, 60, 255, 2, lambda r, c: c // 30),
    "graph.col": "p edge 3 2\ne 1 2\ne 2 3\n",
    "spins.mtx": "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 0.5\n2 1 1\n3 2 -1\n",
    "clauses.wcnf": "p wcnf 3 2 10\n10 1 -2 0\n3 2 3 0\n",
}.items())

KEY = {name: FOLDERS.get(name.split("/")[0], name) for name in FILES}  # the word of a command that names each file

UNSTEADY_WORDS = {"blanket"}  # threads race in this scan, so its output varies

# ---- commands that are right ---------------------------------------------------------------------


class Base:
    """A command: operands, then options that a case may replace."""

    def __init__(self, verb, operands, options, before, odd=False, pairs=False):
        self.verb, self.operands, self.options = verb, operands.split(), [tuple(o.split()) for o in options]
        self.before, self.odd, self.pairs = tuple(before.split()), odd, pairs

    @property
    def n_operands(self):
        return len(self.operands)

    def argv(self, *given):
        """@param given: name, values, name, values ... of options; values of None remove the option."""
        names, values = given[0::2], given[1::2]
        argv = [*self.verb.split(), *self.operands]
        for name, *value in self.options:
            if name not in names:
                argv += [f"--{name}", *value]
        for name, value in zip(names, values):
            argv += [f"--{name}", *value] if value is not None else []
        return argv


def base(verb, command, before="", **which):
    """@param command operands, then --option value ..."""
    operands, *options = command.split(" --")
    if operands.startswith("--"):
        operands, options = "", [operands[2:], *options]
    return Base(verb, operands, options, before, **which)


SAMPLED = "--method sample --sweeps 20 --chains 2"
RUN = f"marginals sprinkler.bif {SAMPLED}"

# The first command of a verb is tried with every option. Others are tried with the options of the verb and fewer values.
BASES = {
    "info": [base("info", "sprinkler.bif"), base("info", "grid.uai"),
             base("info", "run.ckpt", f"{RUN} --checkpoint run.ckpt")],
    "marginals": [base("marginals", "sprinkler.bif"),
                  base("marginals", f"sprinkler.bif {SAMPLED}", pairs=True),
                  base("marginals", "sprinkler.bif --draw herded --sweeps 20"),
                  base("marginals", "sprinkler.bif --scan splash --sweeps 20"),
                  base("marginals", "sprinkler.bif --scan all.scan --sweeps 20 --restarts"),
                  base("marginals", "sprinkler.bif --draw cud --sweeps 15"),
                  base("marginals", "sprinkler.bif --temper 3 --sweeps 20"),
                  base("marginals", "sprinkler.bif --method exact"),
                  base("marginals", "sprinkler.bif --method mean-field"),
                  base("marginals", "sprinkler.bif --joint rain,grass"),
                  base("marginals", "sprinkler.bif --cases cases.csv"),
                  base("marginals", "grid.uai --picture 3x3 -o x.pgm"),
                  base("marginals", "grid.uai --estimator traces --sweeps 20")],
    "sample": [base("sample", "sprinkler.bif --sweeps 5 --chains 2"),
               base("sample", f"sprinkler.bif {SAMPLED}", pairs=True),
               base("sample", "sprinkler.bif --sweeps 5 --format cmdstan --output x.csv")],
    "exact": [base("exact", "sprinkler.bif"), base("exact", "sprinkler.bif --task pr"),
              base("exact", "sprinkler.bif --task map"), base("exact", "sprinkler.bif --task sample --samples 5")],
    "map": [base("map", "sprinkler.bif"), base("map", "sprinkler.bif --method exact"),
            base("map", f"sprinkler.bif {SAMPLED}", pairs=True)],
    "logz": [base("logz", "sprinkler.bif"), base("logz", "sprinkler.bif --method exact"),
             base("logz", f"sprinkler.bif {SAMPLED}", pairs=True),
             base("logz", f"sprinkler.bif {SAMPLED} --temper off")],
    "certify": [base("certify", "grid.uai --target 0"), base("certify", "grid.uai --scan nine.scan")],
    "scan": [base("scan", "grid.uai --target 0"), base("scan", "grid.uai --match systematic:18"),
             base("scan", "grid.uai --accuracy 0.3")],
    "fit": [base("fit", "sprinkler.bif sprinkler.csv"),
            base("fit", "sprinkler.bif sprinkler.csv --method sample --sweeps 20")],
    "label": [base("label", "places.crf places.txt"), base("label", "places.crf places.txt --posterior best"),
              base("label", "places.crf places.txt --method sample --sweeps 20")],
    "learn": [base("learn", "crf places.template places.txt", pairs=True),
              base("learn", "crf news.template news.txt --steps 5"),
              base("learn", "weights friends.gbm friends.csv --format gbm", odd=True, pairs=True),
              base("learn", "weights friends.gbm friends.csv --objective sampled --chains 4 --steps 5 --format gbm",
                   pairs=True),
              base("learn", "weights friends.gbm friends.csv --objective likelihood --format gbm"),
              base("learn", "potts bars.csv --format gbm", odd=True, pairs=True),
              base("learn", "potts bars.csv --method pcd --chains 8 --steps 5 --format gbm", pairs=True),
              base("learn", "rbm bars.csv --hidden 2 --epochs 3 --format gbm", odd=True, pairs=True),
              base("learn", "aspects ground/list.txt --texture-words 4 --color-words 4", odd=True)],
    "ground": [base("ground", "smokers.mln smokers.db --format gbm")],
    "sensitivity": [base("sensitivity", "sprinkler.bif --query grass=wet"),
                    base("sensitivity", f"sprinkler.bif --query grass=wet {SAMPLED}", pairs=True)],
    "generate ising": [base("generate ising", "--grid 3x4 --format uai")],
    "generate potts": [base("generate potts", "--grid 3x4 --states 3 --format uai")],
    "generate ring": [base("generate ring", "--variables 5 --format uai")],
    "generate complete": [base("generate complete", "--variables 4 --format uai")],
    "generate regular": [base("generate regular", "--variables 6 --degree 3 --format uai")],
    "generate powerlaw": [base("generate powerlaw", "--variables 6 --edges 2 --format uai")],
    "generate rbm": [base("generate rbm", "--visible 3 --hidden 2 --format uai")],
    "generate bayes": [base("generate bayes", "--variables 5 --parents 2 --states 2:3 --format bif")],
    "denoise": [base("denoise", "noisy.pbm --sweeps 20 --chains 2 --coupling 0.5 --noise flip:0.1 --output x.pgm",
                     pairs=True),
                base("denoise", "noisy.pbm --sweeps 20 --chains 2 --truth clean.pbm"),
                base("denoise", "noisy.pgm --levels 3 --smoothing quadratic:2 --sweeps 20 --mean x.pgm")],
    "segment": [base("segment", "ground.aspects floor.ppm --sweeps 20 --chains 2"),
                base("segment", "ground.aspects floor.ppm --target 1x1 --sweeps 20 --chains 2")],
    "compare": [base("compare", "a.MAR b.MAR"), base("compare", "a.MAP b.MAP --model sprinkler.bif"),
                base("compare", "a.PR b.PR")],
    "diagnose": [base("diagnose", "draws_1.csv draws_2.csv")],
    "report": [base("report", "run.json", f"{RUN} --summary run.json --quiet"),
               base("report", "run.json --output run.html", f"{RUN} --summary run.json --quiet")],
    "decompose": [base("decompose", "sprinkler.bif --focus rain --sweeps 8 --chains 2"),
                  base("decompose", "sprinkler.bif --focus rain --asymptotic")],
    "reproduce": [base("reproduce", "--list"), base("reproduce", "nonsense --output x", odd=True)],
    "convert": [base("convert", "sprinkler.bif --format uai"), base("convert", "spins.mtx --format gbm"),
                base("convert", "clauses.wcnf --format uai"), base("convert", "graph.col --colors 3 --format uai")],
    "uai": [base("uai", "grid.uai /dev/null - MAR"), base("uai", "grid.uai /dev/null - PR"),
            base("uai", "grid.uai /dev/null - MAP")],
    "formats": [base("formats", ""), base("formats", "--json")],
    "completion": [base("completion", "fish")],
}
SUBVERBS = {"learn": ["crf", "weights", "potts", "rbm", "aspects"]}
TOPICS = ["scan", "draw", "input", "all"]
SHELLS = ["bash", "zsh", "fish"]


def before(verb, one, *names):
    """@return the command that must run first, such as a run that --resume continues."""
    if "resume" in names:
        return tuple(one.argv("checkpoint", ["run.ckpt"]))
    return one.before


# ---- values that are right -----------------------------------------------------------------------

OUTPUTS = ["out.csv", "out.json", "out.uai", "out.gbm", "out.png", "out.MAR", "out.MAP", "out.PR", "out.npz", "out.tab",
           "out.csv.gz", "out.xyz", "out", "-", "nowhere/out.csv"]
BESIDE = ["beside.csv", "-", "nowhere/x"]

# Values of options, or of options of one verb, whose choices the program does not list. Pairs use the first value.
VALUES = {
    "accuracy": ["0.3"],
    "adapt": ["2"],
    "batch": ["4"],
    "bins": ["4"],
    "block-time": ["0", "2"],
    "budget": ["30", "2m"],
    "burn-in": ["3", "0"],
    "cases": ["sprinkler.csv", "clinic.csv", "-", "nothing.csv"],
    "certified": ["0.1"],
    "chains": ["3", "1"],
    "checkpoint": ["out.ckpt", "nowhere/x"],
    "checkpoint-every": ["1", "1m"],
    "color-words": ["3"],
    "colors": ["3"],
    "coupling": ["0.3", "0"],
    "coupling-spread": ["0.5"],
    "cud-bits": ["8"],
    "cud-offset": ["5"],
    "curve": BESIDE,
    "damping": ["0.5", "1", "auto"],
    "data": ["."],
    "degree": ["2"],
    "draw": ["herded"],
    "dummy-edges": ["ring:2", "edges.txt", "nothing.txt"],
    "edges": ["1"],
    "epochs": ["2"],
    "evidence": ["grass=wet", "rain!=no", "sprinkler=#0", "seen.evid", "three.evid", "seen.tab", "fever=yes", "rain",
                 "wet", "rain:yes", "{'rain': 'yes'}", "0=1", "nothing.evid"],
    "evidence-index": ["1", "0"],
    "field": ["0.2"],
    "focus": ["rain", "2"],
    "learn draw": ["herded"],
    "grid": ["3x3", "2x2x2"],
    "held-out": ["0.25", "20%", "sprinkler.csv", "friends.csv", "bars.csv"],
    "hidden": ["3"],
    "identity": ["0.8"],
    "intervals": BESIDE,
    "iterations": ["3"],
    "joint": ["rain,grass", "0,1", "rain=yes"],
    "l1": ["0.1"],
    "l2": ["0.1"],
    "least-chains": ["1"],
    "least-count": ["2"],
    "level": ["0.9"],
    "levels": ["3"],
    "likelihood": ["rain=yes:0.8|no:0.2", "0=1:0.5"],
    "map": ["beside.pgm"],
    "match": ["systematic:18"],
    "max-updates": ["100"],
    "mean": ["beside.pgm"],
    "memory-limit": ["1G", "1M", "1"],
    "method": ["sample", "exact", "mean-field"],
    "learn method": ["pcd"],
    "model": ["sprinkler.bif"],
    "monitor": ["rain", "0-1", "all", "nothing"],
    "noise": ["flip:0.1", "gauss:0.5", "flip", "0.5"],
    "generate noise": ["0.5"],
    "origin": ["1"],
    "output": OUTPUTS,
    "overlay": ["beside.png"],
    "parents": ["1"],
    "patch": ["10", "10,5"],
    "patience": ["1"],
    "picture": ["1x3", "3x1", "3x3", "2x2"],
    "plot": ["beside.svg", "beside.txt"],
    "position-cells": ["2"],
    "prior": ["bdeu:10", "dirichlet:1", "none"],
    "probes": ["4"],
    "progress": ["json", "json:2", "json:1", "json:9"],
    "query": ["rain", "0", "rain,grass", "@asked.txt", "rain=yes", "P(rain|grass=wet)"],
    "sensitivity query": ["rain=yes", "rain", "P(rain=yes|grass=wet)"],
    "query-predicates": ["Smokes", "Nothing"],
    "random-field": ["0.5"],
    "rate": ["0.1", "0.1:0.01"],
    "reach": ["0.3"],
    "report": ["beside.html", "-"],
    "resume": ["run.ckpt", "nothing.ckpt"],
    "samples": ["3"],
    "scan": ["systematic", "all.scan", "part.scan", "nine.scan", "sequence", "nothing.scan"],
    "learn scan": ["random"],
    "seed": ["7"],
    "similarity": ["Smokes0"],
    "smoothing": ["potts", "quadratic", "quadratic:2"],
    "splash-size": ["2"],
    "splashes": ["2"],
    "start": ["start.txt", "a.MAP", "nothing.txt"],
    "state": ["1", "0"],
    "states": ["3", "2:3"],
    "generate states": ["2:3", "3"],
    "steps": ["5", "9,18"],
    "summary": ["beside.json", "-"],
    "sweeps": ["10"],
    "target": ["0", "all", "rain", "targets.txt", "rectangle:0,0,1,1", "1x1", "1x1+0+0"],
    "segment target": ["1x1", "1x1+0+0", "0"],
    "target-error": ["0.2"],
    "tau0": ["2"],
    "temper": ["3"],
    "texture-words": ["3"],
    "thin": ["2"],
    "threads": ["1", "2"],
    "threshold": ["0.5"],
    "time": ["5", "1m"],
    "tolerance": ["0.001", "0.1"],
    "top": ["2"],
    "truth": ["clean.pbm", "floor.pgm", "2", "last"],
    "label truth": ["2", "last", "9"],
    "segment truth": ["floor.pgm"],
    "uncertainty": ["beside.pgm"],
    "unroll": ["3"],
    "variables": ["5"],
    "virtual-evidence": ["soft.txt", "nothing.txt"],
    "visible": ["2"],
    "weight-scale": ["2"],
    "weights": ["grass", "nothing"],
    "width": ["2"],
    "write-model": ["beside.gbm", "beside.uai"],
}
BY_UNIT = {"FILE": "beside.csv", "FOLDER": "beside", "N": "3", "X": "0.5", "TIME": "5", "SIZE": "1G", "RxC": "3x3"}

# Commands for options that have no use, or need another option, with the first command of a verb.
INPUTS = ["sprinkler.bif --from bif", "grid.uai --from uai", "sprinkler.bif --from uai", "graph.col --colors 3",
          *(f"spins.mtx --convention {x}" for x in ("physics", "bqm", "maxcut")),
          *(f"spins.mtx --diagonal {x}" for x in ("field", "ignore", "error")), "clauses.wcnf --weight-scale 2",
          *(f"sprinkler.bif --evidence seen.evid --evidence-format {x}" for x in ("single", "multi", "tab")),
          "sprinkler.bif --evidence seen.tab --evidence-format tab", "sprinkler.bif --evidence three.evid",
          "sprinkler.bif --evidence three.evid --evidence-index 1", "sprinkler.bif --evidence three.evid -o out.csv",
          "sprinkler.bif --evidence three.evid --evidence-index 7", "friends.gbm --lenient", "umbrella.bif"]
CHAINS = ["--scan splash --grow adaptive --adapt 2 --score literal", "--scan splash --width 2 --splash-size 2",
          "--scan splash --splashes 2", "--scan splash --locking reservation", "--scan auto", "--scan usual",
          "--scan part.scan --partial-scan", "--scan all.scan --restarts", "--scan all.scan --restarts --target 0",
          "--draw discretized --bins 4 --bin-edge left --bin-rule argmax", "--draw bounded-error --threshold 0.5",
          "--draw bounded-error --threshold auto", "--draw cud --cud-scheme chen --cud-bits 4", "--draw one-bin",
          "--draw cud --cud-offset 4", "--draw herded-complete --dummy-edges ring:2", "--draw herded --keys sum",
          "--draw herded --dummy-edges edges.txt", "--draw herded --herd-rule post --herd-init zero",
          "--draw randomly-discretized --bins 3", "--method mean-field --damping 0.5 --iterations 5",
          "--temper 4 --burn-in 2", "--checkpoint out.ckpt --checkpoint-every 1", "--least-chains 1 --memory-limit 1M"]
NEEDED = {"sensitivity": "--query 0=#1", "certify": "--target 0", "scan": "--target 0",
          "decompose": "--focus 0 --sweeps 8", "convert": "--format gbm", "sample": "--sweeps 3"}
EXTRA = {verb: [f"{given} {NEEDED.get(verb, '')}" for given in INPUTS] for verb in (
    "info", "marginals", "sample", "exact", "map", "logz", "certify", "scan", "decompose", "sensitivity", "convert")}
for _verb, _command in {"marginals": "sprinkler.bif", "sample": "sprinkler.bif", "map": "sprinkler.bif",
                        "info": "sprinkler.bif", "logz": "sprinkler.bif", "decompose": "sprinkler.bif --focus rain",
                        "sensitivity": "sprinkler.bif --query rain=yes", "denoise": "noisy.pbm -o x.pgm",
                        "segment": "ground.aspects floor.ppm"}.items():
    EXTRA.setdefault(_verb, []).extend(f"{_command} --sweeps 15 --chains 2 {given}" for given in CHAINS)
EXTRA["sample"] += ["grid.uai --sweeps 3 --picture 3x3 -o out.pgm", "grid.uai --sweeps 3 --picture 3x3 --format png"]
EXTRA["info"] += [f"sprinkler.bif {given}" for given in CHAINS] + ["grid.uai --dummy-edges ring:3"]
EXTRA["certify"] += ["grid.uai --grid 3x3 --target rectangle:0,0,1,1", "grid.uai --grid 3x3 --target all --json"]
EXTRA["scan"] += ["grid.uai --grid 3x3 --target rectangle:0,0,1,1 --steps 9", "grid.uai --target 0 --steps 9 --iterate"]
EXTRA["convert"] += ["umbrella.bif --unroll 3 --format uai", "spins.mtx --format mtx --write-convention bqm",
                     *(f"sprinkler.bif -o out.{x}" for x in "bif lg xdsl net fg mtx col wcnf meta dot".split())]
EXTRA["denoise"].append("noisy.pbm -o x.pgm --method mean-field --damping 0.5 --iterations 5")
EXTRA["segment"].append("ground.aspects floor.ppm --method mean-field --damping 0.5 --iterations 5")
EXTRA["generate ring"] = ["--variables 5 --format mtx --write-convention physics", "--variables 5 -o out.rud"]
EXTRA["generate ising"] = ["--grid 3x3 --format mtx --write-convention maxcut", "--grid 3x3x3 --torus --format uai"]
EXTRA["fit"] = ["sprinkler.bif counted.csv --weights count",
                "sprinkler.bif sprinkler.csv --intervals x.csv --level 0.9"]
EXTRA["ground"] = ["words.mln words.db --similarity Alike --query-predicates Same --format gbm",
                   "smokers.mln smokers.db -o x.gbm"]
EXTRA["compare"] = ["a.MAR a.MAR", "a.PR b.PR --log-base 10,e", "a.MAR a.PR", "a.MAP b.MAP"]
EXTRA["learn"] = ["weights friends.gbm friends.csv --objective sampled --scan optimised --accuracy 0.2 --chains 4 --steps 3"
                  " --format gbm", "weights friends.gbm friends.csv --from gbm --format gbm",
                  "weights friends.gbm counted-friends.csv --weights count --format gbm",
                  "aspects ground/list.txt --patch 10 --position-cells 2 --texture-words 3 --color-words 3",
                  "rbm bars.csv --hidden 2 --epochs 5 --held-out 0.3 --patience 2 --format gbm",
                  "potts bars.csv --method pcd --steps 3 --chains 4 --rate 0.1:0.01 --identity 0.8 --format gbm",
                  "nonsense bars.csv", "crf bars.csv", "rbm bars.csv"]
EXTRA["reproduce"] = ["hg-two-variables", "hg-two-variables --data nowhere -o x", "all --list", "hg-two-variable -o x"]
EXTRA["report"] = ["a.MAR", "draws_1.csv", "nothing.json"]

# ---- values and names that are wrong -------------------------------------------------------------

ODD = ["", "nonsense", "-1", "1e400", "99999999999999999999", "nan"]
ODD_NUMBERS = ["0", "0.5", "1e300", "18446744073709551615", "1k", "5s", "auto"]
ODD_WORDS = ["0", "-", "AUTO", "a=b", "1,2", "3x3", "1:2", "all"]
ENDLESS = {(name, "1k") for name in ("threads", "sweeps", "variables", "hidden", "visible")}  # correct values with which a command takes too long


def odd_values(name, unit, flag):
    """@param unit: the unit as the help shows it: N, X or another letter, TIME, SIZE, EPS for numbers."""
    if flag:
        return ["nonsense"]
    number = re.fullmatch(r"[A-Z]|EPS|TIME|SIZE", unit.split("|")[0])
    return [odd for odd in [*ODD, *(ODD_NUMBERS if number else ODD_WORDS)] if (name, odd) not in ENDLESS]


ALONE = {"help", "list"}  # the output of these options does not depend on other options

FOREIGN_OPTIONS = """
    warmup warm-up warm_up tune burnin burn_in burn burn-in-sweeps discard samples draws iter iters iterations
    n-iter n_iter n.iter niter n num-samples n-samples nsamples steps sweep max-iter max-iters max-iterations
    num-chains n-chains nchains chain observe observed observation given evid obs condition conditional conditions
    soft-evidence virtual soft variables vars var columns marginal target targets outcome hypothesis rows batch case
    table data timeout time-limit max-time seconds t tol tolerance precision eps epsilon error accuracy jobs n-jobs
    cores cpus workers parallel num-threads nthreads j random-seed random-state rng-seed s memory mem max-memory ram
    algorithm engine inference solver out outfile output-file save informat input-format type to output-format
    outformat fmt f temperature temperatures replicas init initial initial-state x0 size shape alpha ess
    equivalent-sample-size pseudocount pseudocounts pseudo-counts smoothing laplace bdeu dirichlet prior-type test
    test-data validation holdout hold-out k-best n-best kbest nbest m-best csv dataset em-iterations do intervene
    intervention interventions json table mar npz netcdf png exact sample mean-field gbm uai trace anytime
    marginals-only version nonsense
""".split()
FOREIGN_VALUES = [("method", x) for x in """
    gibbs mcmc sampling monte-carlo metropolis junction-tree jt ve variable-elimination elimination enumeration
    brute-force bnb viterbi variational vi meanfield EXACT exakt sampel""".split()] + [
        ("format", x) for x in "zarr CSV jsn cvs html xml bif png".split()] + [
        ("scan", x) for x in "sequential checkerboard Chromatic chromatik".split()] + [
        ("draw", x) for x in "herding gibbs Random".split()] + [("from", x) for x in "UAI bifx xmlbif".split()]
FOREIGN_VERBS = """
    query infer inference posterior mar marginalise marginalize bp gibbs prob probability conditional p
    variable-elimination belief-propagation joint cases batch predict classify mpe mode optimise optimize decode
    viterbi map-query argmax train estimate em mle learn-parameters tornado whatif what-if pr z partition evidence
    ln-z loglik draw simulate draws samples mcmc describe show stats summary print diff translate export jt
    junction-tree ve help version generate trace anytime marginals-only nonsense ln_z what.if
""".split()
NO_VERB = [["sprinkler.bif"], ["sprinkler.bif", "marginals"], ["nothing.bif"], ["friends.csv"], ["P(rain|grass=wet)"],
           ["P(rain)", "sprinkler.bif"], ["rain|grass=wet", "sprinkler.bif"], ["--method", "exact", "marginals"],
           ["-q", "marginals", "sprinkler.bif"], ["marginals", "marginals", "sprinkler.bif"], ["info", "marginals"],
           ["help", "sprinkler.bif"], ["generate", "grid.uai"]]
ENVIRONMENTS = [({"GIBBSITE_SIMD": "nonsense"}, ["info", "sprinkler.bif"]), ({"GIBBSITE_SIMD": ""}, ["help"]),
                ({"GIBBSITE_SIMD": "portable"}, ["marginals", "sprinkler.bif", *SAMPLED.split()]),
                *(({name: value}, ["uai", "grid.uai", "/dev/null", "-", "MAR"])
                  for name in ("INF_TIME", "INF_MEMORY") for value in ("nonsense", "0", "-1", "60"))]
WRONG_OPERANDS = ["nothing.bif", "nothing.xyz", "empty.txt", "friends.csv", "sprinkler.bif", "grid.uai", "nonsense",
                  "-", "", ".", "rain=yes", "P(rain|grass=wet)"]
MORE_OPERANDS = [[x] for x in ("nonsense", "sprinkler.bif", "sprinkler.csv", "clinic.csv", "rain", "rain=yes", "=yes",
                               "out.csv", "out.png", "P(rain|grass=wet)", "rain|grass=wet", "P(rain=yes)", "help", "-",
                               "", "nothing/x")] + [["--", "rain"], ["--", "--seed"], ["rain", "grass"], ["=", "yes"]]
