# SPDX-License-Identifier: Apache-2.0
# ./dev builds [--all]
# shellcheck shell=sh disable=SC2154

# same_bits NAME COMPILER OPTION...: check that another build prints the output of build/. An existing
# build is not configured again.
same_bits() {
    dir=build-$1
    compiler=$2
    shift 2
    [ -f "$dir/build.ninja" ] || CC=$compiler meson setup "$dir" -Dwerror=true -Dtests=disabled "$@" &&
        ninja -C "$dir" product && answers "$dir/cli/gibbsite" >"$dir/answer.csv" &&
        cmp build/answer.csv "$dir/answer.csv"
}

# Build with musl in place of glibc: one file that runs on any Linux.
with_musl() {
    configure build-musl --cross-file packaging/cross-musl.ini -Dtests=disabled -Doptimization=0 &&
        ninja -C build-musl cli/gibbsite && ! readelf -d build-musl/cli/gibbsite | grep NEEDED &&
        answers build-musl/cli/gibbsite >build-musl/answer.csv && cmp build/answer.csv build-musl/answer.csv
}

# Check the archive of a release, made of committed files: it builds outside git and passes its tests, except statistical ones.
from_archive() {
    rm -rf build-dist && mkdir build-dist && meson dist -C build --no-tests --allow-dirty --formats xztar >build-dist/log 2>&1 &&
        tar -xf build/meson-dist/gibbsite-*.tar.xz -C build-dist --strip-components 1 &&
        (cd build-dist && GIT_CEILING_DIRECTORIES=$PWD/.. meson setup build --buildtype=release && ninja -C build &&
            meson test -C build --no-rebuild --no-suite statistics -t 5 --print-errorlogs) >>build-dist/log 2>&1 ||
        { tail -n 40 build-dist/log; return 1; }
}

# Check gibbsite-mpi with MPICH: two ranks print the output of one process.
with_mpich() {
    dir=build-mpich
    [ -f "$dir/build.ninja" ] || CC=gcc meson setup "$dir" -Dwerror=true -Dtests=disabled -Dmpi=enabled -Dmpi_library=mpich &&
        ninja -C "$dir" product || return 1
    set -- marginals examples/clinic.bif -e fever=yes --method sample --sweeps 200 -q
    build/cli/gibbsite "$@" >"$dir/one.csv" &&
        MPIR_CVAR_POLLS_BEFORE_YIELD=1 mpirun.mpich -n 2 "$dir/mpi/gibbsite-mpi" "$@" --distribute model >"$dir/model.csv" &&
        cmp "$dir/one.csv" "$dir/model.csv" &&
        MPIR_CVAR_POLLS_BEFORE_YIELD=1 mpirun.mpich -n 2 "$dir/mpi/gibbsite-mpi" "$@" >"$dir/chains.csv" &&
        cmp "$dir/one.csv" "$dir/chains.csv"
}

# Run every verb with --time and a clock that the test sets. The build counts the work between two looks at the clock.
with_work_counted() {
    configure build-count --buildtype=plain -Doptimization=1 -Dcount_work=true -Dsimd=avx2 &&
        ninja -C build-count tests/clocked_program && GIBBSITE_CLOCKED=$PWD/build-count/tests/clocked_program \
        program_tests "$PWD/build/cli/gibbsite" tests/cli/test_limits.py
}

# Install the program and its manual page below build/installed.
installed() {
    rm -rf "$root" && DESTDIR=$root meson install -C build --no-rebuild --quiet &&
        "$root/usr/local/bin/gibbsite" info examples/sprinkler.bif &&
        [ -f "$root/usr/local/share/man/man1/gibbsite.1" ]
}

# by_pkg_config PREFIX LIBRARY_FOLDER [SYSROOT]: compile an example with the flags of pkg-config, and
# link it with the shared library and with the static one.
by_pkg_config() {
    program=$PWD/build/by-pkg-config
    flags=$(PKG_CONFIG_PATH=$2/pkgconfig PKG_CONFIG_SYSROOT_DIR=${3:-} pkg-config --cflags --libs gibbsite) &&
        static=$(PKG_CONFIG_PATH=$2/pkgconfig pkg-config --static --libs-only-l gibbsite |
            sed "s,-lgibbsite ,$2/libgibbsite.a ,") || return 1
    # shellcheck disable=SC2086
    cc -std=c11 -Wall -Werror -o "$program" examples/marginals.c $flags &&
        LD_LIBRARY_PATH=$2 "$program" >"$program.out" &&
        cc -std=c11 -Wall -Werror -o "$program" examples/marginals.c "-I$1/include" $static -pthread &&
        "$program" | cmp - "$program.out"
}

# by_cmake PREFIX: compile and link the example by find_package(gibbsite).
by_cmake() {
    program=$PWD/build/by-cmake
    rm -rf "$program" && cmake -S tests/installed -B "$program" -DCMAKE_PREFIX_PATH="$1" "-DEXAMPLES=$PWD/examples" -DCMAKE_C_FLAGS='-std=c11 -Wall -Werror' &&
        cmake --build "$program" && "$program/with-gibbsite" >"$program/out" && "$program/with-static" | cmp - "$program/out" &&
        readelf -d "$program/with-gibbsite" | grep 'NEEDED.*libgibbsite' &&
        ! readelf -d "$program/with-static" | grep 'NEEDED.*libgibbsite'
}

case ${1:-} in '' | --all) ;; *) die "builds: unknown option '$1'" ;; esac
if [ -z "${1:-}" ]; then need cmake musl-gcc=musl-tools; else
    need cmake musl-gcc=musl-tools clang mpirun.mpich=mpich
    pkg-config --exists mpich || install libmpich-dev
fi
build >/dev/null
answers build/cli/gibbsite >build/answer.csv
say 'other builds, the same bits'
# The build of the thread sanitizer is also portable C without optional libraries.
if [ -z "${1:-}" ] && [ -f build-tsan/build.ninja ]; then
    check 'portable C, nothing optional' same_bits tsan gcc
else
    check 'portable C, nothing optional' same_bits plain gcc -Doptimization=1 -Dsimd= \
        -Dauto_features=disabled
fi
[ -z "${1:-}" ] || check clang same_bits clang clang
[ -z "${1:-}" ] || check 'MPICH, two ranks' with_mpich
[ -z "${1:-}" ] || check 'work between looks at the clock' with_work_counted
[ -z "${1:-}" ] || check 'the archive of a release' from_archive
check 'musl, nothing optional' with_musl
root=$PWD/build/installed
check 'installed' installed
lib=$(dirname "$(find "$root" -name libgibbsite.a)")
check 'used by way of pkg-config' by_pkg_config "$root/usr/local" "$lib" "$root"
check 'used by way of CMake' by_cmake "$root/usr/local"
conclude
