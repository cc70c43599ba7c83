/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheet of the page. The page has the colours of the charts, for light and dark
 * screens. */
#include "report/page.h"

/* The style comes in pieces, because a string has at most 4095 bytes in C11. */
static const char *const style[] = {
    "*{box-sizing:border-box}\n",
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"
    "'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif;overflow-wrap:anywhere}\n",
    "header,main,footer{max-width:58rem;margin:0 auto;padding:0 1.25rem}\n",
    "header{padding-top:1.5rem}h1{margin:0;font-size:.8rem;font-weight:600;letter-spacing:.08em;"
    "text-transform:uppercase;color:var(--soft)}\n",
    "h2{margin:.3rem 0 0;font-size:1.9rem;line-height:1.2;font-weight:600;letter-spacing:-.01em}\n",
    "h3{margin:2.6rem 0 .6rem;padding-top:.8rem;border-top:1px solid var(--grid);font-size:1.25rem;"
    "font-weight:600}h4{margin:1.6rem 0 .4rem;font-size:1rem;font-weight:600}\n",
    "article:not(:first-child){margin-top:4rem;border-top:3px solid var(--ink);padding-top:1rem}\n",
    "p{margin:.5rem 0;max-width:44rem}.given{color:var(--soft);font-size:1.1rem}\n",
    ".note{color:var(--soft);font-size:.9rem}\n",
    ".verdict{display:block;max-width:none;margin:1.2rem 0;padding:.8rem 1rem;border-left:.4rem "
    "solid;"
    "background:color-mix(in srgb,currentColor 4%,transparent)}\n",
    ".verdict.good{border-color:var(--c2)}.verdict.doubt{border-color:var(--c4)}"
    ".verdict.bad{border-color:var(--c1)}\n",
    ".verdict strong{font-size:1.15rem}.mark{display:inline-block;width:1.6rem;font-weight:700}\n",
    ".warning{border-left:.4rem solid var(--c4);padding-left:1rem;max-width:none}\n",
    "dl{margin:.5rem 0}dt{color:var(--soft)}dd{margin:0;font-variant-numeric:tabular-nums}\n",
    ".figures-in-words{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));"
    "gap:.9rem 1.4rem;margin:1.2rem 0}\n",
    ".figures-in-words dt{font-size:.8rem;line-height:1.3}.figures-in-words "
    "dd{font-size:1.25rem}\n",
    "dd small{display:block;font-size:.75rem;color:var(--soft)}\n",
    ".facts>div{display:grid;grid-template-columns:minmax(9rem,20rem) 1fr;gap:0 "
    "1rem;padding:.15rem 0;"
    "border-bottom:1px solid var(--grid)}\n",
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));"
    "gap:1.2rem}\n",
    "figure{margin:0}figure svg{display:block;width:100%;height:auto;max-width:30rem}\n",
    ".network{overflow-x:auto;margin:1.2rem 0}.network svg{width:auto;max-width:none}\n",
    "figcaption{font-size:.85rem;color:var(--soft)}\n",
    ".map img{display:block;width:100%;height:auto;max-width:30rem;image-rendering:pixelated;"
    "border:1px solid var(--grid)}\n",
    ".legend{display:inline-flex;flex-wrap:wrap;align-items:center;gap:.4rem;margin-left:.8rem}\n",
    ".ramp{display:inline-block;width:7rem;height:.7rem;border:1px solid var(--grid);background:"
    "linear-gradient(90deg,#f6f9fc,#9ecae8,#0072b2,#002642)}"
    ".ramp.warm{background:linear-gradient(90deg,#fcf8f4,#f5be91,#d55e00,#4a1e00)}\n",
    ".key{display:inline-block;width:.9rem;height:.9rem;border:1px solid var(--grid)}\n",
    /* Colours of gbs_image_from_labels(). */
    ".l0{background:#000}.l1{background:#e69f00}.l2{background:#56b4e9}.l3{background:#009e73}"
    ".l4{background:#f0e442}.l5{background:#0072b2}.l6{background:#d55e00}.l7{background:#cc79a7}"
    "\n",
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.92rem}"
    "\n",
    "caption{text-align:left;color:var(--soft);font-size:.85rem;padding-bottom:.5rem}\n",
    "th,td{padding:.2rem .5rem .2rem 0;text-align:right;vertical-align:baseline;font-weight:400;"
    "white-space:nowrap}td.name,tbody th,.wrap{white-space:normal}\n",
    "thead th{color:var(--soft);font-size:.8rem;border-bottom:1px solid var(--soft);"
    "vertical-align:bottom}\n",
    "tbody th,td.name,td.more,thead th:first-child,.marginals thead th:nth-child(2)"
    "{text-align:left}\n",
    ".marginals tbody{border-bottom:1px solid var(--grid)}.marginals tbody th{font-weight:600;"
    "padding-right:1rem}\n",
    "tr.chosen>*{font-weight:600}td.more{color:var(--soft)}\n",
    ".scroll *{overflow-wrap:normal}td.bar,th.bar{width:34%}td.bar "
    "svg{display:block;width:100%;height:.8rem}\n",
    ".rail{fill:var(--grid);fill-opacity:.5}.whisker{stroke:var(--ink);stroke-width:1.4;fill:none;"
    "vector-effect:non-scaling-stroke}\n",
    ".scroll{overflow-x:auto;margin:1.2rem 0 2rem}.scroll table{width:auto;min-width:100%}\n",
    "pre{margin:.5rem 0;padding:.8rem 1rem;border:1px solid var(--grid);white-space:pre-wrap;"
    "font-size:.9rem}\n",
    "summary{cursor:pointer;padding:.3rem 0}a{color:var(--c0)}\n",
    ":focus-visible{outline:3px solid var(--c0);outline-offset:2px}\n",
    ".unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}\n",
    "footer{margin-top:4rem;padding-bottom:2rem;color:var(--soft);font-size:.85rem}\n",
    "@media(max-width:40rem){.wide{display:none}h2{font-size:1.5rem}td.bar,th.bar{width:14%}"
    ".facts>div{grid-template-columns:1fr}.figures-in-words{grid-template-columns:1fr 1fr}"
    "table{font-size:.82rem}th,td{padding-right:.35rem}.marginals tbody "
    "th{padding-right:.3rem;min-width:4.8rem}td.name{min-width:3.8rem}}\n",
    "@media print{:root{--paper:#fff;--ink:#000;--soft:#444;--grid:#ccc}body{font-size:10pt}"
    "section,figure,tbody{break-inside:avoid}h3{break-after:avoid}}\n",
    "@media(prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}\n",
};

void gbsi_page_style(gbsi_page *page)
{
    gbsi_figure_style(page->out, ":root");
    for (size_t i = 0; i < sizeof style / sizeof style[0]; i++) {
        gbsi_page_put(page, style[i]);
    }
}
