# SPDX-License-Identifier: Apache-2.0
# ./dev cross [--all]
# shellcheck shell=sh disable=SC2154

# Unpack the libraries of the cross build below build-aarch64-root, by an apt that knows only arm64.
# Installing them would tie versions of this machine's libraries to those of arm64.
unpack_arm64() {
    root=$PWD/build-aarch64-root
    [ ! -f "$root/where.ini" ] || return 0
    have apt-get && have dpkg-deb || return 1
    say "unpacking libraries for arm64 in $root"
    mkdir -p "$root/lists/partial" "$root/cache/archives/partial"
    set -- -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
        -o "Dir::State::Lists=$root/lists" -o "Dir::Cache=$root/cache" -o Dir::State::status=/dev/null \
        -o Acquire::Languages=none
    {
        apt-get "$@" update # a failure shows when the packages are downloaded
        (cd "$root/cache" && apt-get "$@" download libcmocka0 libcmocka-dev zlib1g zlib1g-dev)
    } >"$root/out" 2>&1 || { tail -5 "$root/out"; return 1; }
    for package in "$root"/cache/*.deb; do
        dpkg-deb -x "$package" "$root" || return 1
    done
    # Debian's libz.so points to the /lib of a machine. A static libz would put its names into our library.
    mv "$root/lib/aarch64-linux-gnu"/libz.so.* "$root/usr/lib/aarch64-linux-gnu"
    ln -sf libz.so.1 "$root/usr/lib/aarch64-linux-gnu/libz.so"
    rm -rf "$root/lists" "$root/cache"
    printf "[properties]\nsys_root = '%s'\npkg_config_libdir = '%s'\n" "$root" \
        "$root/usr/lib/aarch64-linux-gnu/pkgconfig" >"$root/where.ini"
}

# same_answers NEON|PORTABLE: check that the emulated program prints the answers of this machine's program.
same_answers() {
    GIBBSITE_SIMD=$1 answers build-aarch64/gibbsite >build-aarch64/answer.csv &&
        cmp build/answer.csv build-aarch64/answer.csv
}

# same_on MACHINE [EMULATOR..]: check the program compiled for another machine, without optional libraries.
same_on() {
    dir=build-$1
    configure "$dir" --cross-file "packaging/cross-$1.ini" -Dtests=disabled -Doptimization=1 >/dev/null &&
        ninja -C "$dir" cli/gibbsite || return 1
    shift
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$*" "$PWD/$dir/cli/gibbsite" >"$dir/gibbsite" && chmod +x "$dir/gibbsite" &&
        answers "$dir/gibbsite" >"$dir/answer.csv" && cmp build/answer.csv "$dir/answer.csv"
}

case ${1:-} in '' | --all) ;; *) die "cross: unknown option '$1'" ;; esac
if ! (need aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu qemu-aarch64=qemu-user &&
    { [ -f /usr/aarch64-linux-gnu/include/stdio.h ] || install libc6-dev-arm64-cross; }) || ! unpack_arm64; then
    printf '\ncross: SKIPPED: what it takes to build for AArch64 is not there\n\n'
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi
# cross_build DIR OPTION...
cross_build() {
    dir=$1
    shift
    configure "$dir" --cross-file packaging/cross-aarch64.ini --cross-file build-aarch64-root/where.ini \
        -Dwerror=true -Dzstd=disabled -Dlzma=disabled -Dbz2=disabled -Dpng=disabled -Djpeg=disabled -Dexpat=disabled -Dlbfgs=disabled -Dmetis=disabled "$@" >/dev/null
}

if [ -z "${1:-}" ]; then
    export GIBBSITE_TEST_SCALE=small
    cross_build build-aarch64-lanes -Doptimization=1 # compiles in a third of the time
    targets='lanes_test math_test philox_test'
    # The whole library is compiled only for tests of its kernels, and these are run only if code of vector instructions has changed.
    if changed_files | grep -q '^src/core/simd/\|^src/engine/kernel/\|^src/engine/lattice/'; then
        targets="$targets packed_test tests/kernel_suite"
    fi
    # shellcheck disable=SC2046,SC2086
    run_tests build-aarch64-lanes -t 10 $(printf '%s\n' $targets | sed 's,.*/,,; s/_[a-z]*$//')
else
    cross_build build-aarch64
    run_tests build-aarch64 -t 10
    build >/dev/null
    # A script in place of the program, which runs cli/gibbsite by the emulator.
    printf '#!/bin/sh\nexec qemu-aarch64 -cpu cortex-a53 -L /usr/aarch64-linux-gnu "%s" "$@"\n' \
        "$PWD/build-aarch64/cli/gibbsite" >build-aarch64/gibbsite
    chmod +x build-aarch64/gibbsite
    answers build/gibbsite >build/answer.csv
    for simd in neon portable; do
        check "the same bits as here: $simd" same_answers "$simd"
    done
    need riscv64-linux-gnu-gcc=gcc-riscv64-linux-gnu i686-linux-gnu-gcc=gcc-i686-linux-gnu
    [ -f /usr/riscv64-linux-gnu/include/stdio.h ] || install libc6-dev-riscv64-cross
    [ -f /usr/i686-linux-gnu/include/stdio.h ] || install libc6-dev-i386-cross
    check 'the same bits as here: riscv64' same_on riscv64 qemu-riscv64 -L /usr/riscv64-linux-gnu
    check 'the same bits as here: 32-bit x86' same_on i686
    check 'the program' program_tests "$PWD/build-aarch64/gibbsite" tests/cli
fi
conclude
