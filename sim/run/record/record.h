#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cycle.h"
#include "base/data_type.h"
#include "hw/machine/chosen_mapping.h"
#include "hw/machine/unit_description.h"
#include "sim/run/record/fields.h"
#include "sim/run/record/spec.h"

namespace systole {

SYSTOLE_RECORD_FIELDS(Rate, bytes, cycles)

}  // namespace systole

namespace systole::machine {

SYSTOLE_RECORD_FIELDS(BatchFacts, images, at_a_time, that_fit, grouped_layers, group, rows_a_fetch,
                      images_a_fetch, fitting_batch, fitting_images_a_fetch)
SYSTOLE_RECORD_FIELDS(CutImages, cut_layers, strips, extra_macs, spilled, spilled_bytes)
constexpr std::array<std::string_view, 4> names_of(Side) {
    return {"above", "below", "left", "right"};
}
SYSTOLE_RECORD_FIELDS(EnergyRow, unit, counter, picojoules, during, once)
SYSTOLE_RECORD_FIELDS(ShownNumber, number, format)
SYSTOLE_RECORD_FIELDS(ShownLine, text, numbers)
SYSTOLE_RECORD_FIELDS(Filled, used_bytes, bytes, figure)
SYSTOLE_RECORD_FIELDS(Occupied, title, figure, unit, capacity, units_a_place, track, places, map, in_place)
SYSTOLE_RECORD_FIELDS(Box, title, column, row, lines, busy_counter, filled, word)
SYSTOLE_RECORD_FIELDS(DataPath, from, to, counters, unit, most, traffic, label, figures, shift_x, shift_y)
constexpr std::array<std::string_view, 5> names_of(CauseForm) {
    return {"share", "per_tile", "whole", "unused_cells", "useful_cells"};
}
SYSTOLE_RECORD_FIELDS(NewValue, key, value)
SYSTOLE_RECORD_FIELDS(WhatIf, name, change, values, recompiles, causes)
SYSTOLE_RECORD_FIELDS(CycleCause, name, form, counters, head, words, what_ifs)
SYSTOLE_RECORD_FIELDS(CycleClass, counter, name, column, meaning, waits_for_weights)
SYSTOLE_RECORD_FIELDS(CyclePart, counter, name, meaning)
SYSTOLE_RECORD_FIELDS(MainUnit, words, classes, products, macs, useful_macs, unused_macs, weights, works,
                      groups, divided, parts_words, parts, cells, full, full_meaning, fill_meaning, energy_of)
SYSTOLE_RECORD_FIELDS(Estimate, nominal, low, high)
SYSTOLE_RECORD_FIELDS(DieAnchor, mm2, process_nm, io_percent, unnamed_percent, note)
SYSTOLE_RECORD_FIELDS(DiePart, name, label, place, percent, shrinks, core_percent, unnamed_percent)
SYSTOLE_RECORD_FIELDS(UnitDescription, name, on_die, energy, box, paths, what_ifs, causes, main, occupied,
                      die_part, die)
SYSTOLE_RECORD_FIELDS(Bound, name, part, meaning, run, by_tag, computes)

}  // namespace systole::machine

/// The results of a run as plain data, independent of the simulated chip. Cycles count from 0; ranges do not
/// include their end.
namespace systole::run {

/// The value that the instruction `tag` sets: the number of a layer, from 1; 0 outside layers.
using Tag = std::uint16_t;

/// A counter, in total and by tag. Its path has the names of unit and counter: "matrix_unit.active_cycles".
struct Counter {
    std::string path;
    std::string unit;  ///< "cycles", "bytes", ...
    std::string meaning;
    std::uint64_t total = 0;
    std::vector<std::uint64_t> by_tag;  ///< 0 for tags after the last

    std::uint64_t value() const { return total; }
    std::uint64_t value(Tag tag) const { return tag < by_tag.size() ? by_tag[tag] : 0; }
    std::string_view group() const { return std::string_view(path).substr(0, path.rfind('.')); }
    std::string_view name() const { return std::string_view(path).substr(path.rfind('.') + 1); }
    /// The last tag that may have a value.
    Tag last_tag() const { return by_tag.empty() ? Tag{0} : static_cast<Tag>(by_tag.size() - 1); }
    bool operator==(const Counter&) const = default;
};
SYSTOLE_RECORD_FIELDS(Counter, path, unit, meaning, total, by_tag)

/// The counters of a chip; the counters of a unit follow one another.
struct Counters {
    std::vector<Counter> all;

