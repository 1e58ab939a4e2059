// One metric along a key, a line for each value of another.
import { chart, legend, valueAxis } from '../chart.js';
import { h, section } from '../dom.js';
import { colourOf } from '../palette.js';
import { mainMetric, picker } from './controls.js';
import {
    bestOf, isNumeric, isRatioScale, isSampled, metricOf, metricTitle, shortKey, shownValue, valuesOf,
} from './model.js';
import { pointTip } from './scatter.js';

const mostLines = 10;
const none = 'nothing else';

export function lines(study, pick) {
    const along = study.axisKeys.filter((key) => isNumeric(study, key) && valuesOf(study, key).length > 1);
    if (along.length === 0) return null;
    let x = along.at(-1);
    const others = () => [none, ...study.axisKeys.filter((key) => key !== x && valuesOf(study, key).length > 1
        && !isSampled(study, key))];
    let by = others()[1] ?? none;
    let metric = mainMetric(study);
    const sentence = h('p', { class: 'meaning' });
    const drawing = chart({
        label: 'One metric along a key',
        height: 380,
        onPick: ({ data }) => pick(data.row),
        option: (colours) => {
            const shown = metricOf(study, metric);
            const all = by === none || by === x ? [null] : valuesOf(study, by);
            const groups = all.slice(0, mostLines);
            const unknown = study.rows.filter(({ metrics: its }) => its[metric] === null).length;
            sentence.textContent = (study.axisKeys.length > (groups[0] === null ? 1 : 2)
                ? 'If other keys vary too, a line shows the best point of all their values. ' : '')
                + (all.length > groups.length ? `The first ${mostLines} of ${all.length} values of ${shortKey(by)}. ` : '')
                + (unknown > 0 ? `${unknown} of ${study.rows.length} points have no value of ${metric}: where all of a place have none, the line has a gap.` : '');
            const numbers = valuesOf(study, x);
            const logarithmic = isRatioScale(numbers);
            const isSample = study.axisKeys.some((key) => isSampled(study, key));
            const heights = study.rows.map((row) => row.metrics[metric]).filter((value) => value !== null);
            const steep = Math.min(...heights) > 0 && Math.max(...heights) / Math.min(...heights) > 50;
            return {
                grid: { left: 80, right: 24, top: 56, bottom: 50 },
                legend: legend(colours, { type: 'scroll', show: groups[0] !== null }),
                xAxis: { ...valueAxis(colours, { name: shortKey(x), nameLocation: 'middle', nameGap: 30, scale: true }),
                    type: logarithmic ? 'log' : 'value', logBase: 2 },
                yAxis: { ...valueAxis(colours, { name: metricTitle(shown) }),
                    type: steep ? 'log' : 'value' },
                tooltip: { trigger: 'item', formatter: ({ data }) => pointTip(data.row, [shown]) },
                series: groups.map((group, index) => {
                    const colour = colourOf(index)[colours.scheme];
                    return {
                        name: group === null ? shown.name : `${shortKey(by)} ${shownValue(group)}`,
                        type: isSample ? 'scatter' : 'line',
                        symbol: 'circle',
                        symbolSize: numbers.length > 60 ? 3 : 6,
                        itemStyle: { color: colour },
                        lineStyle: { color: colour },
                        data: numbers.flatMap((number) => {
                            const best = bestOf(study.rows.filter(({ values }) => values[x] === number
                                && (group === null || values[by] === group)), shown);
                            // Without a point the line goes on; without the value of a point it has a gap.
                            return best === null ? [] : [{ value: [number, best.metrics[metric] ?? '-'], row: best }];
                        }),
                    };
                }),
            };
        },
    });
    const redraw = (set) => (name) => { set(name); drawing.redraw(); };
    return section('lines', 'One metric along a key', null, sentence, h('div', { class: 'row' },
        picker('metric', study.metrics.map(({ name }) => name), metric, redraw((name) => { metric = name; })),
        picker('along', along, x, redraw((name) => { x = name; })),
        picker('a line for each', [none, ...study.axisKeys.filter((key) => !isSampled(study, key))], by, redraw((name) => { by = name; }))), drawing);
}
