// SPDX-License-Identifier: Apache-2.0
// The program in a worker, and what the three parts of the page share.

let compiled;
const compile = async () => WebAssembly.compile(await (await fetch('gibbsite-web.wasm')).arrayBuffer());

/** The error of a run that was stopped. */
export class Stopped extends Error {}
/** The error of a run that ended with a status other than 0. The message is the program's. */
export class Refused extends Error {}

/** One program at a time, in a worker that is ended when the run is stopped. */
export class Engine {
  /** @return a promise of the result of runModule() in packaging/npm/gibbsite.js; rejects with Stopped, or with Refused. */
  async run(args, files = {}) {
    const mine = this.turn = {};
    const module = await (compiled ??= compile());
    if (this.turn !== mine) throw new Stopped();
    this.worker ??= new Worker('worker.js');
    const worker = this.worker;
    const result = await new Promise((resolve, reject) => {
      this.reject = reject;
      worker.onerror = event => reject(new Error(event.message));
      worker.onmessage = ({data}) => {
        if (data.result) resolve(data.result);
        else if (data.failure) reject(new Error(data.failure));
      };
      worker.postMessage({compiled: module, args, files});
    });
    this.reject = undefined;
    if (result.status !== 0) throw new Refused(result.err.trim());
    return result;
  }

  /** Ends the run, if there is one. */
  stop() {
    this.turn = undefined;
    if (!this.reject) return;
    this.worker.terminate();
    this.worker = undefined;
    this.reject(new Stopped());
    this.reject = undefined;
  }
}

export const json = bytes => JSON.parse(new TextDecoder().decode(bytes));

/** Words of a command line as a shell reads them. */
export const typed = words => words.map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');

/** A probability, or another number, and its standard error. */
export function withError(value, error, digits = 4) {
  if (value === null) return '–';
  return error ? `${value.toFixed(digits)} ± ${Math.max(error, 0.5 * 10 ** -digits).toFixed(digits)}` : value.toFixed(digits);
}

/** @return the element of a part of the page that is marked data-is="name", for each name. */
export const parts = root => Object.fromEntries([...root.querySelectorAll('[data-is]')].map(e => [e.dataset.is, e]));

export function element(name, text = '', attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Shows a verdict, and the commands that give the same answer elsewhere, with its digest. @param kind good, bad or '' */
export function showAnswer(box, kind, verdict, commands = [], digest = '') {
  box.className = `answer ${kind}`;
  const nodes = [element('p', verdict, {role: 'status'})];
  if (commands.length) {
    const pre = element('pre');
    const words = commands.join('\n').split(/([ \n])/); // a line is broken only between words
    pre.append(...words.map(word => (/^[ \n]$/.test(word) ? word : element('span', word))));
    nodes.push(pre);
    const who = commands.length === 1 ? 'This command gives' : 'These commands give';
    const line = element('p', `${who} the same bits elsewhere; run.json then has the digest `, {class: 'small'});
    line.append(element('code', digest));
    nodes.push(line);
  }
  box.replaceChildren(...nodes);
}

/** Runs an asynchronous piece of work of a part of the page, after its earlier work was stopped.
 * @param part {engine, is}: the elements `stop` and `answer` are used. */
export async function work(part, act) {
  part.engine.stop();
  const mine = part.current = {};
  part.is.stop.disabled = false;
  part.is.answer.setAttribute('aria-busy', 'true');
  try {
    await act();
  } catch (error) {
    if (error instanceof Stopped || part.current !== mine) return;
    showAnswer(part.is.answer, 'bad', error instanceof Refused ? error.message : `The program ended: ${error.message}`);
  } finally {
    if (part.current === mine) {
      part.is.stop.disabled = true;
      part.is.answer.removeAttribute('aria-busy');
    }
  }
}

/** Stops the work of a part of the page. What is shown stays, and is an answer of its own. */
export function stop(part) {
  part.current = undefined;
  part.engine.stop();
  if (part.is.stop.disabled) return;
  part.is.stop.disabled = true;
  part.is.answer.removeAttribute('aria-busy');
  const said = part.is.answer.querySelector('p');
  if (said) said.textContent = `stopped; ${said.textContent}`;
  else showAnswer(part.is.answer, '', 'stopped before the first answer');
}

/** The bytes of a file, unpacked if its name ends with .gz. @return {name, bytes}, the name without .gz */
export async function bytesOf(name, blob) {
  if (!name.endsWith('.gz')) return {name, bytes: new Uint8Array(await blob.arrayBuffer())};
  const unpacked = blob.stream().pipeThrough(new DecompressionStream('gzip'));
  return {name: name.slice(0, -3), bytes: new Uint8Array(await new Response(unpacked).arrayBuffer())};
}

export const sample = async name => (await fetch(`samples/${name}`)).blob();

/** Calls `open(name, blob)` for a file that is chosen, or dropped on a part of the page. */
export function whenGiven(root, input, open) {
  input.addEventListener('change', () => input.files[0] && open(input.files[0].name, input.files[0]));
  root.addEventListener('dragover', event => { event.preventDefault(); root.classList.add('over'); });
  root.addEventListener('dragleave', () => root.classList.remove('over'));
  root.addEventListener('drop', event => {
    event.preventDefault();
    root.classList.remove('over');
    const [file] = event.dataTransfer.files;
    if (file) open(file.name, file);
  });
}
