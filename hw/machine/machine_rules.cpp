#include "hw/machine/machine_rules.h"

#include <fmt/format.h>

#include <string>

#include "base/limits.h"
#include "hw/machine/config_error.h"

namespace systole::machine {
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
    if (power.busy_watts > 0.0 && power.busy_watts < power.idle_watts) {
        fail("power.busy_watts", power.busy_watts,
             fmt::format("it must be at least power.idle_watts, {}", power.idle_watts));
    }
    if (power.tdp_watts > 0.0 && power.busy_watts > power.tdp_watts) {
        fail("power.busy_watts", power.busy_watts,
             fmt::format("it must be at most power.tdp_watts, {}", power.tdp_watts));
    }
    if (machine.process_nm() && !(power.idle_watts > 0.0)) {
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

}  // namespace

void check_rules(const MachineConfig& machine, const std::string& file) {
    validate(machine, file);
    if (machine.family == Family::EdgeTpu) validate_tiles(machine, file);
    if (machine.family == Family::TensorCore) {
        validate_tensor_core(machine, file);
    } else {
        validate_formats(machine.matrix_unit, file);
    }
    if (machine.matrix_unit.engine == Engine::Pe) validate_pe(machine, file);
}

}  // namespace systole::machine
