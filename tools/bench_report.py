#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md's tables, and its picture, from the records of the benchmarks.

    tools/bench_report.py [RECORDS ...]              the tables, as Markdown
    tools/bench_report.py [RECORDS ...] --update     the same into docs/performance.md, and the picture

RECORDS is what `./dev bench` leaves, build/bench.jsonl; of several records of one case the last
counts. Between `<!-- NAME: begin -->` and
`<!-- NAME: end -->` of the page everything is replaced; a table without records is left alone.
"""
import argparse
import json
import pathlib
import re
import sys

import roofline

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "roofline.svg"


def table(heads, rows):
    """@param heads a leading '-' aligns right."""
    if not rows:
        return ""
    lines = ["| " + " | ".join(head.lstrip("-") for head in heads) + " |",
             "|" + "|".join(" --: " if head.startswith("-") else " :-- " for head in heads) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def number(value):
    """@return a number with three significant digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def spread(record):
    return f'{number(record["median"])} ({number(record["low"])}–{number(record["high"])})'


def megabytes(n_bytes):
    return f"{n_bytes / 2**20:.0f}"


def of_kind(records, kind):
    return [r for r in records if r["kind"] == kind]


def read(paths):
    """@return the records in order. The last record of a case stands where its first one was."""
    records = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            r = json.loads(line)
            key = (r["kind"], r.get("kernel"), r.get("case"), r["model"] if "model" in r else None,
                   r.get("estimator"), r.get("chains"))
            records[key] = r
    return list(records.values())


def one_thread(records, kind="throughput"):
    return [r for r in of_kind(records, kind) if r["threads"] == 1]


# ---- the tables --------------------------------------------------------------------------------


def machine(records):
    keys = (("processor", "cpu"), ("kernels", "simd"), ("compiler", "compiler"), ("flags", "flags"),
            ("version", "version"), ("commit", "commit"))
    rows = []
    for text, key in keys:
        values = list(dict.fromkeys(str(r[key]) for r in records if key in r))
        rows.append([text, ", ".join(values)])
    return table(["what", "records say"], rows)


def throughput(records):
    rows = []
    for r in one_thread(records):
        rb = r["rao_blackwell"]
        moved = rb["median"] * rb["bytes_per_update"] / 1e3
        rows.append([r["family"], r["model"], str(r["chains"]), number(r["none"]["median"]),
                     number(r["count"]["median"]), spread(rb), number(rb["bytes_per_update"]),
                     f'{moved / r["bandwidth_gb_per_s"]:.2f}',
                     f'{rb["median"] / r["million_words_per_s"]:.2f}',
                     f'{r["count"]["median"] / r["scalar"]:.1f}' if r["scalar"] else ""])
    return table(["family", "model", "-chains", "-no estimator", "-counting",
                  "-Rao-Blackwell (range)", "-bytes", "-of bandwidth", "-of random numbers",
                  "-× scalar"], rows)


def threads(records):
    single = {r["case"]: r for r in one_thread(records) + one_thread(records, "spins")}
    rows = []
    for r in of_kind(records, "throughput") + of_kind(records, "spins"):
        one = single.get(re.sub(r"/2t$", "/1t", r["case"]))
        if r["threads"] != 2 or one is None:
            continue
        kinds = ("traces", "count") if r["kind"] == "spins" else ("rao_blackwell", "count")
        ratios = [f'{r[k]["median"] / one[k]["median"]:.2f}' for k in kinds]
        rows.append([r["case"].removesuffix("/2t"), spread(one[kinds[0]]), spread(r[kinds[0]])]
                    + ratios)
    if not rows:
        return "*Not in these records.*"
    return table(["case", "-one thread", "-two threads", "-ratio", "-ratio counting"], rows)


def prototypes(records):
    return table(["kernel", "case", "estimator", "-kernel alone", "-ours", "-ratio (range)",
                  "-aim"],
                 [[r["kernel"], r["case"], r["estimator"].replace("_", "-"), number(r["theirs"]),
                   number(r["ours"]), spread(r["ratio"]),
                   "" if r["aim"] is None else f'{r["aim"]:.2f}']
                  for r in of_kind(records, "prototype")])


def spins(records):
    return table(["case", "model", "-chains", "-traces (range)", "-counting too", "-× scalar"],
                 [[r["case"].removesuffix("/1t"), r["model"], str(r["chains"]), spread(r["traces"]),
                   number(r["count"]["median"]), number(r["traces"]["median"] / r["scalar"])]
                  for r in one_thread(records, "spins")])


def levels(records):
    return table(["case", "picture", "-nothing kept", "-averaged (range)", "-of the model", "-ratio"],
                 [[r["case"], r["model"], number(r["none"]), spread(r["averaged"]),
                   number(r["of_model"]) if r["of_model"] else "",
                   f'{r["averaged"]["median"] / r["of_model"]:.2f}' if r["of_model"] else ""]
                  for r in of_kind(records, "levels")])


