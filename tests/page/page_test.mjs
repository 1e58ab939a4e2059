// report.html in headless Chromium.
import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {
    absent, bandText, bytes, grouped, inferenceRate, percent, rough, roughTimes, si,
} from '../../sim/view/page/web/src/format.js';
import { allColours, cycleParts, reasonsOf } from '../../sim/view/page/web/src/palette.js';
import { launch, open, tooltip } from './browser.mjs';
import * as reports from './reports.mjs';

const page = (folder) => path.join(folder, 'report.html');
const browser = await launch();
const digits = reports.digits();
const report = reports.readReport(digits);

const shades = allColours.flatMap(({ light, dark }) => [light, dark]);

/// The number of marks of data in each chart: shapes that have a width and a colour with a meaning, between the axes
/// (not those of the legend above).
function marksOf(shown) {
    return shown.evaluate((colours) => {
        const grid = getComputedStyle(document.documentElement).getPropertyValue('--grid').trim();
        const boxOf = (mark) => mark.getBoundingClientRect();
        return Object.fromEntries([...document.querySelectorAll('.chart')].map((chart) => {
            const shapes = [...chart.querySelectorAll('svg path, svg circle, svg polygon')];
            const has = (shape, name, wanted) => wanted.includes(shape.getAttribute(name));
            const lines = shapes.filter((shape) => has(shape, 'stroke', [grid])).map(boxOf);
            const top = Math.min(...lines.map((line) => line.top));
            const bottom = Math.max(...lines.map((line) => line.bottom));
            const isSeen = (shape) => boxOf(shape).width > 0.05
                || (shape.hasAttribute('stroke') && shape.getAttribute('stroke-width') !== '0');
            const isBetween = (shape) => boxOf(shape).bottom > top && boxOf(shape).top < bottom;
            const marks = shapes.filter((shape) => (has(shape, 'fill', colours) || has(shape, 'stroke', colours))
                && isSeen(shape) && isBetween(shape));
            return [chart.getAttribute('aria-label'), marks.length];
        }));
    }, shades);
}

/// Charts without marks, or with a mark that has no position.
async function poorCharts(shown) {
    const empty = Object.entries(await marksOf(shown)).filter(([, count]) => count === 0).map(([label]) => label);
    const nowhere = await shown.locator('.chart', { has: shown.locator('path[d*="NaN"]') })
        .evaluateAll((charts) => charts.map((chart) => chart.getAttribute('aria-label')));
    return [...empty, ...nowhere];
}

/// Pairs of texts of a drawing that overlap.
function textsOnEachOther(drawing) {
    return drawing.evaluate((element) => {
        const boxes = [...element.querySelectorAll('svg text')].filter(({ textContent }) => textContent.trim() !== '')
            .map((text) => [text.textContent, text.getBoundingClientRect()]);
        const slack = 1; // a box is higher than its letters
        const meet = (a, b) => a.left < b.right - slack && b.left < a.right - slack && a.top < b.bottom - slack
            && b.top < a.bottom - slack;
        return boxes.flatMap(([first, a], index) => boxes.slice(index + 1).filter(([, b]) => meet(a, b))
            .map(([second]) => `${first} on ${second}`));
    });
}

const columnOf = (shown, field) =>
    shown.locator(`.tabulator-row .tabulator-cell[tabulator-field="${field}"]`).allInnerTexts();

/// The page of the digits, which the tests share until it is closed.
const view = await open(browser, page(digits));

test('every section of the digits is there, and every chart has marks', async () => {
    const ids = await view.locator('main section').evaluateAll((sections) => sections.map(({ id }) => id));
    assert.deepEqual(ids, ['headline', 'cycles', 'why', 'roofline', 'layers', 'machine', 'energy', 'memory', 'buffer-map',
        'predictions', 'counters', 'configuration']);
    assert.deepEqual(await poorCharts(view), []);
    assert.equal(await view.locator('.chart').count(), 10);
    assert.deepEqual(await view.locator('h1').allTextContents(), [`${report.model} on ${report.machine}`]);
});

test('bars are as many as there is something to tell', async () => {
    const drawn = await marksOf(view);
    const unit = report.matrix_unit;
    const longest = Math.max(...report.layers.map((layer) => layer.cycles));
    const visible = longest / 10000; // a tenth of a pixel, but an edge is as wide as any
    const partsOf = (its) => cycleParts.filter(({ cycles, colour }) => cycles(its) > (colour.edge ? 0 : visible)).length;
    assert.equal(drawn['Cycles of the run by class'], partsOf(unit) + reasonsOf(unit).length);
    assert.equal(drawn['Cycles of each layer by class'],
        report.layers.reduce((sum, layer) => sum + partsOf(layer.matrix_unit), 0));
    const joules = Object.values(report.energy.by_unit);
    assert.equal(drawn['Energy by unit'], joules.filter((each) => each > Math.max(...joules) / 10000).length);
});

test('a chart that draws nothing is noticed', async () => {
    const folder = reports.altered(digits, 'without_layer_cycles', ({ layers }) => {
        for (const { matrix_unit: unit } of layers) for (const key of Object.keys(unit)) unit[key] = 0;
    });
    const shown = await open(browser, page(folder));
    assert.deepEqual(await poorCharts(shown), ['Cycles of each layer by class']);
    await shown.leave();
});

