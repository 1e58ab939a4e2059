// The effective configuration of the run: every key, whether a file set it or not.
import { h, section } from '../dom.js';

/// Dotted keys with their values and sources, in the report's order.
function flatten(object, prefix = '') {
    if (object === null || typeof object !== 'object') return [[prefix, object]];
    if (Array.isArray(object) && object.every((each) => each === null || typeof each !== 'object')) {
        return [[prefix, object.join(', ')]];
    }
    return Object.entries(object).filter(([key]) => key !== 'sources')
        .flatMap(([key, value]) => flatten(value, prefix ? `${prefix}.${key}` : key));
}

const shown = (value) => (value === null || value === '' ? '–' : String(value));

/// A part of the configuration, as a list that opens.
function part(name, object, open) {
    const sources = object.sources ?? {};
    const rows = flatten(object).map(([key, value]) => h('tr', { 'data-search': `${name}.${key} ${shown(value)}` },
        h('th', { scope: 'row' }, key), h('td', null, shown(value)), h('td', { class: 'quiet' }, sources[key] ?? '')));
    return h('details', { open },
        h('summary', null, name, h('span', { class: 'quiet' }, ` ${rows.length} keys`)),
        h('div', { class: 'scroll' }, h('table', { class: 'configuration' }, h('tbody', null, rows))));
}

function search(parts) {
    const found = h('output', { class: 'quiet', 'aria-live': 'polite' });
    const box = h('input', { type: 'search', id: 'configuration-search', placeholder: 'Search keys and values' });
    box.addEventListener('input', () => {
        const wanted = box.value.trim().toLowerCase();
        let count = 0;
        for (const each of parts) {
            let here = 0;
            for (const row of each.querySelectorAll('tr')) {
                row.hidden = !row.dataset.search.toLowerCase().includes(wanted);
                if (!row.hidden) ++here;
            }
            each.open = wanted !== '' && here > 0;
            each.hidden = here === 0;
            count += here;
        }
        found.textContent = wanted === '' ? '' : `${count} found`;
    });
    return h('div', { class: 'row' }, box, found);
}

export function configuration(report) {
    const { run, machine, baselines } = report.configuration;
    const parts = [part('run', run, false), part('machine', machine, false),
        ...baselines.map((baseline) => part(baseline.name, baseline, false))];
    return section('configuration', 'Configuration',
        'Every key of run, machine and baselines that the run used, with the source of its number if there is one.',
        search(parts), parts);
}
