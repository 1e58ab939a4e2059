// The block diagram of the machine: the size and use of each unit, and the use of each path.
import { h, s, section } from '../dom.js';
import { bytes, grouped, latency, percent, ratio, si } from '../format.js';
import { bufferUse } from './memory.js';

const boxWidth = 190;
const boxHeight = 112;
const columnsAt = [20, 310, 600, 920]; // the last gap has the longest text: "12.3 M row passes"
const rowsAt = [20, 200, 380];
const margin = 20; // around the drawing

/// The units along the data path: place in the grid, description, and share of busy cycles.
function units(report) {
    const { machine } = report.configuration;
    const { matrix_unit: array, unified_buffer: buffer, accumulators, weight_memory: memory } = machine;
    const counters = report.units ?? {};
    const busy = (unit, key = 'busy_cycles') => ratio(counters[unit]?.[key], report.cycles);
    const bandwidth = memory.model === 'dram' ? 'DRAM timing' : si(memory.bandwidth_gb_per_s * 1e9, 'B/s');
    const tileBytes = array.rows * array.columns;
    const host = machine.host_interface;
    const use = bufferUse(report);
    return [
        { id: 'sequencer', name: 'Sequencer', at: [0, 0], busy: busy('sequencer'),
            lines: [`${grouped(report.instructions)} instructions`,
                `buffer of ${bytes(machine.sequencer.instruction_buffer_bytes)}`] },
        { id: 'host_interface', name: 'Host interface', at: [0, 1], busy: busy('host_read'), what: 'reading',
            lines: [`in ${si(host.read_gb_per_s * 1e9, 'B/s')}, out ${si(host.write_gb_per_s * 1e9, 'B/s')}`,
                `latency ${latency(host)}`] },
        { id: 'unified_buffer', name: 'Unified buffer', at: [1, 1],
            busy: ratio(use.bytes, report.memory.unified_buffer_bytes), what: use.isHeld ? 'at peak' : 'ever used',
            lines: [`${bytes(report.memory.unified_buffer_bytes)}, rows of ${array.rows} B`,
                `${buffer.read_ports} ports to read, ${buffer.write_ports} to write`] },
        { id: 'systolic_data_setup', name: 'Systolic data setup', at: [2, 1], busy: busy('systolic_data_setup'),
            lines: [`${machine.systolic_data_setup.fetches_per_cycle} fetch a cycle`] },
        { id: 'weight_memory', name: 'Weight memory', at: [2, 0],
            busy: ratio(report.memory.weight_memory_used_bytes, report.memory.weight_memory_bytes), what: 'filled',
            lines: [bytes(memory.bytes), bandwidth] },
        { id: 'weight_fifo', name: 'Weight FIFO', at: [3, 0], busy: null,
            lines: [`${machine.weight_fifo.depth_tiles} tiles of ${bytes(tileBytes)}`] },
        { id: 'matrix_unit', name: 'Matrix unit', at: [3, 1],
            busy: ratio(report.matrix_unit.active_cycles, report.cycles), what: 'active',
            lines: [`${array.rows} × ${array.columns} at ${machine.clock_mhz} MHz`,
                `peak ${si(report.tops.peak * 1e12, 'OPS')}`] },
        { id: 'accumulators', name: 'Accumulators', at: [3, 2], busy: null,
            lines: [`${grouped(accumulators.rows)} rows of ${array.columns} × 32 bit`,
                `${accumulators.banks} banks, ${accumulators.ports} ports`] },
        { id: 'activation_unit', name: 'Activation unit', at: [2, 2], busy: busy('activation_unit'),
            lines: ['one row a cycle', `latency ${latency(machine.activation_unit)}`] },
    ];
}

