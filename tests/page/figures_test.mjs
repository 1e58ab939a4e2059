// Every number of the page is a figure of report.json, which tests/unit/sim/view/figures computes a second time from the
// counters of the run: those of the text, of the tables, of the tips, and the data of the charts. A number without a row
// fails, and so does a row that no page has.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import * as reports from './reports.mjs';
import { elementsIn, textsIn } from './small_document.mjs';

register('./page_stand_ins.mjs', import.meta.url);
const sections = {};
for (const name of ['headline', 'cycles', 'explanations', 'roofline', 'layers', 'machine', 'energy', 'memory',
    'buffer_map', 'predictions', 'accuracy', 'counters', 'requests']) {
    const made = await import(`../../sim/view/page/web/src/sections/${name}.js`);
    sections[name] = made[name === 'buffer_map' ? 'bufferMap' : name];
}

const figures = reports.dataOf(reports.narrowArray(), 'figures');
const partWords = reports.dataOf(reports.narrowArray(), 'part-words');
document.getElementById = (id) => ({ textContent: { figures, 'part-words': partWords }[id] });

const pages = [reports.narrowArray(), reports.hostSegments(), reports.assembly()].map(reports.readReport);
// As of a network of which the host does some multiply-accumulates.
pages[1].host_share = { layers: [{ name: 'weighted', macs_per_inference: 7 }], macs_per_inference: 7, macs_share: 0.0625,
    seconds: 1e-6, seconds_share: 0.375 };

// Numbers as they stand on the page.

const factors = { P: 1e15, T: 1e12, G: 1e9, M: 1e6, k: 1e3, m: 1e-3, 'µ': 1e-6, n: 1e-9, p: 1e-12 };
const unitOf = '%|×|[PTGMkmµnp]?(?:s|J|W|OPS|B/s)(?![A-Za-z])|inf/s|[KMGTP]iB|B(?![A-Za-z/])|[PTGMk](?![A-Za-z])';
const numberText = `(–|<?-?\\d[\\d,]*(?:\\.\\d+)?(?:e[-+]?\\d+)?)(?: ?(${unitOf}))?`;

function factorOf(unit) {
    if (!unit) return 1;
    if (unit === '%') return 0.01;
    if (unit.endsWith('iB')) return 1024 ** ('KMGTP'.indexOf(unit[0]) + 1);
    const hasPrefix = unit in factors || /^[PTGMkmµnp](s|J|W|OPS|B\/s)$/.test(unit);
    return hasPrefix ? factors[unit[0]] : 1;
}

/// A figure of a rough model: two digits of it are shown.
const rough = (figure) => (typeof figure === 'number' ? { rough: figure } : figure);

/// Whether a number with its unit shows a figure, which is rounded to the digits that stand there.
function shows(number, unit, figure) {
    if (figure?.rough !== undefined) {
        const value = Number(number.replaceAll(',', '')) * factorOf(unit);
        const digit = 10 ** (Math.floor(Math.log10(Math.max(figure.rough, value))) - 1);
        return Math.abs(value - figure.rough) <= 0.5000001 * digit;
    }
    if (typeof figure === 'string') return number === figure;
    if (figure === null || figure === undefined || number === '–') return number === '–' && (figure ?? null) === null;
    const factor = factorOf(unit);
    const plain = number.replace('<', '').replaceAll(',', '');
    const [mantissa, exponent = '0'] = plain.split('e');
    const half = 0.5 * 10 ** (Number(exponent) - (mantissa.split('.')[1] ?? '').length) * factor;
    if (number.startsWith('<')) return figure > 0 && figure < half;
    const value = Number(plain) * factor;
    const slack = 1e-9 * Math.abs(figure);
    const digits = mantissa.replace('.', '').replace(/^[-0]+/, '').length;
    return Math.abs(value - figure) <= half + slack
        && (digits >= 2 || mantissa.includes('.') || Math.abs(value - figure) <= slack);
}

const escaped = (text) => text.replaceAll(/[()[\]{}.*+?^$|\\/]/g, '\\$&');

/// A pattern of a text: `{}` stands for a number, `{=}` for a text of the report, `{~}` for words without digits.
function patternOf(text) {
    return new RegExp(`^${escaped(text.replaceAll('{}', '\u0001').replaceAll('{=}', '\u0002').replaceAll('{~}', '\u0003'))
        .replaceAll('\u0001', numberText).replaceAll('\u0002', '(.*?)()').replaceAll('\u0003', '[^0-9]*')}$`, 's');
}

/// The number of a text that is one; with the unit.
function parsed(text) {
    const match = new RegExp(`^${numberText}$`).exec(text.trim());
    return match && { number: match[1], unit: match[2] };
}

class Rows {
    constructor(rows) {
        this.rows = rows.map(([pattern, ...figures]) =>
            ({ pattern, regex: patternOf(pattern), figures, used: false, next: 0 }));
    }

    /// Another page begins: the first text of a row is again of the first element of its list.
    begin() {
        for (const row of this.rows) row.next = 0;
    }

