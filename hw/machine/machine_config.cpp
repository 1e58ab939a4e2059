#include "hw/machine/machine_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/arithmetic.h"

namespace systole::machine {

namespace {

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
    const auto floats = std::ranges::count_if(formats, &MatrixFormat::multiplies_floats);
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

std::optional<std::string> WeightMemoryConfig::refusal_of_write(std::uint64_t tile_end) const {
    if (!writable) return "the machine has no weight_memory.writable: its weight memory is read-only";
    if (tile_end <= bytes) return std::nullopt;
    return fmt::format(
        "the tile ends at byte {}; weight_memory.bytes is {}, and tiles beyond it cannot be written",
        tile_end, bytes);
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

Rate MachineConfig::weight_write_rate() const {
    if (!weight_memory.writable) throw std::logic_error("a read-only weight memory has no rate of writes");
    return make_rate(to_whole(weight_memory.writable->gb_per_s, 1e9), clock_hz());
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

Rate MachineConfig::interconnect_rate() const {
    return make_rate(to_whole(interconnect.gb_per_s, 1e9), clock_hz());
}

std::uint64_t MachineConfig::interconnect_latency() const {
    return interconnect.latency_cycles + to_cycles(interconnect.latency_ns, clock_hz());
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

std::string MachineConfig::chip_name(std::size_t chip) const {
    return system.chips > 1 ? "chip" + std::to_string(chip) : "";
}

std::string MachineConfig::core_name(std::size_t core) const {
    std::string path = chip_name(core / system.cores);
    if (system.cores == 1) return path;
    if (!path.empty()) path += '.';
    return path + "core" + std::to_string(core % system.cores);
}

std::uint64_t MachineConfig::host_call_cycles() const {
    constexpr double nanoseconds = 1e3;
    return to_cycles(host.call_us * nanoseconds, clock_hz());
}

std::optional<double> MachineConfig::process_nm() const {
    if (energy) return energy->process_nm;
    if (tensor_energy) return tensor_energy->process_nm;
    return std::nullopt;
}

std::uint64_t MachineConfig::macs_a_cycle() const {
    switch (family) {
        case Family::TpuV1:
        case Family::TensorCore:
            return std::uint64_t{matrix_unit.rows} * matrix_unit.columns * arrays();
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

}  // namespace systole::machine
