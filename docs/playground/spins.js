// SPDX-License-Identifier: Apache-2.0
// Spins on a torus at a temperature. The number of sweeps is doubled, and each run goes on from the checkpoint of the run before it. One
// chain is drawn after 1, 2, 4, ... sweeps from a random state.
import {Engine, json, parts, showAnswer, stop, typed, withError, work} from './engine.js';
import {drawPicture} from './pnm.js';

const CRITICAL = 2 / Math.log(1 + Math.SQRT2);
const COUNT = ['--query', '0', '--method', 'sample', '--estimator', 'count', '--lattice', 'always', '--temper', 'off'];
const LAST = 1 << 16; // sweeps
const SVG = 'http://www.w3.org/2000/svg';

/** |m| of an infinite torus without a field: (1 - sinh(2/T)^-4)^(1/8) below the critical temperature. Yang (1952), Phys. Rev. 85:808-816. */
const infinite = t => (t < CRITICAL ? (1 - Math.sinh(2 / t) ** -4) ** 0.125 : 0);

/** Fills the part of the page. @return the part: {engine, is} */
export function spins(root) {
  const part = {engine: new Engine(), is: parts(root)};
  const {is, engine} = part;
  const measured = new Map(); // side and temperature -> [|m|, its standard error]

  const temperature = () => Number(is.temperature.value);
  const x = t => 30 + 280 * (t - 1.5) / 2.5;
  const y = m => 170 - 160 * m;

  function put(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    is.curve.append(made);
  }

  function plot() {
    is.curve.replaceChildren();
    put('path', {class: 'axis', d: `M30 10V170H310`, fill: 'none'});
    for (const t of [1.5, 2, 2.5, 3, 3.5, 4]) put('text', {x: x(t), y: 184, 'text-anchor': 'middle'}, t);
    for (const m of [0, 0.5, 1]) put('text', {x: 25, y: y(m) + 3, 'text-anchor': 'end'}, m);
    put('text', {x: 170, y: 197, 'text-anchor': 'middle'}, 'temperature');
    const line = Array.from({length: 251}, (_, i) => 1.5 + i / 100).concat(CRITICAL).sort((a, b) => a - b);
    put('path', {class: 'theory', d: `M${line.map(t => `${x(t).toFixed(1)} ${y(infinite(t)).toFixed(1)}`).join('L')}`});
    for (const [key, [m, error]] of measured) {
      const [side, t] = key.split(' ').map(Number);
      if (side !== Number(is.side.value)) continue;
      const kind = `point${t === temperature() ? '' : ' old'}`;
      put('path', {class: kind, d: `M${x(t)} ${y(Math.max(0, m - 2 * error))}V${y(Math.min(1, m + 2 * error))}`});
      put('circle', {class: kind, cx: x(t), cy: y(m), r: 2.5});
    }
  }

  function show(run, n, key, commands) {
    const {abs_magnetisation: m, abs_magnetisation_mcse: error, energy, energy_mcse: energyError} = run.lattice;
    is.m.textContent = withError(m, error);
    is.energy.textContent = withError(energy, energyError);
    is.rhat.textContent = run.max_rhat?.toFixed(3) ?? '–';
    is.sweeps.textContent = `${n} of ${run.chains} chains`;
    measured.set(key, [m, error]);
    plot();
    showAnswer(is.answer, run.converged ? 'good' : '', run.verdict, commands, run.digest);
  }

  const go = () => work(part, async () => {
    const t = temperature();
    const side = is.side.value;
    is.shown.textContent = t.toFixed(2);
    plot();
    const generate = ['generate', 'ising', '--grid', `${side}x${side}`, '--torus', '--coupling', (1 / t).toFixed(6), '-o', 'spins.uai'];
    const {files} = await engine.run(generate);
    let more = [];
    for (let n = 64, age = 1; n <= LAST; n *= 2, age *= 2) {
      const args = ['marginals', 'spins.uai', ...COUNT, '--burn-in', '256', '--sweeps', String(n), '--summary', 'run.json'];
      const result = await engine.run([...args, '-o', 'answer.csv', '--checkpoint', 'run.ckpt', ...more], files);
      show(json(result.files['run.json']), n, `${side} ${t}`, [generate, args].map(words => typed(['gibbsite', ...words])));
      files['run.ckpt'] = result.files['run.ckpt'];
      more = ['--resume', 'run.ckpt'];
      const one = ['marginals', 'spins.uai', ...COUNT.slice(2), '--chains', '1', '--burn-in', String(age), '--sweeps', '1'];
      const drawn = await engine.run([...one, '--picture', `${side}x${side}`, '-o', 'spins.pgm'], {'spins.uai': files['spins.uai']});
      drawPicture(is.state, drawn.files['spins.pgm']);
      is.caption.textContent = `one chain, ${age + 1} sweeps after a random state`;
    }
  });

  for (const input of [is.temperature, is.side]) input.addEventListener('input', go);
  is.stop.addEventListener('click', () => stop(part));
  go();
  return part;
}
