# SPDX-License-Identifier: Apache-2.0
"""sample -o: the same draws in every format, read by the tools the formats are for."""
import csv
import io
import json
import os
import re
import subprocess
import zipfile

import pytest
from conftest import SPRINKLER, has_netcdf, only, program

RUN = ["--sweeps", "40", "--chains", "3", "--burn-in", "5", "--seed", "9", "-q"]

def load(path):
    return pytest.importorskip("numpy").load(path)


def draws(run, *more):
    """chain, draw -> (lp, states) by the CSV that goes to standard output."""
    done = run("sample", *more, *RUN)
    assert done.status == 0, done.err
    table = list(csv.reader(io.StringIO(done.out)))
    return table[0][3:], {(int(r[0]), int(r[1])): (float(r[2]), [int(v) for v in r[3:]])
                          for r in table[1:]}


# ---- NumPy -------------------------------------------------------------------------------------


def test_npz(run, work):
    np = pytest.importorskip("numpy")
    names, expected = draws(run, SPRINKLER, "-e", "grass=wet")
    assert run("sample", SPRINKLER, "-e", "grass=wet", *RUN, "-o", "a.npz").status == 0
    z = load(work / "a.npz")
    assert sorted(z) == ["card", "lp", "meta", "variable", "x"]
    assert z["x"].dtype == np.uint8 and z["x"].shape == (3, 40, 3)
    assert z["lp"].dtype == np.float64 and z["lp"].shape == (3, 40)
    for (chain, draw), (lp, states) in expected.items():
        assert z["lp"][chain, draw] == lp and z["x"][chain, draw].tolist() == states
    assert z["card"].dtype == np.int32 and z["card"].tolist() == [2, 2, 2]
    assert z["variable"].dtype == np.int64 and z["variable"].tolist() == [0, 1, 2]
    meta = json.loads(bytes(z["meta"]))
    assert meta["schema"] == "draws/1" and meta["tool"] == "gibbsite"
    assert meta["names"] == names == ["rain", "sprinkler", "grass"]
    assert meta["states"] == [["no", "yes"], ["off", "on"], ["dry", "wet"]]
    assert (meta["seed"], meta["chains"], meta["sweeps"], meta["burn_in"]) == (9, 3, 40, 5)
    assert meta["converged"] is False and meta["verdict"].startswith("not converged: the chains disagree")
    assert meta["chains_disagree"] is True and meta["in_burn_in"] is False


@pytest.mark.parametrize("arguments", [[], ["--chains", "3"], ["--temper", "16"], ["--temper", "16", "--chains", "3"]])
def test_fixed_state_of_as_many_chains_as_there_are(run, work, arguments):
    """Found by tools/attack: with ladders the draws of a model without free variables were of other chains."""
    (work / "fixed.uai").write_text("MARKOV\n2\n1 2\n0\n")
    arguments = ["fixed.uai", "-e", "1=1", "--method", "sample", "--sweeps", "5", *arguments]
    assert run("sample", *arguments, "-o", "d.npz", "--summary", "d.json").status == 0
    rows = list(csv.DictReader(io.StringIO(run("sample", *arguments).out)))
    n_chains = json.loads((work / "d.json").read_text())["chains"]
    assert load(work / "d.npz")["x"].tolist() == [[[0, 1]] * 5] * n_chains
    assert [(int(row["chain"]), int(row["draw"])) for row in rows] == [(c, d) for d in range(5) for c in range(n_chains)]


def test_npz_bytes_are_the_same_again(run, work):
    for name in ("a.npz", "b.npz"):
        assert run("sample", SPRINKLER, *RUN, "-o", name).status == 0
    assert (work / "a.npz").read_bytes() == (work / "b.npz").read_bytes()
    with zipfile.ZipFile(work / "a.npz") as z:
        assert z.testzip() is None
        assert all(i.date_time == (1980, 1, 1, 0, 0, 0) and i.compress_type == 0 and i.flag_bits == 0
                   for i in z.infolist())
    done = subprocess.run([program(), "sample", SPRINKLER, *RUN, "--format", "npz"], cwd=work,
                          stdout=subprocess.PIPE, check=True, timeout=60)
    assert done.stdout == (work / "a.npz").read_bytes()


