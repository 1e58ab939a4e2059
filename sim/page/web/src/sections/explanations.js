// Why each layer takes what it takes, where the report says so.
import { h, section } from '../dom.js';
import { percent } from '../format.js';

export function explanations(report) {
    const explained = report.layers.filter(({ explanation }) => explanation);
    if (explained.length === 0) return null;
    return section('why', 'Why', 'What bounds each layer, from its counters and its schedule.',
        h('ul', null, explained.map((layer) => h('li', null,
            h('b', null, layer.name), ` (${percent(layer.share)} of the run): `, layer.explanation))));
}
