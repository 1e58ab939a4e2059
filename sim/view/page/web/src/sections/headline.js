// The main figures of a run, each with its meaning.
import { card, h, mainSection, table } from '../dom.js';
import {
    absent, bandText, bytes, counted, grouped, isNumber, percent, ratio, rough, roughTimes, showOf, si,
} from '../format.js';
import { cyclesOfArrays, largestBound } from '../palette.js';
import { energyOf, figureWords } from '../unit_words.js';

/// So many remarks on the host's work are shown at once.
const mostRemarks = 4;

const batchesIn = ({ inferences, batch }) => Math.ceil(inferences / batch);

/// What stands below a figure, by its key, where the list of figures has no words for it; nothing where it has no card.
/// Reports of earlier versions do not have all keys.
const wordsOn = {
    inferences_per_second({ inferences, seconds, sequence }) {
        const rate = isNumber(sequence?.per_second)
            ? `; ${grouped(sequence.per_second)} ${sequence.unit}s a second, ${grouped(sequence.length)} an inference` : '';
        return `${counted(inferences, 'inference')} in ${si(seconds, 's')}${rate}`;
    },
    latency_ms(report) {
        const batches = batchesIn(report);
        const meaning = batches === 1 ? 'the one batch'
            : `mean of ${grouped(batches)} batches, at most ${si(report.latency_max_ms / 1000, 's')}`;
        return `${meaning}; from first byte in to last byte out`;
    },
    /// Batches overlap: a batch is in the chip for longer than the interval between batches. One alone has its latency only.
    seconds_per_batch(report) {
        const { batch, inferences } = report;
        const batches = batchesIn(report);
        const rest = inferences % batch;
        if (batches === 1 && isNumber(report.latency_ms)) return null;
        return `of ${counted(batch, 'inference')}; mean of ${counted(batches, 'batch', 'batches')}`
            + (batches > 1 && rest > 0 ? `, the last of ${grouped(rest)}` : '');
    },
    cycles: ({ seconds, configuration }) => `${si(seconds, 's')} at ${configuration.machine.clock_mhz} MHz`,
    'tops.achieved': ({ tops, roofline }) => `${percent(ratio(tops.achieved, tops.peak))} of the peak of ${si(tops.peak * 1e12, 'OPS')}`
        + (roofline?.bound_tops < tops.peak ? `; at most ${si(roofline.bound_tops * 1e12, 'OPS')} by weight bandwidth` : ''),
    'bounds.ratio'({ bounds, cycles }) {
        const bound = largestBound(bounds);
        return bound && `the cycles over the sum of the layers' largest bounds; of the run: ${bound.name}, at least `
            + `${percent(ratio(bound.cycles, cycles))} of the cycles; fill ${percent(bounds.fill)}`;
    },
    'energy.watts': ({ energy }) => (energy.die_watts ? `mean of the run; the chip alone ${si(energy.die_watts, 'W')}` : 'mean of the run'),
    accuracy: ({ accuracy, inferences }) => `${grouped(accuracy * inferences)} of ${grouped(inferences)} right`,
};

const numberAt = (report, path) => path.split('.').reduce((place, key) => place?.[key], report);
const wholeAt = (report, path) => (path === 'cycles' ? cyclesOfArrays(report) : numberAt(report, path));

/// A card for each figure of the list (sim/view/report/figures.h) that the report has.
function cards(report) {
    const figures = JSON.parse(document.getElementById('figures').textContent);
    return figures.map(({ title, key, whole, factor, format, instead_of: other, remark }) => {
        const value = numberAt(report, key);
        if (!isNumber(value) || isNumber(numberAt(report, other))) return null;
        const words = wordsOn[key] ?? figureWords[key];
        const text = words ? words(report) : remark.replace('{}', energyOf(report));
        if (text === null) return null;
        return card(title, showOf(format)(whole ? ratio(value, wholeAt(report, whole)) : value * factor), value, text);
    });
}