def test_npy(run, work):
    np = pytest.importorskip("numpy")
    _, expected = draws(run, SPRINKLER)
    assert run("sample", SPRINKLER, *RUN, "-o", "x.npy").status == 0
    x = load(work / "x.npy")
    assert x.dtype == np.uint8 and x.shape == (3, 40, 3) and x.flags.c_contiguous
    assert all(x[c, d].tolist() == states for (c, d), (_, states) in expected.items())


def test_two_bytes_where_an_arity_needs_them(run, work):
    np = pytest.importorskip("numpy")
    (work / "wide.uai").write_text("MARKOV\n2\n300 2\n0\n")
    (work / "fits.uai").write_text("MARKOV\n2\n256 2\n0\n")
    assert run("sample", "wide.uai", *RUN, "-o", "wide.npz").status == 0
    assert run("sample", "fits.uai", *RUN, "-o", "fits.npz").status == 0
    wide, fits = load(work / "wide.npz"), load(work / "fits.npz")
    assert wide["x"].dtype == np.dtype("<u2") and fits["x"].dtype == np.uint8
    _, expected = draws(run, "wide.uai")
    assert all(wide["x"][c, d].tolist() == states for (c, d), (_, states) in expected.items())
    assert max(s[0] for _, s in expected.values()) > 255
    assert json.loads(bytes(wide["meta"]))["names"] is None


def test_more_than_fits_into_memory_at_once(run, work):
    """60 x 60 spins, 16 chains, 300 draws: 16 MiB, which goes through the temporary file."""
    np = pytest.importorskip("numpy")
    assert run("generate", "ising", "--grid", "60x60", "--coupling", "0.3", "-o",
               "m.uai").status == 0
    args = ["m.uai", "--sweeps", "300", "--burn-in", "2", "-q"]
    assert run("sample", *args, "-o", "a.npz").status == 0
    assert run("sample", *args, "-o", "a.csv", "--monitor", "0,1800-1810,3599").status == 0
    x = load(work / "a.npz")["x"]
    table = list(csv.reader(open(work / "a.csv")))
    assert x.shape == (16, 300, 3600) and len(table) == 1 + 16 * 300
    chosen = [0, *range(1800, 1811), 3599]
    assert table[0][3:] == [f"x{v}" for v in chosen]
    for row in table[1:]:
        assert x[int(row[0]), int(row[1]), chosen].tolist() == [int(v) for v in row[3:]]
    only(work, "m.uai", "a.npz", "a.csv")


# ---- which variables ---------------------------------------------------------------------------


@pytest.mark.parametrize("chosen, ids", [
    ("grass", [2]), ("2,rain", [2, 0]), ("0-2", [0, 1, 2]), ("1-1,=rain", [1, 0]),
])
def test_monitor(run, work, chosen, ids):
    names, expected = draws(run, SPRINKLER)
    few, found = draws(run, SPRINKLER, "--monitor", chosen)
    assert few == [names[i] for i in ids]
    for key, (lp, states) in expected.items():
        assert found[key] == (lp, [states[i] for i in ids])


@pytest.mark.parametrize("chosen, part", [
    ("gras", "grass"), ("3", "3"), ("1-3", "variables 0 to 2"), ("2-1", "variables 0 to 2"),
    ("rain,0", "named twice"), ("rain,", "empty"), (",rain", "empty"), ("0-1,1", "named twice"),
])
def test_bad_monitor(run, work, chosen, part):
    done = run("sample", SPRINKLER, "--monitor", chosen, "-o", "x.npz")
    assert done.status == 2 and part in done.err
    only(work)


# ---- CmdStan and CODA --------------------------------------------------------------------------


def read_cmdstan(path):
    lines = path.read_text().splitlines()
    comments = [x for x in lines if x.startswith("#")]
    table = list(csv.reader(x for x in lines if not x.startswith("#")))
    return comments, table[0], [[float(v) for v in r] for r in table[1:]]


