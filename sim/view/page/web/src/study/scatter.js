// Two metrics of all points, and the points that none beats.
import { chart, legend, tip, valueAxis } from '../chart.js';
import { h, section, table } from '../dom.js';
import { colourOf } from '../palette.js';
import { mainMetric, picker, workloadPicker } from './controls.js';
import {
    commandOf, metricOf, metricTitle, numberText, paretoFront, shortKey, shownValue, valuesOf,
} from './model.js';

/// The tooltip of a point: its settings and the metrics in question.
export function pointTip(row, metrics) {
    return tip(`point ${row.number}`, [
        ...metrics.map(({ name, unit }) => [name, numberText(row.metrics[name], unit)]),
        ...Object.entries(row.values).map(([key, value]) => [shortKey(key), shownValue(value)])]);
}

/// So many points of a front are listed.
const mostListed = 12;

/// A name that lines break behind its dots and underscores.
const breakable = (name) => name.split(/(?<=[._])/).flatMap((part, index) => (index > 0 ? [h('wbr'), part] : [part]));

/// The points of the front, with the keys that vary, and the command lines that repeat them.
function frontTable(study, front, metrics, pick) {
    const keys = study.keys.filter((key) => valuesOf(study, key).length > 1);
    const shown = front.slice(0, mostListed);
    const more = front.length - shown.length;
    return [
        table(['front', ...[...metrics.map(metricTitle), ...keys.map(shortKey)].map(breakable)], shown.map((row) => [
            h('button', { type: 'button', class: 'link', onclick: () => pick(row) }, `point ${row.number}`),
            ...metrics.map(({ name, unit }) => numberText(row.metrics[name], unit === 'J' || unit === 'W' ? unit : '')),
            ...keys.map((key) => shownValue(row.values[key])),
        ]), { label: 'The points of the front', class: 'numbers front' }),
        more > 0 ? h('p', { class: 'meaning' }, `${more} more are in the chart.`) : null,
        shown.length > 0 ? h('details', null, h('summary', null, 'The commands that repeat them'),
            h('pre', { class: 'commands' }, shown.map((row) => `${commandOf(study, row)}\n`).join(''))) : null,
    ].filter((each) => each !== null);
}

const wayOf = ({ better }) => (better === 'higher' ? 'higher' : 'lower');

export function scatter(study, pick) {
    const names = study.metrics.map(({ name }) => name);
    if (names.length < 2) return null;
    const workload = workloadPicker(study, () => drawing.redraw());
    const varies = (name) => new Set(workload.rows().map(({ metrics: all }) => all[name])).size > 1;
    // At one batch size, and with one batch a run, latency and throughput are one figure.
    const hasBatches = new Set(workload.rows().map(({ values }) => values.batch)).size > 1;
    const costs = ['area_mm2', ...(hasBatches ? ['latency_ms', 'watts'] : ['watts', 'latency_ms'])].filter((name) => names.includes(name) && varies(name));
    let across = costs.find((name) => name !== mainMetric(study)) ?? names[0];
    let up = mainMetric(study) === across ? names.find((name) => name !== across) : mainMetric(study);
    const metrics = () => [metricOf(study, across), metricOf(study, up)];
    const data = (rows) => rows.map((row) => ({ value: [row.metrics[across], row.metrics[up]], row }));
    const sentence = h('p', { class: 'meaning' });
    const frontPlace = h('div');
    const drawing = chart({
        label: 'Two metrics of all points',
        height: 380,
        onPick: ({ data: { row } }) => pick(row),
        option: (colours) => {
            const [x, y] = metrics();
            const rows = workload.rows();
            const front = paretoFront(rows, x, y);
            const inFront = new Set(front);
            const known = rows.filter(({ metrics: all }) => all[across] !== null && all[up] !== null);
            sentence.textContent = `${front.length} of ${known.length} points are on the Pareto front: ${wayOf(x)} ${across} and `
                + `${wayOf(y)} ${up} are better.`
                + (known.length < rows.length ? ` ${rows.length - known.length} without a value of both are not drawn.` : '');
            frontPlace.replaceChildren(...frontTable(study, front, [x, y], pick));
            return {
                grid: { left: 80, right: 24, top: 60, bottom: 56 },
                legend: legend(colours),
                xAxis: valueAxis(colours, { name: metricTitle(x), nameLocation: 'middle', nameGap: 34, scale: true }),
                yAxis: valueAxis(colours, { name: metricTitle(y), scale: true }),
                tooltip: { trigger: 'item', formatter: ({ data: { row } }) => pointTip(row, [x, y]) },
                series: [
                    { name: 'points', type: 'scatter', symbolSize: 7, data: data(known.filter((row) => !inFront.has(row))),
                        itemStyle: { color: colourOf(0)[colours.scheme], opacity: 0.55 } },
                    { name: 'Pareto front', type: 'line', symbol: 'circle', symbolSize: 9, data: data(front),
                        lineStyle: { color: colourOf(1)[colours.scheme], width: 1 },
                        itemStyle: { color: colourOf(1)[colours.scheme] } },
                ],
            };
        },
    });
    return section('pareto', 'Two metrics', null, sentence, h('div', { class: 'row' }, workload.element,
        picker('across', names, across, (name) => { across = name; drawing.redraw(); }),
        picker('upwards', names, up, (name) => { up = name; drawing.redraw(); })), drawing, frontPlace);
}