test('large figures are those of report.json', async () => {
    const figures = Object.fromEntries(await view.locator('[data-figure]').evaluateAll((all) =>
        all.map((each) => [each.dataset.figure, [Number(each.dataset.value), each.textContent]])));
    const { tops, energy, matrix_unit: unit } = report;
    const expected = {
        Throughput: [report.inferences_per_second, inferenceRate(report.inferences_per_second)],
        Latency: [report.latency_ms, si(report.latency_ms / 1000, 's')],
        'A batch every': [report.seconds_per_batch, si(report.seconds_per_batch, 's')],
        Cycles: [report.cycles, grouped(report.cycles)],
        Performance: [tops.achieved, `${tops.achieved.toFixed(tops.achieved < 10 ? 2 : 1)} TOPS`],
        'Array active': [unit.active_cycles, percent(unit.active_cycles / report.cycles)],
        'Cycles over bounds': [report.bounds.ratio, report.bounds.ratio.toFixed(2)],
        Energy: [energy.joules_per_inference, si(energy.joules_per_inference, 'J')],
        Power: [energy.watts, si(energy.watts, 'W')],
        Accuracy: [report.accuracy, percent(report.accuracy)],
    };
    for (const { baseline, expected: { speedup, performance_per_watt: perWatt } } of report.comparison) {
        expected[`Speedup over ${baseline}`] = [speedup, roughTimes(speedup)];
        expected[`Performance/W over ${baseline}`] = [perWatt.total, roughTimes(perWatt.total)];
    }
    assert.deepEqual(figures, expected);
});

test('what the run has no figure of is said with its reason', async () => {
    assert.equal(await view.locator('.left-out').count(), 0);
    const folder = reports.altered(digits, 'left_out', (altered) => {
        altered.left_out = { speed: 'the reason', requests: 'another' };
    });
    const shown = await open(browser, page(folder));
    assert.deepEqual(await shown.locator('.left-out').allTextContents(),
        ['No figure of the chip\'s speed: the reason.', 'No figure of requests at random: another.']);
    await shown.leave();
});

test('figures of baselines are shown with their bands and with the host\'s time', async () => {
    const said = await view.locator('.host-time').textContent();
    assert.ok(said.startsWith('In the comparison, host time is in both sides: 25 % of the chip\'s time is added, 11 to '
        + '76 % (derived: geometric mean of the six applications of Jouppi et al., ISCA 2017, Table 5'), said);
    assert.ok(said.includes(`the chip with its host does ${rough(report.host_time.inferences_per_second, 'inf/s')}`), said);
    for (const [index, { expected, speedup, band }] of report.comparison.entries()) {
        const cells = await view.locator('[aria-label="Baselines"] tbody tr').nth(index).locator('td').allTextContents();
        assert.deepEqual(cells.slice(1, 4), [
            `${roughTimes(speedup)} (${bandText(band.speedup, roughTimes)})`,
            `${rough(expected.inferences_per_second, 'inf/s')} (${bandText(expected.band.inferences_per_second)})`,
            `${roughTimes(expected.speedup)} (${bandText(expected.band.speedup, roughTimes)})`]);
    }
});

test('a report of an earlier version has no bands and does not speak of host time', async () => {
    const folder = reports.altered(digits, 'without_bands', (old) => {
        delete old.host_time;
        for (const comparison of old.comparison) {
            delete comparison.band;
            delete comparison.expected.band;
        }
    });
    const shown = await open(browser, page(folder));
    assert.equal(await shown.locator('.host-time').count(), 0);
    const [, , , speedup] = await shown.locator('[aria-label="Baselines"] tbody tr').first().locator('td').allTextContents();
    assert.equal(speedup, roughTimes(report.comparison[0].expected.speedup));
    await shown.leave();
});

/// The large figures of a part of the page, by name: the number of report.json, and the text.
const figuresOf = async (shown, part) => Object.fromEntries(await shown.locator(`${part} [data-figure]`)
    .evaluateAll((all) => all.map((each) => [each.dataset.figure,
        [Number(each.dataset.value), each.textContent, each.nextSibling.textContent]])));

test('requests have their latencies, and the most of them within the limit', async () => {
    const folder = reports.requests();
    const { requests } = reports.readReport(folder);
    assert.ok(requests.p99_ms > requests.p50_ms && requests.most_per_second > 0);
    const shown = await open(browser, page(folder));
    const figures = await figuresOf(shown, '#requests');
    const milliseconds = (key) => [requests[key], si(requests[key] / 1000, 's')];
    assert.deepEqual(Object.fromEntries(Object.entries(figures).map(([name, [value, text]]) => [name, [value, text]])), {
        'A batch every': milliseconds('interval_ms'),
        'Latency of a batch alone': milliseconds('alone_ms'),
        '50 of 100 within': milliseconds('p50_ms'),
        '99 of 100 within': milliseconds('p99_ms'),
        Requests: [requests.most_per_second, `${grouped(requests.most_per_second)} /s`],
    });
    assert.ok(figures['50 of 100 within'][2].includes(`at 100,000 a second, ${percent(requests.load)} of the most`));
    assert.ok(figures.Requests[2].includes('within 2.00 ms'), figures.Requests[2]);
    await shown.leave();
});

test('more requests than the chip computes are said to be that', async () => {
    const shown = await open(browser, page(reports.tooManyRequests()));
    const figures = await figuresOf(shown, '#requests');
    assert.deepEqual(Object.keys(figures), ['A batch every', 'Latency of a batch alone', '99 of 100 within']);
    assert.equal(figures['99 of 100 within'][1], absent);
    assert.ok(figures['99 of 100 within'][2].includes('the queue grows'));
    await shown.leave();
});

const segment = (number) => ({ kind: 'segment', layer: `layer ${number}`, seconds: 0.001 * number, layers: [`layer ${number}`],
    share: 0.01 * number, images: 4 });