@pytest.mark.parametrize("output", ["c", "c.csv", "c.CSV"])
def test_cmdstan(run, work, output):
    names, expected = draws(run, SPRINKLER)
    assert run("sample", SPRINKLER, *RUN, "--format", "cmdstan", "-o", output).status == 0
    only(work, "c_1.csv", "c_2.csv", "c_3.csv")
    for chain in range(3):
        comments, header, table = read_cmdstan(work / f"c_{chain + 1}.csv")
        assert header == ["lp__", *names] and len(table) == 40
        for draw, row in enumerate(table):
            lp, states = expected[chain, draw]
            assert row == [lp, *states]
        settings = dict(re.match(r"#\s*(\S+) = (.*)", c).groups() for c in comments if " = " in c)
        assert settings["num_samples"] == "40" and settings["num_warmup"] == "5"
        assert settings["id"] == str(chain + 1) and settings["method"] == "sample"
        times = [c for c in comments if "seconds" in c]
        assert re.fullmatch(r"#  Elapsed Time: \d+\.\d+ seconds \(Warm-up\)", times[0])
        assert re.fullmatch(r"# +\d+\.\d+ seconds \(Sampling\)", times[1])
        assert re.fullmatch(r"# +\d+\.\d+ seconds \(Total\)", times[2])
        assert (work / f"c_{chain + 1}.csv").read_text().splitlines()[-2] == times[2]


def test_cmdstan_names(run, work, small):
    (work / "odd.bif").write_text("""network odd { }
variable ok_1 { type discrete [ 2 ] { a, b }; }
variable with-dash { type discrete [ 2 ] { a, b }; }
variable x { type discrete [ 2 ] { a, b }; }
variable lp__ { type discrete [ 2 ] { a, b }; }
variable 9th { type discrete [ 2 ] { a, b }; }
probability ( ok_1 ) { table 0.5, 0.5; }
probability ( with-dash ) { table 0.5, 0.5; }
probability ( x ) { table 0.5, 0.5; }
probability ( lp__ ) { table 0.5, 0.5; }
probability ( 9th ) { table 0.5, 0.5; }
""")
    assert run("sample", "odd.bif", *RUN, "--format", "cmdstan", "-o", "o").status == 0
    comments, header, _ = read_cmdstan(work / "o_1.csv")
    assert header == ["lp__", "ok_1", "x.2", "x.3", "x.4", "x.5"]
    for line in ('# x.2 = "with-dash"', '# x.3 = "x"', '# x.4 = "lp__"', '# x.5 = "9th"'):
        assert line in comments
    assert run("sample", "odd.bif", *RUN, "--format", "cmdstan", "-o", "x", "--monitor",
               "x").status == 0
    assert read_cmdstan(work / "x_1.csv")[1] == ["lp__", "x"]
    assert run("sample", small, *RUN, "--format", "cmdstan", "-o", "s").status == 0
    assert read_cmdstan(work / "s_1.csv")[1] == ["lp__", "x.1", "x.2", "x.3"]


def test_coda(run, work, small):
    names, expected = draws(run, SPRINKLER)
    assert run("sample", SPRINKLER, *RUN, "--format", "coda", "-o", "out").status == 0
    only(work, "small.uai", "outindex.txt", "outchain1.txt", "outchain2.txt", "outchain3.txt")
    index = [line.split() for line in (work / "outindex.txt").read_text().splitlines()]
    assert index == [[n, str(40 * i + 1), str(40 * i + 40)] for i, n in enumerate(names)]
    for chain in range(3):
        lines = [[int(v) for v in x.split()]
                 for x in (work / f"outchain{chain + 1}.txt").read_text().splitlines()]
        assert len(lines) == 120
        for i in range(3):
            assert lines[40 * i:40 * i + 40] == [[d + 1, expected[chain, d][1][i]]
                                                 for d in range(40)]
    assert run("sample", small, *RUN, "--format", "coda", "-o", "s", "--thin", "4").status == 0
    assert (work / "sindex.txt").read_text() == "x[1] 1 10\nx[2] 11 20\nx[3] 21 30\n"
    assert [x.split()[0] for x in (work / "schain1.txt").read_text().splitlines()[:3]] == [
        "4", "8", "12"]


# ---- NetCDF ------------------------------------------------------------------------------------


def engines():
    from importlib.util import find_spec
    return [e for e, m in (("netcdf4", "netCDF4"), ("h5netcdf", "h5netcdf")) if find_spec(m)]