    /// What is wrong with a text; undefined: nothing. Without an element, it is that of the next text of the row.
    fault(text, report, element, line) {
        if (!/\d/.test(text)) return undefined;
        let wrong = `no row says what is shown: ${text}`;
        for (const row of this.rows) {
            const match = row.regex.exec(text);
            if (!match) continue;
            const known = row.figures.map((figure) => figure(report, element ?? row.next, line));
            const bad = known.findIndex((figure, i) => !shows(match[2 * i + 1], match[2 * i + 2], figure));
            if (bad < 0) {
                row.used = true;
                ++row.next;
                return undefined;
            }
            wrong = `${text}: number ${bad} should show ${known[bad]} (${row.pattern})`;
        }
        return wrong;
    }

    unused() {
        return this.rows.filter(({ used }) => !used).map(({ pattern }) => pattern);
    }
}

// What the figures are, from report.json.

const over = (a, b) => (b > 0 ? a / b : null);
const batches = (r) => Math.ceil(r.inferences / r.batch);
const useful = ({ useful_macs: used, unused_macs: unused }) => over(used, used + unused);
const largest = ({ array, data_setup: setup, weight_memory: weights, host_link: link, activation }) =>
    Math.max(array, setup, weights, link, activation);
const segments = (r) => r.host_operations.filter(({ kind }) => kind === 'segment');
const left = (r) => r.host_operations.filter(({ kind }) => kind !== 'segment');
const best = (r, i) => {
    const { measured, expected } = r.comparison[i];
    return measured?.fp32 ?? expected ?? r.comparison[i];
};
const band = (of, key, end) => rough(of.band?.[key]?.[end]);
const wattBand = (of, key, end) => rough(of.band?.performance_per_watt?.[key]?.[end]);

