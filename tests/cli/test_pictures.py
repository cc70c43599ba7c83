# SPDX-License-Identifier: Apache-2.0
"""Pictures in and out: --picture, starts and evidence; and what is compressed with zstd."""
import re
import struct
import zlib

import pytest
from conftest import DATA, SPRINKLER, only

# Rows of two variables that are nearly always equal; rows are independent.
PAIRS = """MARKOV
4
2 2 2 2
2
2 0 1
2 2 3
4
 1e9 1 1 1e9
4
 1e9 1 1 1e9
"""

# Three states, each variable with its own favourite, 2 x 3 of them.
FAVOURITES = "MARKOV 6 3 3 3 3 3 3 6 1 0 1 1 1 2 1 3 1 4 1 5 " + " ".join(
    "3 " + " ".join("6" if a == v % 3 else "1" for a in range(3)) for v in range(6))


@pytest.fixture
def pairs(work):
    (work / "pairs.uai").write_text(PAIRS)
    return "pairs.uai"


@pytest.fixture
def favourites(work):
    (work / "favourites.uai").write_text(FAVOURITES)
    return "favourites.uai"


def skip_without(done, library):
    """Builds without an optional library refuse, saying so."""
    if done.status != 0 and ("built without libpng" in done.err if library == "png" else
                             "this build cannot compress with zstd" in done.err):
        pytest.skip(f"this build has no {library}")


def pnm(path):
    """Magic, width, height, maxval and samples of a binary PGM or PPM."""
    head, rest = re.match(rb"(P[56]\n\d+ \d+\n\d+\n)(.*)", path.read_bytes(), re.S).groups()
    magic, width, height, maxval = head.split()
    samples = rest if int(maxval) < 256 else [a << 8 | b for a, b in zip(rest[::2], rest[1::2])]
    return magic, int(width), int(height), int(maxval), list(samples)


