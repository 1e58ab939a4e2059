// Compares several reports: figures, layers, and differences of their configurations.
import { chart, legend, nameAxis, rowTip, rowZoom, tip, valueAxis } from '../chart.js';
import { h, mainSection, table } from '../dom.js';
import { absent, bytes, difference, grouped, percent, ratio, si, times } from '../format.js';
import { colourOf, fillOf } from '../palette.js';
import { flatten } from './configuration.js';
import { bufferUse } from './memory.js';

/// The properties that reports must share for their figures to be comparable.
function commonOf(reports) {
    const areSame = (read) => reports.every(({ report }) => read(report) === read(reports[0].report));
    const sameWork = areSame((r) => r.inferences);
    return {
        sameClock: areSame((r) => r.configuration.machine.clock_mhz),
        sameWork,
        /// Totals of different numbers of inferences are compared for each of them, if all have some.
        eachInference: !sameWork && reports.every(({ report }) => report.inferences > 0),
        heldKnown: reports.every(({ report }) => bufferUse(report).isHeld),
    };
}

/// A total of the run, or its part of one inference where the reports differ in their number.
const totalOf = ({ eachInference }, read) => (r) => (eachInference ? ratio(read(r), r.inferences) : read(r));

/// A compared figure: its name, its value in a report, its format, and whether more is better (1), worse (-1) or
/// neither (0). Cycles are neither if clocks differ, because a slower clock takes fewer.
function figuresOf(common) {
    const { sameClock, sameWork, eachInference, heldKnown } = common;
    const less = sameWork || eachInference ? -1 : 0;
    const total = (name, read, show, better) =>
        [eachInference ? `${name} an inference` : name, totalOf(common, read), show, better];
    const share = (name, key, better) =>
        [name, (r) => ratio(r.matrix_unit[key], r.cycles), percent, sameClock ? better : 0];
    return [
        ['inferences', (r) => r.inferences || null, grouped, 0],
        total('cycles', (r) => r.cycles, grouped, sameClock ? less : 0),
        total('time', (r) => r.seconds, (value) => si(value, 's'), less),
        ['throughput', (r) => r.inferences_per_second, (value) => si(value, 'inf/s'), 1],
        ['latency of a batch', (r) => r.seconds_per_batch, (value) => si(value, 's'), -1],
        ['performance', (r) => r.tops.achieved, (value) => si(value * 1e12, 'OPS'), 1],
        ['peak', (r) => r.tops.peak, (value) => si(value * 1e12, 'OPS'), 0],
        share('array active', 'active_cycles', 1),
        share('weight stall', 'weight_stall_cycles', -1),
        share('weight shift', 'weight_shift_cycles', -1),
        share('non-matrix', 'non_matrix_cycles', -1),
        total('weight bytes', (r) => r.traffic.weight_bytes, bytes, less),
        heldKnown ? ['unified buffer, peak', (r) => bufferUse(r).bytes, bytes, 0]
            : ['unified buffer, rows ever used', (r) => r.memory.unified_buffer_peak_bytes, bytes, 0],
        ['energy an inference', (r) => r.energy.joules_per_inference, (value) => si(value, 'J'), -1],
        ['power', (r) => r.energy.watts, (value) => si(value, 'W'), 0],
        ['accuracy', (r) => r.accuracy, percent, 1],
    ];
}

/// Speedup over each baseline that the first report names.
function speedups(reports) {
    return reports[0].report.comparison.map(({ baseline }) => [`speedup over ${baseline}, at least`,
        (report) => report.comparison.find((each) => each.baseline === baseline)?.speedup ?? null, times, 1]);
}

const isThere = (value) => value !== null && value !== undefined;
const shownOf = (value, show) => (isThere(value) ? show(value) : absent);