/// Of each section, the texts outside of tables and charts. `i` is the element of a list that the text belongs to.
const texts = {
    headline: new Rows([
        ['{=} on {=}', (r) => r.model, (r) => r.machine],
        ['{} inferences in batches of {}', (r) => r.inferences, (r) => r.batch],
        ['{} inferences in {}', (r) => r.inferences, (r) => r.seconds],
        ['mean of {} batches, at most {}; from first byte in to last byte out', batches, (r) => r.latency_max_ms / 1000],
        ['of {} inferences; mean of {} batches', (r) => r.batch, batches],
        ['of {} inferences; mean of {} batches, the last of {}', (r) => r.batch, batches, (r) => r.inferences % r.batch],
        ['{} at {} MHz', (r) => r.seconds, (r) => r.configuration.machine.clock_mhz],
        ['{} of the peak of {}', (r) => r.tops.achieved / r.tops.peak, (r) => r.tops.peak * 1e12],
        ['{} of the peak of {}; at most {} by weight bandwidth', (r) => r.tops.achieved / r.tops.peak,
            (r) => r.tops.peak * 1e12, (r) => r.roofline.bound_tops * 1e12],
        ['of all cycles; {} of the array\'s cells then multiply for the network', (r) => useful(r.matrix_unit)],
        ['the cycles over the sum of the layers\' largest bounds; of the run: {~}, at least {} of the cycles; fill {}',
            (r) => largest(r.bounds) / r.cycles, (r) => r.bounds.fill],
        ['mean of the run; the chip alone {}', (r) => r.energy.die_watts],
        ['{} of {} right', (r) => r.accuracy * r.inferences, (r) => r.inferences],
        ['{} to {}; die against die, expected of its software; at least {}, against its fp32 roofline',
            (r, i) => band(best(r, i), 'speedup', 'least'), (r, i) => band(best(r, i), 'speedup', 'most'),
            (r, i) => rough(r.comparison[i].speedup)],
        ['die against die, measured, fp32; at least {}, against its fp32 roofline',
            (r, i) => rough(r.comparison[i].speedup)],
        ['whole servers by TDP; {} incremental, without the host\'s watts',
            (r, i) => rough(best(r, i).performance_per_watt.incremental)],
        ['{} to {}; whole servers by TDP; {} ({} to {}) incremental, without the host\'s watts',
            (r, i) => wattBand(best(r, i), 'total', 'least'), (r, i) => wattBand(best(r, i), 'total', 'most'),
            (r, i) => rough(best(r, i).performance_per_watt.incremental),
            (r, i) => wattBand(best(r, i), 'incremental', 'least'), (r, i) => wattBand(best(r, i), 'incremental', 'most')],
        ['In the comparison, {=} ({=}); the chip with its host does {} ({} to {}).', (r) => r.host_time.text,
            (r) => r.host_time.percent.source, (r) => rough(r.host_time.inferences_per_second),
            (r) => band(r.host_time, 'inferences_per_second', 'least'),
            (r) => band(r.host_time, 'inferences_per_second', 'most')],
        ['Work of the host, in the times above: {=}, {}, {} of the run.', (r, i) => segments(r)[i].layer,
            (r, i) => segments(r)[i].seconds, (r, i) => segments(r)[i].share],
        ['{} of the multiply-accumulates run on the host, not on the chip: {=}. Computing them takes {} of the time.',
            (r) => r.host_share.macs_share, (r) => r.host_share.layers[0].name, (r) => r.host_share.seconds_share],
        ['Left to the host, not in the times above: {=} ({=}), {}.', (r, i) => left(r)[i].kind,
            (r, i) => left(r)[i].layer, (r, i) => left(r)[i].seconds],
        ['The host is {=}.', (r) => r.host],
        ['Simulated in {}, with {} of memory.', (r) => r.simulator.wall_seconds, (r) => r.simulator.peak_rss_bytes],
    ]),
    requests: new Rows([
        ['with the host\'s {}: at most {} requests a second', (r) => r.requests.host_percent / 100,
            (r) => r.requests.capacity_per_second],
        ['at most {} requests a second', (r) => r.requests.capacity_per_second],
        ['it has the chip to itself; {} of one with another behind it', (r) => r.requests.latency_ms / 1000],
        ['at {} a second, {} of the most', (r) => r.requests.per_second, (r) => r.requests.load],
        ['{} requests in a batch, mean', (r) => r.requests.mean_batch],
        ['{} a second are more than the chip computes: the queue grows', (r) => r.requests.per_second],
        ['have 99 of 100 answers within {}, {} of the most; {} in the luckiest of several streams',
            (r) => r.requests.limit_ms / 1000, (r) => r.requests.most_per_second / r.requests.capacity_per_second,
            (r) => r.requests.most_per_second_high],
    ]),
    cycles: new Rows([]),
    explanations: new Rows([
        ['The run: {=}', (r) => r.explanation.text],
        ['{=} {}', (r, i) => explained(r)[i].name, (r, i) => explained(r)[i].share],
        ['{=}', (r, i) => explained(r)[i].explanation],
    ]),
    roofline: new Rows([
        ['Left of its ridge, at {} MACs a weight byte, the machine is bound by weight bandwidth; right of it by its '
            + 'peak of {}. A MAC counts two operations.{~}Baselines compute in fp32, four bytes a weight.',
        (r) => r.roofline.ridge_macs_per_weight_byte, (r) => r.tops.peak * 1e12],
    ]),
    layers: new Rows([]),
    machine: new Rows([]),
    energy: new Rows([
        ['{} in the run, {} on average. {~}', (r) => r.energy.joules, (r) => r.energy.watts],
        ['Note: {=}.', (r, i) => r.energy.notes[i]],
    ]),
    memory: new Rows([
        ['Memory counts from the first write of a value to its last read; a weight tile holds its place from the issue '
            + 'of its fetch until it has been shifted out. Each point is the peak of {} cycles.',
        (r) => r.memory.over_time.window_cycles],
        ['{}, not used', (r) => r.memory.unified_buffer_bytes],
        ['at most {} of {}, {}', (r) => Math.max(...r.memory.over_time.unified_buffer_bytes),
            (r) => r.memory.unified_buffer_bytes,
            (r) => Math.max(...r.memory.over_time.unified_buffer_bytes) / r.memory.unified_buffer_bytes],
        ['at most {} of {}, {}; the capacity lies above this chart',
            (r) => Math.max(...r.memory.over_time.unified_buffer_bytes), (r) => r.memory.unified_buffer_bytes,
            (r) => Math.max(...r.memory.over_time.unified_buffer_bytes) / r.memory.unified_buffer_bytes],
        ...['', '; the capacity lies above this chart'].map((end) => [`at most {} rows of {} rows, {}${end}`,
            (r) => Math.max(...r.memory.over_time.accumulator_rows), (r) => r.configuration.machine.accumulators.rows,
            (r) => Math.max(...r.memory.over_time.accumulator_rows) / r.configuration.machine.accumulators.rows]),
        ['at most {} tiles of {} tiles, {}', (r) => Math.max(...r.memory.over_time.weight_fifo_tiles),
            (r) => r.configuration.machine.weight_fifo.depth_tiles,
            (r) => Math.max(...r.memory.over_time.weight_fifo_tiles) / r.configuration.machine.weight_fifo.depth_tiles],
    ]),
    buffer_map: new Rows([
        ['{~}Rows {} to {} were never used. {~}', (r) => lastRow(r),
            (r) => r.configuration.machine.unified_buffer.rows - 1],
    ]),
    predictions: new Rows([
        ['{} right, {} wrong, the wrong ones first; {} pictures, {} left out. {~}', (r) => r.accuracy * r.inferences,
            (r) => r.inferences - r.accuracy * r.inferences, (r) => r.pictures.pictures.length, (r) => r.pictures.left_out],
        ['{} {}', (r, i) => r.pictures.pictures[i].prediction, (r, i) => r.pictures.pictures[i].probability],
        ['is {}', (r, i) => r.pictures.pictures[i].label],
    ]),
    accuracy: new Rows([['Show {} layers', (r) => r.accuracy_by_layer.length]]),
    counters: new Rows([]),
};

const lastRow = (r) => Math.max(...r.memory.unified_buffer_map.values.flatMap(({ steps }) =>
    steps.map(({ first_row: first, rows }) => first + rows)));

const explained = (r) => r.layers.filter(({ cycles, explanation }) => cycles > 0 && explanation)
    .sort((a, b) => b.cycles - a.cycles);

