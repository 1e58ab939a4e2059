// report.html of a machine with tiles: its own units and classes of cycles, nothing of an array.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { grouped, percent, si } from '../../sim/view/page/web/src/format.js';
import { mainUnitOf, reasonsOf } from '../../sim/view/page/web/src/palette.js';
import { launch, open } from './browser.mjs';
import * as reports from './reports.mjs';

const browser = await launch();
const folder = reports.tiles();
const report = reports.readReport(folder);
const view = await open(browser, path.join(folder, 'report.html'));

const columnOf = (field) => view.locator(`.tabulator-row .tabulator-cell[tabulator-field="${field}"]`).allInnerTexts();

test('the sections are those that the report has data for, and no chart is empty', async () => {
    const ids = await view.locator('main section').evaluateAll((sections) => sections.map(({ id }) => id));
    assert.deepEqual(ids, ['headline', 'cycles', 'why', 'layers', 'machine', 'energy', 'memory', 'predictions',
        'counters', 'configuration']);
    const nowhere = await view.locator('.chart', { has: view.locator('path[d*="NaN"]') }).count();
    assert.equal(nowhere, 0);
    const texts = await view.locator('main').innerText();
    for (const word of ['undefined', 'NaN', 'null', 'atrix unit', 'nified buffer', 'FIFO']) {
        assert.ok(!texts.includes(word), word);
    }
});

test('the classes of the tiles sum to the cycles, in the run and in each layer', () => {
    const main = mainUnitOf(report);
    for (const place of [report, ...report.layers]) {
        const unit = main.of(place);
        assert.equal(main.classes.reduce((sum, { key }) => sum + unit[key], 0), place.cycles);
        assert.equal(main.parts.reduce((sum, { cycles }) => sum + cycles(unit), 0), place.cycles);
    }
    assert.deepEqual(reasonsOf(main.of(report)).map(({ name, cycles }) => [name, cycles]).sort(),
        [['multiply', report.tile_array.work.multiply_cycles], ['vector', report.tile_array.work.vector_cycles]]);
    const { useful_macs: useful, unused_macs: unused } = report.tile_array.work;
    assert.equal(main.usefulShare(report.tile_array), useful / (useful + unused));
});

test('the layers have a column for each class', async () => {
    const each = (key) => report.layers.map(({ tile_array: unit, cycles }) => percent(unit[key] / cycles));
    assert.deepEqual(await columnOf('cycles'), report.layers.map(({ cycles }) => grouped(cycles)));
    assert.deepEqual(await columnOf('busy'), each('busy_cycles'));
    assert.deepEqual(await columnOf('ring_stall'), each('ring_stall_cycles'));
    assert.deepEqual(await columnOf('sync'), each('sync_cycles'));
    assert.deepEqual(await columnOf('idle'), each('idle_cycles'));
    assert.deepEqual(await columnOf('stall'), []);
});

test('the drawing has a box for each unit, no text on another and none across a border', async () => {
    const drawing = view.locator('#machine svg');
    const units = await drawing.locator('.unit').evaluateAll((boxes) => boxes.map((box) => box.dataset.unit));
    assert.deepEqual(units.sort(), ['host_interface', 'mesh', 'narrow_memory', 'ring', 'sequencer', 'tile_array',
        'wide_memory']);
    assert.equal(await drawing.locator('.path').count(), report.paths.length);
    const faults = await drawing.evaluate((element) => {
        const texts = [...element.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
        const boxes = [...element.querySelectorAll('.unit > rect:first-child')].map((box) => box.getBoundingClientRect());
        const slack = 1; // a box is higher than its letters
        const meet = (a, b) => a.left < b.right - slack && b.left < a.right - slack && a.top < b.bottom - slack
            && b.top < a.bottom - slack;
        const inside = (a, b) => a.left > b.left && a.right < b.right && a.top > b.top && a.bottom < b.bottom;
        return [
            ...texts.flatMap(([first, a], index) => texts.slice(index + 1).filter(([, b]) => meet(a, b))
                .map(([second]) => `${first} on ${second}`)),
            ...texts.filter(([, a]) => boxes.some((box) => meet(a, box) && !inside(a, box))).map(([text]) => `${text} on a border`),
        ];
    });
    assert.deepEqual(faults, []);
});

test('the headline has the share of the cycles in which the tiles worked', async () => {
    const cards = await view.locator('#headline .cards').first().innerText();
    assert.ok(cards.includes(percent(report.tile_array.busy_cycles / report.cycles)), cards);
    assert.ok(/Tiles busy/i.test(cards), cards);
});

test('the headline has the calls, and their host', async () => {
    const cards = await view.locator('#headline .cards').first().innerText();
    assert.ok(/Cold latency/i.test(cards) && cards.includes(si(report.call.cold_ms / 1000, 's')), cards);
    const remarks = await view.locator('#headline .remarks').innerText();
    const { call_us: time, read_gb_per_s: read, write_gb_per_s: write } = report.call.host;
    for (const number of [`${time} µs`, `${read} GB/s in`, `${write} GB/s out`]) assert.ok(remarks.includes(number), remarks);
    await view.leave();
});

test.after(() => browser.close());
