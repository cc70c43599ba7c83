# SPDX-License-Identifier: Apache-2.0
# ./dev wasm: build the program as WebAssembly, small, with one thread and without optional libraries.
# shellcheck shell=sh disable=SC2154

most_bytes=1400000 # limit for the compressed size of module and loader

# Debian's emscripten finds acorn in Debian's folder. build-wasm/gibbsite is a script that runs the program by Node.
build_wasm() {
    export NODE_PATH=/usr/share/nodejs
    configure build-wasm --cross-file packaging/cross-wasm.ini -Dtests=disabled -Doptimization=s >/dev/null &&
        ninja -C build-wasm cli/gibbsite.js &&
        printf '#!/bin/sh\nexec node --no-experimental-fetch "%s" "$@"\n' "$PWD/build-wasm/cli/gibbsite.js" >build-wasm/gibbsite &&
        chmod +x build-wasm/gibbsite
}

small_enough() {
    bytes=$(cat build-wasm/cli/gibbsite.js build-wasm/cli/gibbsite.wasm | gzip -9 | wc -c) && [ "$bytes" -le "$most_bytes" ]
}

same_answers() {
    answers build-wasm/gibbsite >build-wasm/answer.csv && cmp build/answer.csv build-wasm/answer.csv
}

# Compare digests of runs. Printed numbers are rounded, but a digest depends on all bits of the numbers.
same_digest() {
    for program in build/gibbsite build-wasm/gibbsite; do
        "$program" marginals examples/clinic.bif -e fever=yes --method sample --sweeps 200 --burn-in 20 -q -o build-wasm/run.csv \
            --summary build-wasm/run.json && grep '^  "digest": ' build-wasm/run.json || return 1
    done >build-wasm/digests && [ "$(sort -u build-wasm/digests | wc -l)" -eq 1 ]
}

[ $# -eq 0 ] || die 'wasm takes no options'
if ! (need node=nodejs emcc=emscripten); then
    printf '\nwasm: SKIPPED: emscripten cannot be installed\n\n0 passed, 0 failed, 1 skipped\n'
    exit 0
fi
build >/dev/null
say 'WebAssembly'
check 'emscripten' build_wasm
check "at most $most_bytes bytes, compressed" small_enough
answers build/gibbsite >build/answer.csv
check 'the same bits as here, under Node' same_answers
check 'the same digest' same_digest
echo "compressed: $(cat build-wasm/cli/gibbsite.js build-wasm/cli/gibbsite.wasm | gzip -9 | wc -c)"
conclude
