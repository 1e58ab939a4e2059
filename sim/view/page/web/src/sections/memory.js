// The occupancy of the chip's memories over time.
import { chart, tip, valueAxis } from '../chart.js';
import { h, section } from '../dom.js';
import { bytes, grouped, percent, ratio, si } from '../format.js';
import { colourOf } from '../palette.js';

/// One memory: its peak occupancy in each window of time, and its capacity.
function memoryChart({ name, values, capacity, show, colour, windowCycles, cycles }) {
    const points = values.map((value, index) => [index * windowCycles, value]);
    points.push([cycles, values.at(-1)]);
    const peak = Math.max(...values);
    if (peak === 0) {
        return h('div', null, h('h3', null, name), h('div', { class: 'quiet' }, `${show(capacity)}, not used`));
    }
    // If the occupancy is far below the capacity, the scale fits the occupancy instead.
    const fits = peak > 0.05 * capacity;
    const step = fits ? capacity / 4 : 2 ** Math.ceil(Math.log2(Math.max(peak, 1) / 4));
    const top = fits ? capacity : Math.max(step * Math.ceil(peak / step), step);
    return h('div', null,
        h('h3', null, name),
        h('div', { class: 'quiet' },
            `at most ${show(peak)} of ${show(capacity)}, ${percent(ratio(peak, capacity))}`,
            fits ? '' : '; the capacity lies above this chart'),
        chart({
            label: `${name} over time`,
            height: 230,
            option: (colours) => ({
                grid: { left: 80, right: 22, top: 22, bottom: 40 },
                tooltip: {
                    trigger: 'axis',
                    formatter: ([{ dataIndex }]) => {
                        const [begin, value] = points[dataIndex];
                        return tip(`from cycle ${grouped(begin)}`,
                            [['at most', show(value), colour], ['of capacity', percent(ratio(value, capacity))]]);
                    },
                },
                xAxis: valueAxis(colours, { max: cycles, name: 'cycle', nameLocation: 'middle', nameGap: 26,
                    axisLabel: { formatter: (value) => si(value) } }),
                yAxis: valueAxis(colours, { min: 0, max: top, interval: step, axisLabel: { formatter: show } }),
                series: [{
                    type: 'line',
                    step: 'end',
                    symbol: 'none',
                    lineStyle: { color: colour[colours.scheme], width: 1.5 },
                    itemStyle: { color: colour[colours.scheme] },
                    areaStyle: { color: colour[colours.scheme], opacity: 0.3 },
                    data: points,
                    markLine: {
                        silent: true,
                        symbol: 'none',
                        lineStyle: { color: colours.quiet, type: 'dashed' },
                        label: { formatter: 'capacity', position: 'insideEndTop', color: colours.quiet },
                        data: fits ? [{ yAxis: capacity }] : [],
                    },
                }],
            }),
        }));
}

/// How an amount is written, by its unit in report.json, if it has words of its own.
const shown = {
    bytes,
    tiles: (tiles) => `${Number(tiles.toFixed(1))} tiles`,
};

const colours = [2, 4, 3];

/// The memories of cores that are alike: { cores, memory }. `cores` is empty of a machine with one.
export function memoriesOfCores(report) {
    const groups = (report.cores_alike ?? []).filter(({ memory: own }, index) => index === 0 || own);
    if (groups.length === 0) return [{ cores: '', memory: report.memory }];
    return groups.map(({ names, memory: own }) => ({
        cores: names.length === report.cores ? `all ${names.length} cores, alike`
            : `${names.join(', ')}${names.length > 1 ? ', alike' : ''}`,
        memory: own ?? report.memory,
    }));
}

function chartsOf({ cores, memory: { over_time: time } }, report) {
    return h('div', null,
        cores === '' ? null : h('p', { class: 'meaning' }, `Of ${cores}:`),
        h('div', { class: 'columns' }, time.memories.map(({ title, figure, unit, capacity }, index) =>
            memoryChart({ name: title, values: time[figure], capacity, show: shown[unit] ?? ((amount) => `${grouped(amount)} ${unit}`),
                colour: colourOf(colours[index] ?? index + 2), windowCycles: time.window_cycles, cycles: report.cycles }))));
}

export function memory(report) {
    const { over_time: time } = report.memory;
    if (!time || time[time.memories[0].figure].length === 0) return null;
    return section('memory', 'Memory over time',
        `Memory counts from the first write of a value to its last read${
            time.memories.some(({ unit }) => unit === 'tiles') ? '; a weight tile holds its place from the issue of its '
                + 'fetch until it has been shifted out' : ''}. Each point is the peak of `
        + `${grouped(time.window_cycles)} cycles.`,
        memoriesOfCores(report).map((group) => chartsOf(group, report)));
}
