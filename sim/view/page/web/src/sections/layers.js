// The layers as a table that sorts and filters. Those that repeat are one row, which a click opens.
import {
    DataTreeModule, FilterModule, FormatModule, ResizeColumnsModule, ResizeTableModule, SortModule, Tabulator,
} from 'tabulator-tables';
import { h, section } from '../dom.js';
import { absent, bytes, grouped, isNumber, percent, ratio, si, words } from '../format.js';
import { shortNames } from '../names.js';
import { largestBound, mainUnitOf, reasonsOf, sumOf } from '../palette.js';

Tabulator.registerModule([DataTreeModule, FilterModule, FormatModule, ResizeColumnsModule, ResizeTableModule, SortModule]);

/// With more rows than this, the table scrolls.
const mostRows = 15;
const rowHeight = 29;

/// The columns: field, title, format, explanation. Those of the classes of cycles are the main unit's.
const columnsOf = (main) => [
    ['number', '#', grouped, 'place in the network'],
    ['name', 'layer', String, 'as in the network file'],
    ['kind', 'kind', (kind) => words(kind) || absent, 'what it computes'],
    ['cycles', 'cycles', grouped, `of ${main.words}; of layers that repeat, the sum`],
    ['each', 'of each', String, 'cycles of each of those that repeat: the least and the most'],
    ['share', 'of run', percent, 'of the run\'s cycles'],
    ...main.columns.map(([field, title, , meaning]) => [field, title, percent, meaning]),
    ['reason', 'mostly', String, main.mostly],
    ['used', 'cells used', percent, main.usedMeaning],
    ['bound', 'at least', grouped, 'cycles: the layer\'s largest bound; that part of the machine needs them for it'],
    ['limit', 'because of', String, 'the part of the machine with the largest bound'],
    ['ratio', 'ratio', (value) => value.toFixed(2), 'cycles over the largest bound; below 1 where layers overlap'],
    ['macs', 'MACs', (value) => si(value), 'multiply-accumulates of one inference'],
    ['weights', 'weights', bytes, 'weight bytes fetched in the whole run'],
    ['intensity', 'MAC/byte', (value) => si(value), 'multiply-accumulates for each weight byte fetched'],
    ['tops', 'performance', (value) => si(value === null ? null : value * 1e12, 'OPS'), `achieved while the layer had ${main.words}`],
    ['joules', 'energy', (value) => si(value, 'J'), 'of the whole run, static share included'],
];

/// The sums of numbers in objects that are alike; what is no number, or null in all, is left out.
function sumsOf(objects) {
    const keys = new Set(objects.flatMap((each) => Object.keys(each)));
    return Object.fromEntries([...keys].flatMap((key) => {
        const values = objects.map((each) => each[key]).filter((value) => value !== null && value !== undefined);
        if (values.length === 0) return [];
        if (values.every(isNumber)) return [[key, values.reduce((sum, value) => sum + value, 0)]];
        return values.every((value) => typeof value === 'object') ? [[key, sumsOf(values)]] : [];
    }));
}

/// Layers as one: sums, and ratios that follow from sums.
function together(main, layers) {
    const sums = sumsOf(layers);
    const mean = (valueOf, weightOf) => {
        const known = layers.filter((layer) => isNumber(valueOf(layer)) && weightOf(layer) > 0);
        return ratio(known.reduce((sum, layer) => sum + valueOf(layer) * weightOf(layer), 0),
            known.reduce((sum, layer) => sum + weightOf(layer), 0));
    };
    const bounds = { ...sums.bounds, ratio: ratio(sums.cycles, largestBound(sums.bounds)?.cycles) };
    const tops = mean((layer) => layer.achieved_tops, (layer) => layer.cycles);
    const intensity = mean((layer) => layer.roofline?.macs_per_weight_byte, (layer) => layer.weight_bytes);
    return { ...sums, bounds, achieved_tops: tops, roofline: { macs_per_weight_byte: intensity } };
}

function rowOf(main, layer, index, shownName) {
    const unit = main.of(layer);
    const bound = largestBound(layer.bounds);
    return {
        number: index + 1,
        name: layer.name,
        shownName,
        kind: layer.kind,
        cycles: layer.cycles,
        share: layer.share,
        ...Object.fromEntries(main.columns.map(([field, , key]) => [field, ratio(unit[key], sumOf(main, unit))])),
        reason: reasonsOf(unit, main.partWords)[0]?.name,
        bound: bound?.cycles,
        limit: bound?.name,
        ratio: layer.bounds?.ratio,
        used: unit[main.classes[0].key] > 0 ? main.usefulShare(unit) : null,
        macs: layer.macs_per_inference,
        weights: layer.weight_bytes,
        intensity: layer.roofline?.macs_per_weight_byte,
        tops: layer.achieved_tops,
        joules: layer.energy?.joules,
    };
}

/// The rows with those that repeat as one, as `repeated_layers` of the report has them: a row for each block, in it one
/// for each of its places, in that its layers. `rows` are those of all layers.
function folded(report, main, rows) {
    const made = [];
    let next = 0;
    for (const block of report.repeated_layers ?? []) {
        made.push(...rows.slice(next, block.first));
        next = block.first + block.layers * block.count;
        const rowFor = (name, kind, numbers, { least_cycles: least, most_cycles: most }, children) => ({
            ...rowOf(main, { ...together(main, numbers.map((number) => report.layers[number])), name, kind }, numbers[0],
                `${name} ×${block.count}`),
            each: least === most ? grouped(least) : `${grouped(least)} to ${grouped(most)}`,
            _children: children,
        });
        const places = block.places.map((place, index) => {
            const numbers = Array.from({ length: block.count }, (_, repeat) => block.first + repeat * block.layers + index);
            return rowFor(place.name, place.kind, numbers, place, numbers.map((number) => rows[number]));
        });
        if (places.length === 1) {
            made.push(places[0]);
            continue;
        }
        const all = Array.from({ length: next - block.first }, (_, index) => block.first + index);
        made.push(rowFor(block.name, `${block.layers} layers`, all, block, places));
    }
    return [...made, ...rows.slice(next)];
}

