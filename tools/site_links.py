# SPDX-License-Identifier: Apache-2.0
"""Checks that every link of the site leads to an existing file and an existing place in the file, and that no page fetches anything.

    python tools/site_links.py FOLDER
"""
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """Collects the links of a page, and the places to which links can lead."""

    def __init__(self, path):
        super().__init__()
        self.links, self.fetched, self.ids = [], [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or name == "name" and tag == "a":
                self.ids.add(value)
            elif name in ("href", "src") and value:
                (self.links if tag == "a" else self.fetched).append(value)


def broken(folder):
    """@return texts, one for each link that leads nowhere; number of links."""
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html")}
    wrong, n_links = [], 0
    for path, page in pages.items():
        for link in page.links + page.fetched:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.fetched and url.scheme != "data":
                    wrong.append(f"{path}: fetches {link}")
                continue
            n_links += 1
            target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            target = target / "index.html" if target.is_dir() else target
            place = urllib.parse.unquote(url.fragment)
            if not target.exists():
                wrong.append(f"{path}: {link}: no such file")
            elif place and target in pages and place not in pages[target].ids:
                wrong.append(f"{path}: {link}: no such place")
    return wrong, n_links, len(pages)


if __name__ == "__main__":
    wrong, n_links, n_pages = broken(pathlib.Path(sys.argv[1]))
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    print(f"{n_pages} pages, {n_links} links")
    print(f"{n_pages} passed, {len(wrong)} failed")
    sys.exit(1 if wrong else 0)
