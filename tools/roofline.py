# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of docs/performance.md: rooflines (Williams, Waterman & Patterson 2009, CACM 52(4)).

The picture shows updates per second over updates per byte moved, with one panel for models in cache and one for
models in memory. A panel has two roofs: the bandwidth, a rising line, and the rate of random numbers, of which an
update needs one. Each roof is the median of the values measured in turn with the cases of the panel.
"""
import html
import math
import statistics

WIDTH, HEIGHT = 860.0, 486.0
PANEL_X, PANEL_Y = (70.0, 490.0), 100.0
PANEL_W, PANEL_H = 330.0, 280.0
X_LOW, X_HIGH = 1e-3, 1.0  # updates per byte
Y_LOW, Y_HIGH = 5.0, 10000.0  # million updates per second
COLORS = (("#0072b2", "#4aa8dd"), ("#d55e00", "#ff8a3d"), ("#009e73", "#2fc79d"),
          ("#b5578f", "#e59fc6"), ("#e69f00", "#ffbf47"), ("#56b4e9", "#9bd6f7"),
          ("#000000", "#f2f2f2"))
CHAINS = ((1, "one chain"), (16, "16 chains"), (64, "64 chains"))


def style():
    light = "".join(f"--c{i}:{c[0]};" for i, c in enumerate(COLORS))
    dark = "".join(f"--c{i}:{c[1]};" for i, c in enumerate(COLORS))
    rules = "".join(f".f{i}{{fill:{c[0]};fill:var(--c{i})}}\n" for i, c in enumerate(COLORS))
    return (f"svg{{--paper:#ffffff;--ink:#1c1c1c;--soft:#595959;--grid:#e3e3e3;{light}}}\n"
            "@media (prefers-color-scheme:dark){svg{--paper:#16181c;--ink:#ececec;--soft:#b0b0b0;"
            f"--grid:#33373d;{dark}}}}}\n"
            "text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;font-size:11px;fill:#1c1c1c;"
            "fill:var(--ink)}\n.title{font-size:15px;font-weight:bold}"
            ".panel{font-size:12px;font-weight:bold}\n"
            ".soft{fill:#595959;fill:var(--soft)}.end{text-anchor:end}.middle{text-anchor:middle}\n"
            ".paper{fill:#ffffff;fill:var(--paper)}\n"
            ".grid{stroke:#e3e3e3;stroke:var(--grid);fill:none}\n"
            ".axis{stroke:#595959;stroke:var(--soft);fill:none}\n"
            ".roof{stroke:#1c1c1c;stroke:var(--ink);fill:none;stroke-width:1.6;"
            "stroke-linejoin:round}\n"
            ".mark{stroke:#ffffff;stroke:var(--paper);stroke-width:1}\n" + rules)


def position(low, high, value):
    return math.log(value / low) / math.log(high / low)


class Panel:
    def __init__(self, left):
        self.left = left

    def x(self, value):
        return self.left + PANEL_W * min(max(position(X_LOW, X_HIGH, value), 0.0), 1.0)

    def y(self, value):
        return PANEL_Y + PANEL_H * (1.0 - min(max(position(Y_LOW, Y_HIGH, value), 0.0), 1.0))

    def axes(self, title):
        bottom = PANEL_Y + PANEL_H
        out = [f'<text class="panel end" x="{self.left + PANEL_W:.1f}" y="{PANEL_Y - 10:.1f}">{title}</text>']
        for value in (10, 100, 1000, 10000):
            y = self.y(value)
            out.append(f'<path class="grid" d="M{self.left:.1f} {y:.1f}h{PANEL_W:.1f}"/>')
            out.append(f'<text class="soft end" x="{self.left - 6:.1f}" y="{y + 4:.1f}">'
                       f"{value:,}</text>".replace(",", " "))
        for value, text in ((1e-3, "1/1000"), (1e-2, "1/100"), (1e-1, "1/10"), (1, "1")):
            x = self.x(value)
            out.append(f'<path class="grid" d="M{x:.1f} {PANEL_Y:.1f}v{PANEL_H:.1f}"/>')
            out.append(f'<text class="soft middle" x="{x:.1f}" y="{bottom + 16:.1f}">{text}</text>')
        out.append(f'<path class="axis" d="M{self.left:.1f} {PANEL_Y:.1f}V{bottom:.1f}'
                   f'h{PANEL_W:.1f}"/>')
        out.append(f'<text class="soft middle" x="{self.left + PANEL_W / 2:.1f}" '
                   f'y="{bottom + 34:.1f}">updates per byte moved</text>')
        return out

    def roofs(self, gigabytes, words):
        """@return the roofs in million updates per second: 1000 x gigabytes x, and the rate of words."""
        ridge = words / (1e3 * gigabytes)
        start = max(X_LOW, Y_LOW / (1e3 * gigabytes))
        path = f"M{self.x(start):.1f} {self.y(1e3 * gigabytes * start):.1f}"
        if ridge < X_HIGH:
            path += f"L{self.x(ridge):.1f} {self.y(words):.1f}H{self.x(X_HIGH):.1f}"
        else:
            path += f"L{self.x(X_HIGH):.1f} {self.y(1e3 * gigabytes * X_HIGH):.1f}"
        at = 2.2e-3
        x, y = self.x(at), self.y(1e3 * gigabytes * at)
        slope = math.degrees(math.atan2(self.y(1e3 * gigabytes * 2 * at) - y, self.x(2 * at) - x))
        return [f'<path class="roof" d="{path}"/>',
                f'<text x="{x:.1f}" y="{y:.1f}" transform="rotate({slope:.1f} {x:.1f} {y:.1f}) '
                f'translate(0 -7)">bandwidth {gigabytes:.0f} GB/s</text>',
                f'<text class="end" x="{self.x(X_HIGH):.1f}" y="{self.y(words) - 7:.1f}">'
                f"random numbers alone {words:.0f}</text>"]

    def mark(self, color, chains, x, y, title):
        return mark(color, chains, self.x(x), self.y(y), title)


def mark(color, chains, x, y, title=""):
    """@param color number of a colour, or the class "soft"."""
    style_of = f'class="mark {color if isinstance(color, str) else f"f{color}"}"'
    note = f"<title>{html.escape(title)}</title>" if title else ""
    if chains == 1:
        return f'<circle {style_of} cx="{x:.1f}" cy="{y:.1f}" r="4.8">{note}</circle>'
    if chains == 16:
        return (f'<rect {style_of} x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9">'
                f"{note}</rect>")
    return f'<path {style_of} d="M{x:.1f} {y - 6:.1f}l5.8 10h-11.6z">{note}</path>'


def legend(families, top):
    out = []
    x = PANEL_X[0]
    for i, family in enumerate(families):
        out.append(mark(i, 16, x + 5, top - 4))
        out.append(f'<text x="{x + 15:.1f}" y="{top:.1f}">{html.escape(family)}</text>')
        x += 30 + 6.4 * len(family)
    x = PANEL_X[0]
    for chains, text in CHAINS:
        out.append(mark("soft", chains, x + 5, top + 18))
        out.append(f'<text x="{x + 15:.1f}" y="{top + 22:.1f}">{text}</text>')
        x += 92
    return out


def picture(records):
    """@param records those of kind "throughput" with one thread. @return SVG text."""
    families = list(dict.fromkeys(r["family"] for r in records))
    title = "How far from the limits of the machine: one thread, probabilities averaged"
    subtitle = ("each mark a case; up and to the right is better; a case on a roof can only gain by "
                "moving less or drawing less")
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}" height="{HEIGHT:.0f}" '
           f'viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" '
           'aria-labelledby="title description">',
           f'<title id="title">{title}</title>',
           '<desc id="description">Two panels, models in cache and in memory: million updates a '
           "second against updates per byte moved, with the bandwidth and the rate of random "
           "numbers as roofs.</desc>",
           f"<style>\n{style()}</style>",
           f'<rect class="paper" width="{WIDTH:.0f}" height="{HEIGHT:.0f}"/>',
           f'<text class="title" x="16" y="28">{title}</text>',
           f'<text class="soft" x="16" y="46">{subtitle}</text>',
           f'<text class="soft" x="16" y="76">million updates a second</text>']
    for left, size, name in zip(PANEL_X, ("cache", "memory"), ("in cache", "from memory")):
        panel = Panel(left)
        own = [r for r in records if r["size"] == size]
        out += panel.axes(name)
        if not own:
            continue
        out += panel.roofs(statistics.median(r["bandwidth_gb_per_s"] for r in own),
                           statistics.median(r["million_words_per_s"] for r in own))
        for r in own:
            rb = r["rao_blackwell"]
            out.append(panel.mark(families.index(r["family"]), r["chains"],
                                  1.0 / rb["bytes_per_update"], rb["median"],
                                  f'{r["case"]}: {rb["median"]:.0f} million updates a second'))
    out += legend(families, PANEL_Y + PANEL_H + 60)
    return "\n".join(out) + "\n</svg>\n"
