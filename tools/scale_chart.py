# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of docs/scale.md: predicted efficiency over the number of ranks. One panel shows lattices
of fixed size (strong scaling), and one shows lattices that grow with the ranks (weak scaling)."""
import copy
import html
import math
import pathlib

WIDTH, HEIGHT = 860.0, 452.0
PANEL_X, PANEL_Y = (70.0, 490.0), 70.0
PANEL_W, PANEL_H = 330.0, 260.0
MOST_RANKS = 4096
COLORS = (("#0072b2", "#4aa8dd"), ("#d55e00", "#ff8a3d"), ("#009e73", "#2fc79d"), ("#b5578f", "#e59fc6"))
CURVES = (("infiniband", "", ""), ("ethernet", "_apart", "5 4"))  # network, ending of the prediction's name, dashes
STRONG = (("512 x 512", [512] * 2), ("64 x 64 x 64", [64] * 3), ("4096 x 4096", [4096] * 2),
          ("256 x 256 x 256", [256] * 3))
WEAK = (("16 x 16", [16] * 2), ("8 x 8 x 8", [8] * 3), ("64 x 64", [64] * 2), ("32 x 32 x 32", [32] * 3))


def style():
    light = "".join(f"--c{i}:{c[0]};" for i, c in enumerate(COLORS))
    dark = "".join(f"--c{i}:{c[1]};" for i, c in enumerate(COLORS))
    lines = "".join(f".c{i}{{stroke:{c[0]};stroke:var(--c{i})}}\n" for i, c in enumerate(COLORS))
    return (f"svg{{--paper:#ffffff;--ink:#1c1c1c;--soft:#595959;--grid:#e3e3e3;{light}}}\n"
            "@media (prefers-color-scheme:dark){svg{--paper:#16181c;--ink:#ececec;--soft:#b0b0b0;"
            f"--grid:#33373d;{dark}}}}}\n"
            "text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;font-size:11px;fill:#1c1c1c;"
            "fill:var(--ink)}\n.title{font-size:15px;font-weight:bold}.panel{font-size:12px;font-weight:bold}\n"
            ".soft{fill:#595959;fill:var(--soft)}.end{text-anchor:end}.middle{text-anchor:middle}\n"
            ".paper{fill:#ffffff;fill:var(--paper)}.grid{stroke:#e3e3e3;stroke:var(--grid);fill:none}\n"
            ".line{fill:none;stroke-width:2;stroke-linejoin:round}\n" + lines)


def x_of(left, ranks):
    return left + PANEL_W * math.log2(ranks) / math.log2(MOST_RANKS)


def y_of(efficiency):
    return PANEL_Y + PANEL_H * (1.0 - efficiency)


def axes(left, title):
    bottom = PANEL_Y + PANEL_H
    out = [f'<text class="panel" x="{left:.1f}" y="{PANEL_Y - 10:.1f}">{title}</text>']
    for tenths in range(0, 11, 2):
        y = y_of(tenths / 10)
        out.append(f'<line class="grid" x1="{left:.1f}" y1="{y:.1f}" x2="{left + PANEL_W:.1f}" y2="{y:.1f}"/>'
                   f'<text class="soft end" x="{left - 6:.1f}" y="{y + 4:.1f}">{tenths / 10:.1f}</text>')
    for ranks in (2, 8, 32, 128, 512, 2048):
        x = x_of(left, ranks)
        out.append(f'<line class="grid" x1="{x:.1f}" y1="{PANEL_Y:.1f}" x2="{x:.1f}" y2="{bottom:.1f}"/>'
                   f'<text class="soft middle" x="{x:.1f}" y="{bottom + 16:.1f}">{ranks}</text>')
    out.append(f'<text class="soft middle" x="{left + PANEL_W / 2:.1f}" y="{bottom + 34:.1f}">ranks</text>')
    return out


def curve(left, points, color, dash):
    path = " ".join(f"{x_of(left, ranks):.1f},{y_of(efficiency):.1f}" for ranks, efficiency in points)
    return f'<polyline class="line c{color}" stroke-dasharray="{dash}" points="{path}"/>'


def legend(left, names):
    out = []
    for i, name in enumerate(names):
        x, y = left + 165 * (i % 2), PANEL_Y + PANEL_H + 56 + 18 * (i // 2)
        out.append(f'<line class="line c{i}" x1="{x:.1f}" y1="{y:.1f}" x2="{x + 22:.1f}" y2="{y:.1f}"/>'
                   f'<text x="{x + 28:.1f}" y="{y + 4:.1f}">{html.escape(name)}</text>')
    return out


def panel(left, title, lattices, name, options, networks, rows_of):
    out = axes(left, title) + legend(left, [label for label, _ in lattices])
    for network, overlap, dash in CURVES:
        for color, (_, sides) in enumerate(lattices):
            asked = copy.copy(options)
            asked.torus = True
            asked.lattice, asked.weak = (sides, None) if name == "efficiency" else (None, sides)
            points = [(partition["ranks"], p[name + overlap]) for _, partition, p in rows_of(asked, networks[network])]
            out.append(curve(left, points, color, dash))
    return out


def write(options, networks, rows_of):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}" height="{HEIGHT:.0f}" '
           f'viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" aria-labelledby="title">',
           '<title id="title">Predicted efficiency of lattices over the number of ranks</title>', f"<style>{style()}</style>",
           f'<rect class="paper" width="{WIDTH:.0f}" height="{HEIGHT:.0f}"/>',
           f'<text class="title" x="{PANEL_X[0]:.0f}" y="28">Predicted efficiency of Ising lattices, 16 chains</text>',
           f'<text class="soft" x="{PANEL_X[0]:.0f}" y="{HEIGHT - 14:.0f}">Full lines: InfiniBand, messages overlap '
           f'updates; broken lines: Ethernet with TCP, nothing overlaps. {options.rate:g} million updates a second and rank.</text>']
    out += panel(PANEL_X[0], "strong: the whole torus", STRONG, "efficiency", options, networks, rows_of)
    out += panel(PANEL_X[1], "weak: the block of a rank", WEAK, "weak", options, networks, rows_of)
    pathlib.Path(options.chart).write_text("\n".join([*out, "</svg>"]) + "\n")
