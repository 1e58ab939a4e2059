// The first numbers of the outputs of a network of arrays.
import { h, section, table } from '../dom.js';
import { grouped } from '../format.js';

const shapeText = (shape) => `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;

/// Whole numbers have all their digits, others six. JSON has no infinities and no NaN.
function numberText(value) {
    if (value === null) return 'not finite';
    return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
}

function firstNumbers({ shape, first }) {
    const all = shape.reduce((product, extent) => product * extent, 1);
    return first.map(numberText).join(', ') + (first.length < all ? ', ...' : '');
}

export function outputs(report) {
    const shown = report.first_outputs ?? [];
    if (shown.length === 0) return null;
    const rows = shown.map((output) => [output.name, output.type, shapeText(output.shape), firstNumbers(output)]);
    return section('outputs', 'Outputs', 'The first numbers of each output.',
        h('details', { open: rows.length <= 8 }, h('summary', null, `Show ${grouped(rows.length)} outputs`),
            table(['output', 'type', 'shape', 'first numbers'], rows, { label: 'Outputs' })));
}
