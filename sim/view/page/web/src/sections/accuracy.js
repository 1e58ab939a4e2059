// How far each layer's numbers are from those of the network in float.
import { h, section, table } from '../dom.js';
import { absent, grouped, percent } from '../format.js';

const decibels = (value) => (value === null ? absent : value.toFixed(1));

export function accuracy(report) {
    const layers = report.accuracy_by_layer ?? [];
    if (layers.length === 0) return null;
    const rows = layers.map((layer) => [layer.name, layer.kind, decibels(layer.decibels), decibels(layer.lost_decibels),
        layer.clipped === 0 ? absent : percent(layer.clipped / layer.numbers)]);
    return section('accuracy', 'Accuracy',
        'The signal of each layer over its difference to the network in float, in dB; how much is lost between its worst '
        + 'input and its result; and how many numbers are outside of the range of its tensor.',
        h('details', null, h('summary', null, `Show ${grouped(rows.length)} layers`),
            table(['layer', 'kind', 'dB', 'lost', 'clipped'], rows, { class: 'numbers', label: 'Accuracy by layer' })));
}
