// What a study is about, and what its points say at once.
import { h, mainSection, table } from '../dom.js';
import { counted, grouped } from '../format.js';
import { shownValue, valuesOf } from './model.js';

function valuesText(study, key) {
    const follows = (study.followers ?? []).includes(key);
    // Zipped values stand in the order of those that they go with.
    const values = follows ? [...new Set(study.rows.map(({ values: all }) => all[key]))] : valuesOf(study, key);
    const shown = values.length > 8 ? [...values.slice(0, 4).map(shownValue), '…', shownValue(values.at(-1))] : values.map(shownValue);
    return `${shown.join(', ')}${follows ? ' (with the zipped key)' : ''}`;
}

export function overview(study) {
    const { counts } = study;
    const all = counts.done + counts.failed + counts.pending + counts.running;
    const sentence = `${grouped(counts.done)} of ${counted(all, 'point')} are done`
        + `${counts.failed > 0 ? `, ${grouped(counts.failed)} failed` : ''}.`
        + `${study.rows.length < counts.done ? ` This page has ${grouped(study.rows.length)} of them, evenly spread, and the `
            + 'Pareto front; the file of results has all.' : ''}`;
    return mainSection('study', study.study, sentence,
        h('ul', { class: 'remarks' }, study.findings.map((finding) => h('li', null, finding)),
            study.failures.map((failure) => h('li', { class: 'worse' }, failure))),
        h('div', null, h('h3', null, 'Keys'), table(['key', 'values'],
            study.keys.map((key, index) => [key, `${valuesText(study, key)}${index < study.axes ? '' : ' (derived)'}`]),
            { label: 'Keys', class: 'keys' })),
        h('div', null, h('h3', null, 'Metrics'), table(['metric', 'unit', 'formula', 'meaning'],
            study.metrics.map(({ name, unit, formula, meaning }) => [name, name === 'cycles' ? 'cycles' : unit, formula, meaning]),
            { label: 'Metrics', class: 'keys' })));
}

