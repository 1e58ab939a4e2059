// All keys and metrics beside each other, a line for each point.
import { chart } from '../chart.js';
import { h, section } from '../dom.js';
import { mainMetric, picker } from './controls.js';
import { isNumeric, metricOf, shortKey, valueText, valuesOf } from './model.js';
import { pointTip } from './scatter.js';

/// More lines than this are a surface.
const mostLines = 1000;

export function parallel(study, pick) {
    let metric = mainMetric(study);
    const shownMetrics = study.metrics.filter(({ name }) => !['cycles', 'fill'].includes(name)).slice(0, 6);
    const keys = study.axisKeys.filter((key) => valuesOf(study, key).length > 1);
    const step = Math.max(1, Math.ceil(study.rows.length / mostLines));
    const rows = study.rows.filter((_row, index) => index % step === 0);
    const drawing = chart({
        label: 'All keys and metrics',
        height: 400,
        onPick: ({ data }) => pick(data.row),
        option: (colours) => {
            const shown = metricOf(study, metric);
            const axisStyle = { nameTextStyle: { color: colours.text }, axisLabel: { color: colours.quiet },
                axisLine: { lineStyle: { color: colours.line } } };
            const axes = [
                ...keys.map((key) => (isNumeric(study, key) ? { name: shortKey(key), type: 'value', scale: true }
                    : { name: shortKey(key), type: 'category', data: valuesOf(study, key).map(valueText) })),
                ...shownMetrics.map(({ name }) => ({ name, type: 'value', scale: true })),
            ].map((axis, dim) => ({ dim, ...axisStyle, ...axis, nameRotate: 12, nameLocation: 'end' }));
            const values = rows.map((row) => row.metrics[metric]).filter((value) => value !== null);
            const least = Math.min(...values);
            const range = Math.max(...values) - least || 1;
            const shade = (value) => `hsl(${Math.round(260 - 200 * ((value - least) / range))} 65% 50%)`;
            return {
                parallel: { left: 60, right: 90, top: 60, bottom: 20 },
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
    return section('parallel', 'All keys and metrics',
        'A line for each point. Drag along an axis to keep the lines that pass there; a click on it shows all again.',
        step > 1 ? h('p', { class: 'quiet' }, `Every ${step}th point is drawn.`) : null,
        h('div', { class: 'row' }, picker('colour by', study.metrics.map(({ name }) => name), metric, (name) => {
            metric = name;
            drawing.redraw();
        })), drawing);
}

