// Numbers as the page shows them.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as format from '../../sim/view/page/web/src/format.js';
import { placeLabels } from '../../sim/view/page/web/src/labels.js';
import { toldApart } from '../../sim/view/page/web/src/names.js';
import { spread } from '../../sim/view/page/web/src/study/model.js';

test('names in words have the capitals of the units that are titled by them', () => {
    const words = format.wordsOf({ drawing: { boxes: [{ title: 'HBM' }, { title: 'Matrix unit' }] } });
    assert.equal(words('hbm_cycles'), 'HBM cycles');
    assert.equal(words('matrix_unit'), 'matrix unit');
    assert.equal(words('dma_in'), 'dma in');
    assert.equal(format.wordsOf({})('hbm'), 'hbm');
});

test('si takes the prefix that leaves one to three digits before the point', () => {
    assert.equal(format.si(0.00123, 's'), '1.23 ms');
    assert.equal(format.si(0, 'J'), '0 J');
    assert.equal(format.si(12.34), '12.3');
    assert.equal(format.si(999.96), '1.00 k');
    assert.equal(format.si(-2.5e-9, 'J'), '-2.50 nJ');
    assert.equal(format.si(0.975), '0.975');
    assert.equal(format.si(0.713, 's'), '713 ms');
    assert.equal(format.si(1e-15, 's'), '0.00 ps');
    assert.equal(format.si(null, 's'), format.absent);
    assert.equal(format.si(undefined), format.absent);
    assert.equal(format.si(Number.NaN), format.absent);
});

test('a rate is a whole number from 100 on', () => {
    assert.equal(format.inferenceRate(477077.1), '477,077 inf/s');
    assert.equal(format.inferenceRate(12.34), '12.3 inf/s');
    assert.equal(format.inferenceRate(0.713), '0.713 inf/s');
    assert.equal(format.inferenceRate(null), format.absent);
});

test('figures of a rough model have two digits', () => {
    assert.equal(format.rough(558.4, 'inf/s'), '560 inf/s');
    assert.equal(format.rough(1099, 'inf/s'), '1,100 inf/s');
    assert.equal(format.rough(0.7134), '0.71');
    assert.equal(format.rough(9.96), '10');
    assert.equal(format.rough(0), '0');
    assert.equal(format.rough(null, 'inf/s'), format.absent);
    assert.equal(format.roughTimes(27.31), '27×');
    assert.equal(format.roughTimes(6.249), '6.2×');
    assert.equal(format.roughTimes(undefined), format.absent);
    assert.equal(format.bandText({ least: 301, most: 1099 }), '300 to 1,100');
    assert.equal(format.bandText({ least: 6.2, most: 22.4 }, format.roughTimes), '6.2× to 22×');
    assert.equal(format.bandText(null), '');
    assert.equal(format.bandText({ least: 1 }), '');
});

test('bytes have binary prefixes', () => {
    assert.equal(format.bytes(25165824), '24.0 MiB');
    assert.equal(format.bytes(1023), '1023 B');
    assert.equal(format.bytes(1024), '1.0 KiB');
    assert.equal(format.bytes(null), format.absent);
});

test('a latency is cycles, time, or both', () => {
    assert.equal(format.latency({ latency_cycles: 1, latency_ns: 4250 }), '1 cycle + 4.25 µs');
    assert.equal(format.latency({ latency_cycles: 0, latency_ns: 300 }), '300 ns');
    assert.equal(format.latency({ latency_cycles: 20, latency_ns: 0 }), '20 cycles');
    assert.equal(format.latency({ latency_cycles: 0 }), '0 cycles');
});

test('what is more than nothing is never shown as 0', () => {
    assert.equal(format.percent(0), '0.0 %');
    assert.equal(format.percent(0.0001), '<0.1 %');
    assert.equal(format.percent(0.12345), '12.3 %');
    assert.equal(format.percent(null), format.absent);
});

test('differences have a sign and say where there is none', () => {
    assert.equal(format.difference(110, 100), '+10 %');
    assert.equal(format.difference(99.5, 100), '−0.5 %');
    assert.equal(format.difference(7, 7), 'same');
    assert.equal(format.difference(7, 0), format.absent);
    assert.equal(format.difference(null, 1), format.absent);
});