/// The cells of each table behind the first column: a figure, a text, or a list of numbers in the cell.
const tables = {
    Baselines: (r) => r.comparison.map((its) => {
        const known = its.expected ?? its;
        const ends = (of) => (of ? [of.least, of.most] : []);
        return [its.inferences_per_second, [its.speedup, ...ends(its.band.speedup)],
            its.expected ? [its.expected.inferences_per_second, ...ends(its.expected.band.inferences_per_second)] : null,
            its.expected ? [its.expected.speedup, ...ends(its.expected.band.speedup)] : null,
            [known.performance_per_watt.total, ...ends(known.band.performance_per_watt.total)],
            [known.performance_per_watt.incremental, ...ends(known.band.performance_per_watt.incremental)]]
            .map((cell) => (cell === null ? null : [cell].flat().map(rough)));
    }),
    'Accuracy by layer': (r) => r.accuracy_by_layer.map(({ kind, decibels, lost_decibels: lost, clipped, numbers }) =>
        [kind, decibels, lost, clipped === 0 ? null : clipped / numbers]),
    'changes that were simulated': (r) => r.explanation.what_ifs.map(({ speedup, settings }) =>
        [speedup, settings.map((setting) => `--set ${setting}`).join(' ')]),
};

function counterTable(r, label) {
    const key = Object.keys(r.units).find((name) => name.replaceAll('_', ' ') === label);
    return Object.entries(r.units[key]).map(([name, value]) =>
        [value, name.endsWith('_cycles') ? value / r.cycles : '']);
}

/// The columns of the layers' table.
const layerColumns = {
    number: (layer, r) => r.layers.indexOf(layer) + 1,
    name: ({ name }) => name,
    kind: ({ kind }) => kind.replaceAll('_', ' ') || '–',
    cycles: ({ cycles }) => cycles,
    share: ({ cycles }, r) => cycles / r.cycles,
    active: ({ matrix_unit: its, cycles }) => over(its.active_cycles, cycles),
    stall: ({ matrix_unit: its, cycles }) => over(its.weight_stall_cycles, cycles),
    shift: ({ matrix_unit: its, cycles }) => over(its.weight_shift_cycles, cycles),
    other: ({ matrix_unit: its, cycles }) => over(its.non_matrix_cycles, cycles),
    used: ({ matrix_unit: its }) => useful(its),
    bound: ({ bounds }) => largest(bounds) || null,
    ratio: ({ bounds, cycles }) => (bounds.ratio === null ? null : cycles / largest(bounds)),
    macs: ({ macs_per_inference: macs }) => macs,
    weights: ({ weight_bytes: weights }) => weights,
    intensity: (layer) => layer.roofline?.macs_per_weight_byte ?? null,
    tops: (layer) => (layer.achieved_tops === null ? null : layer.achieved_tops * 1e12),
    joules: (layer) => layer.energy?.joules ?? null,
};
/// Columns of words: what limits a layer, and why it waits.
const reasonNames = { raw: 'RAW', setup: 'data setup' };
const layerWords = {
    reason: ({ matrix_unit: { non_matrix_reasons: reasons } }) => {
        const [[key, most]] = Object.entries(reasons).sort(([, a], [, b]) => b - a);
        const name = key.replace('_cycles', '');
        return most === 0 ? '–' : reasonNames[name] ?? name.replaceAll('_', ' ');
    },
    limit: ({ bounds }) => {
        const most = largest(bounds);
        if (most === 0) return '–';
        return ['array', 'data_setup', 'weight_memory', 'host_link', 'activation'].find((key) => bounds[key] === most)
            .replace('_', ' ');
    },
};

/// The data of each chart by series, and the rows of its tips. `i` is the index of the tip.
const classNames = { 'array active': 'active_cycles', 'weight stall': 'weight_stall_cycles',
    'weight shift': 'weight_shift_cycles', 'non-matrix': 'non_matrix_cycles' };
const parts = (its) => {
    const used = useful(its) ?? 0;
    return { 'active: useful MACs': its.active_cycles * used, 'active: unused cells': its.active_cycles * (1 - used),
        'weight stall': its.weight_stall_cycles, 'weight shift': its.weight_shift_cycles,
        'non-matrix': its.non_matrix_cycles };
};
const sortedReasons = (its) => Object.entries(its.non_matrix_reasons).filter(([, cycles]) => cycles > 0)
    .map(([key, cycles]) => ({ key, cycles })).sort((a, b) => b.cycles - a.cycles);
const withEnd = (r, values, step) => [...values.map((value, i) => [i * step, value]), [r.cycles, values.at(-1)]];
const units = (r) => Object.keys(r.energy.by_unit);
const inWords = (key) => key.replaceAll('_', ' ');
const unitRows = (each) => ['chip_static', 'matrix_unit', 'accumulators', 'unified_buffer', 'weight_fifo',
    'activation_unit', 'host_interface', 'sequencer', 'weight_memory'].map((name) => each(name));
const points = (r) => r.layers.filter(({ roofline, achieved_tops: tops }) => roofline && tops > 0);

