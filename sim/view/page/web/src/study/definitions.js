// The keys of a study with their values, and its metrics with their definitions.
import { h, section, table } from '../dom.js';
import { shownValue, valuesOf } from './model.js';

function valuesText(study, key) {
    const follows = (study.followers ?? []).includes(key);
    // Zipped values stand in the order of those that they go with.
    const values = follows ? [...new Set(study.rows.map(({ values: all }) => all[key]))] : valuesOf(study, key);
    const shown = values.length > 8 ? [...values.slice(0, 4).map(shownValue), '…', shownValue(values.at(-1))] : values.map(shownValue);
    return `${shown.join(', ')}${follows ? ' (with the zipped key)' : ''}`;
}

export function definitions(study) {
    return section('definitions', 'Keys and metrics in words', null,
        h('div', null, h('h3', null, 'Keys'), table(['key', 'values'],
            study.keys.map((key, index) => [key, `${valuesText(study, key)}${index < study.axes ? '' : ' (derived)'}`]),
            { label: 'Keys', class: 'keys' })),
        h('div', null, h('h3', null, 'Metrics'), table(['metric', 'unit', 'formula', 'meaning'],
            study.metrics.map(({ name, unit, formula, meaning }) => [name, name === 'cycles' ? 'cycles' : unit, formula, meaning]),
            { label: 'Metrics', class: 'keys' })));
}
