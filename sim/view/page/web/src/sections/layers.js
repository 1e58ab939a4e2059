// The layers as a table that sorts and filters.
import {
    FilterModule, FormatModule, ResizeColumnsModule, ResizeTableModule, SortModule, Tabulator,
} from 'tabulator-tables';
import { h, section } from '../dom.js';
import { absent, bytes, grouped, percent, ratio, si, words } from '../format.js';
import { shortNames } from '../names.js';
import { largestBound, mainUnitOf, reasonsOf, sumOf } from '../palette.js';

Tabulator.registerModule([FilterModule, FormatModule, ResizeColumnsModule, ResizeTableModule, SortModule]);

/// With more rows than this, the table scrolls.
const mostRows = 15;
const rowHeight = 29;

/// The columns: field, title, format, explanation. Those of the classes of cycles are the main unit's.
const columnsOf = (main) => [
    ['number', '#', grouped, 'place in the network'],
    ['name', 'layer', String, 'as in the network file'],
    ['kind', 'kind', (kind) => words(kind) || absent, 'what it computes'],
    ['cycles', 'cycles', grouped, `of ${main.words}`],
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

function filterBox(table, count) {
    const shown = h('output', { class: 'quiet', 'aria-live': 'polite' });
    const kinds = [...new Set(table.options.data.map(({ kind }) => kind))].filter(Boolean).sort();
    const text = h('input', { type: 'search', id: 'layer-filter', placeholder: 'Filter by name or kind' });
    const kind = h('select', { 'aria-label': 'Kind of layer' },
        h('option', { value: '' }, 'all kinds'), kinds.map((each) => h('option', { value: each }, words(each))));
    const least = h('select', { 'aria-label': 'Least share of the run' },
        [0, 0.001, 0.01, 0.05].map((share) => h('option', { value: share },
            share === 0 ? 'any share of the run' : `at least ${percent(share)}`)));
    const apply = () => {
        const wanted = text.value.trim().toLowerCase();
        table.setFilter((row) => (kind.value === '' || row.kind === kind.value)
            && row.share >= Number(least.value)
            && (row.name.toLowerCase().includes(wanted) || row.kind.toLowerCase().includes(wanted)));
    };
    for (const control of [text, kind, least]) control.addEventListener('input', apply);
    table.on('dataFiltered', (_filters, rows) => {
        shown.textContent = rows.length === count ? '' : `${rows.length} of ${count}`;
    });
    return h('div', { class: 'row' }, text, kind, least, shown);
}

export function layers(report) {
    const main = mainUnitOf(report);
    const columns = columnsOf(main);
    const shownName = shortNames(report.layers);
    const rows = report.layers.map((layer, index) => rowOf(main, layer, index, shownName.get(layer.name)));
    const place = h('div', { class: 'layer-table' });
    const made = section('layers', 'Layers', 'A click on a heading sorts; a second click reverses the order.', place);
    const table = new Tabulator(place, {
        data: rows,
        columns: columns.filter(([field]) => isKnown(rows, field)).map(columnOf),
        layout: 'fitDataFill',
        height: rows.length > mostRows ? mostRows * rowHeight + 50 : undefined,
        rowHeight,
        placeholder: 'No layer passes the filter',
    });
    place.before(filterBox(table, rows.length));
    table.on('tableBuilt', () => listenToKeys(table, columns));
    return made;
}
