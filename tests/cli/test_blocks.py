# SPDX-License-Identifier: Apache-2.0
"""What the pages of the documentation show is what the program prints today: tools/blocks.py runs their blocks of code.

Blocks of Python run in python/tests/test_blocks.py, where there is the module."""
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import blocks

# A page whose blocks all pass; with what is wrong in it, what is said of it.
PAGE = """# A page

    $ gibbsite --version | sed 's/[0-9.]*$/V/'
    gibbsite V
    $ printf 'one\\ntwo\\nthree\\n' | \\
          cat
    one
    ...
    three
    $ printf 'waited 0.3 s\\n'
    waited 17 s
    $ printf 'seen\\rgone\\n'
    gone

And commands that succeed:

    gibbsite marginals examples/sprinkler.bif \\
        -o kept.csv

```c
/* kept.c */
int main(void) { return 0; }
```

```sh
test -f kept.csv
grep -q main kept.c
```

<!-- not run: an example of one that is not -->

    $ false
    true

```
gibberish
```
"""
WRONG = [("gibbsite V\n", "gibbsite W\n", ["line 3", "-gibbsite W", "+gibbsite V"]),
         ("    three\n    $", "    four\n    $", ["-four", "+three"]),
         ("17 s", "17 m", ["-waited 17 m"]),
         ("    gone\n", "    seen\n", ["-seen", "+gone"]),
         ("-o kept.csv", "-o no/folder/kept.csv", ["status 1", "no/folder"]),
         ("grep -q main", "grep -q Main", ["status 1"]),
         ("printf 'waited 0.3 s\\n'\n    waited 17 s", "kill -11 $$", ["ended by signal 11"])]


def test_a_page_that_is_right(tmp_path):
    outcome = blocks.run_page(PAGE, tmp_path, python=False)
    assert outcome.wrong == [] and outcome.text == PAGE and outcome.run == 4
    assert [reason for _, reason in outcome.skipped] == ["an example of one that is not"]


@pytest.mark.parametrize("right, wrong, parts", WRONG, ids=[row[1].strip().split("\n")[0] for row in WRONG])
def test_a_page_that_is_wrong(tmp_path, right, wrong, parts):
    assert PAGE.count(right) == 1
    outcome = blocks.run_page(PAGE.replace(right, wrong), tmp_path, python=False)
    assert all(part in "\n".join(outcome.wrong) for part in parts), outcome.wrong


@pytest.mark.parametrize("row", range(4))
def test_a_page_is_written_anew(tmp_path, row):
    """What was printed stands in place of what was wrong; what was right, and figures of a clock, stay."""
    right, wrong, _ = WRONG[row]
    expected = PAGE.replace("17 s", "0.3 s") if wrong == "17 m" else PAGE
    assert blocks.run_page(PAGE.replace(right, wrong), tmp_path, python=False).text == expected


def test_python(tmp_path):
    page = "```python\n>>> x = [1,\n...      2]\n>>> x\n[1, 3]\n>>> 1 / 0\nZeroDivisionError: division by zero\n\n```\n\n```python\ny = x[5]\n```\n"
    outcome = blocks.run_page(page, tmp_path, python=True)
    assert outcome.text == page.replace("3]", "2]")
    assert len(outcome.wrong) == 2 and "+[1, 2]" in outcome.wrong[0] and "IndexError" in outcome.wrong[1]


@pytest.mark.parametrize("page", blocks.pages(), ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.long
def test_page(tmp_path, page):
    outcome = blocks.run_page(page.read_text(), tmp_path, python=False)
    assert outcome.wrong == [], "\n".join(outcome.wrong) + "\npython tools/blocks.py --update writes pages anew"