/// A figure, and its difference from that of the first report if both have it.
function cell(value, reference, show, better) {
    const text = difference(value, reference);
    if (text === absent) return shownOf(value, show);
    const isBetter = better * (value - reference) > 0;
    const verdict = better === 0 || value === reference ? 'quiet' : isBetter ? 'better' : 'worse';
    return [show(value), ' ', h('span', { class: verdict }, text)];
}

function figureTable(reports, common) {
    const rows = [...figuresOf(common), ...speedups(reports)]
        .filter(([, read]) => reports.some(({ report }) => isThere(read(report))))
        .map(([name, read, show, better]) => {
            const reference = read(reports[0].report);
            return [name, shownOf(reference, show),
                ...reports.slice(1).map(({ report }) => cell(read(report), reference, show, better))];
        });
    return table(['', ...reports.map(({ name }) => name)], rows, { class: 'numbers', label: 'Figures' });
}

/// Every layer name of any report, in the order of the first that has it.
function layerNames(reports) {
    return [...new Set(reports.flatMap(({ report }) => report.layers.map(({ name }) => name)))];
}

function layerChart(reports, common) {
    const names = layerNames(reports);
    const shown = 16;
    const cyclesOf = (report, name) => totalOf(common, () => report.layers.filter((layer) => layer.name === name)
        .reduce((sum, layer) => sum + layer.cycles, 0))(report);
    const columns = reports.map(({ report }) => names.map((name) => cyclesOf(report, name)));
    return chart({
        label: 'Cycles of each layer in each report',
        height: 80 + Math.min(names.length, shown) * (14 + 14 * reports.length),
        option: (colours, width) => ({
            grid: { left: width < 600 ? 90 : 160, right: 40, top: 34, bottom: 28 },
            legend: legend(colours, { type: 'scroll' }),
            tooltip: rowTip((row) => tip(names[row], reports.map(({ name }, index) => [name,
                `${grouped(columns[index][row])} ${index === 0 ? '' : difference(columns[index][row], columns[0][row])}`,
                colourOf(index)]))),
            xAxis: valueAxis(colours, { axisLabel: { formatter: (value) => si(value) } }),
            yAxis: nameAxis(colours, names, { axisLabel: { width: width < 600 ? 80 : 150 } }),
            dataZoom: rowZoom(colours, names.length, shown),
            series: reports.map(({ name }, index) => ({
                type: 'bar',
                name,
                itemStyle: fillOf(colourOf(index), colours),
                data: columns[index],
            })),
        }),
    });
}

/// Keys that are not compared: the output folder, and settings of the machine, which the machine itself shows.
const saysNothing = (key) => key === 'run.out' || key.startsWith('run.machine_settings');

/// The keys whose values differ between the reports.
function configurationTable(reports) {
    const all = reports.map(({ report }) => new Map(
        ['run', 'machine'].flatMap((part) => flatten(report.configuration[part], part))));
    const keys = [...new Set(all.flatMap((values) => [...values.keys()]))].filter((key) => !saysNothing(key)
        && all.some((values) => values.get(key) !== all[0].get(key)));
    if (keys.length === 0) return h('p', null, 'Their configurations are the same.');
    const show = (value) => (value === undefined ? 'not there' : value === null || value === '' ? absent : String(value));
    return table(['key', ...reports.map(({ name }) => name)],
        keys.map((key) => [key, ...all.map((values) => show(values.get(key)))]), { label: 'Differing keys' });
}

/// Of two or more.
export function comparison(reports) {
    const common = commonOf(reports);
    return mainSection('comparison', `${reports.length} reports side by side`,
        `Differences are to the first, ${reports[0].name}.`,
        h('div', { class: 'columns' },
            h('div', null, h('h3', null, 'Figures'), figureTable(reports, common)),
            h('div', null, h('h3', null, 'Differences of the configurations'), configurationTable(reports))),
        h('h3', null, common.eachInference ? 'Cycles an inference by layer' : 'Cycles by layer'),
        layerChart(reports, common));
}
