# SPDX-License-Identifier: Apache-2.0
# ./dev packages [--symbols|--all]: build Debian's packages from a copy of the sources in build/packages.
# shellcheck shell=sh disable=SC2154

# Add the symbols of the public headers to the list in debian/. Old symbols stay in the list: dpkg-gensymbols
# reports missing ones when the packages are built.
write_symbols() {
    list=$(echo debian/libgibbsite0*.symbols)
    version=$(sed -n '1s/.*(\(.*\)-.*/\1/p' debian/changelog)
    {
        sed -n 1p "$list"
        {
            sed 1d "$list"
            PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/conformance "$python" -c "
from symbols_test import declared
for name in declared():
    print(f' {name}@Base $version')"
        } | LC_ALL=C sort -s -u -t@ -k1,1
    } >"$list.new" && mv "$list.new" "$list"
}

# Copy tracked and new files, or all files without git. Files of a build are left out.
copy_sources() {
    rm -rf "$packages" && mkdir -p "$packages/sources" &&
        { git ls-files -co --exclude-standard 2>/dev/null | grep . || find . -name 'build*' -prune -o -type f -print; } |
        while read -r file; do [ ! -f "$file" ] || echo "$file"; done | tar -cf - -T - | tar -xf - -C "$packages/sources"
}

# A build of packages changes HOME, so the folder of ccache is set here.
build_packages() {
    (cd "$packages/sources" && CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache} DEB_BUILD_OPTIONS="nocheck parallel=$cores${quick:+ noopt}" \
        dpkg-buildpackage -us -uc -b) >"$packages/log" 2>&1 || { tail -n 40 "$packages/log"; return 1; }
    ls "$packages"/*.deb
}

# Run lintian. One warning is suppressed: no bug asked for the packages, which are not made for Debian's archive.
lint_packages() {
    lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs --allow-root "$packages"/*.changes
}

# Unpack the packages below an own folder, and use them there.
use_unpacked() {
    root=$packages/root
    for package in "$packages"/*_*.deb; do
        dpkg-deb -x "$package" "$root" || return 1
    done
    debian/tests/use "$root"
}

# Install the packages in a Debian that has only their dependencies and a compiler.
use_installed() {
    # shellcheck disable=SC2016
    mmdebstrap --quiet --variant=apt --include=gcc,libc6-dev,pkg-config,cmake,make \
        --customize-hook="copy-in $(find "$packages" -name '*.deb' ! -name '*dbgsym*' | tr '\n' ' ') /root" \
        --customize-hook="copy-in examples debian/tests tests/installed /root" \
        --customize-hook='chroot "$1" sh -c "cd /root && apt-get install -q -y --no-install-recommends ./*.deb && tests/use /"' \
        bookworm /dev/null
}

case ${1:-} in '' | --all | --symbols) ;; *) die "packages: unknown option '$1'" ;; esac
if [ "${1:-}" = --symbols ]; then
    write_symbols
    exit 0
fi
packages=$PWD/build/packages
need cmake dpkg-buildpackage=dpkg-dev dh=debhelper dh_python3=dh-python fakeroot
[ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || install python3-dev
quick=yes
if [ "${1:-}" = --all ]; then
    need lintian mmdebstrap abidiff=abigail-tools
    quick=
fi
say "packages, in $packages"
copy_sources
check 'dpkg-buildpackage, with its list of symbols' build_packages
if [ "$failed" -eq 0 ]; then
    check 'unpacked: program, library, module' use_unpacked
    if [ "${1:-}" = --all ]; then
        check lintian lint_packages
        check 'abidiff: the interface of the library against that of 0.2.0' "$python" tests/conformance/abi_test.py gcc
        check 'installed in a Debian of its own' use_installed
    fi
fi
conclude
