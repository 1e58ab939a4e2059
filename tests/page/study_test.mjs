// study.html in headless Chromium.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { commandOf, numberText, paretoFront, studyOf } from '../../sim/view/page/web/src/study/model.js';
import { launch, open, tooltip } from './browser.mjs';
import { sim, temporaryFolder } from './reports.mjs';

const folder = temporaryFolder();
const options = ['sweep', 'mnist_cnn', '--limit', '16', '--name', 's', '--out', folder, '--axis', 'batch=1,2,4,8',
    '--axis', 'machine.matrix_unit.rows=64,128,256', '--axis', 'mapping=best,plain',
    '--metric', 'per_joule=max:1 / joules_per_inference'];
const answer = JSON.parse(sim(...options, '--json'));
const page = path.join(folder, 'study.html');
const browser = await launch();
const view = await open(browser, page);

test('a study has its sections, and every chart has marks', async () => {
    assert.deepEqual(await view.locator('main section').evaluateAll((all) => all.map(({ id }) => id)),
        ['study', 'pareto', 'heat-map', 'lines', 'sensitivity', 'parallel', 'points', 'definitions']);
    for (const chart of await view.locator('.chart').all()) {
        assert.ok(await chart.locator('svg path').count() > 5, await chart.getAttribute('aria-label'));
        assert.equal(await chart.locator('path[d*="NaN"]').count(), 0);
    }
    assert.match(await view.locator('#study').innerText(), /24 of 24 points are done/);
});

test('the page leads with the best points, whether they are at an end of an axis, and their commands', async () => {
    const best = answer.points.reduce((a, b) => (b.metrics.per_joule > a.metrics.per_joule ? b : a));
    const first = view.locator('#study .best').first();
    const text = await first.innerText();
    assert.match(text, /^Highest per_joule: /);
    assert.match(text, new RegExp(`point ${best.point}\\b`));
    assert.match(text, /The best has .*batch = 8.*, the largest of (its axis|their axes): /);
    const command = await first.locator('code').innerText();
    const settings = Object.entries(best.settings).map(([key, value]) => ` --set ${key}=${value}`).join('');
    assert.equal(command, answer.command + settings);
    await first.locator('button').click();
    assert.match(await view.locator('#picked').innerText(), new RegExp(`point ${best.point}\\b`));
});

test('the front is listed with the commands that repeat its points', async () => {
    const rows = await view.locator('#pareto tbody tr').count();
    assert.ok(rows > 0 && rows <= 12);
    const number = /point (\d+)/.exec(await view.locator('#pareto tbody tr').first().innerText())[1];
    await view.locator('#pareto summary').click();
    const commands = (await view.locator('#pareto pre').innerText()).trim().split('\n');
    assert.equal(commands.length, rows);
    const { settings } = answer.points.find(({ point }) => point === Number(number));
    assert.ok(commands[0].endsWith(` --set batch=${settings.batch} --set machine.matrix_unit.rows=${
        settings['machine.matrix_unit.rows']} --set mapping=${settings.mapping}`), commands[0]);
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

test('keys that a condition couples have one bar, and unknown watts are gaps that the page tells', async () => {
    const place = temporaryFolder();
    sim('sweep', 'mnist_cnn', '--limit', '8', '--name', 's', '--quiet', '--out', place, '--axis', 'machine.clock_mhz=350,700,2800',
        '--axis', 'machine.matrix_unit.rows=64,128', '--axis', 'machine.matrix_unit.columns=64,128',
        '--where', 'machine.matrix_unit.rows == machine.matrix_unit.columns');
    const coupled = await open(browser, path.join(place, 'study.html'));
    assert.match(await coupled.locator('#sensitivity').innerText(), /couples move together/);
    const labels = await coupled.locator('#sensitivity .chart text').allTextContents();
    assert.ok(labels.some((text) => text.includes('matrix_unit.rows with')), labels.join());
    assert.match(await coupled.locator('#parallel').innerText(), /Not all points have a value of watts, joules_per_inference: no axis/);
    await coupled.locator('#heat-map select').first().selectOption('watts');
    assert.match(await coupled.locator('#heat-map').innerText(), /2 of 6 cells are empty: their points have no value of watts/);
    await coupled.locator('#lines select').first().selectOption('watts');
    assert.match(await coupled.locator('#lines').innerText(), /2 of 6 points have no value of watts/);
    await coupled.locator('#pareto select').nth(1).selectOption('watts');
    assert.match(await coupled.locator('#pareto').innerText(), /2 without a value of both are not drawn/);
    await coupled.leave();
});

test('a study that has run nothing has a page', async () => {
    const none = temporaryFolder();
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