test('work of the host says whether its time is a lower bound; much of it is folded', async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
    const folder = (name, atLeast) => reports.altered(digits, name, (its) => {
        its.host_operations = numbers.map(segment);
        its.host = 'a processor';
        its.host_at_least = atLeast;
        its.host_share = { layers: [{ name: 'layer 1', macs_per_inference: 7 }], macs_per_inference: 7, macs_share: 0.5,
            seconds: 0.001, seconds_share: 0.25 };
    });
    const shown = await open(browser, page(folder('host_at_least', true)));
    const remarks = shown.locator('.remarks > li');
    const inSight = remarks.filter({ hasText: 'Work of the host, in the times above', hasNot: shown.locator('details') });
    assert.equal(await inSight.count(), 4);
    const first = await remarks.first().textContent();
    assert.equal(first, 'Work of the host, in the times above: layer 1, at least 1.00 ms, 1.0 % of the run.');
    assert.ok((await remarks.filter({ hasText: 'The host is' }).textContent()).includes('roofline'));
    const folded = shown.locator('.remarks details');
    assert.equal(await folded.locator('summary').textContent(), '8 further operations of the host');
    assert.equal(await folded.locator('li').count(), 8);
    assert.ok(!await folded.locator('li').first().isVisible());
    await folded.locator('summary').click();
    assert.ok(await folded.locator('li').first().isVisible());
    assert.ok((await shown.locator('.host-share').textContent()).includes('Computing them takes at least 25.0 % of the time.'));
    await shown.leave();

    const exact = await open(browser, page(folder('host_expected', false)));
    assert.equal(await exact.locator('.remarks > li').first().textContent(),
        'Work of the host, in the times above: layer 1, 1.00 ms, 1.0 % of the run.');
    await exact.leave();
    assert.equal(await view.locator('.remarks details').count(), 0);
});

test('pixels that the network scales are said to go in from 0 to 255', async () => {
    const folder = reports.altered(digits, 'own_scaling', (its) => {
        its.pixel_scaling = [{ input: 'picture', layer: 'rescaling' }];
    });
    const shown = await open(browser, page(folder));
    assert.ok((await shown.locator('.remarks').textContent()).includes(
        'Pixels of input picture go in from 0 to 255: the network scales them (rescaling).'));
    await shown.leave();
    assert.ok(!(await view.locator('.remarks').textContent()).includes('Pixels of input'));
});

test('one inference and one batch are told in the singular', async () => {
    const folder = reports.altered(digits, 'batch_of_one', (its) => {
        its.batch = 1;
        its.inferences = 12;
    });
    const shown = await open(browser, page(folder));
    const figures = await figuresOf(shown, '#headline');
    assert.equal(figures['A batch every'][2], 'of 1 inference; mean of 12 batches');
    await shown.leave();
});

test('the bar has the names of all sections in full, or scrolls to them', async () => {
    for (const width of [1400, 1000, 700, 380]) {
        const shown = await open(browser, page(reports.allSections()), { width });
        const links = shown.locator('nav a');
        assert.equal(await links.count(), await shown.locator('main section[id]').count());
        const isWhole = (link) => {
            const its = link.getBoundingClientRect();
            const bar = link.parentElement.getBoundingClientRect();
            const slack = 1; // positions are fractions of a pixel
            return its.left >= bar.left - slack && its.right <= bar.right + slack && its.top >= bar.top
                && its.bottom <= bar.bottom;
        };
        for (const link of await links.all()) {
            if (width < 900) await link.evaluate((its) => its.scrollIntoView({ inline: 'nearest', block: 'nearest' }));
            assert.ok(await link.evaluate(isWhole), `${await link.textContent()} at ${width}`);
        }
        const screenshots = path.join(reports.output, 'screenshots');
        mkdirSync(screenshots, { recursive: true });
        await shown.screenshot({ path: path.join(screenshots, `bar_${width}.png`) });
        await shown.leave();
    }
});

test('hovering the run tells cycles and share of each class', async () => {
    const chart = view.locator('#cycles .chart').first();
    await chart.hover({ position: { x: 200, y: 50 } });
    const text = await tooltip(chart);
    const unit = report.matrix_unit;
    assert.ok(text.startsWith(`run: ${grouped(report.cycles)} cycles`), text);
    for (const [name, key] of [['array active', 'active_cycles'], ['weight stall', 'weight_stall_cycles'],
        ['weight shift', 'weight_shift_cycles'], ['non-matrix', 'non_matrix_cycles']]) {
        assert.ok(text.includes(`${name} ${grouped(unit[key])} · ${percent(unit[key] / report.cycles)}`), text);
    }
});

test('arrow keys tell one layer after the other', async () => {
    const chart = view.locator('#cycles .chart').nth(1);
    await chart.focus();
    const tells = async (layer) => {
        await chart.locator('.tip strong', { hasText: `${layer.name} (` }).waitFor();
        assert.ok((await tooltip(chart)).includes(`${grouped(layer.cycles)} cycles`));
    };
    for (const [key, place] of [['ArrowDown', 0], ['ArrowRight', 1], ['ArrowDown', 2], ['ArrowUp', 1], ['ArrowLeft', 0]]) {
        await view.keyboard.press(key);
        await tells(report.layers[place]);
    }
    const told = view.locator('[aria-live="polite"]#told'); // what a screen reader says
    assert.equal(await told.textContent(), await chart.locator('.tip').evaluate((tip) =>
        [...tip.children].map((line) => line.innerText.replaceAll(/\s+/g, ' ').trim()).join(', ')));
    assert.ok((await told.textContent()).startsWith(`${report.layers[0].name} (`));
    await view.keyboard.press('Escape');
    await chart.locator('.tip').waitFor({ state: 'hidden' });
    assert.equal(await told.textContent(), '');
});

