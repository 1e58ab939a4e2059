// Every colour with a meaning, declared once. A class has the same colour on every chart. The colours also differ in
// lightness, for colour-blind readers and for print (after Okabe and Ito). Each has a shade for light and one for
// dark background: shade[colours.scheme], with `colours` from ink(). A shade that is too pale has an edge.
import { ratio } from './format.js';

const blue = { light: '#0b57a4', dark: '#4596e6' };
const paleBlue = { light: '#7fb3e3', dark: '#c2dcf4', edge: { light: '#2f6da8' } };
const orange = { light: '#d55e00', dark: '#d55e00' };
const yellow = { light: '#e9b11c', dark: '#f0bc30', edge: { light: '#946c00' } };
const gray = { light: '#8b9099', dark: '#8b9099' };

/// The classes of matrix-unit cycles, which sum to all cycles; active cycles are divided into useful and unused
/// ones. `cycles` reads them from a `matrix_unit` of the report.
export const cycleParts = [
    {
        name: 'active: useful MACs',
        colour: blue,
        cycles: (unit) => unit.active_cycles * usefulShare(unit),
    },
    {
        name: 'active: unused cells',
        colour: paleBlue,
        cycles: (unit) => unit.active_cycles * (1 - usefulShare(unit)),
    },
    { name: 'weight stall', colour: orange, cycles: (unit) => unit.weight_stall_cycles },
    { name: 'weight shift', colour: yellow, cycles: (unit) => unit.weight_shift_cycles },
    { name: 'non-matrix', colour: gray, cycles: (unit) => unit.non_matrix_cycles },
];

/// The four classes and their meanings.
export const cycleClasses = [
    { key: 'active_cycles', name: 'array active', colour: blue, meaning: 'a row entered the array' },
    {
        key: 'weight_stall_cycles',
        name: 'weight stall',
        colour: orange,
        meaning: 'rows were there, their weight tile was not whole in the FIFO',
    },
    {
        key: 'weight_shift_cycles',
        name: 'weight shift',
        colour: yellow,
        meaning: 'rows were there, their weight tile was shifting into the array',
    },
    {
        key: 'non_matrix_cycles',
        name: 'non-matrix',
        colour: gray,
        meaning: 'no matrix instruction was issued, or its rows were not there',
    },
];

/// The reasons for non-matrix cycles; each such cycle has one.
const reasons = [
    { key: 'raw_cycles', name: 'RAW', meaning: 'rows were still being written by the activation unit (read after write)' },
    { key: 'input_cycles', name: 'input', meaning: 'rows were still being delivered by the host' },
    { key: 'accumulators_cycles', name: 'accumulators', meaning: 'the activation unit was still reading them' },
    { key: 'output_buffer_cycles', name: 'output buffer', meaning: 'the host had not fetched the results there' },
    { key: 'input_buffer_cycles', name: 'input buffer', meaning: 'rows for the host\'s data were still in use' },
    { key: 'vector_work_cycles', name: 'vector work', meaning: 'the activation unit pooled, added or looked up' },
    { key: 'setup_cycles', name: 'data setup', meaning: 'a line of windows was being collected' },
    { key: 'port_cycles', name: 'port', meaning: 'a memory port was taken' },
    { key: 'not_arrived_cycles', name: 'not arrived', meaning: 'an instruction was still coming from the host' },
    { key: 'queue_full_cycles', name: 'queue full', meaning: 'an instruction waited for a place in its queue' },
    { key: 'issue_cycles', name: 'issue', meaning: 'earlier instructions were being issued' },
    { key: 'sync_cycles', name: 'sync', meaning: 'a semaphore came later than the rows required' },
    { key: 'program_begin_cycles', name: 'program begin', meaning: 'the first matrix instruction had not been issued' },
    { key: 'program_end_cycles', name: 'program end', meaning: 'the last rows had entered the array' },
    { key: 'host_cycles', name: 'host', meaning: 'the host computed, or the data of its work moved' },
];

/// A key as words: "queue_full_cycles" is "queue full".
const wordsOf = (key) => key.replace(/_cycles$/, '').replaceAll('_', ' ');

/// The parts of a class that apply to the main unit of the report or of a layer, with their cycles, the longest first: the
/// reasons of a `matrix_unit`, or kinds of work. Reports of earlier versions have none.
export function reasonsOf(unit) {
    const groups = Object.values(unit).filter((value) => typeof value === 'object' && value !== null);
    return groups.flatMap((group) => Object.entries(group)).filter(([key]) => key.endsWith('_cycles'))
        .map(([key, cycles]) => ({ key, name: wordsOf(key), meaning: '', ...reasons.find((each) => each.key === key), cycles }))
        .filter(({ cycles }) => cycles > 0)
        .sort((one, other) => other.cycles - one.cycles);
}

export const reasonColour = { light: '#5b606b', dark: '#737a86' };

/// The share of the array's cells that multiplied for the network, in active cycles.
export function usefulShare(unit) {
    return ratio(unit.useful_macs, unit.useful_macs + unit.unused_macs) ?? 0;
}

