#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What tools/scale counts and predicts, against figures made by hand and against the general count.

    scale_test.py TOOL SCALE_FIGURES GIBBSITE FOLDER
"""
import json
import pathlib
import subprocess
import sys

TOOL, FIGURES, GIBBSITE, FOLDER = sys.argv[1:]
NETWORK = ["--L", "3", "--o", "0.5", "--g", "2", "--G", "0.001", "--P", "0.01", "--rate", "16"]


def scale(*arguments):
    done = subprocess.run([sys.executable, "-B", TOOL, "--json", "--program", FIGURES, *arguments], capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout)


def near(a, b):
    assert abs(a - b) <= 1e-9 * abs(b), (a, b)


# A torus of 64 x 64 on 4 ranks: blocks of 32 x 32, each with two neighbours that it touches on both sides.
four = scale("--lattice", "64x64", "--torus", "--ranks", "4", *NETWORK)[0]
assert four["most"] == {"work": 5120, "own": 1024, "halo": 128, "boundary": 124, "neighbours": 2, "messages": 4,
                        "values": 128, "runs": 64}, four
predicted = four["predicted"]
assert predicted["bytes"] == 128 * 2 and predicted["total_bytes"] == 4 * 128 * 2
near(predicted["updates"], 1024e-6)
# Two batches: the updates, 2 messages out and in, 64 values out and in; nothing waits for the messages.
near(predicted["seconds"], 2 * 1e-6 * (512 + 2 * 2 * 0.5 + 128 * 0.01))
near(predicted["seconds_apart"], 2 * 1e-6 * (512 + 2 * 2 * 0.5 + 128 * 0.01 + 2 * 2 + 0.001 * 128 + 3 + 0.5))
near(predicted["efficiency"], 4096e-6 / (4 * predicted["seconds"]))
# A slow network: a batch takes the updates of its boundary, then the messages.
slow = scale("--lattice", "64x64", "--torus", "--ranks", "4", *NETWORK, "--L", "5000")[0]["predicted"]
near(slow["seconds"], 2 * 1e-6 * (62 + 128 * 0.01 + 2 * 2 + 0.001 * 128 + 5000 + 0.5))
# More chains, and nothing to wait for.
near(scale("--lattice", "64x64", "--torus", "--ranks", "4", "--chains", "48", *NETWORK)[0]["predicted"]["bytes"], 768)
near(scale("--lattice", "64x64", "--torus", "--ranks", "8", "--network", "none")[0]["predicted"]["efficiency"], 1)
# A lattice that grows with the ranks keeps its blocks.
for row in scale("--weak", "8x8x8", "--torus", "--ranks", "8,64,4096"):
    assert row["most"]["own"] == 512 and row["variables"] == 512 * row["ranks"], row

# The same lattice as a model, divided and counted from its graph.
model = str(pathlib.Path(FOLDER) / "scale_test.gbm")
subprocess.run([GIBBSITE, "generate", "ising", "--grid", "64x64", "--torus", "-o", model], check=True,
               capture_output=True)
counted = scale(model, "--partition", "bisection", "--ranks", "4,16,64", *NETWORK)
for row, expected in zip(counted, scale("--lattice", "64x64", "--torus", "--ranks", "4,16,64", *NETWORK)):
    assert row == {**expected, "partition": "bisection"}, (row, expected)
# Of parts that send as much, auto takes those with the longest runs.
assert [row["partition"] for row in scale(model, "--ranks", "4,16")] == ["intervals", "bisection"]

for bad in (["--lattice", "64x"], ["--lattice", "0x4"], ["--lattice", "4x4", "0"], ["nowhere.gbm", "2"], [model], ["2"],
            [model, "--partition", "best", "2"], ["--lattice", "5x5", "--torus", "2"], ["--lattice", "3x3", "10"]):
    done = subprocess.run([FIGURES, *bad], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.startswith("scale_figures: "), (bad, done)