test('every chart tells something when it is asked by key', async () => {
    for (const chart of await view.locator('.chart').all()) {
        await chart.focus();
        await view.keyboard.press('ArrowRight');
        const label = await chart.getAttribute('aria-label');
        assert.ok((await tooltip(chart)).length > 5, label);
        await view.keyboard.press('Escape');
    }
});

test('every layer with cycles says why, those with most first, and what was simulated', async () => {
    const explained = report.layers.filter(({ cycles }) => cycles > 0).sort((a, b) => b.cycles - a.cycles);
    assert.deepEqual(await view.locator('#why dd').allInnerTexts(), explained.map(({ explanation }) => explanation));
    assert.ok((await view.locator('#why p').last().innerText()).includes(report.explanation.text));
    const changes = view.locator('#why tbody tr');
    const summary = view.locator('#why summary', { hasText: 'Changes' });
    await summary.click();
    assert.deepEqual(await changes.locator('th').allInnerTexts(),
        report.explanation.what_ifs.map(({ change }) => change));
    assert.ok((await changes.first().innerText()).includes('--set machine.'));
    await summary.click();
});

test('the layer table has the figures of report.json, sorts and filters', async () => {
    const names = report.layers.map(({ name }) => name);
    const cycles = report.layers.map((layer) => layer.cycles);
    assert.deepEqual(await columnOf(view, 'name'), names);
    assert.deepEqual(await columnOf(view, 'cycles'), cycles.map(grouped));
    assert.deepEqual(await columnOf(view, 'stall'), report.layers.map((layer) =>
        percent(layer.matrix_unit.weight_stall_cycles / layer.cycles)));
    const bound = ({ bounds }) => Math.max(bounds.array, bounds.data_setup, bounds.weight_memory, bounds.host_link,
        bounds.activation);
    assert.deepEqual(await columnOf(view, 'bound'), report.layers.map((layer) => grouped(bound(layer))));
    assert.deepEqual(await columnOf(view, 'limit'), report.layers.map(({ bounds }, index) =>
        Object.keys(bounds).slice(1).find((name) => bounds[name] === bound(report.layers[index])).replace('_', ' ')));
    assert.equal(Number(await view.locator('[data-figure="Cycles over bounds"]').getAttribute('data-value')),
        report.bounds.ratio);

    const heading = view.locator('.tabulator-col[tabulator-field="cycles"]');
    const sorted = [...cycles].sort((a, b) => a - b);
    await view.locator('.tabulator-col[tabulator-field="name"]').click();
    assert.deepEqual(await columnOf(view, 'name'), [...names].sort());
    await heading.click();
    assert.deepEqual(await columnOf(view, 'cycles'), [...sorted].reverse().map(grouped));
    await heading.press('Enter'); // by key as by click
    assert.deepEqual(await columnOf(view, 'cycles'), sorted.map(grouped));

    await view.locator('#layer-filter').fill('DENSE');
    assert.deepEqual((await columnOf(view, 'name')).sort(), names.filter((name) => name.includes('dense')).sort());
    await view.locator('#layer-filter').fill('no such layer');
    assert.deepEqual(await columnOf(view, 'name'), []);
    await view.locator('#layer-filter').fill('');
    await view.getByLabel('Kind of layer').selectOption('convolution');
    assert.equal((await columnOf(view, 'name')).length,
        report.layers.filter(({ kind }) => kind === 'convolution').length);
});

test('the block diagram has every path with its use', async () => {
    const drawn = await view.locator('[data-path]').evaluateAll((paths) =>
        paths.map(({ dataset }) => [dataset.path, Number(dataset.utilization)]));
    assert.deepEqual(drawn, report.paths.map(({ from, to, utilization }) => [`${from}>${to}`, utilization]));
    assert.equal(drawn.length, 11);
    assert.equal(await view.locator('.machine [data-unit]').count(), 9);
});

const linesOf = (shown, unit) => shown.locator(`.machine [data-unit="${unit}"] text`).allTextContents();

test('the block diagram tells whole latencies, and what the unified buffer held at most', async () => {
    assert.ok((await linesOf(view, 'activation_unit')).includes('latency 1 cycle + 4.25 µs'));
    assert.ok((await linesOf(view, 'host_interface')).includes('latency 0 cycles'));
    const most = Math.max(...report.memory.over_time.unified_buffer_bytes);
    assert.ok(most < report.memory.unified_buffer_peak_bytes); // rows that were ever used: another figure
    assert.ok((await linesOf(view, 'unified_buffer')).includes(
        `${percent(most / report.memory.unified_buffer_bytes)} at peak`));
});

test('texts of the block diagram lie neither on each other nor on the border of a unit', async () => {
    const drawing = view.locator('#machine .scroll');
    assert.deepEqual(await textsOnEachOther(drawing), []);
    const crossing = await drawing.evaluate((element) => {
        const boxes = [...element.querySelectorAll('.unit > rect:first-child')].map((unit) => unit.getBoundingClientRect());
        const isApart = (text, unit) => text.right < unit.left || text.left > unit.right || text.bottom < unit.top
            || text.top > unit.bottom;
        const isInside = (text, unit) => text.left > unit.left && text.right < unit.right && text.top > unit.top
            && text.bottom < unit.bottom;
        return [...element.querySelectorAll('text')].filter((text) => {
            const its = text.getBoundingClientRect();
            return boxes.some((unit) => !isApart(its, unit) && !isInside(its, unit));
        }).map(({ textContent }) => textContent);
    });
    assert.deepEqual(crossing, []);
});

