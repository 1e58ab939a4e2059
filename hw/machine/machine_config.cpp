#include "hw/machine/machine_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/arithmetic.h"
#include "base/limits.h"
#include "base/wrapped_sum.h"
#include "hw/machine/config_description.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::machine {

namespace {

constexpr double least_bandwidth = 1e-3;
constexpr double most_bandwidth = 1e5;
constexpr std::uint32_t most_array_side = 4096;
constexpr std::uint32_t most_tile_side = 16;
constexpr std::uint32_t most_lanes = 256;
constexpr std::uint32_t most_vector_lanes = 1024;
constexpr std::uint32_t most_latency = 1'000'000;
constexpr std::uint32_t most_passes = 64;
constexpr double most_latency_ns = 1e6;

// Rules between keys, as the reference tells them; messages add the numbers that break them.
constexpr std::string_view bytes_rule =
    "it must hold a tile of the array, and its DRAM's channels and banks evenly";
constexpr std::string_view cells_per_stage_rule = "it must divide matrix_unit.rows and matrix_unit.columns";
constexpr std::uint32_t least_sum_bits = 8;
constexpr std::string_view banks_rule = "it must divide accumulators.rows";
constexpr std::string_view formats_rule =
    "each pair of operands once; the datapath has activations of 8 and 16 bits, int8 and int16 weights and "
    "int32 sums";
constexpr std::string_view tpu_v1_rule = R"(it is read only where family is "tpu_v1")";
constexpr std::string_view edge_tpu_rule = R"(it is read only where family is "edge_tpu")";
constexpr std::string_view tensor_core_rule = R"(it is read only where family is "tensor_core")";
constexpr std::string_view array_rule = R"(it is read only where family is "tpu_v1" or "tensor_core")";
constexpr std::string_view hbm_bytes_rule =
    "it must be a multiple of a row for each core, 4 bytes for each of vector_unit.lanes";
constexpr std::string_view float_formats_rule =
    "an array of the family tensor_core multiplies bfloat16 by bfloat16 into float32, in one pass";
constexpr std::string_view columns_rule = "it must be at most vector_unit.lanes";
constexpr std::string_view lanes_rule = "it must be a multiple of 16";
constexpr std::string_view wide_bytes_rule = "it must be a multiple of 64";
constexpr std::string_view staging_rule = "it must hold a weight buffer";
constexpr std::string_view idle_watts_rule = "beside a section energy it must say the static power";
constexpr std::string_view busy_watts_rule =
    "it must be at least power.idle_watts and, where that is known, at most power.tdp_watts";
constexpr std::string_view server_watts_rule = "it must be at least server.host_tdp_watts";
constexpr std::string_view host_percent_rule =
    "it must be from server.host_percent.least to server.host_percent.most";

bool multiplies_floats(const MatrixFormat& format) {
    return !is_integer(format.activations);
}

}  // namespace

// Each structure's fields, declared once for reading, writing and documentation. (Outside the unnamed
// namespace, so that the visitors find them by the structure's type.)

