// SPDX-License-Identifier: Apache-2.0
// The tabs of the page. A part of the page begins to work when it is first seen, and stops when another one is chosen.
import {stop} from './engine.js';
import {network} from './network.js';
import {picture} from './picture.js';
import {spins} from './spins.js';

const makers = {network, picture, spins};
const made = {};

function choose(name) {
  for (const tab of document.querySelectorAll('[role=tab]')) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute('aria-selected', chosen);
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById(tab.getAttribute('aria-controls')).hidden = !chosen;
  }
  for (const [other, part] of Object.entries(made)) if (other !== name) stop(part);
  made[name] ??= makers[name](document.getElementById(name));
}

for (const tab of document.querySelectorAll('[role=tab]')) {
  const name = tab.getAttribute('aria-controls');
  tab.addEventListener('click', () => { history.replaceState(null, '', `#${name}`); choose(name); });
  tab.addEventListener('keydown', event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const names = Object.keys(makers);
    const next = document.getElementById(`tab-${names[(names.indexOf(name) + step + names.length) % names.length]}`);
    next.click();
    next.focus();
  });
}
choose(location.hash.slice(1) in makers ? location.hash.slice(1) : 'network');
