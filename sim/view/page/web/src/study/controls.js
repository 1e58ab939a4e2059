// Choices above a chart.
import { h } from '../dom.js';
import { shortKey } from './model.js';

/// A list of names, one of which is chosen; `choose` is called with each other choice.
export function picker(label, names, chosen, choose) {
    const select = h('select', { onchange: () => choose(select.value) },
        names.map((name) => h('option', { value: name, selected: name === chosen }, shortKey(name))));
    return h('label', { class: 'picker' }, `${label} `, select);
}

/// The metric that a study asks about: its own first one that has a better way, else throughput.
export function mainMetric(study) {
    const names = study.metrics.map(({ name }) => name);
    const own = study.metrics.find(({ meaning, better }) => meaning === '' && better !== 'neither');
    return own?.name ?? (names.includes('inferences_per_second') ? 'inferences_per_second' : names[0]);
}
