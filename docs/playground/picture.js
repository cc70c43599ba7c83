// SPDX-License-Identifier: Apache-2.0
// A noisy picture, restored with 1, 2, 4, ... sweeps. Noise and coupling are estimated once, and then typed.
import {Engine, bytesOf, json, parts, sample, showAnswer, stop, typed, whenGiven, work} from './engine.js';
import {drawPicture} from './pnm.js';

const LAST = 1 << 14; // sweeps

/** Fills the part of the page. @return the part: {engine, is} */
export function picture(root) {
  const part = {engine: new Engine(), is: parts(root)};
  const {is, engine} = part;
  let given; // {name, typedName, bytes}

  const outputs = ['-o', 'clean.pgm', '--uncertainty', 'doubt.pgm', '--summary', 'run.json'];

  /** One run with so many sweeps, shown. @return the result of the run */
  async function frame(options, n) {
    const args = [...options, '--temper', 'off', '--burn-in', '0', '--sweeps', String(n), ...outputs];
    const result = await engine.run(['denoise', given.name, ...args], {[given.name]: given.bytes});
    const run = json(result.files['run.json']);
    drawPicture(is.clean, result.files['clean.pgm']);
    drawPicture(is.doubt, result.files['doubt.pgm']);
    showAnswer(is.answer, run.converged ? 'good' : '', `${n} ${n === 1 ? 'sweep' : 'sweeps'} of ${run.chains} chains: ${run.verdict}`,
      [typed(['gibbsite', 'denoise', given.typedName, ...args])], run.digest);
    return {converged: run.converged, err: result.err};
  }

  const restore = () => work(part, async () => {
    let options = ['--levels', is.levels.value];
    if (is.noise.value.trim()) options.push('--noise', is.noise.value.trim());
    if (is.coupling.value.trim()) options.push('--coupling', is.coupling.value.trim());
    showAnswer(is.answer, '', 'noise and coupling are estimated');
    for (let n = 1; n <= LAST; n *= 2) {
      const {converged, err} = await frame(options, n);
      if (converged) return;
      const estimated = [...err.matchAll(/estimated: (--\w+) (\S+)/g)].flatMap(([, option, value]) => [option, value]);
      options = [...options, ...estimated];
    }
  });

  async function open(typedName, blob) {
    stop(part);
    await work(part, async () => { given = {typedName, ...await bytesOf(typedName, blob)}; });
    if (!given) return;
    for (const canvas of [is.clean, is.doubt]) canvas.getContext('2d').clearRect(0, 0, canvas.width, canvas.height);
    drawPicture(is.noisy, given.bytes);
    restore();
  }

  whenGiven(root, is.file, open);
  is.start.addEventListener('click', restore);
  is.stop.addEventListener('click', () => stop(part));
  sample('leaf-noisy.pbm').then(blob => open('leaf-noisy.pbm', blob));
  return part;
}
