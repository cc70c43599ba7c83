# SPDX-License-Identifier: Apache-2.0
"""--summary: keys, order and types of schema run/1."""
import json
import math
import shlex

import pytest
from conftest import SPRINKLER

KEYS = ["schema", "tool", "version", "command", "model", "options", "colors", "levels", "batches",
        "sweeps", "burn_in", "chains", "updates", "compile_seconds", "sampling_seconds",
        "updates_per_second", "exchange", "peak_rss_bytes", "predicted_bytes", "max_mcse", "max_rhat", "min_ess",
        "constant_variables", "hardly_moved_variables", "watched_variables", "bias_estimate", "herding", "certified", "tempering", "pilot", "lattice", "observables", "iterations", "residual", "log_z_bound", "log_z_bethe",
        "log_z", "log_p_evidence",
        "monitored", "method", "converged", "verdict", "chains_disagree", "in_burn_in", "digest",
        "warnings", "marginals"]


def strict(text):
    def refuse(name):
        pytest.fail(f"{name} is no JSON")
    return json.loads(text, parse_constant=refuse)


def summary(run, work, *arguments):
    done = run(*arguments, "--summary", "run.json")
    assert done.status == 0, done.err
    return strict((work / "run.json").read_text())


def test_sampled(run, work):
    s = summary(run, work, "marginals", SPRINKLER, "-e", "grass=wet", "--sweeps", "640",
                "--burn-in", "16", "--chains", "8", "--seed", "9")
    assert list(s) == KEYS
    assert s["schema"] == "run/1" and s["tool"] == "gibbsite"
    assert list(s["model"]) == ["variables", "free_variables", "factors", "digest", "name"]
    assert (s["model"]["variables"], s["model"]["free_variables"]) == (3, 2)
    assert (s["sweeps"], s["burn_in"], s["chains"]) == (640, 16, 8)
    assert s["updates"] == 2 * 8 * (640 + 16)
    assert s["options"]["seed"] == 9 and s["options"]["method"] == "sample"
    assert s["options"]["scan"] == "usual" and s["pilot"] is None and s["options"]["target_error"] is None
    assert s["options"]["evidence"] == ["grass=wet"]
    assert s["method"] == "sampled" and s["converged"] in (True, False)
    assert s["bias_estimate"] is None and s["peak_rss_bytes"] > 0
    assert len(s["digest"]) == len(s["model"]["digest"]) == 32
    assert 0 < s["max_mcse"] < 0.1 and isinstance(s["warnings"], list)


def test_words_for_numbers(run, work):
    """An option that a word sets to a number is that number: the word is no JSON."""
    s = summary(run, work, "marginals", SPRINKLER, "--sweeps", "50", "--temper", "off",
                "--memory-limit", "1G", "--time", "90m")
    assert s["options"]["temper"] == 1 and s["options"]["memory_limit"] == 2**30
    assert s["options"]["time"] == 5400


def test_exact(run, work):
    s = summary(run, work, "marginals", SPRINKLER)
    assert list(s) == KEYS
    assert s["method"] == "exact" and s["converged"] is True
    assert s["options"]["burn_in"] is None and s["options"]["sweeps"] is None


def test_command_runs_again(run, work):
    arguments = ["marginals", SPRINKLER, "--sweeps", "50", "-e", "grass=wet"]
    s = summary(run, work, *arguments)
    words = shlex.split(s["command"])
    assert words == ["gibbsite", *arguments, "--summary", "run.json"]
    (work / "a b'c.uai").write_text(run("convert", SPRINKLER, "--format", "uai").out)
    s = summary(run, work, "marginals", "a b'c.uai", "--sweeps", "5")
    assert shlex.split(s["command"])[2] == "a b'c.uai"


def test_digest_tells_results_apart(run, work):
    digest = [summary(run, work, "marginals", SPRINKLER, "--sweeps", "64", "--seed", seed)["digest"]
              for seed in ("1", "1", "2")]
    assert digest[0] == digest[1] != digest[2]


def test_instruction_sets_agree(run, work):
    """A wish beyond the machine is lowered, so that this runs everywhere."""
    digests = set()
    for simd in ("portable", "neon", "avx2", "avx512"):
        done = run("marginals", SPRINKLER, "--sweeps", "200", "--summary", "run.json",
                   env={"GIBBSITE_SIMD": simd})
        assert done.status == 0, done.err
        digests.add(json.loads((work / "run.json").read_text())["digest"])
    assert len(digests) == 1


def test_log_z_is_that_of_the_evidence(run, work):
    of_network = summary(run, work, "marginals", SPRINKLER, "-e", "grass=wet")
    assert abs(math.exp(of_network["log_p_evidence"]) - 0.45798) < 1e-12
    assert of_network["log_z"] == of_network["log_p_evidence"]
    assert summary(run, work, "marginals", SPRINKLER)["log_p_evidence"] == 0
    assert run("generate", "ring", "--variables", "3", "--coupling", "0.5", "-o", "ring.uai").status == 0
    of_ring = summary(run, work, "marginals", "ring.uai", "-e", "0=1")
    assert abs(of_ring["log_z"] - math.log(math.exp(1.5) + 3 * math.exp(-0.5))) < 1e-12
    assert of_ring["log_p_evidence"] is None
    assert "ln Z = 1.8" in run("marginals", "ring.uai", "-e", "0=1").err
    sampled = summary(run, work, "marginals", SPRINKLER, "-e", "grass=wet", "--method", "sample", "--sweeps", "64")
    assert sampled["log_z"] is None and sampled["log_p_evidence"] is None
    fixed = summary(run, work, "marginals", SPRINKLER, "-e", "grass=wet,rain=no,sprinkler=on")
    assert abs(math.exp(fixed["log_p_evidence"]) - 0.288) < 1e-12
