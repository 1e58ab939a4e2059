// One metric over two keys.
import { chart, nameAxis } from '../chart.js';
import { h, section } from '../dom.js';
import { mainMetric, picker } from './controls.js';
import { bestOf, metricOf, numberText, shortKey, valueText, valuesOf } from './model.js';
import { pointTip } from './scatter.js';

export function heatMap(study, pick) {
    const keys = study.axisKeys.filter((key) => valuesOf(study, key).length > 1);
    if (keys.length < 2) return null;
    let [down, across] = keys;
    let metric = mainMetric(study);
    const names = study.metrics.map(({ name }) => name);
    const drawing = chart({
        label: 'One metric over two keys',
        height: 360,
        onPick: ({ data }) => pick(data.row),
        option: (colours, width) => {
            const shown = metricOf(study, metric);
            const rows = valuesOf(study, down);
            const columns = valuesOf(study, across);
            const cells = rows.flatMap((row, y) => columns.flatMap((column, x) => {
                const best = bestOf(study.rows.filter(({ values }) => values[down] === row && values[across] === column), shown);
                const value = best?.metrics[metric];
                return value === null || value === undefined ? [] : [{ value: [x, y, value], row: best }];
            }));
            const values = cells.map(({ value }) => value[2]);
            const least = Math.min(...values);
            const most = Math.max(...values);
            const has = { width: (width - 130) / columns.length > 56, height: 260 / rows.length > 15 };
            const pale = (value) => (value - least) / (most - least || 1) > 0.6;
            return {
                grid: { left: 110, right: 20, top: 10, bottom: 90 },
                xAxis: { ...nameAxis(colours, columns.map(valueText), {}), inverse: false, name: shortKey(across),
                    nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: colours.quiet } },
                yAxis: { ...nameAxis(colours, rows.map(valueText), { axisLabel: { width: 90, interval: 'auto' } }), name: shortKey(down),
                    nameTextStyle: { color: colours.quiet } },
                visualMap: { min: least, max: most, calculable: false,
                    text: [numberText(most, shown.unit), numberText(least, shown.unit)], orient: 'horizontal',
                    left: 'center', bottom: 0, itemHeight: 200, itemWidth: 12, textStyle: { color: colours.text },
                    inRange: { color: ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725'] } },
                tooltip: { trigger: 'item', formatter: ({ data }) => pointTip(data.row, [shown]) },
                series: [{
                    type: 'heatmap',
                    data: cells.map((cell) => ({ ...cell, label: { color: pale(cell.value[2]) ? '#000' : '#fff' } })),
                    label: { show: has.width && has.height, fontSize: 11,
                        formatter: ({ value }) => numberText(value[2], shown.unit === 'J' ? 'J' : '') },
                }],
            };
        },
    });
    const redraw = (set) => (name) => { set(name); drawing.redraw(); };
    return section('heat-map', 'One metric over two keys',
        study.axisKeys.length > 2 ? 'Where other keys vary too, a cell has the best of its points.' : null,
        h('div', { class: 'row' }, picker('metric', names, metric, redraw((name) => { metric = name; })),
            picker('down', keys, down, redraw((name) => { down = name; })),
            picker('across', keys, across, redraw((name) => { across = name; }))), drawing);
}
