// The block diagram of the machine: the size and use of each unit, and the use of each path. The report says which
// units there are, and where they stand.
import { h, s, section } from '../dom.js';
import { bytes, grouped, percent, ratio, showOf, si } from '../format.js';
import { cyclesOfUnit } from '../palette.js';

const boxWidth = 190;
const boxHeight = 112;
const columnsAt = [20, 310, 600, 920]; // the last gap has the longest text: "12.3 M row passes"
const rowStep = 180;
const margin = 20; // around the drawing

const left = ({ column }) => columnsAt[column] ?? columnsAt.at(-1) + (column - columnsAt.length + 1) * 300;
const right = (box) => left(box) + boxWidth;
const middleX = (box) => left(box) + boxWidth / 2;
const top = ({ row }) => margin + row * rowStep;
const bottom = (box) => top(box) + boxHeight;
const middleY = (box) => top(box) + boxHeight / 2;

/// Where the figures stand beside a point of a path, and how their text is aligned.
const places = {
    above: { by: [0, -26] },
    below: { by: [0, 21] },
    left: { by: [-12, -4], anchor: 'end' },
    right: { by: [8, -4], anchor: 'start' },
};

/// The points of a path, and the one beside which its figures stand: in the middle of its (last) straight part.
function route(from, to, [shiftX, shiftY]) {
    const middle = ([x0, y0], [x1, y1]) => [(x0 + x1) / 2, (y0 + y1) / 2];
    if (from.row === to.row) {
        const y = middleY(from) + shiftY;
        const points = from.column < to.column ? [[right(from), y], [left(to), y]] : [[left(from), y], [right(to), y]];
        return { points, at: middle(...points) };
    }
    if (from.column === to.column) {
        const x = middleX(from) + shiftX;
        const points = from.row < to.row ? [[x, bottom(from)], [x, top(to)]] : [[x, top(from)], [x, bottom(to)]];
        return { points, at: middle(...points) };
    }
    // From or to the upper box from below, and the lower one from its side.
    const [upper, lower] = from.row < to.row ? [from, to] : [to, from];
    const x = middleX(upper) + shiftX;
    const y = middleY(lower) + shiftY;
    const side = [upper.column < lower.column ? left(lower) : right(lower), y];
    const points = [[x, bottom(upper)], [x, y], side];
    return { points: from === upper ? points : points.reverse(), at: middle([x, y], side) };
}

/// The share of its cycles in which a unit is busy, or of its bytes that a memory holds; and a word for it. What values
/// held at most, where the run recorded it, says more than the rows that were ever written.
function barOf(report, { unit, busy, filled, word }) {
    if (filled) {
        const held = report.memory.over_time?.[`${unit}_bytes`] ?? [];
        return held.length > 0 ? [ratio(Math.max(...held), filled.bytes), 'at peak']
            : [ratio(filled.used_bytes, filled.bytes), word];
    }
    return [ratio(busy?.split('.').reduce((object, key) => object?.[key], report), cyclesOfUnit(report, unit)), word];
}

function lineOf({ text, numbers }) {
    let next = 0;
    return text.replaceAll('{}', () => {
        const { number, format } = numbers[next];
        next += 1;
        return showOf(format)(number);
    });
}

function box(report, described) {
    const [x, y] = [left(described), top(described)];
    const text = (content, line, kind) => s('text', { x: x + 12, y: y + 22 + 18 * line, class: kind }, content);
    const [share, word] = barOf(report, described);
    const known = share !== null && share !== undefined;
    return s('g', { class: 'unit', 'data-unit': described.unit },
        s('rect', { x, y, width: boxWidth, height: boxHeight, rx: 8 }),
        text(described.title, 0, 'unit-name'),
        described.lines.map((line, index) => text(lineOf(line), index + 1, 'unit-line')),
        known ? [s('rect', { x: x + 12, y: y + boxHeight - 12, width: boxWidth - 24, height: 4, rx: 2, class: 'bar' }),
            s('rect', { x: x + 12, y: y + boxHeight - 12, width: (boxWidth - 24) * Math.min(share, 1), height: 4, rx: 2,
                class: 'bar-filled' }),
            s('text', { x: x + boxWidth - 12, y: y + boxHeight - 18, class: 'unit-busy' },
                `${percent(share)} ${word}`)] : null);
}

/// The width of a path grows with its use.
function path(points, [x, y], anchor, { from, to, moved, unit, utilization }) {
    const width = 1.5 + 5 * Math.min(utilization ?? 0, 1);
    const amount = unit === 'bytes' ? bytes(moved) : `${moved < 1000 ? grouped(moved) : si(moved)} ${unit}`;
    return s('g', { class: 'path', 'data-path': `${from}>${to}`, 'data-utilization': utilization },
        s('title', null, `${from} to ${to}: ${amount}, ${percent(utilization)} of the most that the path could move`),
        s('polyline', { points: points.map((point) => point.join(',')).join(' '), 'stroke-width': width,
            'marker-end': 'url(#arrow)' }),
        s('text', { x, y, 'text-anchor': anchor, class: 'path-share' }, percent(utilization)),
        s('text', { x, y: y + 15, 'text-anchor': anchor, class: 'path-amount' }, amount));
}

/// Nothing for reports of earlier versions, which do not say how the machine is drawn.
export function machine(report) {
    if (!report.drawing) return null;
    const { boxes, routes } = report.drawing;
    const boxOf = (name) => boxes.find(({ unit }) => unit === name);
    const paths = routes.map(({ from, to, figures, shift }) => {
        const moved = (report.paths ?? []).find((each) => each.from === from && each.to === to);
        if (!boxOf(from) || !boxOf(to) || !moved) return null;
        const { points, at: [x, y] } = route(boxOf(from), boxOf(to), shift);
        const { by, anchor = 'middle' } = places[figures] ?? places.above;
        return path(points, [x + by[0], y + by[1]], anchor, moved);
    });
    const width = Math.max(...boxes.map(right)) + margin;
    const height = Math.max(...boxes.map(bottom)) + margin;
    const drawing = s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'machine',
        'aria-label': `Block diagram of ${report.machine}` },
    s('defs', null, s('marker', { id: 'arrow', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 15, markerHeight: 15,
        markerUnits: 'userSpaceOnUse', orient: 'auto' }, s('path', { d: 'M0,0 L10,5 L0,10 z', class: 'arrow' }))),
    paths, boxes.map((each) => box(report, each)));
    return section('machine', 'The machine',
        'The units and the paths between them. Each path has the amount that it moved and the share of its bandwidth that '
        + `the run used.${report.cores > 1 ? ` One of ${report.cores} cores is drawn, with what all of them moved.` : ''}`, h('div', { class: 'scroll', tabindex: '0', role: 'region',
            'aria-label': 'Block diagram' }, drawing));
}
