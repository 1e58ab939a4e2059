// The explanations of the cycles of the run and of each layer, if the report has them.
import { h, section, table } from '../dom.js';
import { percent, times } from '../format.js';
import { shortNames } from '../names.js';

/// Layers shown at once, those with most cycles; the others are a click away.
const shown = 12;

function list(layers, shownName) {
    return h('dl', { class: 'why' }, layers.map((layer) => [
        h('dt', { title: layer.name }, shownName.get(layer.name), ' ', h('span', { class: 'quiet' }, percent(layer.share))),
        h('dd', null, layer.explanation)]));
}

function whatIfs(all) {
    const rows = all.map(({ change, speedup, settings, error, remark }) => [
        change,
        (speedup === null ? error || '-' : times(speedup)) + (remark ? `, ${remark}` : ''),
        h('code', null, settings.map((setting) => `--set ${setting}`).join(' '))]);
    return h('details', null, h('summary', null, 'Changes that were simulated'),
        table(['change', 'speed of the run', 'as an option of sim run'], rows,
            { class: 'configuration', label: 'changes that were simulated' }));
}

export function explanations(report) {
    const explained = report.layers.filter(({ cycles, explanation }) => cycles > 0 && explanation)
        .sort((one, other) => other.cycles - one.cycles);
    if (explained.length === 0) return null;
    const more = explained.slice(shown);
    const run = report.explanation;
    const shownName = shortNames(report.layers);
    return section('why', 'Why',
        'The main cause of the cycles, from counters and schedule, and the simulated effect of a change.',
        run ? h('p', null, h('b', null, 'The run: '), run.text) : null,
        list(explained.slice(0, shown), shownName),
        more.length > 0 ? h('details', null, h('summary', null, `${more.length} more layers`), list(more, shownName)) : null,
        run?.what_ifs?.length > 0 ? whatIfs(run.what_ifs) : null);
}