template <class Visitor>
void describe(Visitor& visitor, MatrixFormat& format) {
    visitor.choice(needed("activations", "", "number format of the streamed elements"), format.activations,
                   data_type_names);
    visitor.choice(needed("weights", "", "number format of the weights"), format.weights, data_type_names);
    visitor.choice({"accumulators", "", "number format of the sums"}, format.accumulators, data_type_names);
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
    visitor.only_where(std::ranges::any_of(config.formats, multiplies_floats),
                       {"precision", "",
                        "what products of float32 multiply of each operand: the nearest bfloat16, in one "
                        "pass; high: two bfloat16, in 3 passes; highest: three, in 6 passes"},
                       tensor_core_rule, [&](const Field& field) {
                           visitor.usual_choice(field, config.precision, matrix_precision_names);
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

template <class Value>
[[noreturn]] void fail_rule(const std::string& file, std::string_view key, Value value,
                            std::string_view rule) {
    throw ConfigError(fmt::format("{}: {} is {}; {}", file, key, value, rule));
}

/// The same for the units of the family edge_tpu.
void validate_tiles(const MachineConfig& machine, const std::string& file) {
    const TileArrayConfig& array = machine.tile_array;
    constexpr std::uint32_t unit_lanes = 16;
    constexpr std::uint32_t unit_bytes = 64;
    if (array.lanes % unit_lanes != 0) fail_rule(file, "tile_array.lanes", array.lanes, lanes_rule);
    if (machine.wide_memory.bytes % unit_bytes != 0) {
        fail_rule(file, "wide_memory.bytes", machine.wide_memory.bytes, wide_bytes_rule);
    }
    if (std::uint64_t{machine.wide_memory.bytes} / unit_bytes * array.tiles() > wide_unit_limit) {
        fail_rule(file, "wide_memory.bytes", machine.wide_memory.bytes,
                  fmt::format("all tiles together may have {}", wide_unit_limit * unit_bytes));
    }
    const std::uint64_t buffer = std::uint64_t{array.weight_buffer_rows} * array.lanes * 4;
    if (machine.staging_buffer.bytes < buffer) {
        fail_rule(file, "staging_buffer.bytes", machine.staging_buffer.bytes,
                  fmt::format("{}, {} bytes", staging_rule, buffer));
    }
}

/// The same for the family tensor_core.
void validate_tensor_core(const MachineConfig& machine, const std::string& file) {
    if (machine.matrix_unit.columns > machine.vector_unit.lanes) {
        fail_rule(file, "matrix_unit.columns", machine.matrix_unit.columns,
                  fmt::format("{}, {}", columns_rule, machine.vector_unit.lanes));
    }
    if (machine.matrix_unit.formats != float_array_formats()) {
        throw ConfigError(
            fmt::format("{}: matrix_unit.formats has others than its default; {}", file, float_formats_rule));
    }
    if (!machine.matrix_unit.row_sums) {
        throw ConfigError(fmt::format("{}: matrix_unit.row_sums is false; {}", file, tpu_v1_rule));
    }
    if (machine.system.all_cores() > most_cores) {
        fail_rule(file, "system.cores", machine.system.cores,
                  fmt::format("{} chips have {} cores; a machine has at most {}", machine.system.chips,
                              machine.system.all_cores(), most_cores));
    }
    const std::uint64_t rows_bytes = machine.vector_row_bytes() * machine.system.cores;
    if (machine.hbm.bytes % rows_bytes != 0) {
        fail_rule(file, "hbm.bytes", machine.hbm.bytes, fmt::format("{}, {}", hbm_bytes_rule, rows_bytes));
    }
    if (machine.hbm_rows_of_core() > hbm_row_limit) {
        fail_rule(file, "hbm.bytes", machine.hbm.bytes,
                  fmt::format("addresses end at {} rows of {}", hbm_row_limit, machine.vector_row_bytes()));
    }
}

/// Rules between fields, which the range of a single field cannot express.
void validate(const MachineConfig& machine, const std::string& file) {
    const auto fail = [&](std::string_view key, auto value, std::string_view rule) {
        fail_rule(file, key, value, rule);
    };
    const MatrixUnitConfig& array = machine.matrix_unit;
    if (array.rows % array.cells_per_stage != 0 || array.columns % array.cells_per_stage != 0) {
        fail("matrix_unit.cells_per_stage", array.cells_per_stage,
             fmt::format("{}, {} and {}", cells_per_stage_rule, array.rows, array.columns));
    }
    if (machine.accumulators.rows % machine.accumulators.banks != 0) {
        fail("accumulators.banks", machine.accumulators.banks,
             fmt::format("{}, {}", banks_rule, machine.accumulators.rows));
    }
    const PowerConfig& power = machine.power;
    if (power.busy_watts < power.idle_watts) {
        fail("power.busy_watts", power.busy_watts,
             fmt::format("it must be at least power.idle_watts, {}", power.idle_watts));
    }
    if (power.tdp_watts > 0.0 && power.busy_watts > power.tdp_watts) {
        fail("power.busy_watts", power.busy_watts,
             fmt::format("it must be at most power.tdp_watts, {}", power.tdp_watts));
    }
    if (machine.energy && !(power.idle_watts > 0.0)) {
        fail("power.idle_watts", power.idle_watts, idle_watts_rule);
    }
    const ServerConfig& server = machine.server;
    if (server.tdp_watts < server.host_tdp_watts) {
        fail("server.tdp_watts", server.tdp_watts,
             fmt::format("{}, {}", server_watts_rule, server.host_tdp_watts));
    }
    if (const auto& host = server.host_percent;
        host && (host->typical < host->least || host->typical > host->most)) {
        fail("server.host_percent.typical", host->typical,
             fmt::format("{}: {} to {}", host_percent_rule, host->least, host->most));
    }
    if (machine.tile_bytes() > machine.weight_memory.bytes) {
        fail("weight_memory.bytes", machine.weight_memory.bytes,
             fmt::format("one tile of the array takes {}", machine.tile_bytes()));
    }
    if (machine.weight_memory.model == WeightMemoryModel::Dram) {
        validate(machine.weight_memory.dram, machine.weight_memory.bytes, file);
    }
}

/// Whether hw/math computes the format.
bool is_computed(const MatrixFormat& format) {
    return is_integer(format.activations) && bytes_of(format.activations) <= 2 &&
           (format.weights == DataType::Int8 || format.weights == DataType::Int16) &&
           format.accumulators == DataType::Int32;
}

void validate_formats(const MatrixUnitConfig& config, const std::string& file) {
    if (config.formats.empty()) {
        throw ConfigError(fmt::format("{}: matrix_unit.formats is []; it must have an entry", file));
    }
    for (std::size_t i = 0; i < config.formats.size(); ++i) {
        const MatrixFormat& format = config.formats[i];
        const auto fail = [&](std::string_view rule) {
            throw ConfigError(fmt::format("{}: matrix_unit.formats[{}] is {} x {} into {}; {}", file, i,
                                          name_of(format.activations), name_of(format.weights),
                                          name_of(format.accumulators), rule));
        };
        if (!is_computed(format)) fail(formats_rule);
        for (std::size_t before = 0; before < i; ++before) {
            if (config.formats[before].activations == format.activations &&
                config.formats[before].weights == format.weights) {
                fail(fmt::format("entry {} has these operands", before));
            }
        }
        const std::uint32_t byte_pairs = bytes_of(format.activations) * bytes_of(format.weights);
        if (config.engine == Engine::Pe && format.passes < byte_pairs) {
            fail(fmt::format("its passes are {}; the cells of engine \"pe\" multiply bytes and need {}",
                             format.passes, byte_pairs));
        }
    }
}

/// Limits for engine pe, which holds every register of the array and of its inputs, a few bytes each.
void validate_pe(const MachineConfig& machine, const std::string& file) {
    constexpr std::uint64_t most_registers = std::uint64_t{1} << 28U;
    const std::uint64_t rows = machine.matrix_unit.rows;
    const std::uint64_t columns = machine.matrix_unit.columns;
    const std::uint64_t mac_latency = machine.matrix_unit.mac_latency_cycles;
    const std::uint64_t setup = machine.matrix_unit.setup_cycles;
    const std::uint64_t cells = rows * columns * (2 * mac_latency + 5);
    const std::uint64_t stages = rows / machine.matrix_unit.cells_per_stage;
    const std::uint64_t feed = (setup + stages * mac_latency) * rows + (setup + columns) * columns;
    const std::uint64_t leaving = machine.accumulators.write_cycles * columns;
    const std::uint64_t registers = cells + feed + leaving;
    if (registers <= most_registers) return;
    throw ConfigError(fmt::format(
        "{}: matrix_unit.engine is \"pe\"; this array has {} registers, the engine moves at most {}", file,
        registers, most_registers));
}

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

std::uint64_t to_whole(double value, double unit) {
    return static_cast<std::uint64_t>(std::llround(value * unit));
}

/// The least number of whole cycles that last at least `nanoseconds`, with a resolution of 1 ps.
std::uint64_t to_cycles(double nanoseconds, std::uint64_t clock_hz) {
    constexpr std::uint64_t picoseconds_a_second = 1'000'000'000'000;
    // At most 10^9 ps times 10^11 Hz: the product stays below 2^128.
    return static_cast<std::uint64_t>(
        multiply_divide_up(to_whole(nanoseconds, 1e3), clock_hz, picoseconds_a_second));
}

}  // namespace

std::vector<MatrixFormat> byte_array_formats() {
    using enum DataType;
    std::vector<MatrixFormat> formats;
    for (const DataType weights : {Int8, Int16}) {
        for (const DataType activations : {Uint8, Int8, Uint16, Int16}) {
            formats.push_back({.activations = activations,
                               .weights = weights,
                               .accumulators = Int32,
                               .passes = bytes_of(activations) * bytes_of(weights)});
        }
    }
    return formats;
}

std::vector<MatrixFormat> float_array_formats() {
    return {{.activations = DataType::Bfloat16,
             .weights = DataType::Bfloat16,
             .accumulators = DataType::Float32,
             .passes = 1}};
}

std::optional<std::uint32_t> MatrixUnitConfig::passes(DataType activations, DataType weights) const {
    for (const MatrixFormat& format : formats) {
        if (format.activations == activations && format.weights == weights) return format.passes;
    }
    return std::nullopt;
}

bool MatrixUnitConfig::computes_floats() const {
    const auto floats = std::count_if(formats.begin(), formats.end(), [](const MatrixFormat& format) {
        return !is_integer(format.activations);
    });
    if (floats == 0) return false;
    if (static_cast<std::size_t>(floats) == formats.size()) return true;
    throw std::logic_error("an array for integers and for floats");
}

std::optional<std::string> MatrixUnitConfig::refusal(DataType activations, DataType weights) const {
    if (passes(activations, weights)) return std::nullopt;
    std::string listed;
    for (const MatrixFormat& format : formats) {
        listed += fmt::format("{}{} x {}", listed.empty() ? "" : ", ", name_of(format.activations),
                              name_of(format.weights));
    }
    return fmt::format("activations is {} and weights is {}; the machine's array multiplies {}",
                       name_of(activations), name_of(weights), listed);
}

std::optional<std::string> MatrixUnitConfig::refusal_of_weight_zero_point(std::int32_t zero_point) const {
    if (row_sums || zero_point == 0) return std::nullopt;
    return fmt::format(
        "multiply.weight_zero_point is {}; it must be 0 on a machine whose matrix_unit.row_sums is false",
        zero_point);
}

std::uint64_t MachineConfig::clock_hz() const {
    return to_whole(clock_mhz, 1e6);
}

Rate MachineConfig::weight_rate() const {
    switch (weight_memory.model) {
        case WeightMemoryModel::Bandwidth:
            return make_rate(to_whole(weight_memory.bandwidth_gb_per_s, 1e9), clock_hz());
        case WeightMemoryModel::Dram:
            return weight_memory.dram.peak_rate(clock_hz());
    }
    throw std::logic_error("a model of weight memory without a rate");
}

Rate MachineConfig::host_read_rate() const {
    return make_rate(to_whole(host_interface.read_gb_per_s, 1e9), clock_hz());
}

Rate MachineConfig::ring_rate() const {
    return make_rate(to_whole(ring.bytes_per_cycle, 1e6), 1'000'000);
}

Rate MachineConfig::mesh_rate() const {
    return make_rate(to_whole(mesh.bytes_per_cycle, 1e6), 1'000'000);
}

Rate MachineConfig::hbm_rate() const {
    return make_rate(to_whole(hbm.bandwidth_gb_per_s * hbm.efficiency, 1e9), clock_hz());
}

Rate MachineConfig::host_write_rate() const {
    return make_rate(to_whole(host_interface.write_gb_per_s, 1e9), clock_hz());
}

std::uint64_t MachineConfig::activation_latency() const {
    return activation_unit.latency_cycles + to_cycles(activation_unit.latency_ns, clock_hz());
}

std::uint64_t MachineConfig::host_latency() const {
    return host_interface.latency_cycles + to_cycles(host_interface.latency_ns, clock_hz());
}

std::uint64_t MachineConfig::hbm_latency() const {
    return hbm.latency_cycles + to_cycles(hbm.latency_ns, clock_hz());
}

std::uint64_t MachineConfig::vector_row_bytes() const {
    constexpr std::uint64_t word_bytes = 4;
    return word_bytes * vector_unit.lanes;
}

std::uint64_t MachineConfig::host_call_cycles() const {
    constexpr double nanoseconds = 1e3;
    return to_cycles(host.call_us * nanoseconds, clock_hz());
}

std::uint64_t MachineConfig::macs_a_cycle() const {
    switch (family) {
        case Family::TpuV1:
        case Family::TensorCore:
            return std::uint64_t{matrix_unit.rows} * matrix_unit.columns;
        case Family::EdgeTpu: {
            constexpr std::uint64_t macs_a_lane = 4;
            return macs_a_lane * tile_array.lanes * tile_array.tiles();
        }
    }
    throw std::logic_error("a family without multiply-accumulates");
}

double MachineConfig::peak_ops_per_second() const {
    constexpr double operations_a_mac = 2.0;
    return operations_a_mac * static_cast<double>(macs_a_cycle()) * static_cast<double>(clock_hz());
}

std::pair<std::string_view, std::string_view> MachineConfig::fast_engine() const {
    switch (family) {
        case Family::TpuV1:
        case Family::TensorCore:
            return {"matrix_unit.engine", engine_names[static_cast<std::size_t>(Engine::Wavefront)]};
        case Family::EdgeTpu:
            return {"tile_array.engine", tile_engine_names[static_cast<std::size_t>(TileEngine::ClosedForm)]};
    }
    throw std::logic_error("a family without engines");
}

void MachineConfig::use_fast_engine() {
    matrix_unit.engine = Engine::Wavefront;
    tile_array.engine = TileEngine::ClosedForm;
}

std::optional<std::string> MachineConfig::no_cells_reason() const {
    if (family == Family::EdgeTpu) {
        return fmt::format("the machine is of the family {}, which has no array of cells",
                           family_names[static_cast<std::size_t>(family)]);
    }
    if (matrix_unit.computes_floats()) return "the machine's array computes floats, which are not shown";
    if (matrix_unit.engine == Engine::Pe) return std::nullopt;
    return "the machine's engine has no registers; choose another with --set machine.matrix_unit.engine=pe";
}

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
    validate(machine, file);
    if (machine.family == Family::EdgeTpu) validate_tiles(machine, file);
    if (machine.family == Family::TensorCore) {
        validate_tensor_core(machine, file);
    } else {
        validate_formats(machine.matrix_unit, file);
    }
    if (machine.matrix_unit.engine == Engine::Pe) validate_pe(machine, file);
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
