# SPDX-License-Identifier: Apache-2.0
# ./dev lint [--all]
# shellcheck shell=sh disable=SC2154

# List tracked C files, or all C files without git. Files by others and files of a build are left out.
c_files() {
    { git ls-files -- '*.c' '*.h' 2>/dev/null | grep . ||
        find . -path './build*' -prune -o -type f -name '*.[ch]' -print | sed 's,^\./,,'; } |
        grep -v '^third_party/' | sort
}

# List the files whose code this branch has changed since it left main, or that the last 30 commits of main
# have changed. All files are listed if git or its history is missing.
changed_files() {
    base=$(git merge-base HEAD main 2>/dev/null) || base=
    [ -n "$base" ] && [ "$base" != "$(git rev-parse HEAD)" ] || base=HEAD~30
    if [ "$all" = yes ] || ! git diff --name-status -M "$base" >build-lint/changed 2>/dev/null; then
        c_files
    else # a file that only moved has not changed
        sed -e '/^R100/d' -e 's/.*\t//' build-lint/changed >build-lint/changed_names
        { c_files | grep -Fx -f build-lint/changed_names || true; } | "$python" tools/dev/changed.py "$base"
    fi
}

lint_format() {
    c_files | xargs clang-format --dry-run -Werror
}

lint_tidy() {
    checks='-clang-analyzer-*,-readability-function-size,-concurrency-mt-unsafe'
    [ "$all" = no ] || checks=
    # Only files that the build compiles have known flags. The line "N warnings generated" is dropped.
    changed_files | grep '\.c$' | while read -r file; do
        ! grep -q "\"file\": \"\.\./$file\"" build-lint/compile_commands.json || echo "$file"
    done | xargs -r -P "$cores" -n 3 clang-tidy -p build-lint --quiet --checks="$checks" 2>build-lint/noise
}

lint_cppcheck() {
    # Tests are left out, because cppcheck does not know that an assertion ends a test.
    changed_files | grep '\.c$' | grep -v '^tests/\|_test\.c$' >build-lint/sources || return 0
    cppcheck --enable=warning,portability --std=c11 --inline-suppr -q -j "$cores" --error-exitcode=1 \
        -D_GNU_SOURCE -D__GNUC__=12 -DGBSI_HAVE_ZLIB -DGBSI_HAVE_ZSTD -DGBSI_HAVE_LZMA -DGBSI_HAVE_BZ2 -DGBSI_HAVE_PNG -DGBSI_HAVE_JPEG -DGBSI_HAVE_EXPAT -DGBSI_HAVE_AVX2_SET -DGBSI_HAVE_AVX512_SET \
        -Iinclude $(printf -- '-I%s ' src/*/) -Icli -I. --suppress=incorrectLogicOperator:src/core/simd/lanes_portable.h \
        --file-list=build-lint/sources
}

lint_man() {
    for page in man/*.[1-9]; do
        mandoc -Tlint -Wwarning "$page" || return 1
    done
}

case ${1:-} in
'') all=no ;;
--all) all=yes ;;
*) die "lint: unknown option '$1'" ;;
esac
need clang clang-format clang-tidy cppcheck mandoc
[ -f build-lint/build.ninja ] || CC=clang meson setup build-lint -Dwerror=true >/dev/null
ninja -C build-lint build.ninja bench/commit.h >/dev/null # compile_commands.json follows meson.build
say lint
check clang-format lint_format
check 'clang -fsyntax-only, tests and all' "$python" tools/dev/syntax.py build-lint "$cores"
check "clang-tidy$([ "$all" = no ] || echo ' with the analyzer')" lint_tidy
check cppcheck lint_cppcheck
check mandoc lint_man
conclude
