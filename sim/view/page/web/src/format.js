// Numbers as text for people. An absent number is "–".

export const absent = '–';

export const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

/// 1234567 as "1,234,567".
export function grouped(value) {
    return isNumber(value) ? Math.round(value).toLocaleString('en-US') : absent;
}

/// Three or four significant digits.
function digits(value) {
    const size = Math.abs(value);
    return value.toFixed(size >= 100 || value === 0 ? 0 : size >= 10 ? 1 : 2);
}

const prefixes = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'],
    [1e-9, 'n'], [1e-12, 'p']];

/// The units whose parts have names: 0.5 s are 500 ms, but half an inference is 0.5.
const unitsWithParts = ['s', 'J', 'W'];

/// Significant digits and an SI prefix: 0.00123 of "s" is "1.23 ms"; 0.975 without unit is "0.975".
export function si(value, unit = '') {
    if (!isNumber(value)) return absent;
    if (value !== 0 && Math.abs(value) < 1 && !unitsWithParts.includes(unit)) return `${value.toPrecision(3)} ${unit}`.trim();
    const rounding = 0.9995; // 999.9 m is 1
    const [factor, prefix] = value === 0 ? [1, '']
        : prefixes.find(([least]) => Math.abs(value) >= least * rounding) ?? prefixes.at(-1);
    return `${digits(value / factor)} ${prefix}${unit}`.trim();
}

/// A rate, as the text of a run has it: "395,740 inf/s", below 100 with three digits.
export function inferenceRate(value) {
    return isNumber(value) && value >= 100 ? `${grouped(value)} inf/s` : si(value, 'inf/s');
}

/// Bytes with a binary prefix: "24.0 MiB".
export function bytes(value) {
    if (!isNumber(value)) return absent;
    let power = 0;
    while (value >= 1024 && power < 5) {
        value /= 1024;
        ++power;
    }
    return power === 0 ? `${Math.round(value)} B` : `${value.toFixed(1)} ${'KMGTP'[power - 1]}iB`;
}

/// A share as percent with one digit; a share above 0 is never shown as 0.
export function percent(share) {
    if (!isNumber(share)) return absent;
    if (share > 0 && share < 0.0005) return '<0.1 %';
    return `${(100 * share).toFixed(1)} %`;
}

/// A ratio: "27.3×".
export function times(factor) {
    return isNumber(factor) ? `${digits(factor)}×` : absent;
}

// Numbers that a rough model gives have two significant digits.

/// A count or a rate: "1,100 inf/s", "0.71".
export function rough(value, unit = '') {
    if (!isNumber(value)) return absent;
    const nearest = Number(value.toPrecision(2));
    const text = Math.abs(nearest) >= 10 || nearest === 0 ? grouped(nearest) : nearest.toPrecision(2);
    return `${text} ${unit}`.trim();
}

/// A ratio: "27×", "6.2×".
export function roughTimes(factor) {
    return isNumber(factor) ? `${rough(factor)}×` : absent;
}

/// The ends of a figure's band, each as `show` has it: "13,000 to 48,000"; nothing without a band.
export function bandText(band, show = rough) {
    return isNumber(band?.least) && isNumber(band?.most) ? `${show(band.least)} to ${show(band.most)}` : '';
}

const shows = { count: grouped, bytes, share: percent, ratio: (value) => value.toFixed(2), times: roughTimes, 'inf/s': inferenceRate };

/// What shows values in a figure's format (sim/view/report/figures.h).
export const showOf = (format) => shows[format] ?? ((value) => si(value, format));

/// The difference of two numbers in percent, with its sign; "same" if they are equal.
export function difference(value, reference) {
    if (!isNumber(value) || !isNumber(reference)) return absent;
    if (value === reference) return 'same';
    if (reference === 0) return absent;
    const percentage = 100 * (value / reference - 1);
    const text = Math.abs(percentage) >= 10 ? percentage.toFixed(0) : percentage.toFixed(1);
    return `${percentage > 0 ? '+' : ''}${text} %`.replace('-', '−');
}

/// The difference of two shares in percentage points, with its sign; "same" if they are equal.
export function shareDifference(share, reference) {
    if (!isNumber(share) || !isNumber(reference)) return absent;
    if (share === reference) return 'same';
    const points = 100 * (share - reference);
    if (Math.abs(points) < 0.05) return '<0.1 points';
    return `${points > 0 ? '+' : ''}${points.toFixed(1)} points`.replace('-', '−');
}

/// A counter's or key's name in words: "raw_stall_cycles" is "raw stall cycles".
export function words(key) {
    return key.replaceAll('_', ' ');
}

/// What makes such words of the names of a report's units and counters. Capitals are those of the titles of units that are
/// abbreviations: "hbm_cycles" is "HBM cycles".
export function wordsOf({ drawing }) {
    const titles = (drawing?.boxes ?? []).map(({ title }) => title);
    const abbreviations = new Set(titles.filter((title) => title === title.toUpperCase()));
    return (key) => key.split('_').map((word) => (abbreviations.has(word.toUpperCase()) ? word.toUpperCase() : word)).join(' ');
}

export function ratio(numerator, denominator) {
    return isNumber(numerator) && isNumber(denominator) && denominator > 0 ? numerator / denominator : null;
}

/// A latency in cycles plus a fixed time: "1 cycle + 4.25 µs".
export function latency({ latency_cycles: cycles, latency_ns: nanoseconds = 0 }) {
    const parts = [];
    if (cycles > 0 || nanoseconds === 0) parts.push(counted(cycles, 'cycle'));
    if (nanoseconds > 0) parts.push(si(nanoseconds * 1e-9, 's'));
    return parts.join(' + ');
}

/// "1 batch", "2 batches".
export function counted(count, one, many = `${one}s`) {
    return `${grouped(count)} ${count === 1 ? one : many}`;
}
