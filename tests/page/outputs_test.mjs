// The section of the first numbers of outputs.
import assert from 'node:assert/strict';
import test from 'node:test';
import { outputs } from '../../sim/view/page/web/src/sections/outputs.js';
import { textsIn } from './small_document.mjs';

const first = [
    { name: 'step', type: 'int32', shape: [], first: [2147483647] },
    { name: 'w', type: 'bfloat16', shape: [3], first: [1.5, null, 0.123456789] },
    { name: 'x', type: 'float32', shape: [2, 8], first: [0, 1, 2, 3, 4, 5, 6, 7] },
];

test('each output has its type, its shape and its first numbers', () => {
    assert.deepEqual(textsIn(outputs({ first_outputs: first })), ['Outputs', 'The first numbers of each output.',
        'Show 3 outputs', 'output', 'type', 'shape', 'first numbers',
        'step', 'int32', '()', '2147483647',
        'w', 'bfloat16', '(3,)', '1.5, not finite, 0.123457',
        'x', 'float32', '(2, 8)', '0, 1, 2, 3, 4, 5, 6, 7, ...']);
});

test('reports of images have no such section', () => {
    assert.equal(outputs({}), null);
});