/// Layers with multiply-accumulates that the host computes: said before all figures, which would otherwise be
/// taken for those of the chip. Reports of earlier versions do not say.
function hostShare({ host_share: share, host_at_least: atLeast }) {
    if (!share) return null;
    const names = share.layers.map((layer) => layer.name);
    const some = names.length > 4 ? [...names.slice(0, 3), `${grouped(names.length - 3)} more`] : names;
    const shown = share.text ?? (some.length > 1 ? `${some.slice(0, -1).join(', ')} and ${some.at(-1)}` : some[0]);
    return h('p', { class: 'host-share', role: 'note' },
        `${percent(share.macs_share)} of the multiply-accumulates run on the host, not on the chip: `
        + `${shown}. `
        + `Computing them takes ${atLeast ? 'at least ' : ''}${percent(share.seconds_share)} of the time.`);
}

/// What the run asks for and has no figure of, and why. Reports of earlier versions do not say.
function leftOut({ left_out: reasons }) {
    const names = { speed: 'the chip\'s speed', requests: 'requests at random', feeding: 'a host that makes the input', comparison: 'a comparison' };
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
                    `at least ${roughTimes(comparison.speedup)}, against its ${comparison.precision ?? 'fp32'} roofline`)),
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

/// A call beside an inference of each baseline, and the host that its figures belong to. Machines without calls have
/// none.
function calls({ call }) {
    if (!call) return [];
    const { host } = call;
    return [...call.against.map(({ sentence }) => `${sentence}.`),
        `Of each call, ${host.call_us} µs are the host's${host.processor ? `, ${host.processor}` : ''}; its link: ${
            host.read_gb_per_s} GB/s in, ${host.write_gb_per_s} GB/s out.`];
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
    const { repeated_host_work: groups } = report;
    const nameOf = ({ name, layer, layers = [] }) => (!name || name === layers[0] ? layer : name);
    const eachOf = ({ count, least_seconds: least, most_seconds: most }) => (count > 1 ? `, ${grouped(count)} times ${
        si(least, 's') === si(most, 's') ? si(least, 's') : `${si(least, 's')} to ${si(most, 's')}`}, together` : '');
    const texts = [
        ...operations.filter(({ kind }) => kind !== 'segment').map((operation) =>
            `Left to the host, not in the times above: ${operation.kind} (${operation.layer})${timeOf(operation)}.`),
        ...(groups ?? operations.filter(({ kind }) => kind === 'segment')).map((work) =>
            `Work of the host, in the times above: ${nameOf(work)}${eachOf(work)}${timeOf(work)}, ${
                percent(work.share)} of the run.`),
    ];
    const made = texts.slice(0, mostRemarks);
    const others = texts.slice(mostRemarks);
    if (others.length > 0) {
        made.push(h('details', null,
            h('summary', null, `${counted(others.length, 'further operation')} of the host`),
            h('ul', null, others.map((text) => h('li', null, text)))));
    }
    if (report.host) {
        made.push(`The host is ${report.host}${report.host_at_least ? ', whose times are those of its roofline' : ''}${
            report.host_known_of ? `; its rates are known of no operator, only of ${report.host_known_of}` : ''}.`);
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
    made.push(...calls(report), ...hostWork(report), `Simulated in ${si(report.simulator.wall_seconds, 's')}`
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
    const ofInferences = report.inferences > 0 ? `${counted(report.inferences, 'inference')} ${batchesOf(report)}`
        : 'a program of its own';
    const meaning = report.training ? `the first ${counted(report.training.timed_steps, 'step')} of a training` : ofInferences;
    return mainSection('headline', `${report.model} on ${report.machine}`, meaning, hostShare(report), leftOut(report),
        h('div', { class: 'cards' }, cards(report)),
        report.comparison.length > 0 ? h('div', { class: 'cards' }, baselineCards(report)) : null,
        hostTime(report), baselineTable(report), remarks(report));
}