test('wrong pictures come first and say what they are', async () => {
    const captions = await view.locator('.picture figcaption').allInnerTexts();
    assert.equal(captions.length, report.pictures.pictures.length);
    assert.equal(await view.locator('.picture.wrong').count(), reports.wrongLabels.length);
    reports.wrongLabels.forEach((index, place) => {
        const picture = report.pictures.pictures[place];
        assert.equal(picture.index, index);
        assert.equal(captions[place].replaceAll(/\s+/g, ' '),
            `${picture.prediction} ${Math.round(100 * picture.probability)} % is ${picture.label}`);
    });
    const isPainted = await view.locator('.picture canvas').first().evaluate((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(data).size;
    });
    assert.ok(isPainted > 2);
});

test('the configuration is searched by key and value', async () => {
    await view.locator('#configuration-search').fill('depth_tiles');
    const rows = view.locator('#configuration tr:visible');
    assert.deepEqual(await rows.locator('th').allInnerTexts(), ['weight_fifo.depth_tiles']);
    assert.equal(await rows.locator('td').first().innerText(),
        String(report.configuration.machine.weight_fifo.depth_tiles));
});

test('the switch turns light to dark, charts included', async () => {
    const colours = () => view.evaluate(() => [getComputedStyle(document.body).backgroundColor,
        document.querySelector('.chart svg text').getAttribute('fill')]);
    const light = await colours();
    await view.locator('#theme').click();
    const dark = await colours();
    assert.notEqual(light[0], dark[0]);
    assert.notEqual(light[1], dark[1]);
    await view.locator('#theme').click();
    assert.deepEqual(await colours(), light);
});

test('all that said nothing on the console and asked nothing of the network', () => view.leave());

/// One page of two reports, and its comparison: the texts of each figure's row and the verdict on the second.
async function sideBySide(first, second) {
    const file = path.join(reports.output, `${path.basename(first)}_${path.basename(second)}.html`);
    reports.sim('report', first, second, '--out', file);
    const shown = await open(browser, file);
    const rows = await shown.locator('[aria-label="Figures"] tbody tr').evaluateAll((all) =>
        all.map((row) => [...row.cells].map(({ textContent }) => textContent)
            .concat(row.querySelector('td span')?.className ?? 'none')));
    const figures = Object.fromEntries(rows.map(([name, reference, other, verdict]) =>
        [name, { reference, other, verdict }]));
    return { shown, figures };
}

test('two reports stand side by side with what differs', async () => {
    const slow = reports.slowDigits();
    const { shown, figures } = await sideBySide(digits, slow);
    const its = reports.readReport(slow);
    assert.equal(figures.cycles.reference, `${grouped(report.cycles)} at 700 MHz`);
    assert.equal(figures.cycles.other, `${grouped(its.cycles)} at 350 MHz`);
    // At half the clock, slices take turns elsewhere, and some tiles are fetched once more.
    assert.ok(its.traffic.weight_bytes > report.traffic.weight_bytes);
    assert.match(figures['weight bytes'].other, /^[0-9.]+ MiB \+[0-9.]+ %$/);
    assert.equal(figures.inferences.other, `${grouped(its.inferences)} same`);
    const most = Math.max(...report.memory.over_time.unified_buffer_bytes);
    assert.equal(figures['unified buffer, peak'].reference, bytes(most));

    const keys = await shown.locator('[aria-label="Differing keys"] tbody tr').evaluateAll((all) =>
        all.map((row) => [...row.cells].map(({ textContent }) => textContent)));
    assert.deepEqual(keys.filter(([key]) => key.startsWith('machine.')),
        [['machine.clock_mhz', '700', '350'], ['machine.weight_fifo.depth_tiles', '4', '8']]);
    assert.deepEqual(await poorCharts(shown), []);

    await shown.getByRole('button', { name: 'slow_digits', exact: true }).click();
    await shown.waitForSelector(`[data-figure="Cycles"][data-value="${its.cycles}"]`);
    assert.equal(await shown.locator('#headline').count(), 1);
    await shown.leave();
});

test('at half the clock there are fewer cycles, which are not compared, and more time', async () => {
    const { shown, figures } = await sideBySide(digits, reports.slowDigits());
    assert.equal(figures.cycles.verdict, 'none');
    assert.match(await shown.locator('#comparison').innerText(), /Their clocks differ: layers are compared in time[^]*Time by layer/);
    const chart = shown.locator('#comparison .chart');
    await chart.focus();
    await chart.press('ArrowRight');
    assert.match(await tooltip(chart), /slow_digits [0-9.]+ [mµ]s, [0-9,]+ cycles at 350 MHz \+[0-9.]+ %/);
    for (const name of ['array active', 'weight stall', 'weight shift', 'non-matrix']) {
        assert.equal(figures[name].verdict, 'quiet', name);
    }
    assert.equal(figures.time.verdict, 'worse');
    assert.equal(figures.throughput.verdict, 'worse');
    await shown.leave();
});

test('shares differ by percentage points', async () => {
    const { shown, figures } = await sideBySide(digits, reports.narrowDigits());
    for (const name of ['array active', 'weight stall', 'weight shift', 'non-matrix']) {
        const [is, was] = [figures[name].other, figures[name].reference].map((text) => Number.parseFloat(text));
        const points = Number(/([+−][0-9.]+) points$/.exec(figures[name].other)[1].replace('−', '-'));
        assert.ok(Math.abs(points - (is - was)) < 0.16, `${name}: ${figures[name].other}`);
    }
    await shown.leave();
});