def test_netcdf(run, work):
    np = pytest.importorskip("numpy")
    xr = pytest.importorskip("xarray")
    if not has_netcdf(run):
        pytest.skip("libnetcdf is not installed")
    if not engines():
        pytest.skip("neither netCDF4 nor h5netcdf is installed for Python")
    names, expected = draws(run, SPRINKLER, "-e", "grass=wet")
    done = run("sample", SPRINKLER, "-e", "grass=wet", *RUN, "-o", "a.nc")
    assert done.status == 0, done.err
    for engine in engines():
        groups = {g: xr.open_dataset(work / "a.nc", group=g, engine=engine)
                  for g in ("posterior", "sample_stats", "constant_data", "observed_data")}
        x = groups["posterior"]["x"]
        assert x.dims == ("chain", "draw", "x_dim_0") and x.dtype == np.uint8
        assert "_FillValue" not in x.encoding and "_FillValue" not in x.attrs
        assert groups["posterior"]["x_dim_0"].values.tolist() == names
        for group in ("posterior", "sample_stats"):
            for dim, n in (("chain", 3), ("draw", 40)):
                coordinate = groups[group][dim]
                assert coordinate.dtype == np.int64 and coordinate.values.tolist() == list(range(n))
        lp = groups["sample_stats"]["lp"]
        flips = groups["sample_stats"]["n_flips"]
        assert lp.dims == flips.dims == ("chain", "draw") and flips.dtype == np.int64
        assert "energy" not in groups["sample_stats"]
        for (chain, draw), (density, states) in expected.items():
            assert x.values[chain, draw].tolist() == states and lp.values[chain, draw] == density
            before = expected.get((chain, draw - 1), (0, states))[1]
            assert flips.values[chain, draw] == sum(a != b for a, b in zip(before, states))
        assert 0 in x.values
        assert groups["constant_data"]["card"].values.tolist() == [2, 2, 2]
        assert groups["observed_data"]["evidence"].values.tolist() == [1]
        assert groups["observed_data"]["evidence_dim_0"].values.tolist() == ["grass"]
        for group in ("posterior", "sample_stats") if engine == "netcdf4" else ():
            assert list(groups[group].attrs["sample_dims"]) == ["chain", "draw"]
            assert groups[group].attrs["creation_library"] == "gibbsite"
        root = xr.open_dataset(work / "a.nc", engine=engine).attrs if engine == "netcdf4" else {}
        if root:
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", root["created_at"])
            assert root["creation_library"] == root["inference_library"] == "gibbsite"
            assert root["creation_library_language"] == "C"
            assert root["creation_library_version"] == root["inference_library_version"]
            assert root["seed"] == 9 and re.fullmatch("[0-9a-f]{32}", root["model_digest"])
            assert root["command"].startswith("gibbsite sample " + SPRINKLER)
        for g in groups.values():
            g.close()


def test_netcdf_of_many_states(run, work):
    """Numbers as coordinates, two bytes, and chunks of at most 1024 draws."""
    np = pytest.importorskip("numpy")
    xr = pytest.importorskip("xarray")
    nc = pytest.importorskip("netCDF4")
    if not has_netcdf(run):
        pytest.skip("libnetcdf is not installed")
    (work / "wide.uai").write_text("MARKOV\n2\n300 2\n0\n")
    assert run("sample", "wide.uai", "--sweeps", "1500", "--chains", "2", "-q", "-o",
               "w.nc", "--monitor", "1,0").status == 0
    with nc.Dataset(work / "w.nc") as f:
        x = f["posterior"]["x"]
        assert x.dtype == np.uint16 and x.chunking() == [1, 1024, 2]
        assert x.filters()["zlib"] and x.filters()["complevel"] == 1 and x.filters()["shuffle"]
        assert f["posterior"]["x_dim_0"][:].tolist() == [1, 0]
        assert f["constant_data"]["card"][:].tolist() == [2, 300]
        assert x[:].max() > 255 and not np.ma.is_masked(x[:])
        assert "observed_data" not in f.groups and "energy" not in f["sample_stats"].variables


def test_netcdf_energy(run, work):
    """Of a model of couplings and fields, in the units of the file."""
    np = pytest.importorskip("numpy")
    nc = pytest.importorskip("netCDF4")
    if not has_netcdf(run):
        pytest.skip("libnetcdf is not installed")
    (work / "m.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n"
                                "3 3 3\n1 1 0.5\n2 1 1\n3 2 -1\n")
    if run("info", "m.mtx").status != 0:
        pytest.skip("this version reads no file of couplings")
    assert run("sample", "m.mtx", *RUN, "-o", "m.nc").status == 0
    with nc.Dataset(work / "m.nc") as f:
        s = 2.0 * f["posterior"]["x"][:] - 1
        energy = -(0.5 * s[..., 0] + s[..., 0] * s[..., 1] - s[..., 1] * s[..., 2])
        assert np.allclose(f["sample_stats"]["energy"][:], energy, atol=1e-6)
        assert np.allclose(f["sample_stats"]["lp"][:], -energy, atol=1e-6)


