// Requests that arrive at random, and their latencies.
import { card, h, section } from '../dom.js';
import { absent, grouped, isNumber, percent, ratio, si } from '../format.js';

const amount = (value) => (value >= 100 ? grouped(value) : si(value));
const time = (milliseconds) => (isNumber(milliseconds) ? si(milliseconds / 1000, 's') : absent);

/// How long requests take to be answered, if the run names how many arrive.
function latencies(requests) {
    const { per_second: arriving, p50_ms: half, p99_ms: most } = requests;
    if (!(arriving > 0)) return [];
    if (!isNumber(most)) {
        return [card('99 of 100 within', time(most), most,
            `${amount(arriving)} a second are more than the chip computes: the queue grows`)];
    }
    return [
        card('50 of 100 within', time(half), half, `at ${amount(arriving)} a second, ${percent(requests.load)} of the most`),
        card('99 of 100 within', time(most), most, `${amount(requests.mean_batch)} requests in a batch, mean`)];
}

/// The most requests within the limit, if the run has one. Near the capacity, a queue is long or short by chance.
function within({ limit_ms: limit, most_per_second: most, most_per_second_high: luckiest, capacity_per_second: capacity }) {
    if (!isNumber(most)) return [];
    const other = luckiest > most ? `; ${amount(luckiest)} in the luckiest of several streams` : '';
    return [card('Requests', `${amount(most)} /s`, most,
        `have 99 of 100 answers within ${time(limit)}, ${percent(ratio(most, capacity))} of the most${other}`)];
}

export function requests(report) {
    const asked = report.requests;
    if (!asked) return null;
    const host = asked.host_percent > 0 ? `with the host's ${asked.host_percent} %: ` : '';
    const shared = asked.latency_ms > asked.alone_ms ? `; ${time(asked.latency_ms)} of one with another behind it` : '';
    return section('requests', 'Requests at random',
        'Requests arrive at random times and are computed in batches: how long they take from arrival to answer.',
        h('div', { class: 'cards' },
            card('A batch every', time(asked.interval_ms), asked.interval_ms,
                `${host}at most ${amount(asked.capacity_per_second)} requests a second`),
            card('Latency of a batch alone', time(asked.alone_ms), asked.alone_ms,
                `it has the chip to itself${shared}`),
            latencies(asked), within(asked)));
}
