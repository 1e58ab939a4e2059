// Machines in files: their fields, read, written and documented.
#include <fmt/format.h>

#include <algorithm>

#include "base/limits.h"
#include "base/wrapped_sum.h"
#include "hw/machine/config_description.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/machine_rules.h"

namespace systole::machine {

namespace {

constexpr double least_bandwidth = 1e-3;
constexpr double most_bandwidth = 1e5;
constexpr std::uint32_t most_array_side = 4096;
constexpr std::uint32_t most_arrays = 16;
constexpr std::uint32_t most_tile_side = 16;
constexpr std::uint32_t most_lanes = 256;
constexpr std::uint32_t most_vector_lanes = 1024;
constexpr std::uint32_t most_latency = 1'000'000;
constexpr std::uint32_t most_passes = 64;
constexpr double most_latency_ns = 1e6;
constexpr std::uint32_t least_sum_bits = 8;

}  // namespace

// Each structure's fields, declared once for reading, writing and documentation. (Outside the unnamed
// namespace, so that the visitors find them by the structure's type.)

template <class Visitor>
void describe(Visitor& visitor, MatrixFormat& format) {
    visitor.choice(needed("activations", "", "number format of the streamed elements"), format.activations,
                   computed_type_names);
    visitor.choice(needed("weights", "", "number format of the weights"), format.weights,
                   computed_type_names);
    visitor.choice({"accumulators", "", "number format of the sums"}, format.accumulators,
                   computed_type_names);
    visitor.field({"passes", "passes", "cycles of array input that a row takes"}, format.passes,
                  Range{1, most_passes});
}

template <class Visitor>
void describe(Visitor& visitor, MatrixUnitConfig& config) {
    visitor.field({"rows", "cells", "array rows: the elements of a streamed row"}, config.rows,
                  Range{1, most_array_side});
    visitor.field({"columns", "cells", "array columns: the sums that leave the array"}, config.columns,
                  Range{1, most_array_side});
    visitor.choice({"engine", "", "how the array is computed"}, config.engine, engine_names);
    visitor.field({"mac_latency_cycles", "cycles", "latency of one stage: of one multiply-accumulate"},
                  config.mac_latency_cycles, Range{1, most_latency});
    visitor.field({.key = "cells_per_stage",
                   .unit = "cells",
                   .meaning = "cells between two registers, down and across: values pass so many in a cycle",
                   .rule = cells_per_stage_rule},
                  config.cells_per_stage, Range{1, most_array_side});
    visitor.field({"weight_switch", "cycles",
                   "from the first row with new weights until the next tile may begin to shift in"},
                  config.weight_switch, Range{0, 1});
    visitor.field({"setup_cycles", "cycles", "from the data setup's output to array row 0"},
                  config.setup_cycles, Range{0, most_latency});
    visitor.field(
        {"row_sums", "",
         "a column of cells in front of column 0 adds up each streamed row, so that int8 weights may "
         "have a zero point; without it, such weights are held as int16"},
        config.row_sums);
    visitor.sections({.key = "formats",
                      .meaning = "the combinations of number formats that the array supports",
                      .if_absent = "activations of 8 and 16 bits, int8 and int16 weights, int32 sums; a pass "
                                   "for each pair of bytes of an activation and a weight",
                      .rule = formats_rule},
                     config.formats);
    visitor.only_where(std::ranges::any_of(config.formats, &MatrixFormat::multiplies_floats),
                       {"precision", "",
                        "what products of float32 multiply of each operand: the nearest bfloat16, in one "
                        "pass; high: two bfloat16, in 3 passes; highest: three, in 6 passes"},
                       tensor_core_rule, [&](const Field& field) {
                           visitor.usual_choice(field, config.precision, matrix_precision_names);
                       });
    visitor.only_where(std::ranges::any_of(config.formats, &MatrixFormat::multiplies_floats),
                       {"arrays", "arrays", "with the same weights: a cycle takes in a row for each of them"},
                       tensor_core_rule, [&](const Field& field) {
                           visitor.field(field, config.arrays, Range{1, most_arrays});
                       });
}

template <class Visitor>
void describe(Visitor& visitor, SystolicDataSetupConfig& config) {
    visitor.field({"fetches_per_cycle", "fetches",
                   "unified-buffer accesses that fetch windows in a cycle, each of up to one row of bytes"},
                  config.fetches_per_cycle, Range{1, most_array_side});
}

template <class Visitor>
void describe(Visitor& visitor, WeightFifoConfig& config) {
    visitor.field(
        {"depth_tiles", "tiles", "weight tiles in the FIFO, including those that are being fetched"},
        config.depth_tiles, Range{1, 1U << 20U});
}

template <class Visitor>
void describe(Visitor& visitor, WeightWriteConfig& config) {
    visitor.field(
        needed("gb_per_s", "GB/s", "10^9 bytes per second into the memory, while it serves no read"),
        config.gb_per_s, RealRange{least_bandwidth, most_bandwidth});
    visitor.field({"latency_cycles", "cycles", "from a write's request to its first byte"},
                  config.latency_cycles, Range{0, most_latency});
}

template <class Visitor>
void describe(Visitor& visitor, WeightMemoryConfig& config) {
    visitor.field(
        {.key = "bytes", .unit = "bytes", .meaning = "size of the weight memory", .rule = bytes_rule},
        config.bytes, Range{1, std::uint64_t{1} << 48U});
    visitor.choice({"model", "", "timing of reads: by a bandwidth, or by the commands of a DRAM"},
                   config.model, weight_memory_model_names);
    visitor.only_where(
        config.model == WeightMemoryModel::Bandwidth, {"bandwidth_gb_per_s", "GB/s", "10^9 bytes per second"},
        R"(it must be left out where weight_memory.model is "dram": bandwidth follows from weight_memory.dram)",
        [&](const Field& field) {
            visitor.field(field, config.bandwidth_gb_per_s, RealRange{least_bandwidth, most_bandwidth});
        });
    visitor.only_where(config.model == WeightMemoryModel::Dram, {"dram", "", "channels, banks and timing"},
                       R"(it is read only where weight_memory.model is "dram")",
                       [&](const Field& field) { visitor.section(field, config.dram); });
    visitor.field({"latency_cycles", "cycles",
                   "from a read's issue to its first byte; with a DRAM, added to the time of its commands"},
                  config.latency_cycles, Range{0, most_latency});
    visitor.field({"whole_tiles", "", "every tile moves whole; otherwise only the rows in use"},
                  config.whole_tiles);
    visitor.only_where(
        config.model == WeightMemoryModel::Bandwidth,
        {.key = "writable",
         .meaning = "the port over which programs write tiles from the unified buffer (write_weights)",
         .if_absent = "the memory is read-only while a program runs, as that of TPU v1 was in service"},
        R"(it must be left out where weight_memory.model is "dram", whose commands are reads)",
        [&](const Field& field) { visitor.section(field, config.writable); });
    visitor.field({"spill", "",
                   "weights that do not fit stay in host memory, and each fetch of them takes the host link; "
                   "otherwise a program with more weights is refused"},
                  config.spill);
}

template <class Visitor>
void describe(Visitor& visitor, UnifiedBufferConfig& config) {
    visitor.field({"rows", "rows", "rows of one byte for each array row"}, config.rows,
                  Range{1, buffer_row_limit});
    visitor.field({"read_ports", "ports", "readers at once: data setup, activation unit, host interface"},
                  config.read_ports, Range{1, 3});
    visitor.field({"write_ports", "ports", "writers at once: activation unit, host interface"},
                  config.write_ports, Range{1, 2});
}

template <class Visitor>
void describe(Visitor& visitor, AccumulatorsConfig& config) {
    visitor.field({"rows", "rows", "rows of one sum for each array column"}, config.rows,
                  Range{1, accumulator_row_limit});
    visitor.field({.key = "banks",
                   .unit = "banks",
                   .meaning = "equal parts of consecutive rows with ports of their own",
                   .rule = banks_rule},
                  config.banks, Range{1, accumulator_row_limit});
    visitor.field({"ports", "ports", "users of a bank at once: matrix unit, activation unit"}, config.ports,
                  Range{1, 2});
    visitor.field({"write_cycles", "cycles", "from the array's last row to the sum in its accumulator"},
                  config.write_cycles, Range{0, most_latency});
    visitor.field({"sum_bits", "bits", "width of a sum; sums wrap around in two's complement"},
                  config.sum_bits, Range{least_sum_bits, most_sum_bits});
}

template <class Visitor>
void describe(Visitor& visitor, ActivationUnitConfig& config) {
    visitor.field({"latency_cycles", "cycles", "of the activation pipeline, beyond a cycle for each row"},
                  config.latency_cycles, Range{0, most_latency});
    visitor.field({"latency_ns", "ns",
                   "added to latency_cycles: the delay of explicit synchronization, which does not depend on "
                   "the clock, until waiting units see the rows"},
                  config.latency_ns, RealRange{0, most_latency_ns});
}

template <class Visitor>
void describe(Visitor& visitor, TileArrayConfig& config) {
    visitor.field({"lines", "tiles", "tiles from top to bottom"}, config.lines, Range{1, most_tile_side});
    visitor.field({"columns", "tiles", "tiles from left to right"}, config.columns, Range{1, most_tile_side});
    visitor.field({.key = "lanes",
                   .unit = "lanes",
                   .meaning = "of a tile: output channels that it computes at once, from 4 elements a cycle",
                   .rule = lanes_rule},
                  config.lanes, Range{16, most_lanes});
    visitor.choice({"engine", "", "how the tiles are computed"}, config.engine, tile_engine_names);
    visitor.field({"pixels", "pixels", "for which a tile has sums at once: parameters come once for so many"},
                  config.pixels, Range{1, most_latency});
    visitor.field({"weight_buffers", "buffers",
                   "for parameters from the ring; with one, the ring waits while the tiles compute"},
                  config.weight_buffers, Range{1, 64});
    visitor.field({"weight_buffer_rows", "rows", "of a weight buffer: weights of a cycle, for all lanes"},
                  config.weight_buffer_rows, Range{4, most_latency});
    visitor.field(
        {"depthwise_macs_per_cycle", "multiply-accumulates", "of a tile, in products of one channel each"},
        config.depthwise_macs_per_cycle, Range{1, std::uint64_t{most_lanes} * 4});
    visitor.field({"vector_bytes_per_cycle", "bytes", "results of element-wise work of a tile"},
                  config.vector_bytes_per_cycle, Range{1, std::uint64_t{most_lanes} * 4});
    visitor.field({"pooling_bytes_per_cycle", "bytes", "elements of windows that a tile pools"},
                  config.pooling_bytes_per_cycle, Range{1, std::uint64_t{most_lanes} * 4});
    visitor.field({"result_cycles", "cycles", "from the last product until the result is in narrow memory"},
                  config.result_cycles, Range{0, most_latency});
    visitor.choice({"rounding", "", "of results; tflite: as the network's file says"}, config.rounding,
                   rounding_names);
}

template <class Visitor>
void describe(Visitor& visitor, NarrowMemoryConfig& config) {
    visitor.field({"bytes", "bytes", "of a tile"}, config.bytes, Range{1, narrow_address_limit});
}

template <class Visitor>
void describe(Visitor& visitor, WideMemoryConfig& config) {
    visitor.field({.key = "bytes", .unit = "bytes", .meaning = "of a tile", .rule = wide_bytes_rule},
                  config.bytes, Range{64, 1U << 30U});
}

template <class Visitor>
void describe(Visitor& visitor, RingConfig& config) {
    visitor.field({"bytes_per_cycle", "bytes", "that all tiles receive"}, config.bytes_per_cycle,
                  RealRange{least_bandwidth, most_bandwidth});
    visitor.field({"latency_cycles", "cycles", "from sent to received"}, config.latency_cycles,
                  Range{0, most_latency});
}

template <class Visitor>
void describe(Visitor& visitor, MeshConfig& config) {
    visitor.field({"bytes_per_cycle", "bytes", "of a link between two tiles, in each direction"},
                  config.bytes_per_cycle, RealRange{least_bandwidth, most_bandwidth});
    visitor.field({"latency_cycles", "cycles", "from sent to received"}, config.latency_cycles,
                  Range{0, most_latency});
}

template <class Visitor>
void describe(Visitor& visitor, StagingBufferConfig& config) {
    visitor.field({.key = "bytes",
                   .unit = "bytes",
                   .meaning = "of parameters that the host has sent and the ring has not taken",
                   .rule = staging_rule},
                  config.bytes, Range{1, std::uint64_t{1} << 40U});
}

template <class Visitor>
void describe(Visitor& visitor, ParameterCacheConfig& config) {
    visitor.field({"reserved_bytes", "bytes", "of other networks, in all tiles"}, config.reserved_bytes,
                  Range{0, std::uint64_t{1} << 40U});
}

template <class Visitor>
void describe(Visitor& visitor, ProgramConfig& config) {
    visitor.choice(
        {"placement", "",
         "after_first_unsupported: all layers from the first on that tiles do not compute run on the host; "
         "chip_alone: a network with such a layer is refused"},
        config.placement, tile_placement_names);
    visitor.field({"bytes", "bytes", "of instructions that a call sends; 0: by the keys below"}, config.bytes,
                  Range{0, 1U << 30U});
    visitor.field(
        {"bytes_per_layer", "bytes", "of instructions, by which compiled networks grow with a layer"},
        config.bytes_per_layer, Range{0, 1U << 24U});
    visitor.field({"classifier_bytes", "bytes", "in addition, of a network that ends in softmax"},
                  config.classifier_bytes, Range{0, 1U << 28U});
}

template <class Visitor>
void describe(Visitor& visitor, HostCallConfig& config) {
    visitor.field({"processor", "", "the baseline that does the host's work, unless a run names another"},
                  config.processor);
    visitor.field({"call_us", "us", "that driver and runtime take for a call, besides the bytes"},
                  config.call_us, RealRange{0, 1e6});
}

template <class Visitor>
void describe(Visitor& visitor, TileEnergyConfig& config) {
    constexpr RealRange picojoules{0.0, 1e6};
    constexpr RealRange watts{0.0, 1e5};
    visitor.field({"mac_pj", "pJ", "energy of a multiply-accumulate of a lane with work"}, config.mac_pj,
                  picojoules);
    visitor.field({"tile_cycle_pj", "pJ",
                   "energy of a tile in a cycle in which it computes, or takes what the ring sends"},
                  config.tile_cycle_pj, picojoules);
    visitor.field({"host_link_pj_per_byte", "pJ",
                   "energy per byte at the chip's end of the host link, in each direction"},
                  config.host_link_pj_per_byte, picojoules);
    visitor.field({"host_watts", "W", "of the host while it works for a call, above its idle watts"},
                  config.host_watts, watts);
    visitor.field({"board_watts", "W",
                   "of the board, idle: the chip, and the host where it is on the board; 0 if unknown"},
                  config.board_watts, watts);
}

template <class Visitor>
void describe(Visitor& visitor, SystemConfig& config) {
    visitor.field({"chips", "chips", "each with a link to the host"}, config.chips, Range{1, most_cores});
    visitor.field({"cores", "cores", "of a chip, which share its high-bandwidth memory and its link"},
                  config.cores, Range{1, most_cores});
}

template <class Visitor>
void describe(Visitor& visitor, VectorMemoryConfig& config) {
    visitor.field({"rows", "rows", "of a word for each of vector_unit.lanes"}, config.rows,
                  Range{1, vector_row_limit});
}

template <class Visitor>
void describe(Visitor& visitor, VectorUnitConfig& config) {
    visitor.field({"lanes", "words", "of a row of vector memory: elements side by side"}, config.lanes,
                  Range{1, most_vector_lanes});
    visitor.field({"sublanes", "rows", "of a vector, which an operation takes at once"}, config.sublanes,
                  Range{1, most_vector_lanes});
    visitor.field({"operations_per_cycle", "operations", "on whole vectors"}, config.operations_per_cycle,
                  Range{1, most_passes});
    visitor.field({"loads_per_cycle", "vectors", "from vector memory"}, config.loads_per_cycle,
                  Range{1, most_passes});
    visitor.field({"stores_per_cycle", "vectors", "to vector memory"}, config.stores_per_cycle,
                  Range{1, most_passes});
    visitor.field(
        {"function_operations", "operations", "that a division, a root or a function like exp takes"},
        config.function_operations, Range{1, most_latency});
    visitor.field(
        {"latency_cycles", "cycles", "from the last operation until the result is in vector memory"},
        config.latency_cycles, Range{0, most_latency});
}

template <class Visitor>
void describe(Visitor& visitor, CrossLaneUnitConfig& config) {
    visitor.field({"vectors_per_cycle", "vectors", "that move between lanes"}, config.vectors_per_cycle,
                  Range{1, most_passes});
    visitor.field({"latency_cycles", "cycles", "from the last vector until the result is in vector memory"},
                  config.latency_cycles, Range{0, most_latency});
}

template <class Visitor>
void describe(Visitor& visitor, HbmConfig& config) {
    visitor.field({.key = "bytes",
                   .unit = "bytes",
                   .meaning = "of a chip; its cores have equal parts",
                   .rule = hbm_bytes_rule},
                  config.bytes, Range{1, std::uint64_t{1} << 41U});
    visitor.field({"bandwidth_gb_per_s", "GB/s", "10^9 bytes per second"}, config.bandwidth_gb_per_s,
                  RealRange{least_bandwidth, most_bandwidth});
    visitor.field({"efficiency", "", "share of the bandwidth that transfers reach"}, config.efficiency,
                  RealRange{0.01, 1.0});
    visitor.field({"latency_cycles", "cycles", "from a transfer's last byte until it is there"},
                  config.latency_cycles, Range{0, most_latency});
    visitor.field({"latency_ns", "ns", "the same, added to the cycles; does not depend on the clock"},
                  config.latency_ns, RealRange{0, most_latency_ns});
}

template <class Visitor>
void describe(Visitor& visitor, InterconnectConfig& config) {
    visitor.field({"gb_per_s", "GB/s", "from a core to the next one, and the same back"}, config.gb_per_s,
                  RealRange{least_bandwidth, most_bandwidth});
    visitor.field({"chunk_bytes", "bytes", "that a core passes on together, while it receives the next"},
                  config.chunk_bytes, Range{1, std::uint64_t{1} << 30U});
    visitor.field({"latency_cycles", "cycles", "from a chunk's last byte until the next core has it"},
                  config.latency_cycles, Range{0, most_latency});
    visitor.field({"latency_ns", "ns", "the same, added to the cycles; does not depend on the clock"},
                  config.latency_ns, RealRange{0, most_latency_ns});
}

template <class Visitor>
void describe(Visitor& visitor, TensorEnergyConfig& config) {
    constexpr RealRange picojoules{0.0, 1e6};
    const auto of_the_table = [](std::string_view key, std::string_view meaning) {
        return Field{.key = key, .unit = "pJ", .meaning = meaning, .if_absent = "published table"};
    };
    visitor.field({"process_nm", "nm", "feature size of the chip's process"}, config.process_nm,
                  RealRange{7.0, 45.0});
    visitor.field({"host_link_pj_per_byte", "pJ",
                   "energy per byte at the chip's end of the host link, in each direction"},
                  config.host_link_pj_per_byte, picojoules);
    visitor.field(of_the_table("mac_pj",
                               "energy of a multiply-accumulate in a cell: bfloat16 multiplication, "
                               "float32 addition"),
                  config.mac_pj, picojoules);
    visitor.field(of_the_table("vector_operation_pj", "energy of an operation of the vector unit on a word"),
                  config.vector_operation_pj, picojoules);
    visitor.field(of_the_table("vector_memory_pj_per_byte", "energy per byte read or written"),
                  config.vector_memory_pj_per_byte, picojoules);
    visitor.field(of_the_table("hbm_pj_per_byte",
                               "energy per byte read from high-bandwidth memory or written "
                               "to it, its link included"),
                  config.hbm_pj_per_byte, picojoules);
    visitor.field(of_the_table("instruction_buffer_pj_per_byte", "energy per byte read or written"),
                  config.instruction_buffer_pj_per_byte, picojoules);
}

template <class Visitor>
void describe(Visitor& visitor, HostInterfaceConfig& config) {
    visitor.field({"read_gb_per_s", "GB/s", "host memory to chip, instructions included"},
                  config.read_gb_per_s, RealRange{least_bandwidth, most_bandwidth});
    visitor.field({"write_gb_per_s", "GB/s", "chip to host memory"}, config.write_gb_per_s,
                  RealRange{least_bandwidth, most_bandwidth});
    visitor.field({"latency_cycles", "cycles", "from sent to received, each direction"},
                  config.latency_cycles, Range{0, most_latency});
    visitor.field({"latency_ns", "ns", "added to latency_cycles: a delay that does not depend on the clock"},
                  config.latency_ns, RealRange{0, most_latency_ns});
}

template <class Visitor>
void describe(Visitor& visitor, SequencerConfig& config) {
    // The longest instruction has at most 32 bytes; a smaller buffer could never hold it.
    visitor.field({"instruction_buffer_bytes", "bytes", "instructions received and not yet issued"},
                  config.instruction_buffer_bytes, Range{32, 1U << 30U});
    visitor.field({"queue_depth", "instructions", "in each unit's queue, besides the one the unit has taken"},
                  config.queue_depth, Range{1, 1U << 20U});
    visitor.field({"issue_cycles", "cycles", "from one instruction's issue to the next, at least"},
                  config.issue_cycles, Range{0, most_latency});
}

template <class Visitor>
void describe(Visitor& visitor, PowerConfig& config) {
    visitor.field({.key = "idle_watts",
                   .unit = "W",
                   .meaning = "of one chip, powered and idle; 0 if unknown",
                   .rule = idle_watts_rule},
                  config.idle_watts, RealRange{0, 1e5});
    visitor.field({.key = "busy_watts",
                   .unit = "W",
                   .meaning = "of one chip at full load; 0 if unknown",
                   .rule = busy_watts_rule},
                  config.busy_watts, RealRange{0, 1e5});
    visitor.field({"tdp_watts", "W", "thermal design power of one chip; 0 if unknown"}, config.tdp_watts,
                  RealRange{0, 1e5});
    visitor.field(
        {"clock_mhz", "MHz", "clock at which the watts, and the energy of an event, hold; 0 if unknown"},
        config.clock_mhz, RealRange{0, 1e5});
    visitor.field({"array_rows", "cells", "array rows of the chip whose watts these are; 0 if unknown"},
                  config.array_rows, Range{0, most_array_side});
    visitor.field({"array_columns", "cells", "array columns of the chip whose watts these are; 0 if unknown"},
                  config.array_columns, Range{0, most_array_side});
    visitor.field({"die_mm2", "mm2", "area of that chip's die: static power goes with it; 0 if unknown"},
                  config.die_mm2, RealRange{0, 1e5});
}

template <class Visitor>
void describe(Visitor& visitor, HostPercent& config) {
    constexpr RealRange percent{0, 1e4};
    visitor.field({.key = "typical",
                   .unit = "%",
                   .meaning = "of the chip's time, of a typical application",
                   .needed = true,
                   .rule = host_percent_rule},
                  config.typical, percent);
    visitor.field(needed("least", "%", "the same, of the application with the least"), config.least, percent);
    visitor.field(needed("most", "%", "the same, of the application with the most"), config.most, percent);
}

template <class Visitor>
void describe(Visitor& visitor, ServerConfig& config) {
    visitor.field({"dies", "chips", "chips in one server"}, config.dies, Range{1, 1U << 16U});
    visitor.field({.key = "tdp_watts",
                   .unit = "W",
                   .meaning = "thermal design power of the server, host included; 0 if unknown",
                   .rule = server_watts_rule},
                  config.tdp_watts, RealRange{0, 1e6});
    visitor.field({"host_tdp_watts", "W", "thermal design power of the host alone"}, config.host_tdp_watts,
                  RealRange{0, 1e6});
    visitor.section({.key = "host_percent",
                     .meaning = "time that the host takes in addition to the chip's; without it, comparisons "
                                "have the chip's time alone"},
                    config.host_percent);
}

template <class Visitor>
void describe(Visitor& visitor, MachineConfig& config) {
    visitor.field(needed("schema", "", "kind of this file: sim.machine/1"), config.schema);
    visitor.field({"name", "", "the machine's name in reports"}, config.name);
    visitor.usual_choice({"family", "", "which units a core has"}, config.family, family_names);
    visitor.field({"clock_mhz", "MHz", "clock of the core"}, config.clock_mhz, RealRange{0.001, 1e6});
    const auto of_family = [&](Family family, const Field& field, auto& section) {
        const std::string_view rule = family == Family::TpuV1     ? tpu_v1_rule
                                      : family == Family::EdgeTpu ? edge_tpu_rule
                                                                  : tensor_core_rule;
        visitor.only_where(config.family == family, field, rule,
                           [&](const Field& each) { visitor.section(each, section); });
    };
    visitor.only_where(config.family != Family::EdgeTpu, {"matrix_unit", "", "the systolic array"},
                       array_rule, [&](const Field& each) { visitor.section(each, config.matrix_unit); });
    of_family(Family::TpuV1, {"systolic_data_setup", "", "feeds the array"}, config.systolic_data_setup);
    of_family(Family::TpuV1, {"weight_fifo", "", "tiles on their way to the array"}, config.weight_fifo);
    of_family(Family::TpuV1, {"weight_memory", "", "off-chip memory of the weights"}, config.weight_memory);
    of_family(Family::TpuV1, {"unified_buffer", "", "on-chip memory of the activations"},
              config.unified_buffer);
    of_family(Family::TpuV1, {"accumulators", "", "sums below the array"}, config.accumulators);
    of_family(Family::TpuV1, {"activation_unit", "", "from sums to activations"}, config.activation_unit);
    of_family(Family::EdgeTpu, {"tile_array", "", "the tiles"}, config.tile_array);
    of_family(Family::EdgeTpu, {"narrow_memory", "", "the tiles' memories of activations"},
              config.narrow_memory);
    of_family(Family::EdgeTpu, {"wide_memory", "", "the tiles' memories of parameters"}, config.wide_memory);
    of_family(Family::EdgeTpu, {"ring", "", "through all tiles"}, config.ring);
    of_family(Family::EdgeTpu, {"mesh", "", "between neighbouring tiles"}, config.mesh);
    of_family(Family::EdgeTpu, {"staging_buffer", "", "of parameters on their way from the host"},
              config.staging_buffer);
    of_family(Family::EdgeTpu, {"parameter_cache", "", "parameters that stay in wide memory"},
              config.parameter_cache);
    of_family(Family::EdgeTpu, {"program", "", "instructions that a call sends"}, config.program);
    of_family(Family::EdgeTpu, {"host", "", "the host's part of a call"}, config.host);
    of_family(Family::EdgeTpu,
              {.key = "tile_energy",
               .meaning = "energy of a call: chip, link, host and board; without it, energy follows from "
                          "power alone"},
              config.tile_energy);
    of_family(Family::TensorCore, {"system", "", "how many chips and cores there are"}, config.system);
    of_family(Family::TensorCore, {"vector_memory", "", "on-chip memory"}, config.vector_memory);
    of_family(Family::TensorCore, {"vector_unit", "", "works element by element"}, config.vector_unit);
    of_family(Family::TensorCore, {"cross_lane_unit", "", "moves words between lanes"},
              config.cross_lane_unit);
    of_family(Family::TensorCore, {"hbm", "", "high-bandwidth memory"}, config.hbm);
    of_family(Family::TensorCore, {"interconnect", "", "links between cores, for collectives"},
              config.interconnect);
    of_family(Family::TensorCore,
              {.key = "tensor_energy",
               .meaning = "energy of the core's events; without it, energy follows from power alone"},
              config.tensor_energy);
    visitor.section({"host_interface", "", "the link to the host"}, config.host_interface);
    visitor.section({"sequencer", "", "issues instructions to the units"}, config.sequencer);
    visitor.section({"power", "", "published watts of the chip"}, config.power);
    of_family(Family::TpuV1,
              {.key = "energy",
               .meaning = "energy of the chip's events; without it, energy follows from power alone"},
              config.energy);
    visitor.section({"server", "", "published watts of the server, and the host's time"}, config.server);
    visitor.texts({.key = "sources",
                   .meaning = "the source of each number, by dotted key; those of shipped machines begin "
                              "with published:, derived:, fitted: or choice:",
                   .rule = "each must belong to a key of the machine"},
                  config.sources);
}

namespace {

/// Every source must belong to a key of the machine, so that no source remains for a removed key.
void validate_sources(const MachineConfig& machine, const std::string& file) {
    const nlohmann::ordered_json keys = to_json(machine);
    for (const auto& [key, text] : machine.sources) {
        std::string pointer = "/" + key;
        for (char& letter : pointer) {
            if (letter == '.') letter = '/';
        }
        if (pointer.find('~') != std::string::npos ||
            !keys.contains(nlohmann::ordered_json::json_pointer(pointer))) {
            throw ConfigError(
                fmt::format("{}: sources names \"{}\"; the machine has no such key", file, key));
        }
    }
}

}  // namespace

MachineConfig read_machine(const nlohmann::json& object, const std::string& file) {
    ConfigReader reader(object, file);
    MachineConfig machine;
    reader.check_schema(machine.schema);
    // What the array multiplies if the file does not say it.
    const auto family = object.find("family");
    if (family != object.end() && *family == family_names[static_cast<std::size_t>(Family::TensorCore)]) {
        machine.matrix_unit.formats = float_array_formats();
    }
    describe(reader, machine);
    reader.check_keys();
    check_rules(machine, file);
    validate_sources(machine, file);
    return machine;
}

MachineConfig read_machine(const std::filesystem::path& path) {
    return read_machine(read_json_object(path), path.string());
}

nlohmann::ordered_json to_json(const MachineConfig& machine) {
    MachineConfig copy = machine;  // describe() takes writable fields, which the reader needs
    ConfigWriter writer;
    describe(writer, copy);
    return writer.object();
}

std::vector<KeyDescription> machine_keys() {
    return keys_of<MachineConfig>();
}

}  // namespace systole::machine
