// The main figures of a run, each with its meaning.
import { card, h, mainSection, table } from '../dom.js';
import {
    absent, bandText, bytes, counted, grouped, inferenceRate, isNumber, percent, ratio, rough, roughTimes, si,
} from '../format.js';
import { largestBound } from '../palette.js';

/// So many remarks on the host's work are shown at once.
const mostRemarks = 4;

/// Batches overlap: a batch is in the chip for longer than the interval between batches. Reports of earlier versions do
/// not have its latency.
function batchTimes(report) {
    const batches = Math.ceil(report.inferences / report.batch);
    const rest = report.inferences % report.batch;
    const made = [];
    if (isNumber(report.latency_ms)) {
        const meaning = batches === 1 ? 'the one batch'
            : `mean of ${grouped(batches)} batches, at most ${si(report.latency_max_ms / 1000, 's')}`;
        made.push(card('Latency', si(report.latency_ms / 1000, 's'), report.latency_ms, `${meaning}; from first byte in to last byte out`));
    }
    if (isNumber(report.seconds_per_batch) && (batches > 1 || made.length === 0)) {
        made.push(card('A batch every', si(report.seconds_per_batch, 's'), report.seconds_per_batch,
            `of ${counted(report.batch, 'inference')}; mean of ${counted(batches, 'batch', 'batches')}`
            + (batches > 1 && rest > 0 ? `, the last of ${grouped(rest)}` : '')));
    }
    return made;
}

function cards(report) {
    const { tops, energy, matrix_unit: unit, roofline } = report;
    const clock = report.configuration.machine.clock_mhz;
    const made = [];
    if (report.inferences > 0 && report.inferences_per_second !== null) {
        made.push(
            card('Throughput', inferenceRate(report.inferences_per_second), report.inferences_per_second,
                `${counted(report.inferences, 'inference')} in ${si(report.seconds, 's')}`),
            ...batchTimes(report));
    }
    made.push(
        card('Cycles', grouped(report.cycles), report.cycles, `${si(report.seconds, 's')} at ${clock} MHz`),
        tops.achieved === null ? null : card('Performance', si(tops.achieved * 1e12, 'OPS'), tops.achieved,
            `${percent(ratio(tops.achieved, tops.peak))} of the peak of ${si(tops.peak * 1e12, 'OPS')}`
            + (roofline?.bound_tops < tops.peak ? `; at most ${si(roofline.bound_tops * 1e12, 'OPS')} by weight bandwidth` : '')),
        card('Array active', percent(ratio(unit.active_cycles, report.cycles)), unit.active_cycles,
            `of all cycles; ${percent(ratio(unit.useful_macs, unit.useful_macs + unit.unused_macs))} of the `
            + 'array\'s cells then multiply for the network'));
    const bound = largestBound(report.bounds);
    if (bound && report.bounds.ratio !== null) {
        made.push(card('Cycles over bounds', report.bounds.ratio.toFixed(2), report.bounds.ratio,
            `the cycles over the sum of the layers' largest bounds; of the run: ${bound.name}, at least `
            + `${percent(ratio(bound.cycles, report.cycles))} of the cycles; fill ${percent(report.bounds.fill)}`));
    }
    if (energy.joules_per_inference !== null) {
        made.push(card('Energy', si(energy.joules_per_inference, 'J'), energy.joules_per_inference,
            'an inference, chip and weight memory, static share included'));
    } else if (energy.joules !== null) {
        made.push(card('Energy', si(energy.joules, 'J'), energy.joules,
            'the run, chip and weight memory, static share included'));
    }
    if (energy.watts !== null) {
        made.push(card('Power', si(energy.watts, 'W'), energy.watts, energy.die_watts
            ? `mean of the run; the chip alone ${si(energy.die_watts, 'W')}` : 'mean of the run'));
    }
    if (report.accuracy !== null) {
        made.push(card('Accuracy', percent(report.accuracy), report.accuracy,
            `${grouped(report.accuracy * report.inferences)} of ${grouped(report.inferences)} right`));
    }
    return made;
}

