// Choices above a chart.
import { h } from '../dom.js';
import { shortKey, valueText, valuesOf } from './model.js';

/// A list of names, one of which is chosen; `choose` is called with each other choice.
export function picker(label, names, chosen, choose) {
    const select = h('select', { onchange: () => choose(select.value) },
        names.map((name) => h('option', { value: name, selected: name === chosen }, shortKey(name))));
    return h('label', { class: 'picker' }, `${label} `, select);
}

/// The metric that a study asks about: its own first one that has a better way, else throughput.
export function mainMetric(study) {
    const names = study.metrics.map(({ name }) => name);
    const own = study.metrics.find(({ name, better }) => study.own.includes(name) && better !== 'neither');
    return own?.name ?? (names.includes('inferences_per_second') ? 'inferences_per_second' : names[0]);
}

/// Points of different networks answer different questions: a choice of one of them, which `redraw` shows. Without
/// such points there is nothing to choose.
export function workloadPicker(study, redraw) {
    const keys = study.workload.filter((key) => valuesOf(study, key).length > 1);
    if (keys.length === 0) return { element: null, rows: () => study.rows };
    const nameOf = ({ values }) => keys.map((key) => valueText(values[key])).join(', ');
    const all = 'all';
    const names = [...new Set(study.rows.map(nameOf)), all];
    let [chosen] = names;
    return {
        element: picker(keys.map(shortKey).join(', '), names, chosen, (name) => { chosen = name; redraw(); }),
        rows: () => (chosen === all ? study.rows : study.rows.filter((row) => nameOf(row) === chosen)),
    };
}
