// What the unit says of itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "hw/machine/event_energies.h"
#include "hw/machine/floorplan.h"
#include "hw/machine/main_units.h"
#include "hw/matrix_unit/causes.h"
#include "hw/matrix_unit/matrix_unit.h"

namespace systole::hw {
namespace {

constexpr double percent_of_die = 24.0;  // TPU v1: 256 x 256 cells

machine::Estimate area(const machine::MatrixUnitConfig& array) {
    // A cell grows by this share with each bit of its sum: 37.1 of 1,071 µm² in a synthesized cell (24 and 32
    // bits, Nangate45).
    constexpr double share_of_a_sum_bit = (1368.0 - 1071.0) / 8.0 / 1071.0;
    constexpr double rows_of_v1 = 256.0;
    const double cells = static_cast<double>(array.rows) * array.columns * array.arrays;
    // Products of bytes, added over the rows: log2(rows) bits on top of 16.
    const double bits = std::log2(array.rows / rows_of_v1);
    const double by_cells = percent_of_die * cells / (rows_of_v1 * rows_of_v1);
    return machine::floorplan::between(by_cells * (1.0 + bits * share_of_a_sum_bit), {by_cells});
}

/// In proportion to the cells: all add in float32.
machine::Estimate area_of_floats(const machine::MatrixUnitConfig& array) {
    constexpr double cells_of_v2 = 128.0 * 128.0;
    const double cells = static_cast<double>(array.rows) * array.columns * array.arrays;
    return machine::floorplan::between(machine::floorplan::tensor_array_percent * cells / cells_of_v2);
}

machine::MainUnit main_unit_of_tensor_core(const machine::MachineConfig& machine) {
    machine::MainUnit unit = machine::main_unit_named("matrix_unit");
    unit.classes = {{"matrix_unit.active_cycles", "array active", "active", "a row entered the array"},
                    {"matrix_unit.weight_stall_cycles", "weight stall", "stall",
                     "rows waited for weights that were not being loaded", true},
                    {"matrix_unit.weight_shift_cycles", "weight shift", "shift",
                     "rows waited for weights that were shifting in", true},
                    {"matrix_unit.non_matrix_cycles", "non-matrix", "other",
                     "the array had no instruction, or its rows were not there"}};
    unit.weights = {"weight_load.bytes"};
    const std::vector<std::pair<std::string, std::string>> meanings{
        {"raw", "rows were still being computed"},
        {"input", "rows were still coming to vector memory"},
        {"accumulators", "rows to be written were still read"},
        {"output_buffer", "results there had not gone to HBM"},
        {"input_buffer", "rows for HBM's data were in use"},
        {"vector_work", "the vector or cross-lane unit worked"},
        {"setup", "rows of vector memory were being read"}};
    for (const auto& [name, meaning] : meanings) {
        std::ranges::find(unit.parts, counter_of_reason(name), &machine::CyclePart::counter)->meaning =
            meaning;
    }
    unit.energy_of =
        machine.cores() > 1 ? "cores and high-bandwidth memory" : "core and high-bandwidth memory";
    unit.works = {"matrix_unit.active_cycles", "vector_unit.busy_cycles", "cross_lane_unit.busy_cycles"};
    return unit;
}

/// A quarter of the cells. The memories keep their bytes, and the vector unit its words.
machine::WhatIf smaller_array(const machine::MachineConfig& machine) {
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    machine::WhatIf change{
        "smaller_array",
        fmt::format("an array of {} x {} (a quarter of the cells)", array.rows / 2, array.columns / 2),
        {{"matrix_unit.rows", array.rows / 2}, {"matrix_unit.columns", array.columns / 2}},
        true};
    if (machine.family == machine::Family::TensorCore) {
        // A product is cut into as many columns as there are lanes.
        change.values.push_back({"vector_unit.lanes", machine.vector_unit.lanes / 2});
        change.values.push_back({"vector_unit.sublanes", machine.vector_unit.sublanes * 2});
        change.values.push_back({"vector_memory.rows", machine.vector_memory.rows * 2});
    } else {
        change.values.push_back({"unified_buffer.rows", machine.unified_buffer.rows * 2});
    }
    return change;
}

}  // namespace

const ArrayNeighbours& neighbours_of(machine::Family family) {
    static constexpr ArrayNeighbours of_unified_buffer{
        .without_weights = "rows were there, the weight tile was not whole in the FIFO",
        .without_written_rows = "non-matrix: rows were still being written by the activation unit",
        .without_delivered_rows = "non-matrix: rows were still being delivered by the host",
        .collecting = "non-matrix: the data setup was still collecting a line",
        .raw = "the activation unit had not written the rows",
        .input = "the host had not delivered the rows, or parameters of the activation unit",
        .accumulators = "the activation unit still read the accumulators",
        .output_buffer =
            "the host had not fetched results from the rows that the activation unit was to write",
        .input_buffer = "the rows into which the host was to deliver were still in use",
        .vector_work = "the activation unit did vector work; they count for the layer of this work",
        .setup = "the data setup was still collecting a line",
        .numbers_tiles = true,
        .sums_memory = "accumulators"};
    static constexpr ArrayNeighbours of_vector_memory{
        .without_weights = "rows were there, the weights were not being loaded",
        .without_written_rows =
            "non-matrix: rows were still being written by the vector unit, the cross-lane unit or an earlier "
            "product",
        .without_delivered_rows = "non-matrix: rows were still on their way from high-bandwidth memory",
        .collecting = "non-matrix: the product setup was still reading rows of vector memory",
        .raw = "rows were on their way from the vector unit, the cross-lane unit or an earlier product",
        .input = "the rows had not come from high-bandwidth memory, or from the host",
        .accumulators = "rows that the product writes were still read",
        .output_buffer = "rows to be written had not gone to high-bandwidth memory",
        .input_buffer = "the rows into which high-bandwidth memory was to deliver were still in use",
        .vector_work = "the vector unit or the cross-lane unit worked; they count for the layer of this work",
        .setup = "the product setup was still reading rows of vector memory"};
    return family == machine::Family::TensorCore ? of_vector_memory : of_unified_buffer;
}

void MatrixUnit::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    unit.box = {.title = "Matrix unit",
                .column = 3,
                .row = 1,
                .lines = {{fmt::format("{}{} × {} at {} MHz",
                                       array.arrays > 1 ? fmt::format("{} × ", array.arrays) : "", array.rows,
                                       array.columns, machine.clock_mhz)},
                          {"peak {}", {{machine.peak_ops_per_second() / machine.cores(), "OPS"}}}},
                .busy_counter = "matrix_unit.active_cycles",
                .word = "active"};
    // A row with 16-bit operands passes through the array two or four times.
    const bool is_tensor_core = machine.family == machine::Family::TensorCore;
    unit.paths = {{.from = is_tensor_core ? "product_setup" : "systolic_data_setup",
                   .to = "matrix_unit",
                   .counters = {"matrix_unit.active_cycles"},
                   .unit = "row passes",
                   .most = {array.arrays, 1}}};
    if (is_tensor_core) {
        // A row of words a cycle.
        unit.paths.push_back({.from = "matrix_unit",
                              .to = "vector_memory",
                              .counters = {"matrix_unit.active_cycles"},
                              .unit = "rows",
                              .most = {array.arrays, 1},
                              .figures = machine::Side::Left});
    }
    unit.what_ifs = {{"clock", "2x the clock", {{"clock_mhz", machine.clock_mhz * 2.0}}}};
    if (array.rows % 2 == 0 && array.columns % 2 == 0) unit.what_ifs.push_back(smaller_array(machine));
    unit.causes = idle_causes(machine.family, {.host = reasons_.has(NonMatrixReason::Host),
                                               .collectives = reasons_.has(NonMatrixReason::Collective)});
    unit.main = is_tensor_core ? main_unit_of_tensor_core(machine) : machine::main_unit_named(unit.name);
    unit.die_part = {
        .name = "matrix_unit",
        .label = "matrix unit",
        .place = 1,
        .percent = is_tensor_core ? area_of_floats(array) : area(array),
        .core_percent = is_tensor_core ? machine::floorplan::tensor_array_percent : percent_of_die};
    unit.die = is_tensor_core ? machine::floorplan::tensor_core_die() : machine::floorplan::tpu_v1_die();
    if (machine.tensor_energy) {
        unit.energy = {{"matrix_unit", "matrix_unit.useful_macs", machine::tensor_event_energies(machine).mac,
                        "matrix"}};
    }
    if (!machine.energy) return;
    const machine::EventEnergies each = machine::event_energies(machine);
    unit.energy = {{"matrix_unit", "matrix_unit.useful_macs", each.mac, "matrix"},
                   {"matrix_unit", "matrix_unit.unused_macs", each.unused_mac, "matrix"}};
}

std::vector<UnitBound> MatrixUnit::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "array",
             .part = "array",
             .meaning = "rows pass through the array",
             .place = 1,
             .computes = true,
             .cycles = [this](const Amounts& amounts) {
                 return divide_up(amounts.of(counters_.active_cycles), arrays_);
             }}};
}

}  // namespace systole::hw
