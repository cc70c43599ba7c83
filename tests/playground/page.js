// SPDX-License-Identifier: Apache-2.0
// The playground in Chromium: node tests/playground/page.js FOLDER GIBBSITE [PICTURES]
// FOLDER has the page, GIBBSITE is the program of this machine, and PICTURES is a folder for pictures of the page, for a person to look at.
// playwright-core is found by NODE_PATH.
'use strict';
const assert = require('assert');
const {execFileSync, spawnSync} = require('child_process');
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');
const {chromium} = require('playwright-core');

const [folder, gibbsite, pictures] = process.argv.slice(2).map(name => path.resolve(name));
const types = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm'};
const server = http.createServer((request, response) => {
  const file = path.join(folder, decodeURIComponent(new URL(request.url, 'http://x').pathname).replace(/\/$/, '/index.html'));
  if (!fs.existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, {'Content-Type': types[path.extname(file)] ?? 'application/octet-stream'}).end(fs.readFileSync(file));
});

/** Runs the shown commands with the program of this machine. @return run.json of the last one */
function natively(commands, files) {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'playground-'));
  for (const file of files) fs.copyFileSync(file, path.join(work, path.basename(file)));
  for (const command of commands.split('\n')) {
    execFileSync('/bin/sh', ['-c', command.replace(/^gibbsite /, `'${gibbsite}' `)], {cwd: work, stdio: 'pipe'});
  }
  const run = JSON.parse(fs.readFileSync(path.join(work, 'run.json')));
  fs.rmSync(work, {recursive: true});
  return run;
}

const tests = {
  async 'evidence is clicked, and the numbers are the program\'s'(page) {
    await page.locator('#network .answer.good').waitFor();
    await page.locator('#network .pick[aria-label="fever = yes"]').click();
    await page.locator('#network .answer pre:has-text("fever=yes")').waitFor();
    await page.locator('#network details summary').click();
    const shown = await page.$$eval('#network td[data-p]', cells => cells.map(cell => [cell.dataset.key, Number(cell.dataset.p)]));
    const run = natively(await page.textContent('#network .answer pre'), ['examples/clinic.bif']);
    const p = new Map(run.marginals.shown.flatMap(v => v.states.map((state, k) => [`${v.id}:${k}`, state.p])));
    assert.deepStrictEqual(new Map(shown), p);
    assert.strictEqual(await page.textContent('#network .answer code'), run.digest);
    await page.locator('#network .pick[aria-label="fever = yes"][aria-pressed=true]').click();
    await page.locator('#network .answer pre:not(:has-text("fever"))').waitFor();
  },
  async 'a sampled answer has errors, and the digest of the program'(page) {
    await page.selectOption('#network [data-is=sample]', 'grid.uai');
    await page.locator('#network .answer pre:has-text("grid.uai")').waitFor();
    await page.selectOption('#network [data-is=method]', 'sample');
    await page.locator('#network .answer.good pre:has-text("--sweeps")').waitFor();
    assert.ok(await page.locator('#network .whisker').count() > 0);
    const run = natively(await page.textContent('#network .answer pre'), ['examples/grid.uai']);
    assert.strictEqual(await page.textContent('#network .answer code'), run.digest);
  },
  async 'a bad file gives the message of the program'(page) {
    const bad = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'playground-')), 'bad.bif');
    fs.writeFileSync(bad, 'network x { }\nvariable a { type discrete [ 2 ] { y, n }; }\nprobability ( a ) { table 0.5, 0.6; }\n');
    await page.setInputFiles('#network [data-is=file]', bad);
    await page.locator('#network .answer.bad').waitFor();
    const said = spawnSync(gibbsite, ['marginals', 'bad.bif'], {cwd: path.dirname(bad), encoding: 'utf8'});
    assert.strictEqual(said.status, 3);
    assert.strictEqual((await page.textContent('#network .answer')).trim(), said.stderr.trim());
    fs.rmSync(path.dirname(bad), {recursive: true});
  },
  async 'a compressed file is unpacked by the browser'(page) {
    const packed = require('zlib').gzipSync(fs.readFileSync('examples/sprinkler.bif'));
    await page.setInputFiles('#network [data-is=file]', {name: 'sprinkler.bif.gz', mimeType: 'application/gzip', buffer: packed});
    await page.locator('#network .pick[aria-label="grass = wet"]').waitFor();
  },
  async 'a picture is restored, and Stop keeps the last answer'(page) {
    await page.click('#tab-picture');
    await page.locator('#picture .answer code').waitFor();
    await page.fill('#picture [data-is=levels]', '2');
    await page.click('#picture [data-is=start]');
    await page.locator('#picture .answer pre:has-text("--noise")').waitFor();
    await page.click('#picture [data-is=stop]');
    assert.match(await page.textContent('#picture .answer p'), /^stopped; /);
    assert.ok(await page.locator('#picture [data-is=stop]').isDisabled());
    const run = natively(await page.textContent('#picture .answer pre'), ['examples/leaf-noisy.pbm']);
    assert.strictEqual(await page.textContent('#picture .answer code'), run.digest);
  },
  async 'spins have the digest of the program, and Stop ends a long run'(page) {
    await page.click('#tab-spins');
    await page.locator('#spins .answer code').waitFor();
    await page.click('#spins [data-is=stop]');
    assert.match(await page.textContent('#spins [data-is=m]'), /^0\.\d{4} ± 0\.\d{4}$/);
    const run = natively(await page.textContent('#spins .answer pre'), []);
    assert.strictEqual(await page.textContent('#spins .answer code'), run.digest);
    assert.ok(await page.locator('#spins [data-is=stop]').isDisabled());
  },
};

async function takePictures(browser, url) {
  for (const width of [1200, 390]) {
    for (const scheme of ['light', 'dark']) {
      const page = await browser.newPage({viewport: {width, height: 900}, colorScheme: scheme});
      for (const tab of ['network', 'picture', 'spins']) {
        await page.goto(`${url}#${tab}`);
        await page.reload();
        await page.locator(`#${tab} .answer code`).waitFor();
        await page.waitForTimeout(2000); // a picture of the answer some seconds later
        await page.screenshot({path: path.join(pictures, `${tab}-${width}-${scheme}.png`), fullPage: true});
      }
      await page.close();
    }
  }
}

async function main() {
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox']});
  let failed = 0;
  const page = await browser.newPage({viewport: {width: 1200, height: 900}});
  page.setDefaultTimeout(60000);
  const mistakes = [];
  page.on('pageerror', error => mistakes.push(error.message));
  await page.goto(url);
  await page.locator('#network .answer code').waitFor();
  console.log(`time to the first answer: ${Math.round(await page.evaluate(() => performance.now()))} ms`);
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test(page);
      assert.deepStrictEqual(mistakes.splice(0), []);
      console.log(`ok    ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${name}\n${error.stack}\n${await page.locator('[role=tabpanel]:not([hidden]) .answer').allTextContents()}`);
    }
  }
  if (pictures) await takePictures(browser, url);
  await browser.close();
  server.close();
  console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
main();
