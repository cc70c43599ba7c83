# SPDX-License-Identifier: Apache-2.0
# ./dev builds [--all]
# shellcheck shell=sh disable=SC2154

# same_bits NAME COMPILER OPTION...: another build prints what build/ does. One that is there is taken
# as it is.
same_bits() {
    dir=build-$1
    compiler=$2
    shift 2
    [ -f "$dir/build.ninja" ] || CC=$compiler meson setup "$dir" -Dwerror=true -Dtests=disabled "$@" &&
        ninja -C "$dir" product && answers "$dir/cli/gibbsite" >"$dir/answer.csv" &&
        cmp build/answer.csv "$dir/answer.csv"
}

# gibbsite-mpi with MPICH: two ranks print what one process does.
with_mpich() {
    dir=build-mpich
    [ -f "$dir/build.ninja" ] || CC=gcc meson setup "$dir" -Dwerror=true -Dtests=disabled -Dmpi=enabled -Dmpi_library=mpich &&
        ninja -C "$dir" product mpi/gibbsite-mpi || return 1
    set -- marginals examples/clinic.bif -e fever=yes --method sample --sweeps 200 -q
    build/cli/gibbsite "$@" >"$dir/one.csv" &&
        MPIR_CVAR_POLLS_BEFORE_YIELD=1 mpirun.mpich -n 2 "$dir/mpi/gibbsite-mpi" "$@" --distribute model >"$dir/model.csv" &&
        cmp "$dir/one.csv" "$dir/model.csv" &&
        MPIR_CVAR_POLLS_BEFORE_YIELD=1 mpirun.mpich -n 2 "$dir/mpi/gibbsite-mpi" "$@" >"$dir/chains.csv" &&
        cmp "$dir/one.csv" "$dir/chains.csv"
}

# Another program finds what was installed by pkg-config alone, and so does man.
installed() {
    root=$PWD/build/installed
    rm -rf "$root" &&
        DESTDIR=$root meson install -C build --no-rebuild --quiet || return 1
    pc=$(dirname "$(find "$root" -name gibbsite.pc)") && lib=$(dirname "$pc") || return 1
    # shellcheck disable=SC2046
    PKG_CONFIG_PATH=$pc PKG_CONFIG_SYSROOT_DIR=$root pkg-config --cflags --libs gibbsite >"$root/flags" &&
        cc -std=c11 -Wall -Werror -o "$root/example" examples/marginals.c $(cat "$root/flags") &&
        LD_LIBRARY_PATH=$lib "$root/example" &&
        "$root/usr/local/bin/gibbsite" info examples/sprinkler.bif &&
        [ -f "$root/usr/local/share/man/man1/gibbsite.1" ]
}

case ${1:-} in '' | --all) ;; *) die "builds: unknown option '$1'" ;; esac
if [ -z "${1:-}" ]; then need; else
    need clang mpirun.mpich=mpich
    pkg-config --exists mpich || install libmpich-dev
fi
build >/dev/null
answers build/cli/gibbsite >build/answer.csv
say 'other builds, the same bits'
# The thread sanitizer's build is portable C without optional libraries too.
if [ -z "${1:-}" ] && [ -f build-tsan/build.ninja ]; then
    check 'portable C, nothing optional' same_bits tsan gcc
else
    check 'portable C, nothing optional' same_bits plain gcc -Doptimization=1 -Dsimd= \
        -Dauto_features=disabled
fi
[ -z "${1:-}" ] || check clang same_bits clang clang
[ -z "${1:-}" ] || check 'MPICH, two ranks' with_mpich
check 'installed, used by way of pkg-config' installed
conclude
