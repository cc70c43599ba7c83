# SPDX-License-Identifier: Apache-2.0
# ./dev docs: make the site in build/site with Debian's Sphinx, without a network. Read by ./dev.
# shellcheck shell=sh

missing=
for pair in sphinx=python3-sphinx myst_parser=python3-myst-parser furo=furo breathe=python3-breathe \
    sphinx_copybutton=python3-sphinx-copybutton numpy=python3-numpy; do
    "$python" -c "import ${pair%%=*}" 2>/dev/null || missing="$missing ${pair#*=}"
done
have doxygen || missing="$missing doxygen"
have mandoc || missing="$missing mandoc"
# shellcheck disable=SC2086
(install $missing) || {
    echo 'docs: skipped, because Sphinx and what goes with it cannot be installed'
    exit 0
}

# Sphinx reads docstrings from the module in the build folder; nothing is installed.
build >/dev/null
core=$(ninja -C build -t targets all | sed -n 's/^\(python\/_core[^:]*\.so\):.*/\1/p')
[ -z "$core" ] || ninja -C build "$core" >/dev/null
rm -rf build/site build/site-source build/site-python build/doxygen
mkdir -p build/doxygen build/site-python
cp -r python/gibbsite build/site-python/
[ -z "$core" ] || cp "build/$core" build/site-python/gibbsite/

say 'docs: pages'
doxygen - >/dev/null <<'END'
PROJECT_NAME = gibbsite
INPUT = include/gibbsite
INPUT_FILTER = "sed '2s,^/\*\*,/** @file\n,'"
FILE_PATTERNS = *.h
OUTPUT_DIRECTORY = build/doxygen
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
OPTIMIZE_OUTPUT_FOR_C = YES
JAVADOC_AUTOBRIEF = YES
EXTRACT_ALL = YES
MACRO_EXPANSION = YES
INCLUDE_PATH = include
PREDEFINED = GBS_API= GBS_MUST_USE= __cplusplus:=0 DOXYGEN
SHOW_INCLUDE_FILES = NO
TYPEDEF_HIDES_STRUCT = YES
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_IF_INCOMPLETE_DOC = NO
END
cp -r docs build/site-source
rm -r build/site-source/playground
if [ -f build-wasm/cli/gibbsite-web.wasm ]; then
    printf '\n<p><a href="playground/index.html"><strong>Open the playground</strong></a></p>\n' >>build/site-source/playground.md
fi
mkdir build/site-source/examples
cp examples/*.c build/site-source/examples/
cp python/README.md build/site-source/python.md
cp examples/README.md build/site-source/examples.md
cp bench/README.md build/site-source/bench.md
"$python" tools/site_pages.py build/site-source build/doxygen/xml
say 'docs: sphinx-build'
GIBBSITE_SOURCES=$PWD "$python" -m sphinx -n -W --keep-going -q -j "$cores" -d build/site-cache \
    build/site-source build/site
if [ -f build-wasm/cli/gibbsite-web.wasm ]; then
    playground build/site/playground
else
    echo 'docs: the playground is SKIPPED: ./dev wasm makes its program'
fi
"$python" tools/site_links.py build/site