const charts = {
    'Cycles of the run by class': {
        data: (r) => {
            const reasons = sortedReasons(r.matrix_unit);
            const padded = (value) => [value, ...reasons.map(() => 0)];
            const entries = Object.entries(parts(r.matrix_unit)).map(([name, value]) => [name, padded(value)]);
            return { ...Object.fromEntries(entries),
                'reasons for non-matrix': [0, ...reasons.map(({ cycles }) => cycles)] };
        },
        tips: new Rows([
            ['run: {} cycles', (r) => r.cycles],
            ...Object.entries(classNames).map(([name, key]) =>
                [`${name} {} · {}`, (r) => r.matrix_unit[key], (r) => r.matrix_unit[key] / r.cycles]),
            ['· {~} {} · {}', (r, i, line) => sortedReasons(r.matrix_unit)[line - 5].cycles,
                (r, i, line) => sortedReasons(r.matrix_unit)[line - 5].cycles / r.cycles],
            ['cells used when active {}', (r) => useful(r.matrix_unit)],
            ['non-matrix {} · {}', (r, i) => sortedReasons(r.matrix_unit)[i - 1].cycles,
                (r, i) => sortedReasons(r.matrix_unit)[i - 1].cycles / r.cycles],
        ]),
        count: (r) => 1 + sortedReasons(r.matrix_unit).length,
    },
    'Cycles of each layer by class': {
        data: (r) => Object.fromEntries(Object.keys(parts(r.matrix_unit)).map((name) =>
            [name, r.layers.map((layer) => parts(layer.matrix_unit)[name])])),
        tips: new Rows([
            ['{=} ({~}): {} cycles', (r, i) => r.layers[i].name, (r, i) => r.layers[i].cycles],
            ...Object.entries(classNames).map(([name, key]) => [`${name} {} · {}`, (r, i) => r.layers[i].matrix_unit[key],
                (r, i) => over(r.layers[i].matrix_unit[key], r.layers[i].cycles)]),
            ['· {~} {} · {}', (r, i, line) => sortedReasons(r.layers[i].matrix_unit)[line - 5].cycles,
                (r, i, line) => over(sortedReasons(r.layers[i].matrix_unit)[line - 5].cycles, r.layers[i].cycles)],
            ['cells used when active {}', (r, i) => useful(r.layers[i].matrix_unit) ?? 0],
        ]),
        count: (r) => r.layers.length,
    },
    'Energy by unit': {
        data: (r) => ({ undefined: Object.values(r.energy.by_unit).filter((joules) => joules > 0).sort((a, b) => b - a) }),
        tips: new Rows([
            ['in the run {}', (r, i) => Object.values(r.energy.by_unit).sort((a, b) => b - a)[i]],
            ['of all {}', (r, i) => Object.values(r.energy.by_unit).sort((a, b) => b - a)[i] / r.energy.joules],
        ]),
        count: (r) => Object.values(r.energy.by_unit).filter((joules) => joules > 0).length,
    },
    'Energy of each layer by unit': {
        data: (r) => Object.fromEntries(units(r).filter((name) => r.layers.some(({ energy }) => energy.by_unit[name] > 0))
            .map((name) => [inWords(name), r.layers.map(({ energy }) => energy.by_unit[name])])),
        tips: new Rows([
            ['{=}: {}', (r, i) => r.layers[i].name, (r, i) => r.layers[i].energy.joules],
            ...unitRows((name) => [`${inWords(name)} {} · {}`, (r, i) => r.layers[i].energy.by_unit[name],
                (r, i) => over(r.layers[i].energy.by_unit[name], r.layers[i].energy.joules)]),
        ]),
        count: (r) => r.layers.length,
    },
    'Power over time by unit': {
        data: (r) => Object.fromEntries(units(r).map((name) => [inWords(name),
            withEnd(r, r.energy.power_over_time.watts[name], r.energy.power_over_time.window_cycles)])),
        tips: new Rows([
            ['from cycle {}', (r, i) => i * r.energy.power_over_time.window_cycles],
            ...unitRows((name) => [`${inWords(name)} {}`, (r, i) => r.energy.power_over_time.watts[name][i]]),
        ]),
        count: (r) => r.energy.power_over_time.watts.chip_static.length,
    },
    ...Object.fromEntries([['Unified buffer', 'unified_buffer_bytes', '', (r) => r.memory.unified_buffer_bytes],
        ['Accumulators', 'accumulator_rows', ' rows', (r) => r.configuration.machine.accumulators.rows],
        ['Weight FIFO', 'weight_fifo_tiles', ' tiles', (r) => r.configuration.machine.weight_fifo.depth_tiles]]
        .map(([name, key, what, capacity]) => [`${name} over time`, {
            data: (r) => ({ undefined: withEnd(r, r.memory.over_time[key], r.memory.over_time.window_cycles) }),
            tips: new Rows([
                ['from cycle {}', (r, i) => i * r.memory.over_time.window_cycles],
                [`at most {}${what}`, (r, i) => r.memory.over_time[key][i]],
                ['of capacity {}', (r, i) => r.memory.over_time[key][i] / capacity(r)],
            ]),
            count: (r) => r.memory.over_time[key].length,
        }])),
    'Unified-buffer map: rows over cycles': {
        data: (r) => ({ undefined: r.memory.unified_buffer_map.values.map(({ steps }) =>
            [Math.min(...steps.map(({ begin }) => begin)), Math.max(...steps.map(({ end }) => end)), steps[0].first_row,
                steps.at(-1).first_row + steps.at(-1).rows]) }),
        tips: new Rows([
            ['{=}', (r, i) => r.memory.unified_buffer_map.values[i].name],
            ['rows {} to {}', (r, i) => mapped(r, i)[2], (r, i) => mapped(r, i)[3] - 1],
            ['size {}', (r, i) => (mapped(r, i)[3] - mapped(r, i)[2]) * r.configuration.machine.matrix_unit.rows],
            ['cycles {} to {}', (r, i) => mapped(r, i)[0], (r, i) => mapped(r, i)[1]],
            ['lived {} cycles', (r, i) => mapped(r, i)[1] - mapped(r, i)[0]],
        ]),
        count: (r) => r.memory.unified_buffer_map.values.length,
    },
};
const mapped = (r, i) => charts['Unified-buffer map: rows over cycles'].data(r).undefined[i];

