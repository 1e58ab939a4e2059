// What a study's points say at once: its best ones, and what a reader of the numbers should know.
import { h, mainSection } from '../dom.js';
import { counted, grouped } from '../format.js';
import { metricOf, numberText } from './model.js';

/// A best point: what it is best in, its settings, whether it lies at an end of an axis, and its command line.
function bestPoint(study, { workload, metric, way, value, point, settings, command, edges }, pick) {
    const row = study.rows.find(({ number }) => number === point);
    return h('div', { class: 'best' },
        h('h3', null, `${way === 'lowest' ? 'Lowest' : 'Highest'} ${metric}${workload === '' ? '' : ` of ${workload}`}: `
            + numberText(value, metricOf(study, metric)?.unit)),
        h('p', null, h('button', { type: 'button', class: 'link', onclick: () => pick(row) }, `point ${point}`), ` ${settings}`),
        edges.map((edge) => h('p', { class: 'meaning' }, edge)),
        h('code', null, command));
}

export function overview(study, pick) {
    const { counts } = study;
    const all = counts.done + counts.failed + counts.pending + counts.running;
    const sentence = `${grouped(counts.done)} of ${counted(all, 'point')} are done`
        + `${counts.failed > 0 ? `, ${grouped(counts.failed)} failed` : ''}.`
        + `${study.rows.length < counts.done ? ` This page has ${grouped(study.rows.length)} of them, evenly spread, the best and the `
            + 'Pareto front; the file of results has all.' : ''}`;
    return mainSection('study', study.study, sentence,
        study.best.map((each) => bestPoint(study, each, pick)),
        h('ul', { class: 'remarks' }, study.findings.map((finding) => h('li', null, finding)),
            study.failures.map((failure) => h('li', { class: 'worse' }, failure))));
}
