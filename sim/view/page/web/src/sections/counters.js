// Every counter of every unit.
import { h, section, table } from '../dom.js';
import { grouped, percent, ratio, wordsOf } from '../format.js';
import { cyclesOfUnit } from '../palette.js';

function unitTable(name, counters, cycles, words) {
    const rows = Object.entries(counters).map(([key, value]) =>
        [words(key), grouped(value), key.endsWith('_cycles') ? percent(ratio(value, cycles)) : '']);
    return h('div', null, h('h3', null, words(name)),
        table(['counter', 'value', 'of the run'], rows, { class: 'numbers', label: words(name) }));
}

export function counters(report) {
    if (!report.units) return null;
    const words = wordsOf(report);
    return section('counters', 'Counters', 'The counters of each unit. All figures of this page come from them.',
        h('details', null, h('summary', null, 'All counters of all units'),
            h('div', { class: 'columns' }, Object.entries(report.units).map(([name, values]) =>
                unitTable(name, values, cyclesOfUnit(report, name.split('.')[0]), words)))));
}