test('at one clock cycles and their classes have a verdict', async () => {
    const { shown, figures } = await sideBySide(digits, reports.narrowDigits());
    assert.equal(figures.cycles.verdict, 'worse');
    assert.equal(figures['weight stall'].verdict, 'worse');
    assert.equal(figures.time.verdict, 'worse');
    await shown.leave();
});

test('different numbers of inferences are compared for each of them', async () => {
    const few = reports.fewDigits();
    const its = reports.readReport(few);
    assert.ok(its.inferences < report.inferences);
    const { shown, figures } = await sideBySide(digits, few);
    assert.equal(figures.inferences.reference, grouped(report.inferences));
    assert.ok(figures.inferences.other.startsWith(grouped(its.inferences)));
    assert.equal(figures.inferences.verdict, 'quiet');
    for (const total of ['cycles', 'time', 'weight bytes']) assert.ok(!(total in figures), total);
    const each = (one) => one.cycles / one.inferences;
    assert.equal(figures['cycles an inference'].reference, grouped(each(report)));
    assert.equal(figures['cycles an inference'].verdict, each(its) > each(report) ? 'worse' : 'better');
    assert.equal(figures['time an inference'].verdict, figures['cycles an inference'].verdict);
    assert.equal(figures['weight bytes an inference'].reference, bytes(report.traffic.weight_bytes / report.inferences));
    await shown.leave();
});

test('what one of two reports does not have is one dash, and nothing is said of it', async () => {
    const { shown, figures } = await sideBySide(digits, reports.assembly());
    for (const name of ['inferences', 'throughput', 'accuracy']) {
        assert.deepEqual([figures[name].other, figures[name].verdict], [absent, 'none'], name);
    }
    assert.equal(figures.cycles.verdict, 'quiet'); // of other work
    await shown.leave();
});

test('differences are to the report that the reader chooses', async () => {
    const slow = reports.slowDigits();
    const { shown, figures } = await sideBySide(digits, slow);
    assert.ok(figures.time.other.includes('+'), figures.time.other);
    await shown.locator('#against').selectOption({ label: 'slow_digits' });
    const time = shown.locator('[aria-label="Figures"] tbody tr', { has: shown.locator('th', { hasText: /^time$/ }) });
    assert.ok((await time.locator('td').first().textContent()).includes('−'));
    assert.equal(await time.locator('td').last().locator('span').count(), 0);
    await shown.leave();

    const file = path.join(reports.output, 'against_second.html');
    reports.sim('report', digits, slow, '--against', '2', '--out', file);
    const other = await open(browser, file);
    assert.equal(await other.locator('#against').inputValue(), '1');
    await other.leave();
});

test('labels of the roofline lie on no other label and on no point', async () => {
    const folder = reports.altered(digits, 'crowded', (its) => {
        // Layers at almost one place.
        its.layers.forEach((layer, index) => {
            if (!layer.roofline) return;
            Object.assign(layer, { share: 0.2, achieved_tops: its.tops.achieved * (1 + 0.02 * index) });
            layer.roofline.macs_per_weight_byte = its.roofline.macs_per_weight_byte * (1 + 0.05 * index);
        });
    });
    const shown = await open(browser, path.join(folder, 'report.html'));
    const names = new Set([...reports.readReport(folder).layers.map(({ name }) => name), 'run']);
    const boxes = (await shown.locator('#roofline svg text').evaluateAll((all) => all.map((text) => {
        const { left, top, right, bottom } = text.getBoundingClientRect();
        return { name: text.textContent, left, top, right, bottom };
    }))).filter(({ name, top }, index, all) => names.has(name) && all.findIndex((each) => each.name === name && each.top === top) === index);
    // The legend also has a "run".
    const labels = boxes.filter(({ top }) => top > Math.min(...boxes.map((each) => each.top)) + 1 || boxes.length === 1);
    assert.ok(labels.length >= 2, JSON.stringify(boxes));
    for (const [index, a] of labels.entries()) {
        for (const b of labels.slice(index + 1)) {
            const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
            assert.ok(apart, `${a.name} lies on ${b.name}`);
        }
    }
    await shown.leave();
});

test('long names of layers show where they differ', async () => {
    const long = (index) => `a_model/with_a_long_name/block_${index}/separable_convolution/depthwise_of_it`;
    const folder = reports.altered(digits, 'long_names', (its) => its.layers.forEach((layer, index) => { layer.name = long(index); }));
    const shown = await open(browser, path.join(folder, 'report.html'));
    const texts = await shown.locator('[aria-label="Cycles of each layer by class"] svg text').evaluateAll((all) => all.map(({ textContent }) => textContent));
    const names = texts.filter((text) => text.includes('…'));
    assert.equal(names.length, reports.readReport(folder).layers.length, texts.join());
    assert.equal(new Set(names).size, names.length, names.join());
    names.forEach((name, index) => assert.match(name, new RegExp(`^….*block_${index}…$`)));
    await shown.leave();
});

test('a run of another network is neither better nor worse', async () => {
    const { shown, figures } = await sideBySide(digits, reports.convolutions());
    for (const [name, { verdict }] of Object.entries(figures)) {
        assert.ok(verdict === 'quiet' || verdict === 'none', `${name}: ${verdict}`);
    }
    await shown.leave();
});

