// All points as a table that sorts.
import {
    FormatModule, InteractionModule, PageModule, ResizeColumnsModule, ResizeTableModule, SortModule, Tabulator,
} from 'tabulator-tables';
import { h, section } from '../dom.js';
import { metricTitle, numberText, shortKey, shownValue } from './model.js';

Tabulator.registerModule([FormatModule, InteractionModule, PageModule, ResizeColumnsModule, ResizeTableModule,
    SortModule]);

const rowsOfPage = 15;

export function points(study, pick) {
    const place = h('div', { class: 'point-table' });
    const flat = study.rows.map((row) => ({ row, number: row.number,
        ...Object.fromEntries(study.keys.map((key, index) => [`k${index}`, row.values[key]])),
        ...Object.fromEntries(study.metrics.map(({ name }, index) => [`m${index}`, row.metrics[name]])) }));
    const column = (field, title, show, isNumber) => ({
        field,
        title,
        sorter: isNumber ? 'number' : 'string',
        sorterParams: { alignEmptyValues: 'bottom' },
        hozAlign: isNumber ? 'right' : 'left',
        headerHozAlign: isNumber ? 'right' : 'left',
        minWidth: 80,
        formatter: (cell) => h('span', null, show(cell.getValue())),
    });
    const table = new Tabulator(place, {
        data: flat,
        layout: 'fitDataFill',
        pagination: flat.length > rowsOfPage,
        paginationSize: rowsOfPage,
        columns: [
            // A button, for keys: its click is one on the row.
            { ...column('number', 'point', String, true),
                formatter: (cell) => h('button', { type: 'button', class: 'link' }, String(cell.getValue())) },
            ...study.keys.map((key, index) => column(`k${index}`, shortKey(key), shownValue,
                study.rows.every(({ values }) => typeof values[key] === 'number'))),
            ...study.metrics.map(({ name, unit }, index) => column(`m${index}`, ['J', 'W'].includes(unit) ? name : metricTitle({ name, unit }), (value) => numberText(value, ['J', 'W'].includes(unit) ? unit : ''), true)),
        ],
    });
    table.on('rowClick', (_event, clicked) => pick(clicked.getData().row));
    table.on('tableBuilt', () => {
        for (const each of table.getColumns()) {
            const heading = each.getElement();
            heading.tabIndex = 0;
            heading.addEventListener('keydown', (event) => {
                if (event.key !== 'Enter' && event.key !== ' ') return;
                event.preventDefault();
                heading.click();
            });
        }
    });
    return section('points', 'Points', 'A click on a heading sorts; a click on a line shows the point in the bar at the bottom of the window.', place);
}