/// Numbers of a chart's data, whatever else a mark has.
function plain(data) {
    return data.map((mark) => (mark !== null && typeof mark === 'object' && !Array.isArray(mark) ? mark.value : mark));
}

/// The large figures, by name.
const cards = {
    Throughput: (r) => r.inferences_per_second,
    Latency: (r) => r.latency_ms / 1000,
    'A batch every': (r) => r.seconds / batches(r),
    Cycles: (r) => r.cycles,
    Performance: (r) => r.tops.achieved * 1e12,
    'Array active': (r) => r.matrix_unit.active_cycles / r.cycles,
    'Cycles over bounds': (r) => r.bounds.ratio,
    Energy: (r) => r.energy.joules_per_inference ?? r.energy.joules,
    Power: (r) => r.energy.joules / r.seconds,
    Accuracy: (r) => r.accuracy,
    'A step with its host': (r) => r.feeding.step_ms / 1000,
    'Waits for input': (r) => r.feeding.wait_ms / (r.feeding.chip_ms + r.feeding.wait_ms),
    'Examples a second': (r) => 1000 * r.feeding.examples / r.feeding.step_ms,
};
const cardsOfRequests = {
    'A batch every': (r) => r.requests.interval_ms / 1000,
    'Latency of a batch alone': (r) => r.requests.alone_ms / 1000,
    '50 of 100 within': (r) => r.requests.p50_ms / 1000,
    '99 of 100 within': (r) => (r.requests.p99_ms === null ? null : r.requests.p99_ms / 1000),
    Requests: (r) => r.requests.most_per_second,
};
const cardsOfBaselines = {
    'Speedup over': (r, i) => rough(best(r, i).speedup),
    'Performance/W over': (r, i) => rough(best(r, i).performance_per_watt.total),
};

/// The lines of each unit of the block diagram, and its bar.
const array = (r) => r.configuration.machine.matrix_unit;
const keys = (r) => r.configuration.machine;
const peak = (r) => Math.max(...r.memory.over_time.unified_buffer_bytes);
const unitsOfMachine = {
    sequencer: new Rows([['{} instructions', (r) => r.instructions],
        ['buffer of {}', (r) => keys(r).sequencer.instruction_buffer_bytes],
        ['{} busy', (r) => r.units.sequencer.busy_cycles / r.cycles]]),
    host_interface: new Rows([['in {}, out {}', (r) => keys(r).host_interface.read_gb_per_s * 1e9,
        (r) => keys(r).host_interface.write_gb_per_s * 1e9],
    ['latency {} cycles', (r) => keys(r).host_interface.latency_cycles],
    ['{} reading', (r) => r.units.host_read.busy_cycles / r.cycles]]),
    unified_buffer: new Rows([['{}, rows of {}', (r) => keys(r).unified_buffer.rows * array(r).rows, (r) => array(r).rows],
        ['{} ports to read, {} to write', (r) => keys(r).unified_buffer.read_ports,
            (r) => keys(r).unified_buffer.write_ports],
        ['{} at peak', (r) => peak(r) / (keys(r).unified_buffer.rows * array(r).rows)]]),
    systolic_data_setup: new Rows([['{} fetch a cycle', (r) => keys(r).systolic_data_setup.fetches_per_cycle],
        ['{} busy', (r) => r.units.systolic_data_setup.busy_cycles / r.cycles]]),
    weight_memory: new Rows([['{}', (r) => keys(r).weight_memory.bytes],
        ['{}', (r) => keys(r).weight_memory.bandwidth_gb_per_s * 1e9],
        ['{} filled', (r) => r.memory.weight_memory_used_bytes / keys(r).weight_memory.bytes]]),
    weight_fifo: new Rows([['{} tiles of {}', (r) => keys(r).weight_fifo.depth_tiles,
        (r) => array(r).rows * array(r).columns]]),
    matrix_unit: new Rows([['{} × {} at {} MHz', (r) => array(r).rows, (r) => array(r).columns, (r) => keys(r).clock_mhz],
        ['peak {}', (r) => 2 * array(r).rows * array(r).columns * keys(r).clock_mhz * 1e6],
        ['{} active', (r) => r.matrix_unit.active_cycles / r.cycles]]),
    accumulators: new Rows([['{} rows of {} × 32 bit', (r) => keys(r).accumulators.rows, (r) => array(r).columns],
        ['{} banks, {} ports', (r) => keys(r).accumulators.banks, (r) => keys(r).accumulators.ports]]),
    activation_unit: new Rows([['latency {} cycle + {}', (r) => keys(r).activation_unit.latency_cycles,
        (r) => keys(r).activation_unit.latency_ns * 1e-9],
    ['{} busy', (r) => r.units.activation_unit.busy_cycles / r.cycles]]),
};

/// The paths of the block diagram: a tip, the share, and the amount.
const moved = (r, i) => r.paths[i].moved;
const utilization = (r, i) => r.paths[i].utilization;
const pathTexts = new Rows([
    ...[' rows', ' row passes', ''].map((what) => [`{=} to {=}: {}${what}, {} of the most that the path could move`,
        (r, i) => r.paths[i].from, (r, i) => r.paths[i].to, moved, utilization]),
    ...[' rows', ' row passes', ''].map((what) => [`{}${what}`, moved]),
    ['{}', utilization],
]);