/// Copies of the digits' report with other cycles, and the page of them all.
async function manyReports(count) {
    const folders = Array.from({ length: count }, (_, index) => reports.altered(digits, `run_${index}`, (its) => {
        its.cycles += 1000 * index;
        its.layers[0].cycles += 1000 * index;
        its.configuration.machine.weight_fifo.depth_tiles += index;
    }));
    const file = path.join(reports.output, `many_${count}.html`);
    reports.sim('report', ...folders, '--out', file);
    const shown = await open(browser, file);
    const screenshots = path.join(reports.output, 'screenshots');
    mkdirSync(screenshots, { recursive: true });
    const { y, height } = await shown.locator('#comparison').boundingBox();
    await shown.screenshot({ path: path.join(screenshots, `side_by_side_${count}.png`), fullPage: true,
        clip: { x: 0, y: 0, width: 1400, height: Math.ceil(y + height + 20) } });
    return shown;
}

test('four reports have a column each, and twenty a row each, in full', async () => {
    const four = await manyReports(4);
    assert.deepEqual(await four.locator('[aria-label="Figures"] thead th').allTextContents(),
        ['', 'run_0', 'run_1', 'run_2', 'run_3']);
    const isWhole = (region) => region.scrollWidth <= region.clientWidth;
    assert.ok(await four.locator('[aria-label="Figures"]').evaluate(isWhole));
    assert.deepEqual(await poorCharts(four), []);
    await four.leave();

    const twenty = await manyReports(20);
    const rows = twenty.locator('[aria-label="Figures"] tbody tr');
    assert.equal(await rows.count(), 20);
    assert.equal(await rows.last().locator('th').textContent(), 'run_19');
    assert.ok(await twenty.locator('[aria-label="Figures"]').evaluate(isWhole));
    assert.equal(await twenty.locator('[aria-label="Differing keys"] tbody tr').count(), 20);
    assert.deepEqual(await poorCharts(twenty), []);
    assert.equal(await twenty.evaluate(() => document.documentElement.scrollWidth), 1400);
    await twenty.leave();
});

test('a program without a network has a page, too', async () => {
    const shown = await open(browser, page(reports.assembly()));
    const columns = await shown.locator('.tabulator-col').evaluateAll((all) =>
        all.map((column) => column.getAttribute('tabulator-field')));
    assert.ok(columns.includes('tops') && !columns.includes('macs'), columns.join());
    assert.deepEqual(await poorCharts(shown), []);
    assert.equal(await shown.locator('#predictions').count(), 0);
    assert.equal(await shown.locator('#buffer-map').count() + await shown.locator('#memory').count(), 1);
    await shown.leave();
});

test('the bound of a weight-bound run is told, the peak is not called one', async () => {
    const meaning = (shown) => shown.locator('.card', { has: shown.locator('[data-figure="Performance"]') })
        .locator('.meaning').innerText();
    const shown = await open(browser, page(reports.convolutions()));
    const its = reports.readReport(reports.convolutions());
    assert.equal(its.roofline.bound_tops, its.tops.peak);
    assert.ok(!(await meaning(shown)).includes('weight bandwidth'));
    await shown.leave();
    const stalled = reports.narrowDigits();
    const { roofline: bound } = reports.readReport(stalled);
    const other = await open(browser, page(stalled));
    assert.ok((await meaning(other)).endsWith(`; at most ${si(bound.bound_tops * 1e12, 'OPS')} by weight bandwidth`));
    await other.leave();
});

test('a report that does not tell what was held when says which rows were ever used', async () => {
    const folder = reports.altered(digits, 'without_over_time', ({ memory }) => {
        delete memory.over_time;
    });
    const shown = await open(browser, page(folder));
    const { unified_buffer_peak_bytes: used, unified_buffer_bytes: all } = report.memory;
    assert.ok((await linesOf(shown, 'unified_buffer')).includes(`${percent(used / all)} ever used`));
    await shown.leave();
});

test('labels of the roofline do not lie on each other, and the run has one', async () => {
    for (const width of [1400, 400]) {
        const shown = await open(browser, page(reports.convolutions()), { width });
        const chart = shown.locator('#roofline .chart');
        assert.deepEqual(await textsOnEachOther(chart), []);
        const texts = await chart.locator('svg text').allTextContents();
        assert.equal(texts.filter((text) => text === 'run').length, 2); // in the legend and at its point
        await shown.leave();
    }
});

test('a network of 200 layers stays usable', async (context) => {
    const count = 200;
    const folder = reports.deep(count);
    const megabyte = 1e6;
    const size = statSync(page(folder)).size;
    assert.ok(size < 5 * megabyte, `${size} bytes`);
    const its = reports.readReport(folder);
    assert.ok(its.layers.length >= count);

    const shown = await open(browser, page(folder));
    const first = await shown.evaluate(() => performance.getEntriesByName('first chart')[0].startTime);
    context.diagnostic(`${(size / megabyte).toFixed(2)} MB; first chart after ${Math.round(first)} ms`);
    assert.deepEqual(await poorCharts(shown), []);
    const chart = shown.locator('#cycles .chart').nth(1);
    await chart.focus();
    for (const [key, place] of [['ArrowUp', its.layers.length - 1], ['ArrowUp', its.layers.length - 2],
        ['ArrowDown', its.layers.length - 1], ['ArrowDown', 0]]) { // beyond the rows that are shown at first
        const { name } = its.layers[place];
        await shown.keyboard.press(key);
        await chart.locator('.tip strong', { hasText: `${name} (` }).waitFor({ timeout: 5000 });
        // Drawn in a later frame than the tooltip.
        await chart.getByText(name, { exact: true }).first().waitFor({ state: 'attached', timeout: 5000 });
    }
    await shown.keyboard.press('Escape');
    await shown.locator('.tabulator-col[tabulator-field="cycles"]').click();
    const most = Math.max(...its.layers.map(({ cycles }) => cycles));
    assert.equal((await columnOf(shown, 'cycles'))[0], grouped(most));
    await shown.locator('#layer-filter').fill('layer_199');
    assert.deepEqual(await columnOf(shown, 'name'), ['layer_199']);
    assert.equal(await shown.locator('#why dd:visible').count(), 12);
    assert.equal(await shown.locator('#why dd').count(), its.layers.filter(({ cycles }) => cycles > 0).length);
    await shown.leave();
});