@pytest.mark.parametrize("arguments, part", [
    (["--format", "netcdf"], "needs a file"),
    (["--format", "cmdstan"], "needs a file"),
    (["--format", "coda", "-o", "-"], "needs a file"),
    (["-o", "x.nc.gz"], ".gz"),
    (["-o", "x.mar"], "this verb does not write .mar files"),
])
def test_refused_outputs(run, work, arguments, part):
    done = run("sample", SPRINKLER, *arguments)
    assert done.status == 2 and part in done.err
    only(work)


def test_netcdf_is_opened_when_a_file_asks_for_it(run, work):
    """Neither linked nor needed: files that are no libraries stand before those of the system."""
    assert "netcdf" not in run("version", env={"LD_TRACE_LOADED_OBJECTS": "1"}).out
    (work / "libraries").mkdir()
    for ending in ["", *(f".{n}" for n in range(11, 41))]:
        (work / "libraries" / f"libnetcdf.so{ending}").touch()
    for verb in (["sample", SPRINKLER], ["marginals", SPRINKLER]):
        done = run(*verb, "-o", "a.nc", env={"LD_LIBRARY_PATH": work / "libraries"})
        assert done.status == 2
        assert "apt-get install libnetcdf19" in done.err and "--format npz" in done.err
    only(work, "libraries")


def test_netcdf_is_whole_or_not_at_all(run, work):
    if not has_netcdf(run):
        pytest.skip("libnetcdf is not installed")
    os.unlink(work / "probe.nc")
    (work / "a.nc").write_text("was here before")
    done = run("sample", SPRINKLER, "--sweeps", "3", "--thin", "9", "-q", "-o", "a.nc")
    assert done.status == 1 and "no draw was kept" in done.err
    assert (work / "a.nc").read_text() == "was here before"
    only(work, "a.nc")


# ---- marginals ---------------------------------------------------------------------------------


def test_marginals_npz(run, work):
    np = pytest.importorskip("numpy")
    (work / "m.uai").write_text("MARKOV\n3\n2 3 4\n1\n3 0 1 2\n24\n" +
                                " ".join(str(1 + k % 7) for k in range(24)) + "\n")
    (work / "m.query").write_text("2 2 0\n")
    args = ["marginals", "m.uai", "--sweeps", "200", "-q"]
    table = list(csv.DictReader(io.StringIO(run(*args).out)))
    assert run(*args, "-o", "a.npz").status == run(*args, "-o", "b.npz").status == 0
    assert (work / "a.npz").read_bytes() == (work / "b.npz").read_bytes()
    z = load(work / "a.npz")
    assert z["offsets"].tolist() == [0, 2, 5, 9] and z["card"].tolist() == [2, 3, 4]
    for name, column in (("marginals", "probability"), ("mcse", "mcse"), ("ess", "ess"),
                         ("rhat", "rhat")):
        assert z[name].dtype == np.float64
        assert z[name].tolist() == [float(r[column]) for r in table]
    assert json.loads(bytes(z["meta"]))["schema"] == "marginals/2"
    assert run(*args, "--query", "@m.query", "-o", "q.npz").status == 0
    q = load(work / "q.npz")
    assert q["variable"].tolist() == [2, 0] and q["offsets"].tolist() == [0, 4, 6]
    assert q["marginals"].tolist() == z["marginals"][[5, 6, 7, 8, 0, 1]].tolist()


