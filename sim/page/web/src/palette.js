// Every colour with a meaning, once. The classes keep theirs in light and dark, on every chart; they differ in
// lightness too, so that they hold for colour-blind eyes and in print (after Okabe and Ito).
import { ratio } from './format.js';

/// Where a matrix-unit cycle went; the four classes sum to all cycles. Active cycles are split by what the
/// array's cells did in them. `cycles` reads them from a `matrix_unit` of the report.
export const cycleParts = [
    {
        name: 'active: useful MACs',
        colour: '#0b57a4',
        cycles: (unit) => unit.active_cycles * usefulShare(unit),
    },
    {
        name: 'active: unused cells',
        colour: '#7fb3e3',
        cycles: (unit) => unit.active_cycles * (1 - usefulShare(unit)),
    },
    { name: 'weight stall', colour: '#d55e00', cycles: (unit) => unit.weight_stall_cycles },
    { name: 'weight shift', colour: '#e9b11c', cycles: (unit) => unit.weight_shift_cycles },
    { name: 'non-matrix', colour: '#8b9099', cycles: (unit) => unit.non_matrix_cycles },
];

/// The four classes themselves, and what they mean.
export const cycleClasses = [
    { key: 'active_cycles', name: 'array active', colour: '#0b57a4', meaning: 'a row entered the array' },
    {
        key: 'weight_stall_cycles',
        name: 'weight stall',
        colour: '#d55e00',
        meaning: 'rows were there, their weight tile was not whole in the FIFO',
    },
    {
        key: 'weight_shift_cycles',
        name: 'weight shift',
        colour: '#e9b11c',
        meaning: 'rows were there, their weight tile was shifting into the array',
    },
    {
        key: 'non_matrix_cycles',
        name: 'non-matrix',
        colour: '#8b9099',
        meaning: 'no matrix instruction was issued, or its rows were not there',
    },
];

/// Reasons for non-matrix cycles. They may overlap.
export const reasons = [
    { key: 'raw_stall_cycles', name: 'RAW stall', meaning: 'rows were still being written by the activation unit' },
    { key: 'input_stall_cycles', name: 'input stall', meaning: 'rows were still being delivered by the host' },
    { key: 'setup_stall_cycles', name: 'setup stall', meaning: 'the data setup was still collecting a line' },
    { key: 'port_stall_cycles', name: 'port stall', meaning: 'a memory port was taken' },
];

export const reasonColour = '#5b606b';

/// Of the array's cells in active cycles, those that multiplied for the network.
export function usefulShare(unit) {
    return ratio(unit.useful_macs, unit.useful_macs + unit.unused_macs) ?? 0;
}

const qualitative = ['#0b57a4', '#d55e00', '#1b9e77', '#e9b11c', '#9467bd', '#56b4e9', '#c2185b', '#8c6d46',
    '#5f8f2b', '#3f51b5'];

/// Consumers of energy; the static part is what an idle chip takes.
const consumers = {
    chip_static: '#8b9099',
    chip_dynamic: '#0b57a4',
    matrix_unit: '#0b57a4',
    accumulators: '#9467bd',
    unified_buffer: '#1b9e77',
    weight_fifo: '#e9b11c',
    activation_unit: '#c2185b',
    host_interface: '#56b4e9',
    sequencer: '#8c6d46',
    weight_memory: '#d55e00',
};

export function consumerColour(name) {
    return consumers[name] ?? qualitative[0];
}

/// The n-th of things that have no colour of their own.
export function colourOf(index) {
    return qualitative[index % qualitative.length];
}

/// Paper and ink, from the style sheet of the theme in force.
export function ink() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    return {
        text: read('--text'),
        quiet: read('--quiet'),
        line: read('--line'),
        grid: read('--grid'),
        card: read('--card'),
        accent: read('--accent'),
    };
}
