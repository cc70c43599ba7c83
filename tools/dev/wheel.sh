# SPDX-License-Identifier: Apache-2.0
# ./dev wheel: build the Python module as a wheel in build/wheel, which needs only glibc, and test the
# wheel in two environments without a network.
# shellcheck shell=sh disable=SC2154

wheels=$PWD/build/wheel

make_wheel() {
    "$wheels/with/bin/pip" wheel -v --no-build-isolation --no-index --no-deps -w "$wheels/plain" \
        --config-settings="setup-args=--native-file=$PWD/packaging/wheel.ini" . &&
        "$python" tools/dev/wheel.py "$wheels"/plain/*.whl "$wheels"
}

# Test the wheel with Debian's NumPy. The test runs in another folder, because Python would find the sources here.
beside_numpy() {
    "$wheels/with/bin/pip" install --no-index --no-deps --force-reinstall "$wheels"/*.whl &&
        cp examples/sprinkler.bif "$wheels" && cd "$wheels" && with/bin/python -c "
import gibbsite as gb
print(gb.__version__, gb.read('sprinkler.bif').query('rain', evidence={'grass': 'wet'})['rain']['yes'])"
}

# Without NumPy the module must say what to install.
without_numpy() {
    "$wheels/without/bin/pip" install --no-index --no-deps "$wheels"/*.whl && cd "$wheels" &&
        ! said=$(without/bin/python -c 'import gibbsite' 2>&1) && echo "$said" | grep 'pip install numpy'
}

need readelf=binutils patchelf
missing=
"$python" -c 'import mesonpy' 2>/dev/null || missing="$missing python3-mesonpy"
"$python" -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
[ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || missing="$missing python3-dev"
# shellcheck disable=SC2086
install $missing
rm -rf "$wheels" && mkdir -p "$wheels"
"$python" -m venv --system-site-packages "$wheels/with"
"$python" -m venv "$wheels/without"
say "a wheel, in $wheels"
check 'a wheel that needs glibc alone' make_wheel
check 'beside NumPy' beside_numpy
check 'without NumPy' without_numpy
ls -l "$wheels"/*.whl
conclude
