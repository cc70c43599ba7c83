// SPDX-License-Identifier: Apache-2.0
// Runs the program gibbsite, compiled to WebAssembly, over files in memory. Loaded by Node, and by the worker of a page.
'use strict';

const FOLDER = '/work';

/** Every file of a folder in memory. @return {name: Uint8Array}, names without the folder. */
function filesOf(FS, folder, prefix = '', found = {}) {
  for (const name of FS.readdir(folder)) {
    const path = `${folder}/${name}`;
    if (name === '.' || name === '..') continue;
    if (FS.isDir(FS.stat(path).mode)) filesOf(FS, path, `${prefix}${name}/`, found);
    else found[prefix + name] = FS.readFile(path);
  }
  return found;
}

/** Runs the program once, in an instance of its own, so that nothing is left of the run but its result.
 * @param factory function of gibbsite-web.js that makes an instance.
 * @param compiled WebAssembly.Module of gibbsite-web.wasm.
 * @param args arguments as they are typed after `gibbsite`.
 * @param files {name: Uint8Array or string} files of the folder in which the program runs. A name may have folders.
 * @param onLine called with each line of standard error at once; may be left out.
 * @return a promise of {status, out, err, files}: exit status, standard output and standard error as text, and all files of the folder
 *     after the run. */
async function runModule(factory, compiled, args, files, onLine) {
  const decoder = new TextDecoder();
  const out = [];
  let err = '';
  let line = [];
  const endLine = () => {
    const text = decoder.decode(Uint8Array.from(line));
    err += `${text}\n`;
    line = [];
    if (onLine) onLine(text);
  };
  const program = await factory({
    thisProgram: 'gibbsite',
    noInitialRun: true,
    stdin: () => null,
    quit: (status, reason) => { throw reason; },
    stdout: byte => { if (byte !== null) out.push(byte); },
    stderr: byte => {
      if (byte === 10) endLine();
      else if (byte !== null) line.push(byte);
    },
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(compiled, imports).then(instance => done(instance, compiled));
      return {};
    },
  });
  const FS = program.FS;
  FS.mkdir(FOLDER);
  FS.chdir(FOLDER);
  for (const [name, bytes] of Object.entries(files)) {
    const parts = name.split('/').slice(0, -1);
    if (parts.length) FS.mkdirTree(`${FOLDER}/${parts.join('/')}`);
    FS.writeFile(`${FOLDER}/${name}`, bytes);
  }
  const status = program.callMain([...args]);
  if (line.length) endLine();
  return {status, out: decoder.decode(Uint8Array.from(out)), err, files: filesOf(FS, FOLDER)};
}

if (typeof module === 'object') {
  const path = require('path');
  let compiled;
  /** The program under Node: see gibbsite.d.ts. */
  const run = async (args, files = {}, onLine) => {
    compiled ??= WebAssembly.compile(require('fs').readFileSync(path.join(__dirname, 'gibbsite-web.wasm')));
    return runModule(require('./gibbsite-web.js'), await compiled, args, files, onLine);
  };
  module.exports = {run};
}