    /// Throws std::logic_error if there is no such counter.
    const Counter& at(std::string_view path) const;
    /// The counters of one unit; empty if the chip has no such unit.
    std::span<const Counter> of(std::string_view group) const;
    bool operator==(const Counters&) const = default;
};
SYSTOLE_RECORD_FIELDS(Counters, all)

/// What a counter of a part has counted.
struct PartCount {
    std::string path;  ///< as that of the machine's counter
    std::uint64_t total = 0;
    bool operator==(const PartCount&) const = default;
};
SYSTOLE_RECORD_FIELDS(PartCount, path, total)

/// A core of a machine with several, or what the cores of a chip share.
struct MachinePart {
    std::string name;             ///< "chip2.core1"; "chip2" for what its cores share
    std::optional<Cycle> cycles;  ///< until the core's program ended; absent for what cores share
    std::vector<Cycle> by_tag;    ///< the cycles of the arrays of a core, up to the end of the run, summed
    std::vector<PartCount> counts;
    bool operator==(const MachinePart&) const = default;
};
SYSTOLE_RECORD_FIELDS(MachinePart, name, cycles, by_tag, counts)

/// A layer of the network; its tag is its number from 1.
struct LayerFacts {
    std::string name;
    std::string kind;
    std::uint64_t macs = 0;  ///< of one inference
    bool operator==(const LayerFacts&) const = default;
};
SYSTOLE_RECORD_FIELDS(LayerFacts, name, kind, macs)

/// Weight tiles; one that is fetched several times counts each time.
struct TileUse {
    std::uint64_t tiles = 0;
    std::uint64_t rows = 0;     ///< array rows that they use, summed
    std::uint64_t columns = 0;  ///< array columns that they use, summed
    std::uint64_t cells = 0;    ///< rows times columns, summed
    std::uint64_t weights = 0;  ///< cells that carry a weight: fewer in a depthwise convolution
    std::uint64_t widest_columns = 0;

    TileUse& operator+=(const TileUse& other);
    bool operator==(const TileUse&) const = default;
};
SYSTOLE_RECORD_FIELDS(TileUse, tiles, rows, columns, cells, weights, widest_columns)

/// The work of a program under one tag.
struct TagFacts {
    std::string name;         ///< of the layer, as reports have it
    std::string instruction;  ///< of the main unit's instructions: one, "mixed" or "none"
    std::uint64_t executed = 0;
    TileUse fetched;  ///< up to `halt`
    bool operator==(const TagFacts&) const = default;
};
SYSTOLE_RECORD_FIELDS(TagFacts, name, instruction, executed, fetched)

/// A tensor between host and chip: real = scale * (stored - zero_point).
struct TensorFacts {
    std::string name;
    std::vector<std::uint32_t> shape;  ///< of one inference
    double scale = 1.0;
    std::int32_t zero_point = 0;
    DataType type = DataType::Uint8;
    bool operator==(const TensorFacts&) const = default;
};
SYSTOLE_RECORD_FIELDS(TensorFacts, name, shape, scale, zero_point, type)

/// The sequence that the first input of a network is.
struct SequenceFacts {
    std::uint64_t length = 0;  ///< of one inference
    std::string unit;          ///< "token", an index that looks up a row of a table, or "step"
    bool operator==(const SequenceFacts&) const = default;
};
SYSTOLE_RECORD_FIELDS(SequenceFacts, length, unit)

/// The facts about a program that reports use.
struct ProgramFacts {
    std::uint32_t rows = 0;  ///< of the array that it was made for
    std::uint32_t columns = 0;
    std::string model;
    std::uint32_t batch = 0;
    std::uint64_t inferences = 0;
    std::uint64_t instructions = 0;
    std::uint64_t instruction_bytes = 0;  ///< encoded
    std::uint64_t tiles = 0;              ///< of the weight image
    std::uint64_t tile_bytes = 0;         ///< of their used cells
    std::uint64_t memory_bytes = 0;       ///< that they take of weight memory, or would take
    std::uint64_t spilled_bytes = 0;      ///< of these, the bytes that stay in host memory
    std::uint64_t weights = 0;            ///< cells that carry one
    std::vector<LayerFacts> layers;
    std::vector<TagFacts> tags;  ///< from tag 0 to the last that the program sets
    std::vector<TensorFacts> inputs;
    std::vector<TensorFacts> outputs;
    bool has_host_operations = false;  ///< on its outputs; these are then probabilities
    /// Examples of a step, of all cores and of each; 0 where the run does not say which input takes them.
    std::uint64_t examples = 0;
    std::uint64_t examples_of_core = 0;
    std::optional<SequenceFacts> sequence;  ///< absent of other inputs, and of a program without its network

