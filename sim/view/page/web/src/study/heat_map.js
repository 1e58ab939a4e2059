// One metric over two keys.
import { chart, nameAxis } from '../chart.js';
import { h, section } from '../dom.js';
import { mainMetric, picker, workloadPicker } from './controls.js';
import { bestOf, isSampled, metricOf, numberText, shortKey, shownValue, valuesOf } from './model.js';
import { pointTip } from './scatter.js';

export function heatMap(study, pick) {
    const keys = study.axisKeys.filter((key) => valuesOf(study, key).length > 1 && !isSampled(study, key));
    if (keys.length < 2) return null;
    const ofMachine = keys.filter((key) => !study.workload.includes(key));
    let [down, across] = ofMachine.length >= 2 ? ofMachine : keys;
    let metric = mainMetric(study);
    const names = study.metrics.map(({ name }) => name);
    const sentence = h('p', { class: 'meaning' });
    const workload = workloadPicker(study, () => drawing.redraw());
    const drawing = chart({
        label: 'One metric over two keys',
        height: 360,
        onPick: ({ data }) => pick(data.row),
        option: (colours, width) => {
            const shown = metricOf(study, metric);
            const rows = valuesOf(study, down);
            const columns = valuesOf(study, across);
            const isOver = [down, across].some((key) => study.workload.includes(key));
            if (workload.element) workload.element.hidden = isOver;  // all of them are in the map
            const shownRows = isOver ? study.rows : workload.rows();
            const cells = rows.flatMap((row, y) => columns.flatMap((column, x) => {
                const best = bestOf(shownRows.filter(({ values }) => values[down] === row && values[across] === column), shown);
                const value = best?.metrics[metric];
                return value === null || value === undefined ? [] : [{ value: [x, y, value], row: best }];
            }));
            const places = new Set(shownRows.map(({ values }) => JSON.stringify([values[down], values[across]]))).size;
            sentence.textContent = cells.length < places
                ? `${places - cells.length} of ${places} cells are empty: their points have no value of ${metric}.` : '';
            // By ratios where they are large: else all but the largest are of one colour.
            const numbers = cells.map(({ value }) => value[2]);
            const byRatio = Math.min(...numbers) > 0 && Math.max(...numbers) / Math.min(...numbers) > 20;
            if (byRatio) cells.forEach(({ value }) => { value[2] = Math.log10(value[2]); });
            const values = cells.map(({ value }) => value[2]);
            const numberOf = (value) => (byRatio ? 10 ** value : value);
            const least = Math.min(...values);
            const most = Math.max(...values);
            const has = { width: (width - 130) / columns.length > 56, height: 260 / rows.length > 15 };
            const pale = (value) => (value - least) / (most - least || 1) > 0.6;
            return {
                grid: { left: 130, right: 20, top: 10, bottom: 90 },
                xAxis: { ...nameAxis(colours, columns.map(shownValue), {}), inverse: false, name: shortKey(across),
                    nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: colours.quiet } },
                yAxis: { ...nameAxis(colours, rows.map(shownValue), { axisLabel: { width: 80, interval: 'auto' } }), name: shortKey(down),
                    nameLocation: 'middle', nameGap: 100, nameTextStyle: { color: colours.quiet } },
                visualMap: { min: least, max: most, calculable: false,
                    text: [numberText(numberOf(most), shown.unit), numberText(numberOf(least), shown.unit)], orient: 'horizontal',
                    left: 'center', bottom: 0, itemHeight: 200, itemWidth: 12, textStyle: { color: colours.text },
                    inRange: { color: ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725'] } },
                tooltip: { trigger: 'item', formatter: ({ data }) => pointTip(data.row, [shown]) },
                series: [{
                    type: 'heatmap',
                    data: cells.map((cell) => ({ ...cell, label: { color: pale(cell.value[2]) ? '#000' : '#fff' } })),
                    label: { show: has.width && has.height, fontSize: 11,
                        formatter: ({ value }) => numberText(numberOf(value[2]), shown.unit === 'J' ? 'J' : '') },
                }],
            };
        },
    });
    const redraw = (set) => (name) => { set(name); drawing.redraw(); };
    return section('heat-map', 'One metric over two keys',
        study.axisKeys.length > 2 ? 'If other keys vary too, each cell shows the best point of all their values.' : null,
        h('div', { class: 'row' }, workload.element, picker('metric', names, metric, redraw((name) => { metric = name; })),
            picker('down', keys, down, redraw((name) => { down = name; })),
            picker('across', keys, across, redraw((name) => { across = name; }))), sentence, drawing);
}
