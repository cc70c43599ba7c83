// SPDX-License-Identifier: Apache-2.0
// A network with evidence. Answers are exact if that takes a few seconds at most. Otherwise the number of sweeps is doubled until the
// verdict says that the answer converged; each run goes on from the checkpoint of the run before it.
import {Engine, Refused, bytesOf, element, json, parts, sample, showAnswer, stop, typed, whenGiven, withError, work} from './engine.js';

const LONGEST_EXACT = 3; // seconds, as `gibbsite info` predicts them for compiled code
const SWEEPS = ['--method', 'sample', '--temper', 'off', '--burn-in', '256'];
const FIRST = 64;
const LAST = 1 << 20;
const SVG = 'http://www.w3.org/2000/svg';

/** Fills the part of the page. @return the part: {engine, is} */
export function network(root) {
  const part = {engine: new Engine(), is: parts(root)};
  const {is, engine} = part;
  let model;                // {name, typedName, bytes}
  let evidence = new Map(); // number of a variable -> number of its state
  let variables = [];       // of the last answer

  const nameOf = v => v.name ?? String(v.id);
  const labelOf = (v, k) => v.states?.[k] ?? String(k);
  /** -e of the evidence. Names that the program would read as more than a name are given as numbers. */
  function typedEvidence() {
    const plain = text => /^[A-Za-z_][\w.-]*$/.test(text);
    const one = ([id, k]) => {
      const v = variables.find(each => each.id === id);
      return `${plain(nameOf(v)) ? nameOf(v) : id}=${plain(labelOf(v, k)) ? labelOf(v, k) : `#${k}`}`;
    };
    return evidence.size ? ['-e', [...evidence].map(one).join(',')] : [];
  }

  function toggle(id, k) {
    if (evidence.get(id) === k) evidence.delete(id);
    else evidence.set(id, k);
    ask();
  }

  /** Puts a rectangle that can be clicked over every state of the drawing. The hint of a node has a line for each state that is shown. */
  function clickable(group) {
    const v = variables.find(each => each.id === Number(group.dataset.variable));
    const lines = group.querySelector('title').textContent.split('\n').slice(1);
    const box = group.querySelector('.box');
    group.querySelectorAll('.rail').forEach((rail, row) => {
      const fits = v.probability.map((_, k) => k).filter(k => lines[row].startsWith(`${labelOf(v, k)} `));
      const k = fits.sort((a, b) => labelOf(v, b).length - labelOf(v, a).length)[0];
      const pick = document.createElementNS(SVG, 'rect');
      const pressed = evidence.get(v.id) === k;
      for (const [key, value] of Object.entries({
        class: 'pick', x: box.getAttribute('x'), width: box.getAttribute('width'), y: Number(rail.getAttribute('y')) - 3, height: 15,
        role: 'button', tabindex: 0, 'aria-pressed': pressed, 'aria-label': `${nameOf(v)} = ${labelOf(v, k)}`, 'data-state': k,
      })) pick.setAttribute(key, value);
      pick.append(Object.assign(document.createElementNS(SVG, 'title'), {textContent: `${nameOf(v)}: ${lines[row]}`}));
      pick.addEventListener('click', () => toggle(v.id, k));
      pick.addEventListener('keydown', event => {
        if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); toggle(v.id, k); }
      });
      group.append(pick);
      group.querySelectorAll('.bar')[row].dataset.key = `${v.id}:${k}`;
    });
  }

  /** Shows the program's drawing. Bars move from their widths in the drawing before it. */
  function draw(bytes) {
    const before = new Map([...is.drawing.querySelectorAll('.bar')].map(bar => [bar.dataset.key, bar.getAttribute('width')]));
    const focused = document.activeElement?.closest?.('.pick')?.getAttribute('aria-label');
    const svg = new DOMParser().parseFromString(new TextDecoder().decode(bytes), 'image/svg+xml').documentElement;
    svg.querySelectorAll('.variable').forEach(clickable);
    const goals = [];
    for (const bar of svg.querySelectorAll('.bar')) {
      const old = before.get(bar.dataset.key);
      if (old === undefined) continue;
      goals.push([bar, bar.getAttribute('width')]);
      bar.setAttribute('width', old);
    }
    const shown = document.importNode(svg, false);
    shown.append(...svg.childNodes);
    is.drawing.replaceChildren(shown);
    if (focused) [...shown.querySelectorAll('.pick')].find(pick => pick.getAttribute('aria-label') === focused)?.focus({preventScroll: true});
    shown.getBoundingClientRect(); // styles are computed with the old widths, so that the change is seen
    for (const [bar, width] of goals) bar.style.width = `${width}px`;
  }

  function list() {
    if (!is.numbers.open) return;
    const table = element('table');
    table.append(element('thead'), element('tbody'));
    table.tHead.insertRow().append(...['variable', 'state', 'probability', 'R-hat'].map(text => element('th', text)));
    for (const v of variables) {
      v.probability.forEach((p, k) => {
        const row = table.tBodies[0].insertRow();
        const pick = element('button', labelOf(v, k), {'aria-pressed': evidence.get(v.id) === k});
        pick.addEventListener('click', () => toggle(v.id, k));
        row.append(element('td', k ? '' : nameOf(v)), element('td'),
          element('td', withError(p, v.mcse[k]), {class: 'number', 'data-p': p, 'data-key': `${v.id}:${k}`}),
          element('td', v.rhat[k]?.toFixed(3) ?? '', {class: 'number'}));
        row.cells[1].append(pick);
      });
    }
    is.numbers.querySelector('div').replaceChildren(table);
  }

  /** Runs a command with a drawing, or without one if the network is too large to be drawn. */
  async function answered(args, files) {
    const outputs = ['-o', 'answer.json', '--summary', 'run.json'];
    try {
      return await engine.run([...args, ...outputs, '--drawing', 'network.svg'], files);
    } catch (error) {
      if (!(error instanceof Refused) || !error.message.includes('--drawing:')) throw error;
      is.drawing.replaceChildren(element('p', error.message.split('\n').find(line => line.includes('--drawing:')).replace(/^gibbsite: --drawing: /, '')));
      return engine.run([...args, ...outputs], files);
    }
  }

  function show(result, command) {
    const answer = json(result.files['answer.json']);
    variables = answer.variables;
    const chance = /P\(evidence\) = ([^,\n]*)/.exec(result.err);
    showAnswer(is.answer, answer.converged ? 'good' : '', `${answer.verdict}${chance ? `. P(evidence) = ${chance[1]}` : ''}`,
      [typed(['gibbsite', ...command, '--summary', 'run.json'])], answer.digest);
    list();
    if (result.files['network.svg']) draw(result.files['network.svg']);
    is.numbers.hidden = false;
    return answer.converged;
  }

  /** Can the question be answered exactly while one waits? */
  async function quick(question) {
    if (is.method.value !== 'auto') return false;
    const {files} = await engine.run(['info', model.name, ...question, '--format', 'json', '-o', 'info.json'], {[model.name]: model.bytes});
    const info = json(files['info.json']);
    return info.auto_seconds !== null && info.auto_seconds <= LONGEST_EXACT;
  }

  const ask = () => work(part, async () => {
    const found = typedEvidence();
    const query = is.query.value.trim() ? ['--query', is.query.value.trim()] : [];
    const files = {[model.name]: model.bytes};
    if (await quick(found)) {
      const args = [...found, ...query];
      show(await answered(['marginals', model.name, ...args], files), ['marginals', model.typedName, ...args]);
      return;
    }
    const args = [...found, ...query, ...SWEEPS, ...(is.seed.value === '1' ? [] : ['--seed', is.seed.value])];
    let go = [];
    for (let n = FIRST; n <= LAST; n *= 2) {
      const sweeps = ['--sweeps', String(n)];
      const result = await answered(['marginals', model.name, ...args, ...sweeps, '--checkpoint', 'run.ckpt', ...go], files);
      if (show(result, ['marginals', model.typedName, ...args, ...sweeps])) return;
      files['run.ckpt'] = result.files['run.ckpt'];
      go = ['--resume', 'run.ckpt'];
    }
  });

  async function open(typedName, blob) {
    stop(part);
    evidence = new Map();
    variables = [];
    is.query.value = '';
    is.drawing.replaceChildren();
    is.numbers.hidden = true;
    is.answer.replaceChildren();
    await work(part, async () => { model = {typedName, ...await bytesOf(typedName, blob)}; });
    if (model) ask();
  }

  is.sample.addEventListener('change', async () => open(is.sample.value, await sample(is.sample.value)));
  whenGiven(root, is.file, open);
  for (const input of [is.method, is.seed, is.query]) input.addEventListener('change', ask);
  is.clear.addEventListener('click', () => { evidence.clear(); ask(); });
  is.stop.addEventListener('click', () => stop(part));
  is.numbers.addEventListener('toggle', list);
  sample(is.sample.value).then(blob => open(is.sample.value, blob));
  return part;
}
