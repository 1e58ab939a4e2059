// study.html in headless Chromium.
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { commandOf, numberText, paretoFront, studyOf } from '../../sim/view/page/web/src/study/model.js';
import { launch, open, tooltip } from './browser.mjs';
import { sim } from './reports.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'systole_study_'));
const options = ['sweep', 'mnist_cnn', '--limit', '16', '--name', 's', '--out', folder, '--axis', 'batch=1,2,4,8',
    '--axis', 'machine.matrix_unit.rows=64,128,256', '--axis', 'mapping=best,plain',
    '--metric', 'per_joule=max:1 / joules_per_inference'];
const answer = JSON.parse(sim(...options, '--json'));
const page = path.join(folder, 'study.html');
const browser = await launch();
const view = await open(browser, page);

test('a study has its sections, and every chart has marks', async () => {
    assert.deepEqual(await view.locator('main section').evaluateAll((all) => all.map(({ id }) => id)),
        ['study', 'pareto', 'heat-map', 'lines', 'sensitivity', 'parallel', 'points']);
    for (const chart of await view.locator('.chart').all()) {
        assert.ok(await chart.locator('svg path').count() > 5, await chart.getAttribute('aria-label'));
        assert.equal(await chart.locator('path[d*="NaN"]').count(), 0);
    }
    assert.match(await view.locator('#study').innerText(), /24 of 24 points are done/);
});

test('the table has all points, with the numbers of the answer', async () => {
    assert.equal(await view.locator('#points .tabulator-row').count(), 15);
    await view.locator('#points .tabulator-col[tabulator-field=number]').click();
    const first = view.locator('#points .tabulator-row').first();
    const cells = await first.locator('.tabulator-cell').allInnerTexts();
    const point = answer.points[0];
    assert.deepEqual(cells.slice(0, 4), ['1', '1', '64', 'best']);
    assert.equal(cells[4], point.metrics.cycles.toLocaleString('en-US'));
});

test('a chosen point shows its command line, which is that of sim', async () => {
    await view.locator('#points .tabulator-row').first().click();
    const picked = view.locator('#picked');
    assert.match(await picked.innerText(), /point 1\b/);
    const command = await picked.locator('code').innerText();
    assert.ok(command.startsWith(answer.command), command);
    assert.ok(command.endsWith('--set batch=1 --set machine.matrix_unit.rows=64 --set mapping=best'), command);
});

test('one click leads from a point to its report', async () => {
    const opened = view.context().waitForEvent('page');
    await view.locator('#picked a', { hasText: 'Its report' }).click();
    const report = await opened;
    await report.waitForSelector('html[data-drawn=all]');
    assert.equal(await report.locator('h1').innerText(), 'mnist_cnn on tpu_v1');
    const cycles = await report.locator('[data-figure=Cycles]').getAttribute('data-value');
    assert.equal(Number(cycles), answer.points[0].metrics.cycles);
    await report.close();
});

test('keys go through the points of a chart, and Enter chooses one', async () => {
    const chart = view.locator('#pareto .chart');
    await chart.focus();
    await chart.press('ArrowRight');
    const text = await tooltip(chart);
    const number = /point (\d+)/.exec(text)[1];
    await chart.press('Enter');
    assert.match(await view.locator('#picked').innerText(), new RegExp(`point ${number}\\b`));
});

test('a chart shows the metrics that are chosen', async () => {
    await view.locator('#pareto select').first().selectOption('latency_ms');
    assert.match(await view.locator('#pareto').innerText(), /lower latency_ms and higher per_joule/);
    await view.locator('#heat-map select').first().selectOption('cycles');
    await view.locator('#lines select').nth(1).selectOption('batch');
    await view.locator('#sensitivity select').selectOption('cycles');
    assert.equal(await view.locator('.chart path[d*="NaN"]').count(), 0);
});

test('a study prints and requests nothing, and fits a narrow screen', async () => {
    await view.leave();
    const narrow = await open(browser, page, { width: 420, colorScheme: 'dark' });
    const width = await narrow.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 430, `${width} pixels wide`);
    await narrow.leave();
});

test('a study that has run nothing has a page', async () => {
    const none = mkdtempSync(path.join(tmpdir(), 'systole_study_'));
    sim('sweep', 'mnist_cnn', '--axis', 'batch=1,2', '--no-run', '--quiet', '--name', 's', '--out', none);
    const empty = await open(browser, path.join(none, 'study.html'));
    assert.match(await empty.locator('#study').innerText(), /0 of 2 points are done/);
    await empty.leave();
});

test('a point without a report says how to get it', async () => {
    const lost = await browser.newPage();
    await lost.goto(`file://${page}#point-99`);
    await lost.waitForSelector('main');
    assert.match(await lost.locator('main').innerText(), /--report 99/);
    await lost.close();
});

test('numbers, fronts and command lines', () => {
    assert.equal(numberText(1584664.07, '1/s'), '1,584,664 1/s');
    assert.equal(numberText(0.188444), '0.1884');
    assert.equal(numberText(2.32e-5, 'J'), '23.2 µJ');
    const study = studyOf({
        keys: ['batch', 'model'],
        axes: 2,
        command: 'sim run',
        metrics: [{ name: 'cost', better: 'lower' }, { name: 'rate', better: 'higher' }, { name: 'none', better: 'lower' }],
        points: { number: [1, 2, 3], values: [[1, 2, 3], ['a', 'b c', 'd']],
            metrics: [[1, 2, 3], [5, 4, 9], [null, null, null]] },
    });
    assert.deepEqual(study.metrics.map(({ name }) => name), ['cost', 'rate']);
    assert.deepEqual(paretoFront(study.rows, ...study.metrics).map(({ number }) => number), [1, 3]);
    assert.equal(commandOf(study, study.rows[1]), 'sim run --set batch=2 --set \'model=b c\'');
    study.rows[1].values.model = 'a\u001b[31m\'\\b';
    assert.equal(commandOf(study, study.rows[1]), 'sim run --set batch=2 --set $\'model=a\\033[31m\\\'\\\\b\'');
});

test.after(() => browser.close());