/// The element without some of those in it.
function without(element, apart) {
    const copy = Object.assign(Object.create(Object.getPrototypeOf(element)), element);
    copy.children = element.children.filter((child) => !apart.has(child))
        .map((child) => (child.children ? without(child, apart) : child));
    return copy;
}

/// All faults of a page's section.
function faultsOf(name, section, report) {
    const faults = [];
    const note = (fault) => fault && faults.push(fault);
    const all = elementsIn(section);
    const inside = (kind) => all.filter(({ attributes }) => (attributes.class ?? '').split(' ').includes(kind));
    const regions = all.filter(({ tag, children }) => tag === 'div' && children.some((child) => child.tag === 'table'));
    const apart = new Set([...inside('card'), ...inside('unit'), ...inside('path'), ...regions]);
    texts[name].begin();
    for (const text of textsIn(without(section, apart))) note(texts[name].fault(text, report));
    for (const card of inside('card')) {
        const [title, figure, meaning = ''] = card.children.map(({ textContent }) => textContent);
        const baseline = report.comparison.findIndex((its) => title.endsWith(` over ${its.baseline}`));
        const key = baseline < 0 ? title : title.slice(0, title.length - report.comparison[baseline].baseline.length - 1);
        const ofSection = name === 'requests' ? cardsOfRequests : cards;
        if (ofSection === cards) usedCards.add(title);
        const meant = (baseline < 0 ? ofSection : cardsOfBaselines)[key];
        const { number, unit: its } = parsed(figure.replace(/ \/s$/, '')) ?? {};
        if (!meant || !number || !shows(number, its, meant(report, baseline))) note(`${title}: ${figure}`);
        note(texts[name].fault(meaning, report, Math.max(baseline, 0)));
    }
    for (const box of inside('unit')) {
        const rows = unitsOfMachine[box.attributes['data-unit']];
        for (const line of textsIn(box)) note(rows.fault(line, report));
    }
    inside('path').forEach((drawn, index) => {
        for (const text of textsIn(drawn)) note(pathTexts.fault(text, report, index));
    });
    for (const region of regions) note(faultOfTable(region, report));
    const place = all.find(({ tabulator }) => tabulator);
    if (place) faultsOfLayers(place.tabulator, report).forEach(note);
    for (const { chart } of all.filter((each) => each.chart)) faultsOfChart(chart, report).forEach(note);
    return faults;
}

const usedTables = new Set();
const usedCards = new Set();

function faultOfTable(region, report) {
    const label = region.attributes['aria-label'];
    const expected = tables[label]?.(report) ?? counterTable(report, label);
    usedTables.add(label);
    const rows = elementsIn(region).filter(({ tag }) => tag === 'tr').slice(1);
    if (rows.length !== expected.length) return `${label}: ${rows.length} rows`;
    for (const [i, row] of rows.entries()) {
        const cells = row.children.filter(({ tag }) => tag === 'td');
        if (cells.length !== expected[i].length) return `${label}: ${cells.length} cells`;
        for (const [j, cell] of cells.entries()) {
            const wanted = [expected[i][j]].flat();
            const text = cell.textContent;
            if (wanted.length === 1 && typeof wanted[0] === 'string') {
                if (text !== wanted[0]) return `${label}: ${text} should be ${wanted[0]}`;
                continue;
            }
            const numbers = [...text.matchAll(new RegExp(numberText, 'g'))];
            const bad = numbers.length !== wanted.length
                || numbers.some(([, number, its], k) => !shows(number, its, wanted[k]));
            if (bad) return `${label}, row ${i}: ${text} should show ${wanted}`;
        }
    }
    return undefined;
}

const usedColumns = new Set();

function faultsOfLayers({ columns, data }, report) {
    const faults = [];
    for (const { field, formatter } of columns) {
        usedColumns.add(field);
        data.forEach((row, i) => {
            const text = formatter({ getValue: () => row[field], getData: () => row }).textContent;
            const layer = report.layers[i];
            const wanted = (layerWords[field] ?? layerColumns[field])?.(layer, report);
            const { number, unit: its } = typeof wanted === 'string' ? { number: text } : parsed(text) ?? {};
            if (wanted === undefined || !number || !shows(number, its, wanted)) {
                faults.push(`${layer.name}: ${field}: ${text} should show ${wanted}`);
            }
        });
    }
    return faults;
}

const usedCharts = new Set();

function faultsOfChart({ label, option }, report) {
    const faults = [];
    const meant = charts[label];
    if (label.startsWith('Roofline')) return faultsOfRoofline(option, report);
    if (!meant) return [`no row says what ${label} shows`];
    usedCharts.add(label);
    const { series, tooltip } = option({ scheme: 'light' }, 1400);
    const data = meant.data(report);
    for (const each of series) {
        const wanted = data[each.name];
        if (wanted === undefined) faults.push(`${label}: no row for ${each.name}`);
        else if (!isClose(plain(each.data), wanted)) faults.push(`${label}: ${each.name}`);
    }
    for (let i = 0; i < meant.count(report); ++i) {
        const params = tooltip.trigger === 'item' ? { dataIndex: i } : [{ dataIndex: i }];
        const { title, lines } = tooltip.formatter(params);
        faults.push(meant.tips.fault(title, report, i));
        lines.forEach(([text, value], line) => faults.push(meant.tips.fault(`${text} ${value}`, report, i, line + 1)));
    }
    return faults.filter(Boolean).map((fault) => `${label}: ${fault}`);
}

