// All keys and metrics beside each other, a line for each point.
import { chart } from '../chart.js';
import { h, section } from '../dom.js';
import { grouped } from '../format.js';
import { mainMetric, picker, workloadPicker } from './controls.js';
import {
    isNumeric, isRatioScale, metricOf, metricTitle, numberText, shortKey, shownValue, spread, valueText, valuesOf,
} from './model.js';
import { pointTip } from './scatter.js';

/// More lines than this are a surface.
const mostLines = 1000;
const mostMetrics = 9;

/// How opaque a line is: of many, those below are seen through those above.
const opacityOf = (lines) => Math.min(0.7, Math.max(0.12, 40 / lines));

/// "10M" between axes that stand close; exact below 10,000.
const compact = new Intl.NumberFormat('en', { notation: 'compact' });
const shortNumber = (value) => (Math.abs(value) < 10000 ? shownValue(Number(value.toPrecision(3))) : compact.format(value));

/// The type of an axis for these numbers, which ascend, and how it writes them.
function scaleOf(numbers, logBase, unit = '') {
    const formatter = (value) => (unit === 'J' ? numberText(value, unit) : shortNumber(value));
    return isRatioScale([...new Set(numbers)]) ? { type: 'log', logBase, axisLabel: { formatter } }
        : { type: 'value', scale: true, axisLabel: { formatter } };
}

export function parallel(study, pick) {
    let metric = mainMetric(study);
    // Those of the study first; what is equal everywhere says nothing.
    const varying = study.metrics.filter(({ name }) => new Set(study.rows.map(({ metrics: all }) => all[name])).size > 1);
    // A line without a value at an axis would cross it at a place that means nothing. So a metric that more than a few
    // points lack is no axis, and the few points that lack one of the others are no lines.
    const knownOf = (name) => study.rows.filter(({ metrics: all }) => all[name] !== null).length;
    const isMostlyKnown = ({ name }) => knownOf(name) >= 0.95 * study.rows.length;
    const leftOut = varying.filter((each) => !isMostlyKnown(each)).map(({ name }) => name);
    const shownMetrics = [...varying.filter(({ name }) => study.own.includes(name)),
        ...varying.filter(({ name }) => !study.own.includes(name) && name !== 'cycles')].filter(isMostlyKnown).slice(0, mostMetrics);
    const keys = study.axisKeys.filter((key) => valuesOf(study, key).length > 1);
    const workload = workloadPicker(study, () => drawing.redraw());
    const meaning = h('p', { class: 'quiet' });
    const drawing = chart({
        label: 'Keys and metrics',
        height: 460,
        onPick: ({ data }) => pick(data.row),
        option: (colours) => {
            const shown = metricOf(study, metric);
            // The best are drawn last, over the others; those without a value first.
            const rank = ({ metrics: all }) => (all[metric] === null ? -Infinity : all[metric] * (shown.better === 'higher' ? 1 : -1));
            const all = workload.rows();
            const lacking = shownMetrics.filter(({ name }) => all.some(({ metrics: its }) => its[name] === null)).map(({ name }) => name);
            const complete = all.filter(({ metrics: its }) => lacking.every((name) => its[name] !== null));
            const ranked = [...complete].sort((a, b) => rank(a) - rank(b));
            const best = ranked.at(-1);
            const drawn = new Set(spread(complete, mostLines));
            const rows = ranked.filter((row) => drawn.has(row) || row === best);
            const opacity = opacityOf(rows.length);
            const axisStyle = { nameTextStyle: { color: colours.text }, axisLabel: { color: colours.quiet, textBorderColor: colours.card, textBorderWidth: 3 },
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
                nameTruncate: { maxWidth: 230 } }));
            const values = rows.map((row) => row.metrics[metric]).filter((value) => value !== null);
            const least = Math.min(...values);
            const range = Math.max(...values) - least || 1;
            meaning.textContent = `Violet: ${numberText(least, shown.unit)}; green: ${numberText(least + range, shown.unit)} of ${metric}${values.length < rows.length ? '; gray: no value of it' : ''}.`
                + (rows.length < complete.length ? ` ${grouped(rows.length)} of ${grouped(complete.length)} points are drawn, evenly spread.` : '')
                + (complete.length < all.length ? ` ${all.length - complete.length} points without a value of ${lacking.join(' or ')} are not drawn.` : '')
                + (leftOut.length > 0 ? ` Not all points have a value of ${leftOut.join(', ')}: no axis.` : '');
            const shade = (value) => (value === null ? colours.line
                : `hsl(${Math.round(280 - 160 * ((value - least) / range))} 65% 50%)`);
            return {
                parallel: { left: 60, right: 190, top: 100, bottom: 20 },
                parallelAxis: axes,
                tooltip: { trigger: 'item', formatter: ({ data }) => pointTip(data.row, [shown]) },
                series: [{
                    type: 'parallel',
                    lineStyle: { width: 1, opacity },
                    activeOpacity: Math.min(1, 3 * opacity),
                    inactiveOpacity: 0.02,
                    emphasis: { lineStyle: { width: 3, opacity: 1 } },
                    data: rows.map((row) => ({
                        row,
                        value: [...keys.map((key) => (isNumeric(study, key) ? row.values[key] : valueText(row.values[key]))),
                            ...shownMetrics.map(({ name }) => row.metrics[name])],
                        lineStyle: { color: shade(row.metrics[metric]), opacity },
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