def herded(records):
    rows = []
    for r in of_kind(records, "herded"):
        moved = r["herded"]["rao_blackwell"] * r["bytes_per_update"] / 1e3
        rows.append([r["draw"], r["model"], str(r["chains"]), number(r["random"]["rao_blackwell"]),
                     number(r["herded"]["rao_blackwell"]), spread(r["cost"]),
                     number(r["count_cost"]["median"]), number(r["bytes_per_update"]),
                     f'{moved / r["bandwidth_gb_per_s"]:.2f}'])
    return table(["draw", "model", "-chains", "-random", "-herded", "-cost (range)",
                  "-cost counting", "-bytes", "-of bandwidth"], rows)


def estimators(records):
    rows = []
    for r in one_thread(records):
        if r["chains"] > 16:
            continue  # the figures are those of sixteen chains
        none, count, rb = (r[k]["median"] for k in ("none", "count", "rao_blackwell"))
        rows.append([r["case"].removesuffix("/1t"), f"{1e3 / none:.2f}",
                     f"{1e3 / count - 1e3 / none:.2f}", f"{1e3 / rb - 1e3 / none:.2f}",
                     f"{none / rb:.2f}", number(r["closing_bytes_per_update"])])
    return table(["case", "-ns an update", "-counting adds", "-Rao-Blackwell adds",
                  "-times as long", "-bytes, closing a batch"], rows)


def profile(records):
    """@return the table of shares of the time of sampling, without reading, compiling and writing."""
    rows = []
    parts = []
    for r in of_kind(records, "profile"):
        parts = [part for part in r["share"] if part != "rest"]
        total = sum(r["share"][part] for part in parts)
        rows.append([r["model"], str(r["chains"]), r["estimator"]]
                    + [f'{100 * r["share"][part] / total:.0f}' for part in parts])
    return table(["model", "-chains", "estimator"] + ["-" + part for part in parts], rows)


def samples(records):
    return table(["model", "estimator", "-worst marginal, ESS/s (range)", "-middle one"],
                 [[r["model"], r["estimator"], spread(r["worst_ess_per_s"]),
                   number(r["median_ess_per_s"]["median"])] for r in of_kind(records, "ess")])


def loading(records):
    rows = [[r["case"], f'{r["megabytes"]:.0f} MB', spread(r["megabytes_per_s"]) + " MB/s", ""]
            for r in of_kind(records, "load")]
    rows += [[r["case"], r["model"], spread(r["million_variables_per_s"]) + " M variables/s",
              number(r["plan_bytes_per_variable"])] for r in of_kind(records, "compile")]
    return table(["case", "what", "-rate (range)", "-plan, bytes a variable"], rows)


def scale_load(records):
    return table(["model", "-variables", "-written, s", "-read, s", "-info, s",
                  "-model, bytes a variable"],
                 [[r["model"], f'{r["variables"]:,}'.replace(",", " "), number(r["write_s"]),
                   number(r["load_s"]), number(r["info_s"]),
                   number(r["model_bytes"] / r["variables"])]
                  for r in of_kind(records, "scale-load")])


def scale_run(records):
    rows = []
    for r in of_kind(records, "scale-run"):
        n, chains = r["variables"], r["chains"]
        kept = (r["state_bytes"] + r["estimator_bytes"]) / n / chains
        rows.append([r["model"], r["estimator"], str(chains), number(r["load_s"] + r["compile_s"]),
                     number(r["plan_bytes"] / n), number(kept), megabytes(r["predicted_bytes"]),
                     megabytes(r["peak_bytes"]),
                     f'{100 * (r["predicted_bytes"] / r["peak_bytes"] - 1):+.1f} %'])
    return table(["model", "estimator", "-chains", "-read + compiled, s", "-plan",
                  "-states, estimators", "-predicted, MiB", "-peak, MiB", "-off"], rows)


TABLES = {"machine": machine, "throughput": throughput, "threads": threads,
          "prototypes": prototypes, "profile": profile, "spins": spins, "levels": levels,
          "herded": herded, "estimators": estimators, "samples": samples, "loading": loading, "scale-load": scale_load, "scale-run": scale_run}


# ---- the page ----------------------------------------------------------------------------------


def update(text, name, new):
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if not new:
        return text
    if begin not in text or end not in text:
        raise SystemExit(f"{PAGE}: no place for the table {name}")
    before, rest = text.split(begin, 1)
    return before + begin + "\n" + new + "\n" + end + rest.split(end, 1)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("records", nargs="*", default=[ROOT / "build" / "bench.jsonl"],
                        type=pathlib.Path)
    parser.add_argument("--update", action="store_true",
                        help="write them into docs/performance.md, and docs/images/roofline.svg")
    options = parser.parse_args()
    records = read(options.records)
    if not options.update:
        print("\n\n".join(f"{name}\n\n{make(records)}" for name, make in TABLES.items()))
        return 0
    text = PAGE.read_text(encoding="utf-8")
    for name, make in TABLES.items():
        text = update(text, name, make(records))
    PAGE.write_text(text, encoding="utf-8")
    if one_thread(records):
        PICTURE.write_text(roofline.picture(one_thread(records)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