    /// Multiply-accumulates of one inference; 0 for a program that does not state them.
    std::uint64_t macs() const;
    bool operator==(const ProgramFacts&) const = default;
};
SYSTOLE_RECORD_FIELDS(ProgramFacts, rows, columns, model, batch, inferences, instructions, instruction_bytes,
                      tiles, tile_bytes, memory_bytes, spilled_bytes, weights, layers, tags, inputs, outputs,
                      has_host_operations, examples, examples_of_core, sequence)

/// The work of a layer, for any processor and one inference.
struct LayerWork {
    std::uint64_t macs = 0;         ///< multiply-accumulates; 0 for pooling and element-wise work
    std::uint64_t weights = 0;      ///< elements; read once a batch
    std::uint64_t activations = 0;  ///< elements read and written
    bool operator==(const LayerWork&) const = default;
};
SYSTOLE_RECORD_FIELDS(LayerWork, macs, weights, activations)

/// The work of a network, for any processor.
struct NetworkWork {
    std::string name;
    std::vector<LayerWork> layers;

    std::uint64_t macs() const;
    std::uint64_t weights() const;
    bool operator==(const NetworkWork&) const = default;
};
SYSTOLE_RECORD_FIELDS(NetworkWork, name, layers)

/// The times of an instruction, or of one repetition in the matrix unit. Cycles are absent if no unit reports
/// them: for `sync`, and for instructions that the sequencer executes itself.
struct InstructionLine {
    std::uint64_t number = 0;  ///< in the program, from 0
    std::string unit;          ///< the unit whose queue takes it, or "sequencer"
    std::uint32_t repetition = 0;
    std::optional<Cycle> issued;    ///< put into the unit's queue, or executed by the sequencer
    std::optional<Cycle> begun;     ///< its first row moved; a `sync` was executed
    std::optional<Cycle> released;  ///< the unit could begin the next
    std::optional<Cycle> complete;  ///< its last result was in place; for `halt`, the run's cycles
    std::string text;               ///< assembly
    bool operator==(const InstructionLine&) const = default;
};
SYSTOLE_RECORD_FIELDS(InstructionLine, number, unit, repetition, issued, begun, released, complete, text)

/// Something at work for one tag, in cycles [begin, end).
struct WorkInterval {
    std::uint8_t activity = 0;  ///< its number in Work::activities
    Tag tag = 0;
    Cycle begin = 0;
    Cycle end = 0;
    bool operator==(const WorkInterval&) const = default;
};
SYSTOLE_RECORD_FIELDS(WorkInterval, activity, tag, begin, end)

/// When the parts of a chip worked. Power over time follows it.
struct Work {
    /// As machine::EnergyRow::during names them: the queues, and what happens to weight tiles.
    std::vector<std::string> activities;
    std::vector<WorkInterval> intervals;
    bool operator==(const Work&) const = default;
};
SYSTOLE_RECORD_FIELDS(Work, activities, intervals)

/// The parts of a run in which the chip waits only for the host, and the times of the first and last weights.
struct Phases {
    Cycle head = 0;                    ///< before the first rows of the first stream
    Cycle last_result = 0;             ///< when the last result of matrix or activation unit was complete
    std::optional<Cycle> first_fetch;  ///< of a tile
    Cycle last_tile = 0;               ///< when the last tile was whole
    bool operator==(const Phases&) const = default;
};
SYSTOLE_RECORD_FIELDS(Phases, head, last_result, first_fetch, last_tile)

/// Rows [first, last) of a memory.
struct RowRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    std::uint64_t count() const { return first >= last ? 0 : last - first; }
    bool operator==(const RowRange&) const = default;
};
SYSTOLE_RECORD_FIELDS(RowRange, first, last)

