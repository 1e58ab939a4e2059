// Reports of sim for the tests.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

export const project = fileURLToPath(new URL('../..', import.meta.url));
export const output = process.env.SYSTOLE_PAGE_OUTPUT;

export function sim(...args) {
    return execFileSync(process.env.SYSTOLE_SIM, args, { cwd: project, encoding: 'utf8' });
}

export function readReport(folder) {
    return JSON.parse(readFileSync(path.join(folder, 'report.json'), 'utf8'));
}

const made = new Set();

/// Runs `sim` once with a folder of its own for the results; returns the folder.
function run(name, ...args) {
    const folder = path.join(output, 'reports', name);
    if (!made.has(folder)) sim('run', ...args, '--out', folder, '--quiet');
    made.add(folder);
    return folder;
}

/// The page of a report that `alter` has changed; returns its folder.
export function altered(folder, name, alter) {
    const report = readReport(folder);
    alter(report);
    const changed = path.join(output, 'reports', name);
    mkdirSync(changed, { recursive: true });
    writeFileSync(path.join(changed, 'report.json'), JSON.stringify(report));
    sim('report', changed, '--out', path.join(changed, 'report.html'));
    return changed;
}

export const wrongLabels = [3, 141, 499];

/// The digits, with some labels wrong on purpose, so that there are wrong predictions.
export function digits() {
    mkdirSync(output, { recursive: true });
    const labels = gunzipSync(readFileSync(path.join(project, 'models/mnist_cnn/digits-labels.idx1-ubyte.gz')));
    const header = 8;
    for (const index of wrongLabels) labels[header + index] = (labels[header + index] + 1) % 10;
    const file = path.join(output, 'labels.idx1-ubyte');
    writeFileSync(file, labels);
    return run('digits', 'mnist_cnn', '--labels', file, '--power-windows', '50');
}

export function slowDigits() {
    return run('slow_digits', 'mnist_cnn', '--set', 'machine.clock_mhz=350', '--set', 'machine.weight_fifo.depth_tiles=8');
}

/// A run with weight memory so slow that the array waits for it.
export function narrowDigits() {
    return run('narrow_digits', 'mnist_cnn', '--set', 'machine.weight_memory.bandwidth_gb_per_s=0.1');
}

/// The first of the digits.
export function fewDigits() {
    return run('few_digits', 'mnist_cnn', '--limit', '100');
}

/// Requests that arrive at random while the digits are computed.
export function requests() {
    return run('requests', 'mnist_cnn', '--limit', '200', '--batch', '20', '--arrivals', '100000', '--latency-limit', '2ms');
}

/// More requests than the chip computes, and no limit.
export function tooManyRequests() {
    return run('too_many_requests', 'mnist_cnn', '--limit', '200', '--batch', '20', '--arrivals', '1e9');
}

/// A page with all sections that a run may ask for.
export function allSections() {
    return run('all_sections', 'mnist_cnn', '--limit', '100', '--batch', '20', '--arrivals', '100000', '--power-windows', '50',
        '--set', 'accuracy_by_layer=true');
}

/// A timing-only run of a network with this number of layers, of all kinds.
export function deep(count) {
    const layers = [];
    for (let i = 0; i < count; ++i) {
        const inputs = [i === 0 ? 'input' : `layer_${i - 1}`];
        const layer = { name: `layer_${i}`, inputs, kernel: 1 + 2 * (i % 2), padding: 'same' };
        layers.push(i % 3 === 2 ? { ...layer, op: 'depthwise_convolution' }
            : { ...layer, op: 'convolution', filters: 16 + (i * 37) % 200 });
    }
    const network = { schema: 'sim.graph/1', name: `deep_${count}`, input: { shape: [14, 14, 32] }, weights: { seed: 1 },
        layers, output: `layer_${count - 1}` };
    const file = path.join(output, `deep_${count}.json`);
    writeFileSync(file, JSON.stringify(network));
    return run(`deep_${count}`, '--machine', 'tpu_v1', '--model', file, '--timing-only', '--batch', '16');
}

/// Layers of about the same intensity, most of them fast enough for the peak.
export function convolutions() {
    return run('cnn0', '--machine', 'tpu_v1', '--model', 'models/isca17/cnn0.json', '--timing-only', '--batch', '8');
}

/// Ten lines of assembly: no network, no inferences.
export function assembly() {
    return run('assembly', 'docs/micro_benchmarks/fifo_runs_dry.asm', '--machine', 'tpu_v1', '--instructions');
}