def chunks(path):
    """The chunks of a PNG, checksums checked."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = {}, 8
    while at < len(data):
        n, = struct.unpack_from(">I", data, at)
        body = data[at + 4:at + 8 + n]
        assert struct.unpack_from(">I", data, at + 8 + n)[0] == zlib.crc32(body)
        found[body[:4]] = found.get(body[:4], b"") + body[4:]
        at += 12 + n
    return found


def probabilities(text, state):
    return [float(row.split(",")[2]) for row in text.splitlines()[1:]
            if row.split(",")[1] == str(state)]


def test_probabilities(run, work, favourites):
    csv = run("marginals", favourites).out
    for state in range(3):
        done = run("marginals", favourites, "--picture", "2x3", "--state", state, "-o", "p.pgm")
        assert done.status == 0, done.err
        expected = [int(p * 65535 + 0.5) for p in probabilities(csv, state)]
        assert pnm(work / "p.pgm") == (b"P5", 3, 2, 65535, expected)
    assert max(expected) > 2 * min(expected)


def test_two_states_show_state_one(run, work, pairs):
    csv = run("marginals", pairs, "-e", "0=1").out
    assert run("marginals", pairs, "-e", "0=1", "--picture", "2x2", "-o", "p.pgm").status == 0
    assert pnm(work / "p.pgm")[4] == [int(p * 65535 + 0.5) for p in probabilities(csv, 1)]
    assert run("marginals", pairs, "-e", "0=1", "--picture", "2x2", "--state", "0", "-o",
               "q.ppm").status == 0
    magic, width, height, maxval, samples = pnm(work / "q.ppm")
    assert (magic, width, height, maxval) == (b"P6", 2, 2, 65535)
    assert samples[0:3] == [0, 0, 0] and samples[6] == samples[7] == samples[8] == 32768
    # Black and white: the most probable state, 1 black, the first of equals.
    assert run("marginals", pairs, "-e", "0=1", "--picture", "2x2", "-o", "p.pbm").status == 0
    assert (work / "p.pbm").read_bytes() == b"P4\n2 2\n\xc0\x00"


def test_labels(run, work, favourites):
    assert run("marginals", favourites, "--picture", "2x3", "-o", "l.pgm").status == 0
    assert pnm(work / "l.pgm") == (b"P5", 3, 2, 255, [0, 1, 2, 0, 1, 2])
    assert run("marginals", favourites, "--picture", "2x3", "-o", "l.ppm").status == 0
    colors = [0, 0, 0, 230, 159, 0, 86, 180, 233]
    assert pnm(work / "l.ppm") == (b"P6", 3, 2, 255, colors * 2)


def test_png(run, work, favourites):
    done = run("marginals", favourites, "--picture", "2x3", "-o", "l.png")
    skip_without(done, "png")
    assert done.status == 0, done.err
    labels = chunks(work / "l.png")
    assert list(labels) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]  # no time, no text
    assert labels[b"IHDR"] == struct.pack(">IIBBBBB", 3, 2, 8, 3, 0, 0, 0)
    assert list(labels[b"PLTE"]) == [0, 0, 0, 230, 159, 0, 86, 180, 233]
    assert zlib.decompress(labels[b"IDAT"]) == b"\0\0\1\2\0\0\1\2"
    assert run("marginals", favourites, "--picture", "2x3", "--state", "1", "-o", "p.png",
               "-q").status == 0
    assert chunks(work / "p.png")[b"IHDR"] == struct.pack(">IIBBBBB", 3, 2, 16, 0, 0, 0, 0)
    again = (work / "p.png").read_bytes()
    assert run("marginals", favourites, "--picture", "2x3", "--state", "1", "-o", "p.png",
               "-q").status == 0
    assert (work / "p.png").read_bytes() == again
    # What was written is evidence: all of it observed, none of it to guess.
    done = run("marginals", favourites, "-e", "l.png")
    assert done.status == 0, done.err
    assert probabilities(done.out, 2) == [0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("arguments, part", [
    (["-o", "x.png"], "--picture RxC"),
    (["-o", "x.pgm", "--picture", "2x3"], "--picture 2x3: 6 pixels, but the model has 4 variables"),
    (["-o", "x.pgm", "--picture", "4294967295x4294967295"], "the model has 4 variables"),
    (["-o", "x.pgm", "--picture", "2"], "expected RxC"),
    (["-o", "x.pgm", "--picture", "0x4"], "expected RxC"),
    (["-o", "x.pgm", "--picture", "2x2x1"], "expected RxC"),
    (["-o", "x.pgm", "--picture", "2x-2"], "expected RxC"),
    (["-o", "x.csv", "--picture", "2x2"], "--picture applies to pictures"),
    (["--picture", "2x2"], "--picture applies to pictures"),
    (["-o", "x.csv", "--state", "1"], "--state applies to pictures"),
    (["-o", "x.pgm", "--picture", "2x2", "--state", "2"], "--state 2: the variables have 2 states"),
    (["-o", "x.pgm", "--picture", "2x2", "--state", "65535"], "must be from 0"),
    (["-o", "x.pbm", "--picture", "2x2", "--state", "1"], "a PBM holds black and white only"),
])
def test_refused(run, work, pairs, arguments, part):
    done = run("marginals", pairs, *arguments)
    assert done.status == 2, done.err
    assert part in done.err
    only(work, "pairs.uai")


def last_draw(csv):
    """States in the last line of chain 0."""
    return [line.split(",")[3:] for line in csv.splitlines() if line.startswith("0,")][-1]


def test_the_last_draw_of_the_first_chain(run, work, pairs, favourites):
    for model, size in ((pairs, "2x2"), (favourites, "2x3")):
        for options in (["--sweeps", "7", "--chains", "3"], ["--sweeps", "20", "--chains", "1", "--seed", "5", "--thin", "3"]):
            expected = [int(x) for x in last_draw(run("sample", model, *options).out)]
            done = run("sample", model, *options, "--picture", size, "-o", "d.pgm")
            assert done.status == 0, done.err
            scale = 65535 if model == pairs else 1
            assert pnm(work / "d.pgm")[4] == [scale * x for x in expected]
    assert run("sample", pairs, "--sweeps", "7", "--picture", "2x2", "--format", "pbm", "-o", "d").status == 0
    assert (work / "d").read_bytes().startswith(b"P4\n2 2\n")


@pytest.mark.parametrize("arguments, part", [
    (["-o", "x.png"], "--picture RxC"),
    (["-o", "x.pgm", "--picture", "2x3"], "--picture 2x3: 6 pixels, but the model has 4 variables"),
    (["-o", "x.csv", "--picture", "2x2"], "--picture applies to pictures"),
    (["-o", "x.pgm", "--picture", "2x2", "--monitor", "1"], "leave out --monitor"),
])
def test_refused_draws(run, work, pairs, arguments, part):
    done = run("sample", pairs, *arguments)
    assert done.status == 2 and part in done.err, done.err
    only(work, "pairs.uai")


def test_refused_models(run, work, small, favourites):
    done = run("marginals", small, "--picture", "1x3", "-o", "x.pgm")
    assert done.status == 2
    assert "different numbers of states: 0 has 2, 2 has 3" in done.err
    done = run("marginals", favourites, "--picture", "2x3", "-o", "x.pbm")
    assert done.status == 2 and "a PBM holds two states, but the variables have 3" in done.err
    (work / "wide.uai").write_text("MARKOV 1 300 0")
    done = run("marginals", "wide.uai", "--picture", "1x1", "-o", "x.pgm")
    assert done.status == 2 and "use --state K" in done.err
    assert run("marginals", "wide.uai", "--picture", "1x1", "--state", "7", "-o",
               "x.pgm").status == 0


def draws(text):
    return {tuple(row.split(",")[3:]) for row in text.splitlines()[1:]}


@pytest.mark.parametrize("picture, expected", [
    ("P1 2 2 11 00", "1100"),
    ("P1 2 2 00 11", "0011"),
    ("P2 2 2 255 200 128 127 0", "1100"),
    ("P3 2 2 1 0 0 0 0 0 0 1 1 1 0 1 0", "0011"),
])
def test_start(run, work, pairs, picture, expected):
    (work / "start").write_text(picture)
    done = run("sample", pairs, "--start", "start", "--sweeps", "3", "--burn-in", "0")
    assert done.status == 0, done.err
    assert draws(done.out) == {tuple(expected)}


def test_bad_starts(run, work, pairs, small):
    (work / "start").write_text("P1 3 2 11 00 11")
    done = run("sample", pairs, "--start", "start", "--sweeps", "3")
    assert done.status == 3 and done.out == ""
    assert ("start: found a picture of 3 x 2 (width x height) = 6 pixels, expected one for each of "
            "the 4 variables") in done.err
    (work / "start").write_text("P1 3 1 110")
    done = run("sample", small, "--start", "start", "--sweeps", "3")
    assert done.status == 3 and "numbers of states" in done.err


def test_evidence(run, work, favourites):
    (work / "seen.pgm").write_text("P2 3 2 255 2 255 0 255 255 1")
    done = run("marginals", favourites, "-e", "seen.pgm", "--format", "csv")
    assert done.status == 0, done.err
    assert probabilities(done.out, 2) == pytest.approx([1, 0.125, 0, 0.125, 0.125, 0], abs=1e-12)
    (work / "seen.pgm").write_text("P2 3 2 255 2 255 0 255 255 3")
    done = run("marginals", favourites, "-e", "seen.pgm")
    assert done.status == 3 and done.out == ""
    assert "row 1, column 2: found a pixel of value 3" in done.err
    (work / "seen.pgm").write_text("P2 3 2 255 2 255 0 255 255 1")
    done = run("marginals", favourites, "-e", "seen.pgm", "--evidence-index", "1")
    assert done.status == 2 and "the evidence has 1 sample" in done.err


def test_real_pictures(run, pairs, data):
    """All of them are read to the end, and are too large for four variables."""
    data("images")
    data("shapes")
    pictures = sorted(DATA.glob("images/*.png")) + sorted(DATA.glob("shapes/*.png"))
    assert len(pictures) >= 27
    for picture in pictures:
        done = run("sample", pairs, "--start", picture, "--sweeps", "1")
        if "built without libpng" in done.err:
            pytest.skip("this build has no png")
        width, height = struct.unpack(">II", picture.read_bytes()[16:24])
        assert done.status == 3
        assert f"found a picture of {width} x {height} (width x height)" in done.err


def test_zstd(run, work):
    done = run("marginals", SPRINKLER, "-o", "a.csv.zst")
    skip_without(done, "zstd")
    assert done.status == 0, done.err
    assert (work / "a.csv.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    assert run("convert", SPRINKLER, "-o", "a.bif.zst", "-q").status == 0
    assert run("marginals", "a.bif.zst").out == run("marginals", SPRINKLER).out
    (work / "cut.bif.zst").write_bytes((work / "a.bif.zst").read_bytes()[:-5])
    done = run("marginals", "cut.bif.zst")
    assert done.status == 3
    assert "cut.bif.zst: byte " in done.err and "expected more zstd data" in done.err
