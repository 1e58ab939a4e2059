// report.html of a machine with eight tensor cores: its own units and words, and all of its cores.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { mainUnitOf, reasonsOf } from '../../sim/view/page/web/src/palette.js';
import { launch, open } from './browser.mjs';
import * as reports from './reports.mjs';

const browser = await launch();
const folder = reports.tensorCores();
const report = reports.readReport(folder);
const view = await open(browser, path.join(folder, 'report.html'), { width: 1280 });

test('the page has no words of units that the machine does not have', async () => {
    const texts = await view.locator('main').innerText();
    for (const word of ['undefined', 'NaN', 'null', 'nified buffer', 'FIFO', 'activation unit', 'weight memory', 'weight tile',
        'hbm', 'parts of array active']) {
        assert.ok(!texts.includes(word), word);
    }
});

test('the energy says whose it is', async () => {
    const { of } = report.energy;
    assert.equal(of, 'cores and high-bandwidth memory');
    assert.ok((await view.locator('#headline').innerText()).includes(`, ${of}, static share included`));
});

test('the reasons for non-matrix cycles have the words of the machine, and sum to their class', () => {
    const main = mainUnitOf(report);
    const reasons = reasonsOf(main.of(report), main.partWords);
    assert.equal(main.partsOfDivided, 'reasons for non-matrix');
    assert.equal(main.divided, 'non-matrix');
    assert.equal(reasons.reduce((sum, { cycles }) => sum + cycles, 0), report.matrix_unit.non_matrix_cycles);
    for (const { name, meaning } of reasons) {
        assert.ok(meaning.length > 0, name);
        assert.ok(!meaning.includes('activation unit'), meaning);
    }
});

test('cycles of the array are divided by the cells at work', () => {
    const main = mainUnitOf(report);
    const unit = main.of(report);
    const [useful, unused] = main.parts.map(({ cycles }) => cycles(unit));
    assert.ok(Math.abs(useful + unused - unit.active_cycles) < 1e-6);
    assert.ok(Math.abs(useful / unit.active_cycles - unit.useful_macs / (unit.useful_macs + unit.unused_macs)) < 1e-12);
    assert.deepEqual(main.parts.slice(0, 2).map(({ name }) => name), ['active: useful MACs', 'active: unused cells']);
});

test('every core is in the charts of memory, those that are alike once', async () => {
    const names = report.cores_alike.flatMap(({ names: each }) => each);
    assert.equal(new Set(names).size, report.cores);
    const text = await view.locator('section#memory').innerText();
    for (const { names: each } of report.cores_alike) {
        assert.ok(text.includes(each.length === report.cores ? `all ${each.length} cores` : each.join(', ')), each[0]);
    }
    const charts = await view.locator('section#memory .chart').count();
    assert.equal(charts, report.cores_alike.length * report.memory.over_time.memories.length);
    const maps = await view.locator('section[id^="buffer-map"]').count();
    assert.equal(maps, report.cores_alike.length);
});

test('no chart has a place that is no number, and nothing went wrong', async () => {
    assert.equal(await view.locator('.chart', { has: view.locator('path[d*="NaN"]') }).count(), 0);
    await view.leave();
    await browser.close();
});
