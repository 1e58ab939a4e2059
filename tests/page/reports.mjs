// Reports of sim for the tests.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

export const project = fileURLToPath(new URL('../..', import.meta.url));
export const output = process.env.SYSTOLE_PAGE_OUTPUT;

export function sim(...args) {
    return execFileSync(process.env.SYSTOLE_SIM, args, { cwd: project, encoding: 'utf8' });
}

/// A folder that is removed when the test ends.
export function temporaryFolder() {
    const folder = mkdtempSync(path.join(tmpdir(), 'systole_page_'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    return folder;
}

export function readReport(folder) {
    return JSON.parse(readFileSync(path.join(folder, 'report.json'), 'utf8'));
}

/// The data of a page's element.
export function dataOf(folder, id) {
    const page = readFileSync(path.join(folder, 'report.html'), 'utf8');
    return page.match(new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`))[1];
}

/// Tests run beside each other: each has a folder of its own.
const own = path.join(output, 'reports', path.basename(process.argv[1], '.mjs'));
const made = new Set();

/// Runs `sim` once with a folder of its own for the results; returns the folder.
function run(name, ...args) {
    const folder = path.join(own, name);
    if (!made.has(folder)) sim('run', ...args, '--out', folder, '--quiet');
    made.add(folder);
    return folder;
}

/// The page of a report that `alter` has changed; returns its folder.
export function altered(folder, name, alter) {
    const report = readReport(folder);
    alter(report);
    const changed = path.join(own, name);
    mkdirSync(changed, { recursive: true });
    writeFileSync(path.join(changed, 'report.json'), JSON.stringify(report));
    sim('report', changed, '--out', path.join(changed, 'report.html'));
    return changed;
}

export const wrongLabels = [3, 141, 499];

/// A file of the digits' labels, some of which are wrong on purpose.
function labelsWithErrors() {
    mkdirSync(own, { recursive: true });
    const labels = gunzipSync(readFileSync(path.join(project, 'models/mnist_cnn/digits-labels.idx1-ubyte.gz')));
    const header = 8;
    for (const index of wrongLabels) labels[header + index] = (labels[header + index] + 1) % 10;
    const file = path.join(own, 'labels.idx1-ubyte');
    writeFileSync(file, labels);
    return file;
}

/// The digits, with some wrong labels, so that there are wrong predictions.
export function digits() {
    return run('digits', 'mnist_cnn', '--labels', labelsWithErrors(), '--power-windows', '50');
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

/// Blocks of two dense layers, all alike.
export function encoder(blocks) {
    mkdirSync(own, { recursive: true });
    const file = path.join(own, 'encoder.json');
    const layers = Array.from({ length: 2 * blocks }, (_, i) => {
        const [part, units] = i % 2 === 0 ? ['up', 96] : ['down', 64];
        const name = `encoder.layer.${Math.floor(i / 2)}.${part}.dense`;
        return { name, op: 'dense', inputs: [i === 0 ? 'input' : `encoder.layer.${Math.floor((i - 1) / 2)}.${
            i % 2 === 0 ? 'down' : 'up'}.dense`], units };
    });
    const network = { schema: 'sim.graph/1', name: 'encoder', input: { shape: [64] }, weights: { seed: 1 }, layers,
        output: layers.at(-1).name };
    writeFileSync(file, JSON.stringify(network));
    return run('encoder', '--machine', 'tpu_v1', '--model', file, '--timing-only');
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
    const file = path.join(own, `deep_${count}.json`);
    writeFileSync(file, JSON.stringify(network));
    return run(`deep_${count}`, '--machine', 'tpu_v1', '--model', file, '--timing-only', '--batch', '16');
}

/// Layers of about the same intensity, most of them fast enough for the peak.
export function convolutions() {
    return run('cnn0', '--machine', 'tpu_v1', '--model', 'models/isca17/cnn0.json', '--timing-only', '--batch', '8');
}

/// The digits on an array of 128 x 64 cells at an odd clock: everything that a report may have.
export function narrowArray() {
    return run('narrow_array', 'mnist_cnn', '--labels', labelsWithErrors(), '--limit', '160',
        '--batch', '40', '--power-windows', '6', '--set', 'accuracy_by_layer=true',
        '--set', 'machine.matrix_unit.rows=128', '--set', 'machine.matrix_unit.columns=64',
        '--set', 'machine.clock_mhz=630.5', '--set', 'machine.unified_buffer.rows=9000',
        '--set', 'machine.host_interface.read_gb_per_s=6.5', '--arrivals', '100000', '--latency-limit', '0.5ms',
        '--set', 'feeding.example_us=2.5', '--set', 'feeding.loop_steps=2', '--set', 'feeding.gap_ms=0.3');
}

/// A network with layers of the host in its middle, weights in a DRAM, without answers, and a baseline that was measured.
export function hostSegments() {
    const dense = (name, inputs, units) => ({ name, op: 'dense', inputs, units });
    const network = { schema: 'sim.graph/1', name: 'attention', input: { shape: [64] }, weights: { seed: 4 },
        layers: [dense('features', ['input'], 64), dense('scores', ['features'], 64),
            { name: 'shares', op: 'softmax', inputs: ['scores'] },
            { name: 'weighted', op: 'multiply', inputs: ['features', 'shares'] },
            dense('again', ['weighted'], 20), { name: 'more', op: 'softmax', inputs: ['again'] },
            dense('classes', ['more'], 10), { name: 'probabilities', op: 'softmax', inputs: ['classes'] }],
        output: 'probabilities' };
    mkdirSync(own, { recursive: true });
    const file = path.join(own, 'attention.json');
    writeFileSync(file, JSON.stringify(network));
    const measured = path.join(own, 'measured.json');
    writeFileSync(measured, JSON.stringify({ schema: 'sim.baseline/1', name: 'measured', cores: 4, peak_fp32_gflops: 100,
        memory_gb_per_s: 30, server: { dies: 2, tdp_watts: 300 }, measured: { model: 'attention', batch: 5,
            fp32_inferences_per_second: 24680, int8_inferences_per_second: 13579 }, sources: {} }));
    return run('attention', '--machine', 'tpu_v1_dram', '--model', file, '--timing-only', '--batch', '5', '--limit', '14',
        '--no-host-time', '--set', 'machine.matrix_unit.columns=32', '--power-windows', '3', '--arrivals', '1e9', '--baseline', 'k80', measured);
}

/// Ten lines of assembly: no network, no inferences.
export function assembly() {
    return run('assembly', 'docs/micro_benchmarks/fifo_runs_dry.asm', '--machine', 'tpu_v1', '--instructions');
}

/// Eight tensor cores, each with a part of every batch.
export function tensorCores() {
    return run('tensor_cores', 'mnist_cnn', '--machine', 'tpu_v2_8', '--limit', '32', '--batch', '16', '--no-explain');
}

/// Three layers of assembly on 4 x 4 tiles.
export function tiles() {
    return run('tiles', 'tests/support/tiles/three_layers.asm', '--machine', 'tests/support/tiles/machine.json',
        '--random-input', '3', '--instructions');
}
