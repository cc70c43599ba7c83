# SPDX-License-Identifier: Apache-2.0
# ./dev python: build and install the Python module into an own environment, without a
# network, and run its tests and examples. Read by ./dev.
# shellcheck shell=sh

need
missing=
for pair in mypy=mypy mesonpy=python3-mesonpy hypothesis=python3-hypothesis pandas=python3-pandas \
    xarray=python3-xarray networkx=python3-networkx; do
    "$python" -c "import ${pair%%=*}" 2>/dev/null || missing="$missing ${pair#*=}"
done
"$python" -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
[ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || missing="$missing python3-dev"
# shellcheck disable=SC2086
install $missing
build >/dev/null

venv=build/python-venv
[ -x $venv/bin/pip ] || "$python" -m venv --system-site-packages $venv
say 'python: pip install --no-build-isolation .'
# The build folder is kept, so unchanged files are not compiled again. meson-python continues from a configured folder.
printf "[binaries]\npython = '%s'\n" "$PWD/$venv/bin/python" >build/python.ini
# meson-python does not change the options of such a folder, so the options of pyproject.toml are given here.
configure build-python --native-file=build/python.ini -Dfallback_optimization=1 -Dwheel=true -Dpython=enabled -Dtests=disabled >/dev/null
$venv/bin/pip install -q --no-build-isolation --no-index --no-deps --force-reinstall --config-settings=builddir=build-python . ||
    die 'the Python module could not be installed'
say 'python: tests'
GIBBSITE=$PWD/build/cli/gibbsite GIBBSITE_LIBRARY=$PWD/build/libgibbsite.so \
    $venv/bin/python -m pytest -q -p no:cacheprovider python/tests "$@" | tee build/python.log
passed=$(sed -n 's/.*\([^0-9]\|^\)\([0-9][0-9]*\) passed.*/\2/p' build/python.log | tail -1)
failed=$(sed -n 's/.*\([^0-9]\|^\)\([0-9][0-9]*\) failed.*/\2/p' build/python.log | tail -1)
echo "${passed:-0} passed, ${failed:-0} failed"
[ "${failed:-0}" -eq 0 ] && [ "${passed:-0}" -gt 0 ]
