// All keys and metrics beside each other, a line for each point.
import { chart } from '../chart.js';
import { h, section } from '../dom.js';
import { mainMetric, picker, workloadPicker } from './controls.js';
import {
    isNumeric, isRatioScale, metricOf, metricTitle, numberText, shortKey, shownValue, valueText, valuesOf,
} from './model.js';
import { pointTip } from './scatter.js';

/// More lines than this are a surface.
const mostLines = 1000;
const mostMetrics = 9;

/// The type of an axis for these numbers, which ascend, and how it writes them.
function scaleOf(numbers, logBase, unit = '') {
    const formatter = (value) => (unit === 'J' ? numberText(value, unit) : shownValue(Number(value.toPrecision(3))));
    return isRatioScale([...new Set(numbers)]) ? { type: 'log', logBase, axisLabel: { formatter } }
        : { type: 'value', scale: true, axisLabel: { formatter } };
}

export function parallel(study, pick) {
    let metric = mainMetric(study);
    // Those of the study first; what is equal everywhere says nothing.
    const varying = study.metrics.filter(({ name }) => new Set(study.rows.map(({ metrics: all }) => all[name])).size > 1);
    const shownMetrics = [...varying.filter(({ name }) => study.own.includes(name)),
        ...varying.filter(({ name }) => !study.own.includes(name) && name !== 'cycles')].slice(0, mostMetrics);
    const keys = study.axisKeys.filter((key) => valuesOf(study, key).length > 1);
    const step = Math.max(1, Math.ceil(study.rows.length / mostLines));
    const workload = workloadPicker(study, () => drawing.redraw());
    const meaning = h('p', { class: 'quiet' });
    const drawing = chart({
        label: 'Keys and metrics',
        height: 420,
        onPick: ({ data }) => pick(data.row),
        option: (colours) => {
            const shown = metricOf(study, metric);
            const rows = workload.rows().filter((_row, index) => index % step === 0);
            const axisStyle = { nameTextStyle: { color: colours.text }, axisLabel: { color: colours.quiet },
                axisLine: { lineStyle: { color: colours.line } } };
            const axes = [
                ...keys.map((key) => (isNumeric(study, key)
                    ? { name: shortKey(key), ...scaleOf(valuesOf(study, key), 2) }
                    : { name: shortKey(key), type: 'category', data: valuesOf(study, key).map(valueText) })),
                ...shownMetrics.map((each) => ({
                    name: metricTitle(each),
                    ...scaleOf(rows.map((row) => row.metrics[each.name]).filter((value) => value !== null).sort((a, b) => a - b),
                        10, each.unit),
                })),
            ].map((axis, dim) => ({ dim, ...axisStyle, ...axis, axisLabel: { ...axisStyle.axisLabel, ...axis.axisLabel }, nameRotate: 20, nameLocation: 'end',
                nameTruncate: { maxWidth: 160 } }));
            const values = rows.map((row) => row.metrics[metric]).filter((value) => value !== null);
            const least = Math.min(...values);
            const range = Math.max(...values) - least || 1;
            meaning.textContent = `Violet: ${numberText(least, shown.unit)}; green: ${numberText(least + range, shown.unit)} of ${metric}.`
                + (step > 1 ? ` Every ${step}th point is drawn.` : '');
            const shade = (value) => (value === null ? colours.line
                : `hsl(${Math.round(280 - 160 * ((value - least) / range))} 65% 50%)`);
            return {
                parallel: { left: 60, right: 130, top: 80, bottom: 20 },
                parallelAxis: axes,
                tooltip: { trigger: 'item', formatter: ({ data }) => pointTip(data.row, [shown]) },
                series: [{
                    type: 'parallel',
                    lineStyle: { width: 1, opacity: 0.5 },
                    emphasis: { lineStyle: { width: 3, opacity: 1 } },
                    data: rows.map((row) => ({
                        row,
                        value: [...keys.map((key) => (isNumeric(study, key) ? row.values[key] : valueText(row.values[key]))),
                            ...shownMetrics.map(({ name }) => row.metrics[name])],
                        lineStyle: { color: shade(row.metrics[metric]) },
                    })),
                }],
            };
        },
    });
    return section('parallel', 'Keys and metrics',
        'A line for each point. Drag along an axis to keep the lines that pass there; a click on it shows all again.',
        meaning, h('div', { class: 'row' }, workload.element, picker('colour by', study.metrics.map(({ name }) => name), metric, (name) => {
            metric = name;
            drawing.redraw();
        })), drawing);
}

