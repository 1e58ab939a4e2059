// What the unit says of itself.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/arithmetic.h"
#include "hw/machine/event_energies.h"
#include "hw/machine/floorplan.h"
#include "hw/machine/main_units.h"
#include "hw/matrix_unit/matrix_unit.h"

namespace systole::hw {
namespace {

std::string reason(std::string_view name) {
    return fmt::format("matrix_unit.non_matrix_reasons.{}_cycles", name);
}

/// `with_host`: whether the program has work for the host.
std::vector<machine::CycleCause> causes(bool with_host) {
    using enum machine::CauseForm;
    std::vector<machine::CycleCause> all{
        {"weight_stall",
         PerTile,
         {"matrix_unit.weight_stall_cycles"},
         "Weight-bound",
         "weight memory",
         {"weight_bandwidth"}},
        {"weight_shift",
         PerTile,
         {"matrix_unit.weight_shift_cycles"},
         "Shift-bound",
         "the tile to shift in",
         {"batch"}},
        {"activations",
         Share,
         {reason("raw")},
         "Activation-bound",
         "the array waits for rows that the activation unit still writes",
         {"activation_latency", "host_bandwidth", "clock"}},
        {"input",
         Share,
         {reason("input"), reason("input_buffer")},
         "Host-bound",
         "the array waits for rows from the host",
         {"host_bandwidth"}},
        {"accumulators",
         Share,
         {reason("accumulators")},
         "Accumulator-bound",
         "the array waits for accumulators that the activation unit still reads",
         {"activation_latency", "accumulators"}},
        {"output_buffer",
         Share,
         {reason("output_buffer")},
         "Host-bound",
         "the array waits until the host has fetched results from the unified buffer",
         {"host_bandwidth", "buffer"}},
        {"vector_work",
         Share,
         {reason("vector_work")},
         "Bound by the activation unit",
         "the array waits for its pooling or element-wise work",
         {"activation_latency", "clock"}},
        {"setup",
         Share,
         {reason("setup")},
         "Setup-bound",
         "the data setup still collects a line of windows",
         {"fetches"}},
        {"ports", Share, {reason("port")}, "Port-bound", "the array waits for a memory port", {"ports"}},
        {"issue",
         Share,
         {reason("not_arrived"), reason("queue_full"), reason("issue")},
         "Issue-bound",
         "the array waits for an instruction that has not been issued",
         {"queues", "host_bandwidth"}},
        {"sync",
         Share,
         {reason("sync")},
         "Bound by synchronization",
         "the array waits for a semaphore for longer than its rows take",
         {"activation_latency", "host_bandwidth", "queues"}}};
    if (with_host) {
        all.push_back({"host",
                       Share,
                       {reason("host")},
                       "Host-bound",
                       "the array waits for layers that the host computes",
                       {"host_bandwidth"}});
    }
    all.push_back({"begin_and_end",
                   Whole,
                   {reason("program_begin"), reason("program_end")},
                   "",
                   "are before the first or after the last rows of the program",
                   {"host_bandwidth", "activation_latency"}});
    all.push_back({"unused_cells",
                   UnusedCells,
                   {},
                   "Underfills the array",
                   "{} of the cells work in an average active cycle",
                   {"smaller_array"}});
    all.push_back({"useful_cells",
                   UsefulCells,
                   {},
                   "Compute-bound",
                   "the array is active in {} of its cycles, with {} of the cells at work",
                   {"clock"}});
    return all;
}

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

/// The same of a tensor core.
std::vector<machine::CycleCause> causes_of_tensor_core(bool with_host) {
    using enum machine::CauseForm;
    std::vector<machine::CycleCause> all{
        {"weight_stall",
         Share,
         {"matrix_unit.weight_stall_cycles"},
         "Weight-bound",
         "the array waits for weights that are not in vector memory, or not asked for",
         {"hbm_bandwidth"}},
        {"weight_shift",
         Share,
         {"matrix_unit.weight_shift_cycles"},
         "Shift-bound",
         "the array waits for weights that shift in",
         {"batch"}},
        {"rows",
         Share,
         {reason("raw"), reason("accumulators"), reason("vector_work")},
         "Bound by the vector unit",
         "the array waits for work of the vector unit or the cross-lane unit, or for sums on their way",
         {"vector_operations", "vector_loads", "cross_lane", "clock"}},
        {"input",
         Share,
         {reason("input_buffer"), reason("input")},
         "Memory-bound",
         "the array waits for rows from high-bandwidth memory",
         {"hbm_bandwidth", "host_bandwidth"}},
        {"output",
         Share,
         {reason("output_buffer")},
         "Memory-bound",
         "the array waits until results have gone to high-bandwidth memory",
         {"hbm_bandwidth", "host_bandwidth"}},
        {"setup",
         Share,
         {reason("setup"), reason("port")},
         "Setup-bound",
         "the product setup still reads rows of vector memory",
         {}},
        {"issue",
         Share,
         {reason("not_arrived"), reason("queue_full"), reason("issue")},
         "Issue-bound",
         "the array waits for an instruction that has not been issued",
         {"queues", "host_bandwidth"}},
        {"sync",
         Share,
         {reason("sync")},
         "Bound by synchronization",
         "the array waits for a semaphore, although its rows are ready",
         {"vector_operations", "hbm_bandwidth", "queues"}}};
    if (with_host) {
        all.push_back({"host",
                       Share,
                       {reason("host")},
                       "Host-bound",
                       "the array waits for layers that the host computes",
                       {"host_bandwidth"}});
    }
    all.push_back({"begin_and_end",
                   Whole,
                   {reason("program_begin"), reason("program_end")},
                   "",
                   "are before the first or after the last rows of the program",
                   {"hbm_bandwidth", "host_bandwidth", "vector_operations"}});
    all.push_back({"unused_cells",
                   UnusedCells,
                   {},
                   "Underfills the array",
                   "{} of the cells work in an average active cycle",
                   {"smaller_array"}});
    all.push_back({"useful_cells",
                   UsefulCells,
                   {},
                   "Compute-bound",
                   "the array is active in {} of its cycles, with {} of the cells at work",
                   {"clock"}});
    return all;
}

machine::MainUnit main_unit_of_tensor_core() {
    machine::MainUnit unit = machine::main_unit_named("matrix_unit");
    unit.classes = {{"matrix_unit.active_cycles", "array active", "active", "a row entered the array"},
                    {"matrix_unit.weight_stall_cycles", "weight stall", "stall",
                     "rows waited for weights that were not being loaded", true},
                    {"matrix_unit.weight_shift_cycles", "weight shift", "shift",
                     "rows waited for weights that were shifting in", true},
                    {"matrix_unit.non_matrix_cycles", "non-matrix", "other",
                     "the array had no instruction, or its rows were not there"}};
    unit.weights = {"weight_load.bytes"};
    for (machine::CyclePart& part : unit.parts) part.meaning.clear();  // its counters say it better
    unit.works = {"matrix_unit.active_cycles", "vector_unit.busy_cycles", "cross_lane_unit.busy_cycles"};
    return unit;
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
        .setup = "the data setup was still collecting a line"};
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
    if (array.rows % 2 == 0 && array.columns % 2 == 0) {
        unit.what_ifs.push_back(
            {"smaller_array",
             fmt::format("an array of {} x {} (a quarter of the cells)", array.rows / 2, array.columns / 2),
             {{"matrix_unit.rows", array.rows / 2}, {"matrix_unit.columns", array.columns / 2}},
             true});
        // The unified buffer keeps its number of bytes.
        if (!is_tensor_core) {
            unit.what_ifs.back().values.push_back({"unified_buffer.rows", machine.unified_buffer.rows * 2});
        }
    }
    const bool with_host = reasons_.by_reason.back() != nullptr;
    unit.causes = is_tensor_core ? causes_of_tensor_core(with_host) : causes(with_host);
    unit.main = is_tensor_core ? main_unit_of_tensor_core() : machine::main_unit_named(unit.name);
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
