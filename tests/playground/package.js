// SPDX-License-Identifier: Apache-2.0
// The npm package under Node: node tests/playground/package.js FOLDER GIBBSITE
// FOLDER is where the packed package was installed, and GIBBSITE is the program of this machine.
'use strict';
const assert = require('assert');
const {execFileSync} = require('child_process');
const fs = require('fs');
const path = require('path');

const [folder, gibbsite] = process.argv.slice(2).map(name => path.resolve(name));
const {run} = require(require.resolve('gibbsite', {paths: [folder]}));
const files = {'clinic.bif': fs.readFileSync('examples/clinic.bif')};

const tests = {
  async 'the answer is the program\'s'() {
    for (const how of [[], ['--method', 'sample', '--sweeps', '200', '--burn-in', '20']]) {
      const args = ['-e', 'fever=yes', '-q', ...how];
      const {status, out} = await run(['marginals', 'clinic.bif', ...args], files);
      assert.strictEqual(status, 0);
      assert.strictEqual(out, execFileSync(gibbsite, ['marginals', 'examples/clinic.bif', ...args], {encoding: 'utf8', stdio: 'pipe'}));
    }
  },
  async 'a file is written, and lines of standard error come at once'() {
    const lines = [];
    const {err, files: after} = await run(['marginals', 'in/c.bif', '-o', 'a.json'], {'in/c.bif': files['clinic.bif']}, line => lines.push(line));
    assert.deepStrictEqual(Object.keys(after).sort(), ['a.json', 'in/c.bif']);
    assert.strictEqual(JSON.parse(Buffer.from(after['a.json'])).verdict, 'exact');
    assert.strictEqual(`${lines.join('\n')}\n`, err);
  },
  async 'a refusal has the status and the message of the program'() {
    const {status, err} = await run(['marginals', 'bad.bif'], {'bad.bif': 'network x {'});
    assert.strictEqual(status, 3);
    assert.match(err, /^gibbsite: bad\.bif:1:/);
    const xml = await run(['marginals', 'a.xdsl'], {'a.xdsl': '<smile/>'});
    assert.strictEqual(xml.status, 3);
    assert.match(xml.err, /^gibbsite: a\.xdsl: .* XDSL files cannot be read: .* without expat; convert/);
  },
};

(async () => {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok    ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${name}\n${error.stack}`);
    }
  }
  console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
})();