/// How the cycles of a machine with an array are divided. Its reports, and those of earlier versions, do not say.
const arrayUnit = {
    of: ({ matrix_unit: unit }) => unit,
    words: 'the matrix unit',
    meaning: 'Every cycle of the matrix unit belongs to one of four classes: the array is active, or it waits for a weight tile '
        + 'from memory (stall), for the tile to shift in, or for an instruction and its input rows (non-matrix).',
    classes: cycleClasses,
    parts: cycleParts,
    divided: 'non-matrix',
    partsOfDivided: 'reasons for non-matrix',
    used: 'cells used when active',
    usefulShare,
    columns: [
        ['active', 'active', 'active_cycles', 'of the layer\'s cycles: a row entered the array'],
        ['stall', 'weight stall', 'weight_stall_cycles', 'of the layer\'s cycles: its tile was not whole in the FIFO'],
        ['shift', 'weight shift', 'weight_shift_cycles', 'of the layer\'s cycles: its tile was shifting in'],
        ['other', 'non-matrix', 'non_matrix_cycles', 'of the layer\'s cycles: not issued, or its rows were not there'],
    ],
    mostly: 'the reason of most of its non-matrix cycles',
    usedMeaning: 'of the array\'s cells in active cycles',
};

const classColours = [blue, orange, yellow, gray];

/// The unit whose cycles the report divides: how it is read from the report or from a layer, and its classes.
export function mainUnitOf({ cycle_classes: described }) {
    if (!described) return arrayUnit;
    const { unit: name, words, cells, classes: all } = described;
    const read = (unit, path) => path.split('.').reduce((place, key) => place?.[key], unit) ?? 0;
    const classes = all.map(({ key, name: title, meaning }, index) => ({
        key, name: title, meaning, colour: classColours[Math.min(index, classColours.length - 1)] }));
    return {
        of: (place) => place[name],
        words,
        meaning: `Every cycle of ${words} belongs to one class. ${
            all.map(({ name: title, meaning }) => `${title[0].toUpperCase()}${title.slice(1)}: ${meaning}`).join('. ')}.`,
        classes,
        parts: classes.map(({ key, name: title, colour }) => ({ name: title, colour, cycles: (unit) => unit[key] })),
        divided: classes[0].name,
        partsOfDivided: `parts of ${classes[0].name}`,
        used: `useful ${cells}`,
        usefulShare: (unit) => ratio(read(unit, described.useful_macs),
            read(unit, described.useful_macs) + read(unit, described.unused_macs)) ?? 0,
        columns: all.map(({ key, name: title, meaning }) => [key.replace(/_cycles$/, ''), title, key,
            `of the layer's cycles: ${meaning}`]),
        mostly: `most of its cycles of ${classes[0].name}`,
        usedMeaning: cells,
    };
}

/// The cycles of the main unit in the run or a layer, or the sum of those of several: all classes.
export function sumOf(main, unit) {
    return main.classes.reduce((sum, { key }) => sum + (unit[key] ?? 0), 0);
}

/// The cycles of all arrays of the machine. Reports of a machine with one array do not say how many there are.
export function cyclesOfArrays({ cycles, arrays = 1 }) {
    return cycles * arrays;
}

/// The cycles of a unit, of several cores those of all of them.
export function cyclesOfUnit(report, unit) {
    const { cycles, cores = 1, cycle_classes: described } = report;
    return unit === described?.unit ? cyclesOfArrays(report) : cycles * cores;
}

/// The largest lower bound of the cycles besides `macs`: its name and cycles. Reports of earlier versions have none.
export function largestBound(bounds) {
    const ofNoUnit = ['macs', 'ratio', 'fill'];
    const all = Object.entries(bounds ?? {}).filter(([name]) => !ofNoUnit.includes(name))
        .map(([name, cycles]) => ({ name: wordsOf(name), cycles }));
    return all.reduce((most, each) => (each.cycles > (most?.cycles ?? 0) ? each : most), null);
}

const qualitative = [
    blue,
    orange,
    { light: '#1b9e77', dark: '#2fb58c' },
    { light: '#b8860b', dark: '#f0bc30' },
    { light: '#9467bd', dark: '#a98bd0' },
    { light: '#2b8cc4', dark: '#56b4e9' },
    { light: '#c2185b', dark: '#e0558a' },
    { light: '#8c6d46', dark: '#b08d5f' },
    { light: '#5f8f2b', dark: '#7fb043' },
    { light: '#3f51b5', dark: '#7f8ce0' },
];
const [, , green, ochre, purple, skyBlue, pink, brown] = qualitative;

/// The consumers of energy; the static part is the energy of an idle chip.
const consumers = {
    chip_static: gray,
    board: gray,
    chip_dynamic: blue,
    chip: blue,
    matrix_unit: blue,
    tile_array: blue,
    ring: ochre,
    host_processor: pink,
    accumulators: purple,
    unified_buffer: green,
    weight_fifo: ochre,
    activation_unit: pink,
    host_interface: skyBlue,
    sequencer: brown,
    weight_memory: orange,
};

export function consumerColour(name) {
    const letters = [...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0);
    return consumers[name] ?? qualitative[letters % qualitative.length];
}

/// The colour of the n-th series without a meaning of its own.
export function colourOf(index) {
    return qualitative[index % qualitative.length];
}

/// The style of a bar in ECharts.
export function fillOf(colour, { scheme }) {
    const edge = colour.edge?.[scheme];
    return edge ? { color: colour[scheme], borderColor: edge, borderWidth: 1 } : { color: colour[scheme] };
}

/// The data of a bar for ECharts; a bar of length 0 has no edge.
export function lengthOf(value) {
    return value > 0 ? value : { value, itemStyle: { borderWidth: 0 } };
}

/// Every colour that a chart gives a meaning.
export const allColours = [...new Set([...cycleParts, ...cycleClasses].map(({ colour }) => colour)
    .concat(reasonColour, qualitative, Object.values(consumers)))];

/// The colours of background and text, from the style sheet of the current theme.
export function ink() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    return {
        scheme: style.colorScheme,
        text: read('--text'),
        quiet: read('--quiet'),
        line: read('--line'),
        grid: read('--grid'),
        card: read('--card'),
        accent: read('--accent'),
    };
}
