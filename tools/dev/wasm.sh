# SPDX-License-Identifier: Apache-2.0
# ./dev wasm: build the program as WebAssembly, small, with one thread and without optional libraries, and the npm package. Test both, and
# the playground. Read by ./dev.
# shellcheck shell=sh disable=SC2154

most_bytes=1400000 # limit for the compressed size of module and loader
browser_driver=playwright-core@1.65.1

# Debian's emscripten finds acorn in Debian's folder. build-wasm/gibbsite is a script that runs the program by Node.
build_wasm() {
    export NODE_PATH=/usr/share/nodejs
    have ccache && export EM_COMPILER_WRAPPER=ccache
    configure build-wasm --cross-file packaging/cross-wasm.ini -Dtests=disabled -Doptimization=s >/dev/null &&
        ninja -C build-wasm cli/gibbsite.js cli/gibbsite-web.js &&
        printf '#!/bin/sh\nexec node --no-experimental-fetch "%s" "$@"\n' "$PWD/build-wasm/cli/gibbsite.js" >build-wasm/gibbsite &&
        chmod +x build-wasm/gibbsite
}

small_enough() {
    bytes=$(cat build-wasm/cli/gibbsite-web.js build-wasm/cli/gibbsite-web.wasm | gzip -9 | wc -c) && [ "$bytes" -le "$most_bytes" ]
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

# Pack the npm package and install it in build-wasm/installed, without a network.
npm_package() {
    rm -rf build-wasm/npm build-wasm/installed
    mkdir -p build-wasm/npm build-wasm/installed
    cp packaging/npm/* LICENSE NOTICE build-wasm/cli/gibbsite-web.js build-wasm/cli/gibbsite-web.wasm build-wasm/npm/
    (cd build-wasm && npm pack ./npm >/dev/null 2>&1) &&
        npm install --offline --no-audit --no-fund --prefix build-wasm/installed "$PWD"/build-wasm/gibbsite-*.tgz &&
        node tests/playground/package.js build-wasm/installed build/gibbsite
}

# The page in build-wasm/playground, as ./dev docs makes it.
page() {
    playground build-wasm/playground
    NODE_PATH=$PWD/build-wasm/driver/node_modules node tests/playground/page.js build-wasm/playground build/gibbsite
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
skipped=
if have npm; then
    check 'the npm package, under Node' npm_package
else
    skipped="$skipped; the npm package, as there is no npm"
fi
if have chromium && have npm && npm install --silent --no-audit --no-fund --prefix build-wasm/driver $browser_driver >/dev/null 2>&1; then
    check 'the playground, in Chromium' page
    echo "$said" | grep '^time' || true
else
    skipped="$skipped; the playground, as Chromium or playwright-core cannot be had"
fi
[ -z "$skipped" ] || echo "SKIPPED: ${skipped#; }"
echo "compressed: $(cat build-wasm/cli/gibbsite-web.js build-wasm/cli/gibbsite-web.wasm | gzip -9 | wc -c)"
conclude