/// Layers with multiply-accumulates that the host computes: said before all figures, which would otherwise be
/// taken for those of the chip. Reports of earlier versions do not say.
function hostShare({ host_share: share, host_at_least: atLeast }) {
    if (!share) return null;
    const names = share.layers.map((layer) => layer.name);
    const shown = names.length > 4 ? [...names.slice(0, 3), `${grouped(names.length - 3)} more`] : names;
    return h('p', { class: 'host-share', role: 'note' },
        `${percent(share.macs_share)} of the multiply-accumulates run on the host, not on the chip: `
        + `${shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}` : shown[0]}. `
        + `Computing them takes ${atLeast ? 'at least ' : ''}${percent(share.seconds_share)} of the time.`);
}

/// What the run asks for and has no figure of, and why. Reports of earlier versions do not say.
function leftOut({ left_out: reasons }) {
    const names = { speed: 'the chip\'s speed', requests: 'requests at random', comparison: 'a comparison' };
    return Object.entries(reasons ?? {}).map(([what, why]) => h('p', { class: 'left-out', role: 'note' },
        `No figure of ${names[what] ?? what}: ${why}.`));
}

/// The best known figure of a baseline: measured, else expected, else an upper bound.
function best(comparison) {
    if (comparison.measured) return { basis: 'measured, fp32', ...comparison.measured.fp32 };
    if (comparison.expected) return { basis: 'expected of its software', ...comparison.expected };
    return {
        basis: 'its upper bound',
        inferences_per_second: comparison.inferences_per_second,
        speedup: comparison.speedup,
        performance_per_watt: comparison.performance_per_watt,
        band: comparison.band,
    };
}

/// Parts of a sentence, those that are not empty.
const joined = (...parts) => parts.filter((part) => part !== '').join('; ');

function baselineCards(report) {
    return report.comparison.map((comparison) => {
        const { basis, speedup, performance_per_watt: perWatt, band } = best(comparison);
        const ends = bandText(band?.performance_per_watt?.incremental, roughTimes);
        const incremental = `${roughTimes(perWatt.incremental)}${ends === '' ? '' : ` (${ends})`} incremental, without `
            + 'the host\'s watts';
        return [
            card(`Speedup over ${comparison.baseline}`, roughTimes(speedup), speedup,
                joined(bandText(band?.speedup, roughTimes), `die against die, ${basis}`,
                    `at least ${roughTimes(comparison.speedup)}, against its fp32 roofline`)),
            perWatt.total === null ? null
                : card(`Performance/W over ${comparison.baseline}`, roughTimes(perWatt.total), perWatt.total,
                    joined(bandText(band?.performance_per_watt?.total, roughTimes), 'whole servers by TDP', incremental)),
        ];
    });
}

/// A figure and, in quiet letters, its band.
function withBand(shown, ends) {
    return ends === '' ? shown : [shown, ' ', h('span', { class: 'quiet band' }, `(${ends})`)];
}

function baselineTable(report) {
    const rows = report.comparison.map((comparison) => {
        const expected = comparison.expected;
        const ratio = (value, band) => withBand(roughTimes(value), bandText(band, roughTimes));
        const { performance_per_watt: perWatt, band } = expected ?? comparison;
        return [comparison.baseline,
            rough(comparison.inferences_per_second, 'inf/s'), ratio(comparison.speedup, comparison.band?.speedup),
            expected ? withBand(rough(expected.inferences_per_second, 'inf/s'),
                bandText(expected.band?.inferences_per_second)) : absent,
            expected ? ratio(expected.speedup, expected.band?.speedup) : absent,
            ratio(perWatt.total, band?.performance_per_watt?.total),
            ratio(perWatt.incremental, band?.performance_per_watt?.incremental)];
    });
    if (rows.length === 0) return null;
    return table(['Baseline, one die', 'at most', 'speedup at least', 'expected', 'speedup', 'perf/W total',
        'perf/W incremental'], rows, { class: 'numbers', label: 'Baselines' });
}

/// In whose figures the host's time is. Reports of earlier versions do not say.
function hostTime({ host_time: host }) {
    if (!host) return null;
    const ends = bandText(host.band?.inferences_per_second);
    return h('p', { class: 'meaning host-time' }, `In the comparison, ${host.text}`,
        host.in_chip && host.percent?.source ? ` (${host.percent.source})` : '',
        host.in_chip ? `; the chip with its host does ${rough(host.inferences_per_second, 'inf/s')}`
            + `${ends === '' ? '' : ` (${ends})`}` : '', '.');
}

/// Remarks on the host's work, its time, and whether this is a lower bound; many are folded.
function hostWork(report) {
    const { host_operations: operations } = report;
    if (operations.length === 0) return [];
    const timeOf = ({ seconds }) => {
        if (seconds === null) return ', not timed: no host given';
        return `, ${report.host_at_least ? 'at least ' : ''}${si(seconds, 's')}`;
    };
    const texts = operations.map((operation) => (operation.kind === 'segment'
        ? `Work of the host, in the times above: ${operation.layer}${timeOf(operation)}, ${percent(operation.share)} of the run.`
        : `Left to the host, not in the times above: ${operation.kind} (${operation.layer})${timeOf(operation)}.`));
    const made = texts.slice(0, mostRemarks);
    const others = texts.slice(mostRemarks);
    if (others.length > 0) {
        made.push(h('details', null,
            h('summary', null, `${counted(others.length, 'further operation')} of the host`),
            h('ul', null, others.map((text) => h('li', null, text)))));
    }
    if (report.host) {
        made.push(`The host is ${report.host}${report.host_at_least ? ', whose times are those of its roofline' : ''}.`);
    }
    return made;
}

function remarks(report) {
    const made = [];
    if (report.timing_only) made.push('Timing only: no values were computed, so there are no answers.');
    if (report.batching?.text) made.push(`The batch of ${grouped(report.batching.images)}: ${report.batching.text}.`);
    for (const name of report.unfilled_buffers ?? []) made.push(`Input buffer ${name} was not filled: zeros.`);
    for (const { input, layer } of report.pixel_scaling ?? []) {
        made.push(`Pixels of input ${input} go in from 0 to 255: the network scales them (${layer}).`);
    }
    made.push(...hostWork(report), `Simulated in ${si(report.simulator.wall_seconds, 's')}`
        + `, with ${bytes(report.simulator.peak_rss_bytes)} of memory.`);
    return h('ul', { class: 'remarks' }, made.map((remark) => h('li', null, remark)));
}

/// "in batches of 256". A program does not say how many images go through the network together.
function batchesOf({ batch, inferences, batching }) {
    if (!batching) return `compiled for batches of ${grouped(batch)}`;
    if (batch > inferences) return `in one batch; ${grouped(batch)} asked for`;
    const { slices, at_a_time: together } = batching;
    return `in batches of ${grouped(batch)}${slices > 1 ? `, ${grouped(together)} at a time` : ''}`;
}

export function headline(report) {
    const meaning = report.inferences > 0 ? `${counted(report.inferences, 'inference')} ${batchesOf(report)}`
        : 'a program of its own';
    return mainSection('headline', `${report.model} on ${report.machine}`, meaning, hostShare(report), leftOut(report),
        h('div', { class: 'cards' }, cards(report)),
        report.comparison.length > 0 ? h('div', { class: 'cards' }, baselineCards(report)) : null,
        hostTime(report), baselineTable(report), remarks(report));
}