/// Rows of a memory with a value of one writer, from the first write to the last read. Rows that are written
/// again before any read hold one value, which begins with the first of these writes. A value that is never
/// read ends with its last write.
struct RowValue {
    std::uint64_t writer = 0;  ///< index of the layer or host buffer that wrote the value
    std::uint64_t visit = 0;   ///< the writer's turn in which it was written
    RowRange rows;
    Cycle begin = 0;
    Cycle end = 0;
    bool operator==(const RowValue&) const = default;
};
SYSTOLE_RECORD_FIELDS(RowValue, writer, visit, rows, begin, end)

/// The values of a run in a memory. Rows are places in the memory's unit (isa::MemoryId).
struct ValuesOfMemory {
    std::string unit;              ///< that the memory is
    std::vector<RowValue> values;  ///< by turn, then row
    bool operator==(const ValuesOfMemory&) const = default;
};
SYSTOLE_RECORD_FIELDS(ValuesOfMemory, unit, values)

/// The values of a run in each memory. Rows are those of the instructions' footprints, from the lowest to the
/// highest that an instruction touches.
struct MemoryValues {
    std::vector<std::string> writers;  ///< layers by name, and host buffers that are read from
    std::vector<ValuesOfMemory> memories;
    /// Those of a unit. Throws std::logic_error if there are none.
    const std::vector<RowValue>& in(std::string_view unit) const;
    bool operator==(const MemoryValues&) const = default;
};
SYSTOLE_RECORD_FIELDS(MemoryValues, writers, memories)

/// The number of points that a chart can show and a report should hold. It is even, because windows are
/// merged in pairs.
inline constexpr std::size_t most_windows = 500;

/// Peak occupancy of a memory in each window of a run; the last window ends with the run.
struct MostHeld {
    std::string unit;
    std::vector<std::uint64_t> windows;
    bool operator==(const MostHeld&) const = default;
};
SYSTOLE_RECORD_FIELDS(MostHeld, unit, windows)

/// The occupancy of the memories during a run.
struct Occupancy {
    MemoryValues values;
    std::vector<MostHeld> most_held;  ///< of memories with too many values
    Cycle window_cycles = 1;          ///< of these
    bool operator==(const Occupancy&) const = default;
};
SYSTOLE_RECORD_FIELDS(Occupancy, values, most_held, window_cycles)

/// Cores whose instructions have the same times, and so their values in memory.
struct CoresAlike {
    std::vector<std::uint32_t> cores;  ///< by number
    std::vector<InstructionLine> instruction_times = {};
    std::optional<Occupancy> occupancy = {};
    bool operator==(const CoresAlike&) const = default;
};
SYSTOLE_RECORD_FIELDS(CoresAlike, cores, instruction_times, occupancy)

/// An input whose pixels go in from 0 to 255, because the network scales them itself.
struct PixelScaling {
    std::string input;
    std::string layer;  ///< that scales them
    bool operator==(const PixelScaling&) const = default;
};
SYSTOLE_RECORD_FIELDS(PixelScaling, input, layer)

/// How long the batches of a run are in the chip: from the first byte of a batch's input to the last byte of
/// its results. The first batch begins with the run, and the last ends with it; a batch whose input comes
/// later than the end of those before it begins there. So the times of all batches cover the run.
struct BatchLatency {
    Cycle sum = 0;      ///< of all batches
    Cycle largest = 0;  ///< of one
    // Where requests arrive, these are of a run of so many full batches.
    static constexpr std::uint64_t enough = 8;
    Cycle first = 0;  ///< of the first batch, whose input does not wait for another batch
    /// Between the ends of batches in the middle of the run, when the pipeline is full: so many intervals,
    /// and their cycles. 0 of a run with fewer full batches.
    std::uint64_t intervals = 0;
    Cycle between = 0;
    /// The cycles of a run of one batch alone. Absent unless requests arrive, and of a run with one batch.
    std::optional<Cycle> alone = {};
    bool operator==(const BatchLatency&) const = default;
};
SYSTOLE_RECORD_FIELDS(BatchLatency, sum, largest, first, intervals, between, alone)

/// Work of the host.
struct HostWork {
    std::string kind;   ///< "quantize_input", "softmax"
    std::string layer;  ///< that the work belongs to
    std::uint64_t elements = 0;
    DataType type = DataType::Uint8;     ///< in which the chip stores the elements
    std::uint64_t calls = 1;             ///< once for each batch
    std::optional<double> seconds = {};  ///< absent if the run names no host
    bool operator==(const HostWork&) const = default;
};
SYSTOLE_RECORD_FIELDS(HostWork, kind, layer, elements, type, calls, seconds)