/// The position of each path on the drawing, and of its figures: the share, and below it the amount.
function routes() {
    const left = (column) => columnsAt[column];
    const right = (column) => columnsAt[column] + boxWidth;
    const middleX = (column) => columnsAt[column] + boxWidth / 2;
    const top = (row) => rowsAt[row];
    const bottom = (row) => rowsAt[row] + boxHeight;
    const middleY = (row) => rowsAt[row] + boxHeight / 2;
    const across = (from, to, row, shift = 0) => ({
        points: [[right(from), middleY(row) + shift], [left(to), middleY(row) + shift]],
        label: [(right(from) + left(to)) / 2, middleY(row) + shift - 26],
    });
    const down = (column, row) => ({
        points: [[middleX(column), bottom(row)], [middleX(column), top(row + 1)]],
        label: [middleX(column) - 12, (bottom(row) + top(row + 1)) / 2 - 4],
        anchor: 'end',
    });
    const back = (from, to, row, shift) => ({
        points: [[left(from), middleY(row) + shift], [right(to), middleY(row) + shift]],
        label: [(left(from) + right(to)) / 2, middleY(row) + shift + 21],
    });
    return {
        'host_interface>sequencer': {
            points: [[middleX(0), top(1)], [middleX(0), bottom(0)]],
            label: [middleX(0) + 8, (bottom(0) + top(1)) / 2 - 4],
            anchor: 'start',
        },
        'host_interface>unified_buffer': across(0, 1, 1, -22),
        'unified_buffer>host_interface': back(1, 0, 1, 18),
        'unified_buffer>systolic_data_setup': across(1, 2, 1),
        'systolic_data_setup>matrix_unit': across(2, 3, 1),
        'weight_memory>weight_fifo': across(2, 3, 0),
        'weight_fifo>matrix_unit': down(3, 0),
        'matrix_unit>accumulators': down(3, 1),
        'accumulators>activation_unit': back(3, 2, 2, 0),
        // Two nested paths: reads, with their figures above the line, and writes, with their figures below.
        'unified_buffer>activation_unit': {
            points: [[middleX(1) + 45, bottom(1)], [middleX(1) + 45, middleY(2) - 18], [left(2), middleY(2) - 18]],
            label: [(middleX(1) + 45 + left(2)) / 2, middleY(2) - 18 - 26],
        },
        'activation_unit>unified_buffer': {
            points: [[left(2), middleY(2) + 14], [middleX(1) - 45, middleY(2) + 14], [middleX(1) - 45, bottom(1)]],
            label: [(middleX(1) - 45 + left(2)) / 2, middleY(2) + 14 + 21],
        },
    };
}

function box({ id, name, at, lines, busy, what = 'busy' }) {
    const [x, y] = [columnsAt[at[0]], rowsAt[at[1]]];
    const text = (content, line, kind) => s('text', { x: x + 12, y: y + 22 + 18 * line, class: kind }, content);
    const known = busy !== null && busy !== undefined;
    return s('g', { class: 'unit', 'data-unit': id },
        s('rect', { x, y, width: boxWidth, height: boxHeight, rx: 8 }),
        text(name, 0, 'unit-name'),
        lines.map((line, index) => text(line, index + 1, 'unit-line')),
        known ? [s('rect', { x: x + 12, y: y + boxHeight - 12, width: boxWidth - 24, height: 4, rx: 2, class: 'bar' }),
            s('rect', { x: x + 12, y: y + boxHeight - 12, width: (boxWidth - 24) * Math.min(busy, 1), height: 4, rx: 2,
                class: 'bar-filled' }),
            s('text', { x: x + boxWidth - 12, y: y + boxHeight - 18, class: 'unit-busy' },
                `${percent(busy)} ${what}`)] : null);
}

/// The width of a path, which grows with its use.
function path(route, { from, to, moved, unit, utilization }) {
    const width = 1.5 + 5 * Math.min(utilization ?? 0, 1);
    const amount = unit === 'bytes' ? bytes(moved) : `${moved < 1000 ? grouped(moved) : si(moved)} ${unit}`;
    const [x, y] = route.label;
    const anchor = route.anchor ?? 'middle';
    return s('g', { class: 'path', 'data-path': `${from}>${to}`, 'data-utilization': utilization },
        s('title', null, `${from} to ${to}: ${amount}, ${percent(utilization)} of the most that the path could move`),
        s('polyline', { points: route.points.map((point) => point.join(',')).join(' '), 'stroke-width': width,
            'marker-end': 'url(#arrow)' }),
        s('text', { x, y, 'text-anchor': anchor, class: 'path-share' }, percent(utilization)),
        s('text', { x, y: y + 15, 'text-anchor': anchor, class: 'path-amount' }, amount));
}

export function machine(report) {
    const places = routes();
    const paths = (report.paths ?? []).filter(({ from, to }) => places[`${from}>${to}`]);
    const width = columnsAt.at(-1) + boxWidth + margin;
    const height = rowsAt.at(-1) + boxHeight + margin;
    const drawing = s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'machine',
        'aria-label': `Block diagram of ${report.machine}` },
    s('defs', null, s('marker', { id: 'arrow', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 15, markerHeight: 15,
        markerUnits: 'userSpaceOnUse', orient: 'auto' }, s('path', { d: 'M0,0 L10,5 L0,10 z', class: 'arrow' }))),
    paths.map((each) => path(places[`${each.from}>${each.to}`], each)), units(report).map(box));
    return section('machine', 'The machine',
        'The units and the paths between them. Each path has the amount that it moved and the share of its bandwidth that '
        + 'the run used.', h('div', { class: 'scroll', tabindex: '0', role: 'region',
            'aria-label': 'Block diagram' }, drawing));
}