/// Whether any layer has a value in this column; empty columns are left out. Layers of a program without a network
/// have no MACs.
function isKnown(rows, field) {
    return rows.some((row) => row[field] !== null && row[field] !== undefined && (field !== 'macs' || row.macs > 0));
}

const isText = (field) => ['name', 'kind', 'reason', 'limit'].includes(field);

function columnOf([field, title, show]) {
    return {
        field,
        title,
        sorter: isText(field) ? 'string' : 'number',
        sorterParams: { alignEmptyValues: 'bottom' },
        headerSortStartingDir: isText(field) || field === 'number' ? 'asc' : 'desc',
        hozAlign: isText(field) ? 'left' : 'right',
        headerHozAlign: isText(field) ? 'left' : 'right',
        minWidth: isText(field) ? 110 : 50,
        formatter: (cell) => {
            const value = cell.getValue();
            const known = value !== null && value !== undefined;
            if (field === 'name') return h('span', { title: value }, cell.getData().shownName);
            return h('span', { class: known && value !== 0 ? null : 'quiet' }, known ? show(value) : absent);
        },
    };
}

/// Lets keys sort as clicks do.
function listenToKeys(table, columns) {
    for (const column of table.getColumns()) {
        const heading = column.getElement();
        heading.tabIndex = 0;
        heading.title = columns.find(([field]) => field === column.getField())[3];
        heading.addEventListener('keydown', (event) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            heading.click();
        });
    }
}

/// `rows` are those of all layers, `first` those that are shown without a filter.
function filterBox(table, rows, first) {
    const shown = h('output', { class: 'quiet', 'aria-live': 'polite' });
    const kinds = [...new Set(rows.map(({ kind }) => kind))].filter(Boolean).sort();
    const text = h('input', { type: 'search', id: 'layer-filter', placeholder: 'Filter by name or kind' });
    const kind = h('select', { 'aria-label': 'Kind of layer' },
        h('option', { value: '' }, 'all kinds'), kinds.map((each) => h('option', { value: each }, words(each))));
    const least = h('select', { 'aria-label': 'Least share of the run' },
        [0, 0.001, 0.01, 0.05].map((share) => h('option', { value: share },
            share === 0 ? 'any share of the run' : `at least ${percent(share)}`)));
    let showsAll = first === rows;
    let isFiltered = false;
    const apply = () => {
        const wanted = text.value.trim().toLowerCase();
        isFiltered = wanted !== '' || kind.value !== '' || Number(least.value) > 0;
        table.setFilter((row) => !isFiltered || ((kind.value === '' || row.kind === kind.value)
            && row.share >= Number(least.value)
            && (row.name.toLowerCase().includes(wanted) || row.kind.toLowerCase().includes(wanted))));
        if (first === rows || showsAll === isFiltered) return;
        showsAll = isFiltered; // a filter finds layers, also those in a closed row
        table.setData(showsAll ? rows : first);
    };
    for (const control of [text, kind, least]) control.addEventListener('input', apply);
    table.on('dataFiltered', (_filters, passed) => {
        shown.textContent = !isFiltered || passed.length === rows.length ? '' : `${passed.length} of ${rows.length}`;
    });
    return h('div', { class: 'row' }, text, kind, least, shown);
}

/// What opens and closes a row.
const opener = (sign, label) => `<button type="button" class="fold" aria-label="${label}">${sign}</button>`;
const treeOptions = {
    dataTree: true,
    dataTreeElementColumn: 'name',
    dataTreeBranchElement: false,
    dataTreeChildIndent: 18,
    dataTreeExpandElement: opener('+', 'Show what repeats'),
    dataTreeCollapseElement: opener('−', 'Hide what repeats'),
};

export function layers(report) {
    const main = mainUnitOf(report);
    const columns = columnsOf(main);
    const shownName = shortNames(report.layers);
    const rows = report.layers.map((layer, index) => rowOf(main, layer, index, shownName.get(layer.name)));
    const first = report.repeated_layers ? folded(report, main, rows) : rows;
    const hasFolded = first !== rows;
    const place = h('div', { class: 'layer-table' });
    const made = section('layers', 'Layers', `A click on a heading sorts; a second click reverses the order.${
        hasFolded ? ' Layers that repeat are one row; + opens it.' : ''}`, place);
    const height = mostRows * rowHeight + 50;
    const table = new Tabulator(place, {
        data: first,
        columns: columns.filter(([field]) => isKnown(first, field)).map(columnOf),
        layout: 'fitDataFill',
        height: !hasFolded && rows.length > mostRows ? height : undefined,
        maxHeight: hasFolded ? height : undefined,
        rowHeight,
        placeholder: 'No layer passes the filter',
        ...(hasFolded ? treeOptions : {}),
    });
    place.before(filterBox(table, rows, first));
    table.on('tableBuilt', () => listenToKeys(table, columns));
    return made;
}
