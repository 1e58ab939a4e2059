// How much each key moves a metric.
import { chart, nameAxis, rowTip, tip, valueAxis } from '../chart.js';
import { h, section } from '../dom.js';
import { times } from '../format.js';
import { colourOf } from '../palette.js';
import { mainMetric, picker } from './controls.js';
import { shortKey } from './model.js';

export function sensitivity(study) {
    // That networks differ is no finding about the machine.
    const known = study.sensitivity.filter(({ key, factors }) => !study.workload.includes(key)
        && Object.values(factors).some((factor) => factor !== null));
    if (known.length === 0) return null;
    let metric = mainMetric(study);
    const drawing = chart({
        label: 'How much each key moves a metric',
        height: 70 + 34 * known.length,
        option: (colours) => {
            const factors = known.map(({ key, factors: all }) => ({ key, factor: all[metric] ?? 1 }))
                .sort((a, b) => b.factor - a.factor);
            return {
                grid: { left: 250, right: 60, top: 6, bottom: 46 },
                xAxis: valueAxis(colours, { name: 'times', nameLocation: 'middle', nameGap: 28, min: 1, scale: true }),
                yAxis: nameAxis(colours, factors.map(({ key }) => shortKey(key)), { axisLabel: { width: 235 } }),
                tooltip: rowTip((index) => tip(factors[index].key, [[metric, times(factors[index].factor)]])),
                series: [{
                    type: 'bar',
                    data: factors.map(({ factor }) => factor),
                    itemStyle: { color: colourOf(0)[colours.scheme] },
                    label: { show: true, position: 'right', color: colours.text, formatter: ({ value }) => times(value) },
                }],
            };
        },
    });
    return section('sensitivity', 'Which key moves it',
        'The largest value of the metric over the smallest, along a key while all other keys stay: the geometric mean over all '
        + 'such rows of points.',
        h('div', { class: 'row' }, picker('metric', study.metrics.map(({ name }) => name), metric, (name) => {
            metric = name;
            drawing.redraw();
        })), drawing);
}