/// Work of the host between the chip's, which the cycles of the run include.
struct SegmentWork {
    std::string name;
    std::vector<std::string> layers;  ///< that it computes
    std::vector<std::uint64_t> macs;  ///< of one inference, by layer; empty: none has any
    std::uint64_t calls = 0;          ///< host_work instructions
    std::uint64_t images = 0;         ///< inferences in all of them
    Cycle cycles = 0;                 ///< that the host computes, without its interrupts
    bool operator==(const SegmentWork&) const = default;
};
SYSTOLE_RECORD_FIELDS(SegmentWork, name, layers, macs, calls, images, cycles)

/// The answers of the network.
struct Outputs {
    std::uint64_t per_inference = 0;
    std::vector<float> values;  ///< real numbers, packed; after the host's operations
    /// The class of each inference: the largest output, the first of equals. Empty where the output
    /// gives no classes.
    std::vector<std::uint32_t> predictions;
    bool operator==(const Outputs&) const = default;
};
SYSTOLE_RECORD_FIELDS(Outputs, per_inference, values, predictions)

/// An image of the input as a picture, with the network's prediction.
struct Picture {
    std::uint64_t index = 0;  ///< in the input
    std::uint32_t prediction = 0;
    std::optional<std::uint32_t> label;
    std::optional<float> probability;  ///< of the prediction; absent where outputs are no probabilities
    std::vector<std::uint8_t> pixels;  ///< height x width x channels
    bool operator==(const Picture&) const = default;
};
SYSTOLE_RECORD_FIELDS(Picture, index, prediction, label, probability, pixels)

struct Pictures {
    std::uint32_t height = 0;
    std::uint32_t width = 0;
    std::uint32_t channels = 0;  ///< 1, or 3: red, green, blue
    std::vector<Picture> pictures;
    std::uint64_t left_out = 0;  ///< images that are not among them
    bool operator==(const Pictures&) const = default;
};
SYSTOLE_RECORD_FIELDS(Pictures, height, width, channels, pictures, left_out)

/// The registers of the array's cells at the end of one cycle, row by row.
struct CycleRegisters {
    Cycle cycle = 0;
    std::vector<std::int16_t> activations;
    std::vector<std::int16_t> weights;
    std::vector<std::int16_t> shadow_weights;
    std::vector<std::int32_t> partial_sums;
    bool operator==(const CycleRegisters&) const = default;
};
SYSTOLE_RECORD_FIELDS(CycleRegisters, cycle, activations, weights, shadow_weights, partial_sums)

struct RegisterDump {
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::vector<CycleRegisters> cycles;  ///< cycles in which data moved
    bool operator==(const RegisterDump&) const = default;
};
SYSTOLE_RECORD_FIELDS(RegisterDump, rows, columns, cycles)

/// The contents of a host buffer after the run, as requested.
struct BufferContents {
    std::string name;
    std::string type;
    std::uint64_t columns = 0;   ///< elements of a printed line; 0: as many as fit
    std::vector<double> values;  ///< of integer types, whole numbers
    bool operator==(const BufferContents&) const = default;
};
SYSTOLE_RECORD_FIELDS(BufferContents, name, type, columns, values)

/// An output of the network for all inferences, in the order of the network's file.
struct OutputArray {
    std::string name;  ///< as in the network
    /// The first extent is the number of inferences; of a network of arrays only if there are several.
    std::vector<std::uint64_t> shape;
    std::vector<float> values;  ///< real numbers; of a network of arrays none
    DataType type = DataType::Float32;
    /// In this type: as the chip stores them, or all that a network of arrays has. Empty for real numbers.
    std::vector<std::uint8_t> stored;
    bool operator==(const OutputArray&) const = default;
};
SYSTOLE_RECORD_FIELDS(OutputArray, name, shape, values, type, stored)

/// The beginning of an output of a network of arrays.
struct ShownOutput {
    std::string name;
    DataType type = DataType::Float32;  ///< of the network
    std::vector<std::uint64_t> shape;   ///< as that of OutputArray
    std::vector<double> first;          ///< its first numbers, in row-major order
    bool operator==(const ShownOutput&) const = default;
};
SYSTOLE_RECORD_FIELDS(ShownOutput, name, type, shape, first)

