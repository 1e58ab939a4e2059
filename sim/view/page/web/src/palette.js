// Every colour with a meaning, declared once. A class has the same colour on every chart. The colours also differ in
// lightness, for colour-blind readers and for print (after Okabe and Ito). Each has a shade for light and one for
// dark background: shade[colours.scheme], with `colours` from ink(). A shade that is too pale has an edge.
import { ratio } from './format.js';
import { unitColours, unsaidMainUnit, unsaidPartWords } from './unit_words.js';

const blue = { light: '#0b57a4', dark: '#4596e6' };
const paleBlue = { light: '#7fb3e3', dark: '#c2dcf4', edge: { light: '#2f6da8' } };
const orange = { light: '#d55e00', dark: '#d55e00' };
const yellow = { light: '#e9b11c', dark: '#f0bc30', edge: { light: '#946c00' } };
const gray = { light: '#8b9099', dark: '#8b9099' };

const classColours = [blue, orange, yellow, gray];

/// The main unit's classes in reports that do not say which they are. They sum to all cycles.
export const cycleClasses = unsaidMainUnit.classes.map(({ key, name, meaning }, index) => ({
    key, name, meaning, colour: classColours[index] }));

/// The same classes, of which the first is divided into cycles of useful and of unused cells. `cycles` reads them from the
/// main unit of a report or of a layer.
export const cycleParts = unsaidMainUnit.classes.flatMap(({ key, name, parts }, index) => (parts
    ? [
        { name: parts[0], colour: blue, cycles: (unit) => unit[key] * usefulShare(unit) },
        { name: parts[1], colour: paleBlue, cycles: (unit) => unit[key] * (1 - usefulShare(unit)) },
    ] : [{ name, colour: classColours[index], cycles: (unit) => unit[key] }]));

/// A key as words: "queue_full_cycles" is "queue full".
const wordsOf = (key) => key.replace(/_cycles$/, '').replaceAll('_', ' ');

/// The parts of a class that apply to the main unit of the report or of a layer, with their cycles, the longest first:
/// reasons, or kinds of work. Reports of earlier versions have none.
export function reasonsOf(unit, ofMain = unsaidPartWords()) {
    const groups = Object.values(unit).filter((value) => typeof value === 'object' && value !== null);
    return groups.flatMap((group) => Object.entries(group)).filter(([key]) => key.endsWith('_cycles'))
        .map(([key, cycles]) => ({ key, name: wordsOf(key), meaning: '', ...ofMain[key], cycles }))
        .filter(({ cycles }) => cycles > 0)
        .sort((one, other) => other.cycles - one.cycles);
}

export const reasonColour = { light: '#5b606b', dark: '#737a86' };

/// Of main units as above: the share of the cells that multiplied for the network, where the unit multiplied.
export function usefulShare(unit) {
    const { useful_macs: useful, unused_macs: unused } = unsaidMainUnit;
    return ratio(unit[useful], unit[useful] + unit[unused]) ?? 0;
}

/// How the cycles of these main units are divided.
const unsaid = {
    ...unsaidMainUnit,
    of: (place) => place[unsaidMainUnit.unit],
    classes: cycleClasses,
    parts: cycleParts,
    usefulShare,
    columns: unsaidMainUnit.classes.map(({ key, name, nameOfLayer, column, meaning, meaningOfLayer }) =>
        [column, nameOfLayer ?? name, key, `of the layer's cycles: ${meaningOfLayer ?? meaning}`]),
};

/// The unit whose cycles the report divides: how it is read from the report or from a layer, and its classes.
export function mainUnitOf({ cycle_classes: described }) {
    if (!described) return unsaid;
    const { unit: name, words, cells, classes: all } = described;
    const read = (unit, path) => path.split('.').reduce((place, key) => place?.[key], unit) ?? 0;
    const classes = all.map(({ key, name: title, column, meaning }, index) => ({
        key, name: title, column, meaning, colour: classColours[Math.min(index, classColours.length - 1)] }));
    const divided = all.find(({ key }) => key === described.divided) ?? all[0];
    const usefulShareOf = (unit) => ratio(read(unit, described.useful_macs),
        read(unit, described.useful_macs) + read(unit, described.unused_macs)) ?? 0;
    // Where the unit multiplies in all cycles of a class, these are divided by the cells at work.
    const partsOf = ({ key, name: title, column, colour }) => (key === described.products
        ? [{ name: `${column}: useful MACs`, colour, cycles: (unit) => unit[key] * usefulShareOf(unit) },
            { name: `${column}: unused cells`, colour: paleBlue, cycles: (unit) => unit[key] * (1 - usefulShareOf(unit)) }]
        : [{ name: title, colour, cycles: (unit) => unit[key] }]);
    return {
        of: (place) => place[name],
        words,
        meaning: `Every cycle of ${words} belongs to one class. ${
            all.map(({ name: title, meaning }) => `${title[0].toUpperCase()}${title.slice(1)}: ${meaning}`).join('. ')}.`,
        classes,
        parts: classes.flatMap(partsOf),
        partWords: described.parts && Object.fromEntries(described.parts.map(({ key, name: title, meaning }) =>
            [key, { name: title, meaning }])),
        divided: divided.name,
        partsOfDivided: described.parts_words ?? `parts of ${divided.name}`,
        used: `useful ${cells}`,
        usefulShare: usefulShareOf,
        columns: all.map(({ key, name: title, meaning }) => [key.replace(/_cycles$/, ''), title, key,
            `of the layer's cycles: ${meaning}`]),
        mostly: `most of its cycles of ${divided.name}`,
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
const named = { blue, orange, green, ochre, purple, skyBlue, pink, brown };

/// The consumers of energy; the static part is the energy of an idle chip.
const consumers = {
    chip_static: gray,
    board: gray,
    chip_dynamic: blue,
    chip: blue,
    ...Object.fromEntries(Object.entries(unitColours).map(([unit, name]) => [unit, named[name]])),
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
