# SPDX-License-Identifier: Apache-2.0
"""Draws the magnetisation of square lattices of Ising spins over their temperature.

    python3 curve.py SUMMARY... >curve.svg

SUMMARY is what `gibbsite marginals --estimator count --lattice always --summary` wrote, a file for each temperature. A dot is the mean
of |m|, and its bar has two standard errors on both sides. The grey line is the infinite lattice: Yang (1952), Phys. Rev. 85:808, Eq. 96.
"""
import json
import math
import sys

LEFT, TOP, WIDTH, HEIGHT = 52.0, 14.0, 430.0, 190.0


def plane(temperature):
    """m = (1 - sinh(2 / T)^-4)^(1/8) below the critical temperature, 0 above it."""
    return max(0.0, 1.0 - math.sinh(2.0 / temperature) ** -4) ** 0.125


def main():
    points = []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            lattice = json.load(file)["lattice"]
        points.append((1.0 / lattice["couplings"][0]["weight"], lattice["abs_magnetisation"], lattice["abs_magnetisation_mcse"]))
    points.sort()
    low, high = points[0][0] - 0.1, points[-1][0] + 0.1

    def place(temperature, m):
        return LEFT + WIDTH * (temperature - low) / (high - low), TOP + HEIGHT * (1.0 - min(max(m, 0.0), 1.0))

    marks = []
    for tenths in range(0, 11, 2):
        _, y = place(low, tenths / 10)
        marks.append(f'<path class="grid" d="M{LEFT} {y:.1f}h{WIDTH}"/><text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{tenths / 10}</text>')
    grid = [low + (high - low) * i / 400 for i in range(401)]
    marks.append(f'<polyline class="plane" points="{" ".join("{:.1f},{:.1f}".format(*place(t, plane(t))) for t in grid)}"/>')
    for t, m, error in points:
        (x, y), (_, above), (_, below) = place(t, m), place(t, m + 2 * error), place(t, m - 2 * error)
        marks.append(f'<path class="error" d="M{x:.1f} {above:.1f}V{below:.1f}"/><circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
                     f'<text class="middle" x="{x:.1f}" y="{TOP + HEIGHT + 17}">{t:.3g}</text>')
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 12:g}" height="{TOP + HEIGHT + 42:g}" role="img">\n'
          "<title>Magnetisation over temperature</title>\n<style>text{font:12px sans-serif;fill:#333}.end{text-anchor:end}"
          ".middle{text-anchor:middle}.grid{stroke:#ddd}.plane{fill:none;stroke:#999;stroke-width:2}.error{stroke:#0072b2;stroke-width:2}"
          "circle{fill:#0072b2}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")
    print("\n".join(marks))
    print(f'<text class="middle" x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 36}">temperature T = 1/J</text>'
          f'<text class="middle" transform="translate(14 {TOP + HEIGHT / 2}) rotate(-90)">|m| per spin</text>\n</svg>')


main()
