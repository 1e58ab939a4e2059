// What reports do not say of units: the classes of an array's cycles, which reports of TPU v1's family and all of earlier
// versions leave out, whose energy reports have that do not say it, and the colours of units in charts of energy. All else
// of the page knows no unit by name; one that is not here is shown in the words of its report, and in a colour of its name.
import { percent, ratio } from './format.js';

/// The unit whose cycles are divided where a report does not say which; as `cycle_classes` of other reports. Of
/// a layer, a class may have another name and meaning.
export const unsaidMainUnit = {
    unit: 'matrix_unit',
    words: 'the matrix unit',
    meaning: 'Every cycle of the matrix unit belongs to one of four classes: the array is active, or it waits for a weight tile '
        + 'from memory (stall), for the tile to shift in, or for an instruction and its input rows (non-matrix).',
    useful_macs: 'useful_macs',
    unused_macs: 'unused_macs',
    classes: [
        { key: 'active_cycles', name: 'array active', column: 'active', meaning: 'a row entered the array',
            nameOfLayer: 'active', parts: ['active: useful MACs', 'active: unused cells'] },
        { key: 'weight_stall_cycles', name: 'weight stall', column: 'stall',
            meaning: 'rows were there, their weight tile was not whole in the FIFO',
            meaningOfLayer: 'its tile was not whole in the FIFO' },
        { key: 'weight_shift_cycles', name: 'weight shift', column: 'shift',
            meaning: 'rows were there, their weight tile was shifting into the array',
            meaningOfLayer: 'its tile was shifting in' },
        { key: 'non_matrix_cycles', name: 'non-matrix', column: 'other',
            meaning: 'no matrix instruction was issued, or its rows were not there',
            meaningOfLayer: 'not issued, or its rows were not there' },
    ],
    divided: 'non-matrix',
    partsOfDivided: 'reasons for non-matrix',
    used: 'cells used when active',
    mostly: 'the reason of most of its non-matrix cycles',
    usedMeaning: 'of the array\'s cells in active cycles',
};

/// The words for parts of cycles, such as the reasons for an array's non-matrix cycles, by the name of their counter:
/// { name, meaning }. The page has them of all main units (sim/view/report/main_unit.h).
export const unsaidPartWords = () => JSON.parse(globalThis.document?.getElementById?.('part-words')?.textContent ?? '{}');

/// What stands below a figure of a unit, by its key.
export const figureWords = {
    'matrix_unit.active_cycles': ({ matrix_unit: unit }) => `of all cycles; ${
        percent(ratio(unit.useful_macs, unit.useful_macs + unit.unused_macs))} of the array's cells then multiply for the network`,
};

/// Whose energy a report has.
export const energyOf = ({ energy, call, traffic }) => energy?.of ?? (traffic.weight_bytes !== undefined ? 'chip and weight memory'
    : call?.cold_joules ? 'chip, link, host and board' : 'the chip');

/// The names of their colours (palette.js).
export const unitColours = {
    matrix_unit: 'blue',
    tile_array: 'blue',
    ring: 'ochre',
    host_processor: 'pink',
    accumulators: 'purple',
    unified_buffer: 'green',
    weight_fifo: 'ochre',
    activation_unit: 'pink',
    host_interface: 'skyBlue',
    sequencer: 'brown',
    weight_memory: 'orange',
};
