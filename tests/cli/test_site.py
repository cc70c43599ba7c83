# SPDX-License-Identifier: Apache-2.0
"""What `./dev docs` makes the site with, apart from Sphinx: links are checked, and every header has its page."""
import sys

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import site_links
import site_pages


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">b</a> <a href="#here">a</a> <a href="https://example.org">x</a>')
    (tmp_path / "b.html").write_text('<p><a href="a.html#gone">a</a> <a href="c.html">c</a> <img src="https://example.org/x.png">')
    wrong, n_links, n_pages = site_links.broken(tmp_path)
    assert n_pages == 2 and n_links == 4
    assert sorted(text.split(": ", 1)[1] for text in wrong) == [
        "a.html#gone: no such place", "b.html#there: no such place", "c.html: no such file", "fetches https://example.org/x.png"]


def test_every_header_has_a_page(tmp_path):
    """The table of include/gibbsite/README.md names them all, those of gibbsite.h first."""
    site_pages.write_headers(tmp_path / "c")
    headers = {path.name for path in (ROOT / "include/gibbsite").glob("*.h")} - {"gibbsite.h"}
    assert {path.stem for path in (tmp_path / "c").glob("*.rst")} == headers
    assert site_pages.headers()[1] == 6


def test_a_description_for_several_parameters(tmp_path):
    names = "<parametername>a</parametername>\n<parametername>b</parametername>"
    (tmp_path / "x_8h.xml").write_text(f"<parameteritem>\n<parameternamelist>\n{names}</parameternamelist>\n<p>both</p></parameteritem>")
    site_pages.part_parameters(tmp_path)
    assert (tmp_path / "x_8h.xml").read_text().count("<p>both</p>") == 2


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