test('the headline has tokens a second, and names and work of the host that are alike as one', async () => {
    const folder = reports.altered(digits, 'sequence', (its) => {
        its.sequence = { unit: 'token', length: 128, per_second: 27352 };
        const layers = Array.from({ length: 24 }, (_, i) => ({ name: `layer.${i}.scores`, macs_per_inference: 7 }));
        its.host_share = { layers, text: 'layer.*.scores x24', macs_per_inference: 168, macs_share: 0.5, seconds: 0.1, seconds_share: 0.25 };
        its.host_operations = Array.from({ length: 24 }, (_, i) => segment(i + 1));
        its.repeated_host_work = [{ name: 'layer.*.scores', count: 24, seconds: 0.024, least_seconds: 0.0005,
            most_seconds: 0.002, share: 0.125, images: 1 }];
        its.host_at_least = false;
    });
    const shown = await open(browser, page(folder));
    assert.match(await shown.locator('.card', { hasText: 'Throughput' }).first().innerText(), /; 27,352 tokens a second, 128 an inference/);
    assert.match(await shown.locator('.host-share').innerText(), /not on the chip: layer\.\*\.scores x24\. Computing them takes 25\.0 %/);
    const works = (await shown.locator('.remarks li').allInnerTexts()).filter((text) => text.includes('in the times above'));
    assert.deepEqual(works, ['Work of the host, in the times above: layer.*.scores, 24 times 500 µs to 2.00 ms, together, 24.0 ms, '
        + '12.5 % of the run.']);
    await shown.leave();
});

test('layers that repeat are one row, which opens by click and by key', async () => {
    const folder = reports.encoder(8);
    const its = reports.readReport(folder);
    const [block] = its.repeated_layers;
    assert.equal(block.name, 'encoder.layer.*');
    const shown = await open(browser, page(folder));
    const table = shown.locator('#layers');
    const names = async () => (await columnOf(shown, 'name')).map((name) => name.replace(/^[+−]\s*/, ''));
    const outside = its.layers.slice(0, block.first).concat(its.layers.slice(block.first + block.layers * block.count))
        .map(({ name }) => name);
    assert.deepEqual((await names()).toSorted(), ['encoder.layer.* ×8', ...outside].toSorted());
    const row = table.locator('.tabulator-row', { hasText: 'encoder.layer.* ×8' });
    const cell = (field) => row.locator(`.tabulator-cell[tabulator-field="${field}"]`).innerText();
    assert.equal(await cell('cycles'), grouped(block.cycles));
    assert.equal(await cell('kind'), '2 layers');
    assert.equal(await cell('each'), block.least_cycles === block.most_cycles ? grouped(block.least_cycles)
        : `${grouped(block.least_cycles)} to ${grouped(block.most_cycles)}`);
    // The sums are those of the layers.
    const inside = its.layers.slice(block.first, block.first + block.layers * block.count);
    const sum = (valueOf) => inside.reduce((all, layer) => all + valueOf(layer), 0);
    assert.equal(await cell('stall'), percent(sum(({ matrix_unit: unit }) => unit.weight_stall_cycles) / block.cycles));
    assert.equal(block.cycles, sum(({ cycles }) => cycles));

    await row.locator('button').click();
    assert.ok((await names()).includes('encoder.layer.*.up.dense ×8'));
    assert.ok(!(await names()).includes('encoder.layer.3.up.dense'));
    await table.locator('.tabulator-row', { hasText: 'up.dense ×8' }).locator('button').press('Enter');
    assert.equal((await names()).filter((name) => name.endsWith('.up.dense')).length, 8);
    await table.locator('.tabulator-row', { hasText: 'encoder.layer.* ×8' }).locator('button').click();
    assert.ok(!(await names()).includes('encoder.layer.*.up.dense ×8'));

    // A filter finds layers in closed rows; without it, the rows are closed again.
    await shown.locator('#layer-filter').fill('layer.3.');
    assert.deepEqual(await names(), its.layers.map(({ name }) => name).filter((name) => name.includes('layer.3.')));
    assert.equal(await table.locator('output').innerText(), `2 of ${its.layers.length}`);
    await shown.locator('#layer-filter').fill('');
    assert.ok((await names()).includes('encoder.layer.* ×8'));
    await shown.leave();
});

test('light and dark, wide and narrow: nothing is wider than the window', async () => {
    const folder = path.join(reports.output, 'screenshots');
    mkdirSync(folder, { recursive: true });
    for (const colorScheme of ['light', 'dark']) {
        for (const width of [1400, 400]) {
            const shown = await open(browser, page(digits), { width, colorScheme });
            assert.equal(await shown.evaluate(() => document.documentElement.scrollWidth), width);
            const wide = await shown.locator('main section').evaluateAll((sections) =>
                sections.filter((section) => section.scrollWidth > section.clientWidth).map(({ id }) => id));
            assert.deepEqual(wide, []);
            await shown.screenshot({ path: path.join(folder, `${colorScheme}_${width}.png`), fullPage: true });
            await shown.leave();
        }
    }
});

test.after(() => browser.close());