def test_marginals_netcdf(run, work):
    """As xarray reads them: by variable and state, NaN behind the last state of a variable."""
    np = pytest.importorskip("numpy")
    xr = pytest.importorskip("xarray")
    if not has_netcdf(run):
        pytest.skip("libnetcdf is not installed")
    if not engines():
        pytest.skip("neither netCDF4 nor h5netcdf is installed for Python")
    (work / "m.uai").write_text("MARKOV\n3\n2 3 4\n1\n3 0 1 2\n24\n" +
                                " ".join(str(1 + k % 7) for k in range(24)) + "\n")
    (work / "m.query").write_text("2 2 0\n")
    args = ["marginals", "m.uai", "--sweeps", "200", "-q", "-e", "1=2"]
    table = list(csv.DictReader(io.StringIO(run(*args).out)))
    done = run(*args, "-o", "a.nc")
    assert done.status == 0, done.err
    assert run(*args, "--query", "@m.query", "-o", "q.nc").status == 0
    columns = (("marginal", "probability"), ("mcse", "mcse"), ("ess", "ess"),
               ("rhat", "rhat"))
    for engine in engines():
        with xr.open_dataset(work / "a.nc", group="posterior_summary", engine=engine) as found:
            assert found["variable"].values.tolist() == [0, 1, 2]
            assert found["state"].values.tolist() == [0, 1, 2, 3]
            assert found["variable"].dtype == found["state"].dtype == np.int64
            for name, column in columns:
                value = found[name]
                assert value.dims == ("variable", "state") and value.dtype == np.float64
                assert "_FillValue" not in value.encoding and "_FillValue" not in value.attrs
                expected = np.full((3, 4), np.nan)
                for row in table:
                    expected[int(row["variable"]), int(row["state"])] = float(row[column] or "nan")
                assert np.array_equal(value.values, expected, equal_nan=True)
            assert np.allclose(np.nansum(found["marginal"].values, axis=1), 1)
        with xr.open_dataset(work / "a.nc", group="constant_data", engine=engine) as constant:
            assert constant["card"].values.tolist() == [2, 3, 4] and "label" not in constant
        with xr.open_dataset(work / "a.nc", group="observed_data", engine=engine) as observed:
            assert observed["evidence"].values.tolist() == [2]
        with xr.open_dataset(work / "q.nc", group="posterior_summary", engine=engine) as some:
            assert some["variable"].values.tolist() == [2, 0]
    root = xr.open_dataset(work / "a.nc", engine=engines()[0]).attrs
    assert root["method"] == "sampled" and re.fullmatch("[0-9a-f]{32}", root["result_digest"])
    done = run("exact", SPRINKLER, "-o", "s.nc", "-q")
    assert done.status == 0, done.err
    with xr.open_dataset(work / "s.nc", group="constant_data", engine=engines()[0]) as names:
        assert names["variable"].values.tolist() == ["rain", "sprinkler", "grass"]
        assert names["label"].values.tolist() == [["no", "yes"], ["off", "on"], ["dry", "wet"]]


@pytest.mark.long
def test_marginals_netcdf_in_chunks(run, work):
    """More variables than one slab holds."""
    np = pytest.importorskip("numpy")
    nc = pytest.importorskip("netCDF4")
    if not has_netcdf(run):
        pytest.skip("libnetcdf is not installed")
    n = 300000
    (work / "m.uai").write_text(f"MARKOV\n{n}\n" + "2 " * n + f"\n{n}\n" +
                                "".join(f"1 {v}\n" for v in range(n)) +
                                "".join(f"2 {1 + v % 5} 1\n" for v in range(n)))
    done = run("marginals", "m.uai", "--method", "exact", "-q", "-o", "m.nc")
    assert done.status == 0, done.err
    with nc.Dataset(work / "m.nc") as f:
        p = f["posterior_summary"]["marginal"]
        assert p.chunking() == [262144, 2] and p.filters()["zlib"]
        odds = 1 + np.arange(n) % 5
        assert np.allclose(p[:, 0], odds / (odds + 1), atol=1e-12)


@pytest.mark.parametrize("text, arguments, status, part", [
    ("MARKOV\n0\n0\n", ["-o", "x.nc"], 1, "no variables"),
    ("MARKOV\n401\n65535 " + "2 " * 400 + "\n0\n", ["-o", "x.nc"], 1, "mostly empty"),
    ("MARKOV\n1\n2\n0\n", ["--format", "netcdf"], 2, "needs a file"),
    ("MARKOV\n1\n2\n0\n", ["-o", "x.nc.zst"], 2, "leave out .zst"),
])
def test_marginals_netcdf_refused(run, work, text, arguments, status, part):
    if not has_netcdf(run):
        pytest.skip("libnetcdf is not installed")
    os.unlink(work / "probe.nc")
    (work / "m.uai").write_text(text)
    done = run("marginals", "m.uai", *arguments)
    assert done.status == status and part in done.err
    only(work, "m.uai")


