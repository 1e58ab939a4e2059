// The values in the rows of a memory over time.
import { chart, tip, valueAxis } from '../chart.js';
import { section } from '../dom.js';
import { bytes, counted, grouped, si, words } from '../format.js';
import { colourOf } from '../palette.js';
import { memoriesOfCores } from './memory.js';

/// A writer has the same colour everywhere.
function coloursOf(values) {
    const names = [...new Set(values.map(({ name }) => name))];
    return new Map(names.map((name, index) => [name, colourOf(index)]));
}

/// The bounds of a value: its rows and its cycles.
function extentOf({ steps }) {
    return {
        row: steps[0].first_row,
        lastRow: steps.at(-1).first_row + steps.at(-1).rows,
        begin: Math.min(...steps.map(({ begin }) => begin)),
        end: Math.max(...steps.map(({ end }) => end)),
    };
}

/// `rowBytes`: absent if the configuration does not say how many rows the memory has.
function valueTip({ name, extent: { row, lastRow, begin, end } }, rowBytes, colour) {
    return tip(name, [['rows', `${grouped(row)} to ${grouped(lastRow - 1)}`, colour],
        ...(rowBytes ? [['size', bytes((lastRow - row) * rowBytes)]] : []), ['cycles', `${grouped(begin)} to ${grouped(end)}`],
        ['lived', `${grouped(end - begin)} cycles`]]);
}

/// The outline of a value's steps: up where they begin, down where they end.
function outlineOf(api, { steps }) {
    const corner = (cycle, row) => api.coord([cycle, row]);
    const up = steps.flatMap(({ first_row: row, rows, begin }) => [corner(begin, row), corner(begin, row + rows)]);
    const down = [...steps].reverse()
        .flatMap(({ first_row: row, rows, end }) => [corner(end, row + rows), corner(end, row)]);
    return [...up, ...down];
}

/// A value, with its name if there is room.
function drawing(api, colours, value, colour) {
    const { row, lastRow, begin, end } = value.extent;
    const [left, top] = api.coord([begin, lastRow]);
    const [right, bottom] = api.coord([end, row]);
    const children = [{
        type: 'polygon',
        shape: { points: outlineOf(api, value) },
        style: { fill: colour, stroke: colours.card, lineWidth: Math.min(0.7, (bottom - top) / 8, (right - left) / 8) },
    }];
    const last = value.steps.at(-1);
    const [textAt] = api.coord([last.begin, lastRow]);
    const textWidth = 7 * value.name.length;
    if (bottom - top > 14 && right - textAt > textWidth && right - left > textWidth) {
        children.push({
            type: 'text',
            style: { text: value.name, x: textAt + 4, y: top + 3, fill: '#fff', stroke: '#000a', lineWidth: 2, fontSize: 11 },
            silent: true,
        });
    }
    return { type: 'group', children };
}

/// The map of one memory, the unit of that name; `cores`: that have it, if there are several.
function mapOf(report, unit, map, id, cores) {
    if (map.values.length === 0) return null;
    const title = report.memory.over_time?.memories?.find(({ figure }) => figure.startsWith(`${unit}_`))?.title ?? words(unit);
    const heading = `${title.replaceAll(' ', '-')} map${cores === '' ? '' : ` of ${cores}`}`;
    const values = map.values.map((value) => ({ ...value, extent: extentOf(value) }));
    const leftOut = map.left_out; // with too many values, the map ends before the first of them
    const rows = report.configuration.machine[unit]?.rows;
    const rowBytes = rows && report.memory[`${unit}_bytes`] / rows;
    const colourBy = coloursOf(values);
    const last = Math.max(...values.map(({ extent }) => extent.lastRow));
    const drawn = chart({
        label: `${heading}: rows over cycles`,
        height: 460,
        option: (colours) => ({
            grid: { left: 76, right: 46, top: 14, bottom: 76 },
            tooltip: {
                trigger: 'item',
                formatter: ({ dataIndex }) =>
                    valueTip(values[dataIndex], rowBytes, colourBy.get(values[dataIndex].name)),
            },
            xAxis: valueAxis(colours, { min: 0, max: map.until, name: 'cycle', nameLocation: 'middle', nameGap: 26,
                axisLabel: { formatter: (value) => si(value) } }),
            yAxis: valueAxis(colours, { min: 0, max: last, axisLabel: { formatter: (value) => `row ${si(value)}` } }),
            dataZoom: [
                { type: 'slider', xAxisIndex: 0, bottom: 8, height: 18, showDetail: false, brushSelect: false,
                    filterMode: 'weakFilter', borderColor: colours.line },
                { type: 'slider', yAxisIndex: 0, right: 6, width: 18, showDetail: false, brushSelect: false,
                    filterMode: 'weakFilter', borderColor: colours.line },
                { type: 'inside', xAxisIndex: 0, filterMode: 'weakFilter', zoomOnMouseWheel: 'ctrl' },
            ],
            series: [{
                type: 'custom',
                clip: true,
                encode: { x: [0, 1], y: [2, 3] },
                data: values.map(({ extent: { begin, end, row, lastRow } }) => [begin, end, row, lastRow]),
                renderItem: ({ dataIndex }, api) => {
                    const value = values[dataIndex];
                    return drawing(api, colours, value, colourBy.get(value.name)[colours.scheme]);
                },
            }],
        }),
    });
    const neverUsed = last < rows && leftOut === 0
        ? `Rows ${grouped(last)} to ${grouped(rows - 1)} were never used. ` : '';
    const later = leftOut > 0 ? `The map ends at cycle ${grouped(map.until)} of ${grouped(report.cycles)}; ${counted(leftOut, 'later value')} left out. ` : '';
    return section(id, heading,
        'Each shape is a value. Its height shows its rows, its width the cycles from the first write to the last read. It '
        + 'is named after the layer or host buffer that wrote it. '
        + `${neverUsed}${later}Drag the sliders to look closer.`, drawn);
}

/// A section for each memory of which the report has a map.
export function bufferMap(report) {
    const suffix = '_map';
    return memoriesOfCores(report).flatMap(({ cores, memory }, group) =>
        Object.entries(memory).filter(([key]) => key.endsWith(suffix)).map(([key, map], index) => {
            const id = index === 0 ? 'buffer-map' : key.replaceAll('_', '-');
            return mapOf(report, key.slice(0, -suffix.length), map, group === 0 ? id : `${id}-${group + 1}`, cores);
        })).filter((each) => each !== null);
}