/// A class of an inference.
struct ClassScore {
    std::uint32_t number = 0;
    float score = 0.0F;  ///< the output: a probability where the program says so
    std::string name;
    bool operator==(const ClassScore&) const = default;
};
SYSTOLE_RECORD_FIELDS(ClassScore, number, score, name)

/// The best classes of an inference, the best first.
struct BestClasses {
    std::vector<ClassScore> classes;
    bool operator==(const BestClasses&) const = default;
};
SYSTOLE_RECORD_FIELDS(BestClasses, classes)

/// How far the numbers of a layer are from those of the network in float.
struct LayerAccuracy {
    std::string name;  ///< of the tensor that the layer computes
    std::string kind;  ///< "input", or the operator
    /// The power of the float network's numbers over that of the differences; absent if the former is 0, or
    /// the latter no more than what rounding in float makes (layer_accuracy.cpp).
    std::optional<double> decibels;
    std::optional<double> lost;  ///< decibels of the layer's worst input over those of its result
    std::uint64_t numbers = 0;   ///< that were compared
    std::uint64_t clipped = 0;   ///< of them, those outside of the tensor's range
    bool operator==(const LayerAccuracy&) const = default;
};
SYSTOLE_RECORD_FIELDS(LayerAccuracy, name, kind, decibels, lost, numbers, clipped)

/// The answers of the network, and their accuracy.
struct Answers {
    std::optional<Outputs> outputs;  ///< absent in a timing-only run, and where the program has no output
    std::optional<double> accuracy;  ///< where there are labels
    std::optional<double> float_accuracy;           ///< where the float reference ran and there are labels
    std::optional<std::uint64_t> float_agreements;  ///< predictions that the float reference shares
    std::vector<BestClasses> best_classes;          ///< of the first inferences, where classes have names
    std::vector<ShownOutput> shown_outputs;         ///< of a network of arrays
    std::vector<OutputArray> output_arrays;         ///< where the run asks for them
    std::vector<OutputArray> float_output_arrays;
    std::vector<LayerAccuracy> layer_accuracy;  ///< where the run asks for it
    bool operator==(const Answers&) const = default;
};
SYSTOLE_RECORD_FIELDS(Answers, outputs, accuracy, float_accuracy, float_agreements, best_classes,
                      shown_outputs, output_arrays, float_output_arrays, layer_accuracy)

/// An epoch of a training.
struct TrainedEpoch {
    std::vector<double> means;        ///< over its steps, by column
    std::optional<double> evaluated;  ///< the share of right answers on examples that it was not trained on
    bool operator==(const TrainedEpoch&) const = default;
};
SYSTOLE_RECORD_FIELDS(TrainedEpoch, means, evaluated)

/// A training, of which the run is a part: its first steps.
struct Training {
    std::uint64_t batch = 0;  ///< examples a step
    std::uint64_t steps_an_epoch = 0;
    std::uint64_t epochs = 0;
    std::uint64_t left_out = 0;              ///< examples of an epoch that fill no batch
    std::uint64_t evaluated_on = 0;          ///< examples
    std::uint64_t first_step = 0;            ///< after a checkpoint: so many steps came before
    std::uint64_t timed_steps = 0;           ///< those of the run
    Cycle cycles_a_step = 0;                 ///< from the end of one to that of the next
    Cycle cycles = 0;                        ///< of all steps
    std::vector<std::string> columns;        ///< results that steps have
    std::vector<std::vector<double>> steps;  ///< by step and column; empty without values
    std::vector<TrainedEpoch> by_epoch;
    bool operator==(const Training&) const = default;
};
SYSTOLE_RECORD_FIELDS(Training, batch, steps_an_epoch, epochs, left_out, evaluated_on, first_step,
                      timed_steps, cycles_a_step, cycles, columns, steps, by_epoch)

/// What a further step of a program costs when the pipeline is full: the difference of runs with one step
/// more and less.
struct FurtherStep {
    Cycle cycles = 0;
    std::vector<machine::Bound> bounds;  ///< as RunRecord::bounds, without those of tags
    bool operator==(const FurtherStep&) const = default;
};
SYSTOLE_RECORD_FIELDS(FurtherStep, cycles, bounds)

