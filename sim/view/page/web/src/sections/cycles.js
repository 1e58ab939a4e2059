// The main unit's cycles by class: for the run, then for each layer.
import { chart, legend, nameAxis, rowTip, rowZoom, tip, valueAxis } from '../chart.js';
import { choice, h, section } from '../dom.js';
import { grouped, percent, ratio, si } from '../format.js';
import { cyclesOfArrays, fillOf, lengthOf, mainUnitOf, reasonColour, reasonsOf, sumOf } from '../palette.js';

/// Classes with cycles and share, then the parts of one that apply.
function classTip(main, name, unit, cycles) {
    const line = (text, amount, colour) => [text, `${grouped(amount)} · ${percent(ratio(amount, cycles))}`, colour];
    return tip(`${name}: ${grouped(cycles)} cycles`, [
        ...main.classes.map(({ key, name: text, colour }) => line(text, unit[key], colour)),
        ...reasonsOf(unit, main.partWords).map(({ name: text, cycles: amount }) => line(`· ${text}`, amount)),
        [main.used, percent(main.usefulShare(unit))],
    ]);
}

/// One bar for the run and, below, one for each part of the divided class: each reason why cycles were non-matrix.
function runChart(main, report) {
    const unit = main.of(report);
    const ofAll = cyclesOfArrays(report);
    const why = reasonsOf(unit, main.partWords);
    const names = ['run', ...why.map(({ name }) => name)];
    return chart({
        label: 'Cycles of the run by class',
        height: 86 + 30 * names.length,
        option: (colours, width) => ({
            grid: { left: 90, right: 24, top: width < 600 ? 70 : 34, bottom: 24 },
            legend: legend(colours),
            tooltip: rowTip((row) => {
                if (row === 0) return classTip(main, 'run', unit, ofAll);
                const { name, meaning, cycles: amount } = why[row - 1];
                return tip(`${name}: ${meaning}`,
                    [[main.divided, `${grouped(amount)} · ${percent(ratio(amount, ofAll))}`, reasonColour]]);
            }),
            xAxis: valueAxis(colours, { max: ofAll, axisLabel: { formatter: (value) => si(value) } }),
            yAxis: nameAxis(colours, names),
            series: [
                ...main.parts.map(({ name, colour, cycles }) => ({
                    type: 'bar',
                    name,
                    stack: 'cycles',
                    barWidth: 22,
                    itemStyle: fillOf(colour, colours),
                    data: names.map((_, index) => lengthOf(index === 0 ? cycles(unit) : 0)),
                })),
                ...(why.length === 0 ? [] : [{
                    type: 'bar',
                    name: main.partsOfDivided,
                    stack: 'cycles',
                    itemStyle: fillOf(reasonColour, colours),
                    data: [0, ...why.map(({ cycles: amount }) => amount)],
                }]),
            ],
        }),
    });
}

function layerChart(main, { layers, arrays = 1 }) {
    let asShare = false;
    const ofAll = (layer) => sumOf(main, main.of(layer));
    const shown = 24;
    const rows = Math.min(layers.length, shown);
    const scale = (layer) => (1 / (asShare ? Math.max(ofAll(layer), 1) : arrays));
    const element = chart({
        label: 'Cycles of each layer by class',
        height: 90 + 26 * rows,
        option: (colours, width) => ({
            grid: { left: width < 600 ? 90 : 160, right: 34, top: width < 600 ? 70 : 34, bottom: 24 },
            legend: legend(colours),
            tooltip: rowTip((row) => {
                const layer = layers[row];
                return classTip(main, `${layer.name} (${layer.kind || 'no layer'})`, main.of(layer), ofAll(layer));
            }),
            xAxis: valueAxis(colours, {
                max: asShare ? 1 : undefined,
                axisLabel: { formatter: (value) => (asShare ? `${Math.round(100 * value)} %` : si(value)) },
            }),
            yAxis: nameAxis(colours, layers.map(({ name }) => name), { axisLabel: { width: width < 600 ? 80 : 150 } }),
            dataZoom: rowZoom(colours, layers.length, shown),
            series: main.parts.map(({ name, colour, cycles }) => ({
                type: 'bar',
                name,
                stack: 'cycles',
                barMaxWidth: 18,
                itemStyle: fillOf(colour, colours),
                data: layers.map((layer) => lengthOf(cycles(main.of(layer)) * scale(layer))),
            })),
        }),
    });
    const buttons = choice('Scale of the layers', [{ value: false, name: 'cycles' },
        { value: true, name: 'share of the layer' }], (value) => {
        asShare = value;
        element.redraw();
    });
    return [h('div', { class: 'row' }, h('h3', null, 'By layer'), buttons), element];
}

export function cycles(report) {
    const main = mainUnitOf(report);
    return section('cycles', 'Where the cycles went', main.meaning, runChart(main, report), layerChart(main, report));
}