test('shares differ by percentage points', () => {
    assert.equal(format.shareDifference(0.682, 0.36), '+32.2 points');
    assert.equal(format.shareDifference(0.36, 0.682), '−32.2 points');
    assert.equal(format.shareDifference(0.5, 0), '+50.0 points');
    assert.equal(format.shareDifference(0.5001, 0.5), '<0.1 points');
    assert.equal(format.shareDifference(0.5, 0.5), 'same');
    assert.equal(format.shareDifference(null, 0.5), format.absent);
});

test('names that differ never look the same, however narrow their place is', () => {
    const within = (width) => (text) => text.length <= width;
    assert.deepEqual(toldApart(['conv2d', 'convolution'], within(8)), ['conv2d', 'conv…ion']);
    assert.deepEqual(toldApart(['block_1_a_conv', 'block_1_b_conv'], within(9)), ['…1_a_conv', '…1_b_conv']);
    assert.deepEqual(toldApart(['/model/stage1/blocks.0/conv/Conv', '/model/stage2/blocks.1/conv/Conv'], within(17)), ['…stage1/blocks.0…', '…stage2/blocks.1…']);
    assert.deepEqual(toldApart(['block_of_first_large_conv', 'block_of_other_small_conv'], within(8)), ['blo…nv#1', 'blo…nv#2']);
    assert.deepEqual(toldApart(['the_same_name', 'the_same_name'], within(5)), ['th…me', 'th…me']);
    let seed = 1;
    const random = (count) => { seed = (seed * 48271) % 2147483647; return seed % count; };
    for (let turn = 0; turn < 200; ++turn) {
        const width = 8 + random(20);
        const names = [...new Set(Array.from({ length: 30 }, () => `block_${Array.from({ length: random(40) }, () => 'ab#1…'[random(5)]).join('')}`))];
        const shown = toldApart(names, within(width));
        assert.equal(new Set(shown).size, names.length, `turn ${turn}`);
        assert.ok(shown.every(within(width)), `turn ${turn}: ${shown}`);
    }
});

test('points that are drawn for all of a grid have all values of each axis', () => {
    for (const values of [2, 3, 4, 5, 10]) {
        const rows = Array.from({ length: 2000 }, (_each, index) => index % values);
        const drawn = spread(rows, 2000 / values);
        assert.ok(Math.abs(drawn.length - 2000 / values) <= 2, `${drawn.length} of ${2000 / values}`);
        for (let value = 0; value < values; ++value) {
            const share = drawn.filter((each) => each === value).length / drawn.length;
            assert.ok(Math.abs(share - 1 / values) < 0.02, `${share} for one of ${values}`);
        }
    }
    assert.deepEqual(spread([1, 2, 3], 3), [1, 2, 3]);
});

test('labels lie on no point and on no other label, and within their room', () => {
    const widthOf = (text) => 7 * text.length;
    const room = [0, 0, 300, 200];
    const at = (x, y, text = 'name') => ({ x, y, radius: 5, text });
    assert.deepEqual(placeLabels([at(100, 100)], [], room, widthOf), ['right']);
    assert.deepEqual(placeLabels([at(100, 100), at(100, 104)], [], room, widthOf), ['right', 'left']);
    assert.deepEqual(placeLabels([at(100, 100)], [at(115, 100)], room, widthOf), ['left']);
    assert.deepEqual(placeLabels([at(290, 100)], [], room, widthOf), ['left']);
    assert.deepEqual(placeLabels([at(100, 100, '')], [], room, widthOf), [null]);
    // At one place two labels have room; one above would lie on the ends of these.
    const crowd = Array.from({ length: 5 }, () => at(100, 100));
    assert.deepEqual(placeLabels(crowd.map((point) => ({ ...point, radius: 0 })), [], room, widthOf),
        ['right', 'left', null, null, null]);
});

test('a ratio without a denominator is absent', () => {
    assert.equal(format.ratio(1, 2), 0.5);
    assert.equal(format.ratio(1, 0), null);
    assert.equal(format.ratio(undefined, 2), null);
});

test('whole numbers are grouped, and one thing is not many', () => {
    assert.equal(format.grouped(1234567), '1,234,567');
    assert.equal(format.counted(1, 'batch', 'batches'), '1 batch');
    assert.equal(format.counted(2000, 'picture'), '2,000 pictures');
    assert.equal(format.times(27.34), '27.3×');
});
