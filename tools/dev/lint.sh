# SPDX-License-Identifier: Apache-2.0
# ./dev lint [--all]
# shellcheck shell=sh disable=SC2154

files_to_read() {
    if [ "$all" = yes ]; then c_files; else changed_files; fi
}

lint_format() {
    if [ "$all" = yes ]; then c_files; else changed_names; fi | xargs -r clang-format --dry-run -Werror
}

# The files that the branch changed, and an eighth of all files, the next eighth at the next commit.
lint_syntax() {
    { files_to_read && c_files | in_turn 8; } | "$python" tools/dev/syntax.py build-lint "$cores"
}

lint_tidy() {
    checks='-clang-analyzer-*,-readability-function-size,-concurrency-mt-unsafe'
    [ "$all" = no ] || checks=
    # Only files that the build compiles have known flags. The line "N warnings generated" is dropped.
    files_to_read | grep '\.c$' | while read -r file; do
        ! grep -q "\"file\": \"\.\./$file\"" build-lint/compile_commands.json || echo "$file"
    done | xargs -r -P "$cores" -n 3 clang-tidy -p build-lint --quiet --checks="$checks" 2>build-lint/noise
}

lint_cppcheck() {
    # Tests are left out, because cppcheck does not know that an assertion ends a test.
    files_to_read | grep '\.c$' | grep -v '^tests/\|_test\.c$' >build-lint/sources || return 0
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
check "clang -fsyntax-only$([ "$all" = yes ] || echo ', an eighth and what changed')" lint_syntax
check "clang-tidy$([ "$all" = no ] || echo ' with the analyzer')" lint_tidy
check cppcheck lint_cppcheck
check mandoc lint_man
conclude