/// How fast the simulator itself was, in seconds of this computer.
struct Speed {
    using Uncompared = void;
    double read = 0.0;      ///< the file of the network or program, a part of `prepare`
    double prepare = 0.0;   ///< reading, quantizing, compiling
    double simulate = 0.0;  ///< the chip's simulation, without the analysis and output after it
    double total = 0.0;
    std::optional<double> gemm = {};  ///< inside the matrix products; absent where they are not timed
    std::uint64_t peak_rss_bytes = 0;
};
SYSTOLE_RECORD_FIELDS(Speed, read, prepare, simulate, total, gemm, peak_rss_bytes)

/// The complete result of a run.
struct RunRecord {
    static constexpr std::string_view current_schema = "sim.run_record/1";

    std::string schema{current_schema};
    RunSpec spec;
    Cycle cycles = 0;
    std::vector<machine::UnitDescription> units;  ///< of the machine, in the order of their energy
    Counters counters;                            ///< of all cores and chips, summed
    std::vector<MachinePart> parts;               ///< of several cores; empty for one
    /// Lower bounds: first `macs`, of the array with every cell useful in every cycle, then those of units.
    /// What the network reads from the host and writes to it without a layer's tag counts for the first and
    /// the last layer that the chip works on.
    std::vector<machine::Bound> bounds;
    ProgramFacts program;
    std::optional<machine::BatchFacts> batch;      ///< absent for a program
    std::optional<machine::CutImages> cut_images;  ///< absent where an image fits, and for a program
    /// Absent for a program that states no batches, or ends before it has written the results of each.
    std::optional<BatchLatency> latency;
    std::optional<NetworkWork> network;  ///< its work on any processor; absent for a program
    std::vector<HostWork> host_work;
    std::vector<SegmentWork> host_segments;
    Answers answers;
    std::vector<InstructionLine> instruction_times;
    Work work;  ///< where power over time is asked for
    std::optional<Phases> phases;
    std::optional<Occupancy> occupancy;
    /// Of several cores where instructions or occupancy are noted: all cores, in the order of the first of
    /// each group. Those of the group of core 0 are above, and not here.
    std::vector<CoresAlike> cores_alike;
    Pictures pictures;
    RegisterDump registers;
    std::vector<BufferContents> printed;
    std::vector<std::string> unfilled_buffers;  ///< input buffers that nothing filled: zeros
    std::vector<PixelScaling> pixel_scaling;    ///< where the run says nothing of the scale of pixels
    std::optional<Training> training;           ///< that the run belongs to
    std::optional<FurtherStep> step;            ///< of a program whose examples are known
    Speed speed;

    /// The unit whose cycles reports divide.
    const machine::UnitDescription& main_unit() const { return machine::main_unit_of(units); }
    /// Multiply-accumulates that the run's network needs, even if the chip does some of them twice. For a
    /// program that does not state them, those that the chip does.
    std::uint64_t needed_macs() const;
    /// The same for one tag.
    std::uint64_t needed_macs(Tag tag) const;
    /// The time of the program on the chip.
    double seconds() const;
    /// The cycles under a tag: those of an array of the main unit, of several cores in the core that ends
    /// last.
    Cycle cycles_under(Tag tag) const;
    /// A counter of the main unit's cycles as a share of those of all arrays.
    double share_of_cycles(std::string_view counter) const;
    /// A counter of multiply-accumulates as a share of those that all cells could have done in the run.
    double share_of_cells(std::string_view counter) const;
};
SYSTOLE_RECORD_FIELDS(RunRecord, schema, spec, cycles, units, counters, parts, bounds, program, batch,
                      cut_images, latency, network, host_work, host_segments, answers, instruction_times,
                      work, phases, occupancy, cores_alike, pictures, registers, printed, unfilled_buffers,
                      pixel_scaling, training, step, speed)

/// Throws RecordError where the schema is not the current one.
RunRecord read_record(std::string_view bytes);

/// The occupancy of a core's memories; absent where it was not noted.
const std::optional<Occupancy>& occupancy_of(const RunRecord& record, std::uint32_t core);

/// How the occupancy of a unit's memory is told. Throws std::logic_error if it is not.
const machine::Occupied& occupied(const RunRecord& record, std::string_view unit);

}  // namespace systole::run
