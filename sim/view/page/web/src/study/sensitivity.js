// How much each key moves a metric.
import { chart, nameAxis, rowTip, tip, valueAxis } from '../chart.js';
import { h, section } from '../dom.js';
import { times } from '../format.js';
import { colourOf } from '../palette.js';
import { mainMetric, picker } from './controls.js';
import { shortKey } from './model.js';

const nameOf = ({ keys }) => keys.map(shortKey).join(' with ');

export function sensitivity(study) {
    // That networks differ is no finding about the machine.
    const all = study.sensitivity.filter(({ keys }) => !keys.some((key) => study.workload.includes(key)));
    const isKnown = ({ factors }) => Object.values(factors).some((factor) => factor !== null);
    const known = all.filter(isKnown);
    if (known.length === 0) return null;
    const unknown = all.filter((each) => !isKnown(each)).map(nameOf);
    let metric = mainMetric(study);
    const sentence = h('p', { class: 'meaning' });
    const drawing = chart({
        label: 'How much each key moves a metric',
        height: 70 + 34 * known.length,
        option: (colours, width) => {
            const factors = known.map((each) => ({ name: nameOf(each), factor: each.factors[metric] ?? null }))
                .filter(({ factor }) => factor !== null).sort((a, b) => b.factor - a.factor);
            const without = known.length - factors.length;
            sentence.textContent = without > 0 ? `No two points that differ in the other keys alone have a ${metric} above 0.` : '';
            const room = Math.min(380, Math.round(width * 0.45));
            return {
                grid: { left: room, right: 60, top: 6, bottom: 46 },
                xAxis: valueAxis(colours, { name: 'times', nameLocation: 'middle', nameGap: 28, min: 1, scale: true }),
                yAxis: nameAxis(colours, factors.map(({ name }) => name), { axisLabel: { width: room - 15 } }),
                tooltip: rowTip((index) => tip(factors[index].name, [[metric, times(factors[index].factor)]])),
                series: [{
                    type: 'bar',
                    data: factors.map(({ factor }) => factor),
                    itemStyle: { color: colourOf(0)[colours.scheme] },
                    label: { show: true, position: 'right', color: colours.text, formatter: ({ value }) => times(value) },
                }],
            };
        },
    });
    const coupled = known.some(({ keys }) => keys.length > 1)
        ? ' Keys that a condition (where) couples move together and share a bar.' : '';
    const left = unknown.length > 0 ? ` Left out, because no two points differ in it alone: ${unknown.join(', ')}.` : '';
    return section('sensitivity', 'Which key moves it',
        'The largest value of the metric over the smallest, along a key while all other keys stay: the geometric mean over all '
        + `such rows of points.${coupled}${left}`,
        h('div', { class: 'row' }, picker('metric', study.metrics.map(({ name }) => name), metric, (name) => {
            metric = name;
            drawing.redraw();
        })), sentence, drawing);
}