/// The points of the roofline: the run, its layers, and each baseline's bound and expected figure.
function pointsOf(report) {
    const made = new Map(points(report).map((layer) => [layer.name, { at: [layer.roofline.macs_per_weight_byte,
        layer.achieved_tops], bound: layer.roofline.bound_tops, share: layer.cycles / report.cycles }]));
    made.set('run', { at: [report.roofline.macs_per_weight_byte, report.tops.achieved],
        bound: report.roofline.bound_tops });
    for (const { baseline, roofline, expected } of report.comparison) {
        const bound = roofline.bound_tops;
        made.set(`${baseline}, at most`, { at: [roofline.macs_per_weight_byte, bound], bound, isRough: true });
        if (!expected) continue;
        const ends = expected.band.inferences_per_second;
        const each = expected.tops / expected.inferences_per_second;
        made.set(`${baseline}, expected`, { at: [roofline.macs_per_weight_byte, expected.tops], bound, isRough: true,
            band: ends && [ends.least * each, ends.most * each] });
    }
    return made;
}

/// Baselines are those of rough models.
const shown = ({ isRough }, figure) => (isRough ? rough(figure) : figure);

const pointTips = new Rows([
    ['{=}', (r, p) => p.name],
    ['MACs a weight byte {}', (r, p) => p.at[0]],
    ['performance {}', (r, p) => shown(p, p.at[1] * 1e12)],
    ['at most here {}', (r, p) => shown(p, p.bound * 1e12)],
    ['from least to most {} to {} TOPS', (r, p) => rough(p.band[0]), (r, p) => rough(p.band[1])],
    ['of that {}', (r, p) => shown(p, p.at[1] / p.bound)],
    ['of the run\'s cycles {}', (r, p) => p.share],
]);

function faultsOfRoofline(option, report) {
    usedCharts.add('Roofline');
    const faults = [];
    const { series, tooltip } = option({ scheme: 'light' }, 1400);
    const wanted = pointsOf(report);
    let seen = 0;
    for (const { type, data } of series) {
        if (type !== 'scatter') continue;
        for (const mark of data) {
            const point = wanted.get(mark.name);
            ++seen;
            if (!point || !isClose(mark.value, point.at)) {
                faults.push(`Roofline: ${mark.name} is at ${mark.value}, and should be at ${point?.at}`);
                continue;
            }
            const { title, lines } = tooltip.formatter({ data: mark });
            for (const text of [title, ...lines.map((line) => line.join(' '))]) {
                faults.push(pointTips.fault(text, report, { name: mark.name, ...point }));
            }
        }
    }
    if (seen !== wanted.size) faults.push(`Roofline: ${seen} points of ${wanted.size}`);
    // The roofs: on each line, performance is the lesser of peak and slope.
    const roofs = [report.roofline, ...report.comparison.map(({ roofline }) => roofline)];
    for (const { type, data, name: its } of series) {
        if (type !== 'line') continue;
        const isRoof = ({ peak_tops: most, ridge_macs_per_weight_byte: ridge }) => isClose(data.map((each) => each[1]),
            data.map(([x]) => Math.min(most, most * x / ridge)));
        if (!roofs.some(isRoof)) faults.push(`Roofline: the line ${its}`);
    }
    return faults.filter(Boolean);
}

function isClose(actual, expected) {
    const [a, b] = [actual, expected].map((list) => list.flat());
    return a.length === b.length
        && a.every((value, i) => Math.abs(value - b[i]) <= 1e-9 * Math.max(Math.abs(b[i]), 1e-12));
}

for (const report of pages) {
    test(`every number of the page of ${report.model} on ${report.machine} is a figure of its report`, () => {
        for (const [name, make] of Object.entries(sections)) {
            for (const section of [make(report)].flat()) {
                if (section) assert.deepEqual(faultsOf(name, section, report), [], name);
            }
        }
    });
}

test('every row that says what a number of the page shows is of some page', () => {
    const rows = { ...texts, ...unitsOfMachine, paths: pathTexts, points: pointTips,
        ...Object.fromEntries(Object.entries(charts).map(([label, { tips }]) => [label, tips])) };
    for (const [name, each] of Object.entries(rows)) assert.deepEqual(each.unused(), [], name);
    assert.deepEqual(Object.keys(charts).filter((label) => !usedCharts.has(label)), []);
    assert.deepEqual(Object.keys(tables).filter((label) => !usedTables.has(label)), []);
    const ofTiles = ['Cold latency', 'Warm latency', 'Tiles busy', 'Energy of a warm call']; // tiles_test.mjs
    assert.deepEqual(JSON.parse(figures).map(({ title }) => title).filter((title) => !usedCards.has(title)), ofTiles);
    const fields = Object.keys({ ...layerColumns, ...layerWords });
    assert.deepEqual(fields.filter((field) => !usedColumns.has(field)), []);
});
