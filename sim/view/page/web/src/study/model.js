// The points of a study, and how their numbers are shown.
import { absent, grouped, si } from '../format.js';

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

/// A number with four significant digits; of joules and watts with a prefix.
export function numberText(value, unit = '') {
    if (!isNumber(value)) return absent;
    if (unit === 'J' || unit === 'W') return si(value, unit);
    const text = Math.abs(value) >= 1000 ? grouped(value) : String(Number(value.toPrecision(4)));
    return unit ? `${text} ${unit}` : text;
}

/// A value of a key, exactly: for command lines and comparisons.
export const valueText = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/// The same for people: of a number with many digits the first five.
export const shownValue = (value) => (isNumber(value) && !Number.isInteger(value) ? String(Number(value.toPrecision(5)))
    : valueText(value));

/// A key without "machine.", as the tables of the terminal have it.
export const shortKey = (key) => key.replace(/^machine\./, '');

/// The study of the page's data, whose points are columns.
export function studyOf(data) {
    const rows = data.points.number.map((number, index) => ({
        number,
        values: Object.fromEntries(data.keys.map((key, column) => [key, data.points.values[column][index]])),
        metrics: Object.fromEntries(data.metrics.map(({ name }, column) => [name, data.points.metrics[column][index]])),
    }));
    const metrics = data.metrics.filter(({ name }) => rows.some((row) => isNumber(row.metrics[name])))
        .map((metric) => ({ ...metric, unit: metric.unit === metric.name ? '' : metric.unit })); // cycles
    // Keys that go with another one (zip) say nothing more.
    const axisKeys = data.keys.slice(0, data.axes).filter((key) => !(data.followers ?? []).includes(key));
    return { own: [], workload: [], best: [], ...data, rows, metrics, axisKeys };
}

export const metricOf = (study, name) => study.metrics.find((metric) => metric.name === name);

/// "machine.clock_mhz=700, batch=8".
export function settingsText(row) {
    return Object.entries(row.values).map(([key, value]) => `${shortKey(key)}=${shownValue(value)}`).join(', ');
}

/// As the shell takes it. A word with characters that would control the terminal has their numbers (bash, ksh, zsh).
function quoted(word) {
    const number = (letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, '0')}`;
    if (/[\u0000-\u001f\u007f]/.test(word)) {
        return `$'${word.replaceAll(/[\\']/g, '\\$&').replaceAll(/[\u0000-\u001f\u007f]/g, number)}'`;
    }
    return /^[A-Za-z0-9_\-+=./,:@%]+$/.test(word) ? word : `'${word.replaceAll('\'', '\'\\\'\'')}'`;
}

/// The command line that repeats a point.
export function commandOf(study, row) {
    const settings = Object.entries(row.values).map(([key, value]) => ` --set ${quoted(`${key}=${valueText(value)}`)}`);
    return study.command + settings.join('');
}

/// The different values of a key, numbers in their order and texts as they come.
export function valuesOf(study, key) {
    const values = [...new Map(study.rows.map(({ values: all }) => [valueText(all[key]), all[key]])).values()];
    return values.every(isNumber) ? values.sort((a, b) => a - b) : values;
}

/// Whether a key has another value at each point: that of a random sample between two numbers.
export function isSampled(study, key) {
    const count = valuesOf(study, key).length;
    return count > 20 && count === study.rows.length;
}

/// Whether numbers above 0 are best shown by their ratios: they span much, or each is a multiple of the one before.
export function isRatioScale(numbers) {
    if (numbers.length < 2 || !(numbers[0] > 0)) return false;
    const ratios = numbers.slice(1).map((number, index) => number / numbers[index]);
    const isGeometric = numbers.length > 2 && ratios.every((ratio) => ratio > 1.3 && Math.abs(ratio / ratios[0] - 1) < 0.02);
    return isGeometric || numbers.at(-1) / numbers[0] > 50;
}

/// "latency_ms (ms)".
export const metricTitle = ({ name, unit }) => (unit ? `${name} (${unit})` : name);

export const isNumeric = (study, key) => study.rows.every(({ values }) => isNumber(values[key]));

/// Whether `a` is better than `b`. Metrics without a better way count as better when lower.
export function isBetter(metric, a, b) {
    if (!isNumber(a) || !isNumber(b)) return isNumber(a);
    return metric.better === 'higher' ? a > b : a < b;
}

/// Of several rows the one with the best value of the metric.
export function bestOf(rows, metric) {
    return rows.reduce((best, row) =>
        (best === null || isBetter(metric, row.metrics[metric.name], best.metrics[metric.name]) ? row : best), null);
}

/// The rows that no other beats in both metrics, by the first one.
export function paretoFront(rows, first, second) {
    const sorted = rows.filter(({ metrics }) => isNumber(metrics[first.name]) && isNumber(metrics[second.name]))
        .sort((a, b) => (isBetter(first, a.metrics[first.name], b.metrics[first.name]) ? -1
            : isBetter(first, b.metrics[first.name], a.metrics[first.name]) ? 1
                : isBetter(second, a.metrics[second.name], b.metrics[second.name]) ? -1 : 1));
    const front = [];
    for (const row of sorted) {
        if (front.length === 0 || isBetter(second, row.metrics[second.name], front.at(-1).metrics[second.name])) {
            front.push(row);
        }
    }
    return front;
}

/// About `most` of the rows, evenly spread: by the golden ratio, because a whole step would meet only some values of the
/// axes that vary fastest.
export function spread(rows, most) {
    const goldenRatio = 0.6180339887498949;
    return rows.length <= most ? rows : rows.filter((_row, index) => (index * goldenRatio) % 1 < most / rows.length);
}