def test_query(run, work):
    (work / "q").write_text("2 2 0\n")
    done = run("marginals", SPRINKLER, "--query", "@q", "-q")
    assert done.status == 0
    assert [r["variable"] for r in csv.DictReader(io.StringIO(done.out))] == [
        "grass", "grass", "rain", "rain"]
    found = json.loads(run("marginals", SPRINKLER, "--query", "@q", "--format", "json", "-q").out)
    assert [v["id"] for v in found["variables"]] == [2, 0]
    (work / "none").write_text("0\n")
    assert run("marginals", SPRINKLER, "--query", "@none", "-q").out.count("\n") == 1


def test_query_by_name(run):
    def variables(query):
        done = run("marginals", SPRINKLER, "--query", query, "-q")
        assert done.status == 0, done.err
        return [r["variable"] for r in csv.DictReader(io.StringIO(done.out))][::2]
    assert variables("grass,rain") == ["grass", "rain"]
    assert variables("2,0-1") == ["grass", "rain", "sprinkler"]
    for query, part in [("gras", "did you mean grass"), ("grass,2", "named twice"), ("1-3", "0 to 2"),
                        ("grass,", "an item is empty")]:
        done = run("marginals", SPRINKLER, "--query", query)
        assert done.status == 2 and part in done.err and done.out == ""


@pytest.mark.parametrize("text, status, part", [
    ("2 0 0", 3, "q:1:5: found variable '0' a second time"),
    ("1 3", 3, "expected less than 3"),
    ("1 0 1", 3, "expected the end of the file"),
    (None, 3, "cannot be opened"),
])
def test_bad_query(run, work, text, status, part):
    if text is not None:
        (work / "q").write_text(text)
    done = run("marginals", SPRINKLER, "--query", "@q", "-o", "x.csv")
    assert done.status == status and part in done.err
    assert not (work / "x.csv").exists()


def test_query_and_mar(run, work):
    (work / "q").write_text("1 0\n")
    done = run("marginals", SPRINKLER, "--query", "@q", "-o", "x.MAR")
    assert done.status == 2 and "--query" in done.err
    only(work, "q")


def test_labels_in_csv(run, work):
    numbers = run("sample", SPRINKLER, "--sweeps", "50", "--chains", "4", "--seed", "3").out.splitlines()
    labels = run("sample", SPRINKLER, "--sweeps", "50", "--chains", "4", "--seed", "3", "--labels").out.splitlines()
    names = {"0": {"0": "no", "1": "yes"}, "1": {"0": "off", "1": "on"}, "2": {"0": "dry", "1": "wet"}}
    assert numbers[0].replace(",lp,", ",log_density,") == labels[0]
    for a, b in zip(numbers[1:], labels[1:]):
        a, b = a.split(","), b.split(",")
        assert a[:3] == b[:3] and [names[str(i)][x] for i, x in enumerate(a[3:])] == b[3:]
    done = run("sample", SPRINKLER, "--sweeps", "5", "--labels", "-o", "d.npz")
    assert done.status == 2 and "found the format npz, expected csv" in done.err and not (work / "d.npz").exists()


def test_draws_are_judged_by_a_target_that_was_given(run):
    few = ["sample", SPRINKLER, "--method", "sample", "--sweeps", "500", "--chains", "4"]
    assert "gibbsite: converged" in run(*few).err
    assert "above the target of 0.001" in run(*few, "--target-error", "0.001").err


def test_labels_are_read_back_as_labels(run, work):
    """Labels that are numbers of other states: by the table's third column, and --states labels wins."""
    (work / "m.bif").write_text("""network m { }
variable A { type discrete [ 2 ] { 1, 0 }; }
probability ( A ) { table 0.9, 0.1; }
""")
    run("sample", "m.bif", "--sweeps", "4000", "--chains", "2", "--labels", "-o", "labels.csv")
    run("sample", "m.bif", "--sweeps", "4000", "--chains", "2", "-o", "numbers.csv")
    old = (work / "labels.csv").read_text().replace("log_density", "lp", 1)
    (work / "old.csv").write_text(old)
    for how in (["labels.csv"], ["numbers.csv"], ["old.csv", "--states", "labels"]):
        done = run("fit", "m.bif", *how, "-o", "f.bif")
        assert done.status == 0, done.err
        first = float(re.search(r"table ([0-9.]+)", (work / "f.bif").read_text())[1])
        assert abs(first - 0.9) < 0.03, how
