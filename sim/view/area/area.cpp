#include "sim/view/area/area.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>

namespace systole::area {
namespace {

// Jouppi et al., ISCA 2017: the die is smaller than 331 mm² (Table 2); shares of it in per cent (Figure 2).
constexpr double die_mm2 = 331.0;
constexpr double process_of_die_nm = 28.0;
constexpr double unified_buffer_percent = 29.0;
constexpr double matrix_unit_percent = 24.0;
constexpr double accumulators_percent = 6.0;
constexpr double activation_percent = 6.0;
constexpr double host_percent = 2.0 + 3.0;          // host interface, PCI Express
constexpr double memory_ports_percent = 3.0 + 3.0;  // two DDR3 ports
constexpr double control_percent = 2.0;
constexpr double io_percent = 1.0;
constexpr double unnamed_percent = 21.0;  // the rest of the die: no unit is named there

// The units of that die.
constexpr double anchor_cells = 256.0 * 256.0;
constexpr double anchor_rows = 256.0;
constexpr double anchor_columns = 256.0;
constexpr double anchor_buffer_bytes = 24.0 * 1024.0 * 1024.0;
constexpr double anchor_sums_bytes = 4.0 * 1024.0 * 1024.0;
constexpr double anchor_fifo_bytes = 4.0 * 65536.0;
constexpr double anchor_instruction_bytes = 32768.0;
constexpr double anchor_host_gb_per_s = 10.73741824;
constexpr double anchor_ports = 2.0;
constexpr double port_gb_per_s = 17.066666667;  // a DDR3-2133 channel of 64 bits

/// A cell grows by this share with each bit of its sum: 37.1 of 1,071 µm² in a synthesized cell (24 and 32
/// bits, Nangate45).
constexpr double cell_share_of_a_sum_bit = (1368.0 - 1071.0) / 8.0 / 1071.0;

/// The share of a memory that is cells; its decoders, sense amplifiers and wires are the rest. 24 MiB with
/// error correction (72 bits for 64) in published cells of 28 nm, over the published share of the die.
constexpr double cell_um2_28 = 0.127;
constexpr double cells_share_of_memory = anchor_buffer_bytes * 8.0 * (72.0 / 64.0) * cell_um2_28 * 1e-6 /
                                         (die_mm2 * unified_buffer_percent / 100.0);

/// Four channels of GDDR5 in place of two of DDR3 make the die 10 % larger and move 183 GB/s: Jouppi et al.,
/// ISCA 2017, section 7.
constexpr double gddr5_percent = memory_ports_percent + 10.0;
constexpr double gddr5_gb_per_s = 183.0;

/// In per cent of the anchor's die, in its process.
struct Percent {
    double nominal;
    double low;
    double high;
};

/// From the least to the largest of several ways to scale.
Percent between(double nominal, std::initializer_list<double> others) {
    return {nominal, std::min(nominal, std::min(others)), std::max(nominal, std::max(others))};
}

/// A memory of so many times the anchor's bytes: in proportion; or only its cells, while what surrounds them
/// grows with the side.
Percent memory(double percent, double ratio) {
    const double by_side = cells_share_of_memory * ratio + (1.0 - cells_share_of_memory) * std::sqrt(ratio);
    return between(percent * ratio, {percent * by_side});
}

Percent matrix_unit(const machine::MachineConfig& machine) {
    const double cells = static_cast<double>(machine.matrix_unit.rows) * machine.matrix_unit.columns;
    // Products of bytes, added over the rows: log2(rows) bits on top of 16.
    const double bits = std::log2(machine.matrix_unit.rows / anchor_rows);
    const double by_cells = matrix_unit_percent * cells / anchor_cells;
    return between(by_cells * (1.0 + bits * cell_share_of_a_sum_bit), {by_cells});
}

Percent memory_ports(const machine::MachineConfig& machine) {
    const machine::WeightMemoryConfig& memory = machine.weight_memory;
    const bool is_dram = memory.model == machine::WeightMemoryModel::Dram;
    const double ports = is_dram ? static_cast<double>(memory.dram.channels)
                                 : std::ceil(memory.bandwidth_gb_per_s / port_gb_per_s);
    const double bandwidth = is_dram ? ports * port_gb_per_s : memory.bandwidth_gb_per_s;
    const double ddr3 = memory_ports_percent * ports / anchor_ports;
    if (ports <= anchor_ports) return {ddr3, ddr3, ddr3};
    const double share = gddr5_percent * bandwidth / gddr5_gb_per_s;
    // The smaller of the two technologies, GDDR5 with four channels at least.
    return between(std::min(ddr3, std::max(share, gddr5_percent)),
                   {ddr3, std::max(share, memory_ports_percent)});
}

Percent host(const machine::MachineConfig& machine) {
    const double most = std::max(machine.host_interface.read_gb_per_s, machine.host_interface.write_gb_per_s);
    // In proportion, as lanes; or as it is, since a link may be wider than what is used of it.
    return between(host_percent * most / anchor_host_gb_per_s, {host_percent});
}

/// The factor of a process on transistors: with published SRAM cells; or with the square of its name, which
/// is the ideal. Pads and analog circuits do not shrink.
Percent process_factor(double process_nm) {
    const double ideal = process_nm / process_of_die_nm;
    return between(sram_cell_um2(process_nm) / cell_um2_28, {ideal * ideal});
}

/// In per cent of the anchor's die, in the machine's process.
Percent in_process(const Percent& percent, const Percent& process) {
    return {percent.nominal * process.nominal, percent.low * process.low, percent.high * process.high};
}

Estimate mm2(const Percent& percent) {
    const auto of = [](double value) { return value * die_mm2 / 100.0; };
    return {.mm2 = of(percent.nominal), .low = of(percent.low), .high = of(percent.high)};
}

}  // namespace

double sram_cell_um2(double process_nm) {
    struct Cell {
        double process_nm;
        double um2;
    };
    constexpr std::array<Cell, 4> cells{{{7.0, 0.027}, {16.0, 0.07}, {28.0, cell_um2_28}, {45.0, 0.346}}};
    std::size_t upper = 1;
    while (upper + 1 < cells.size() && process_nm > cells[upper].process_nm) ++upper;
    const Cell& a = cells[upper - 1];
    const Cell& b = cells[upper];
    if (process_nm == b.process_nm) return b.um2;  // exactly, not by logarithms
    const double part = std::log(process_nm / a.process_nm) / std::log(b.process_nm / a.process_nm);
    return a.um2 * std::pow(b.um2 / a.um2, part);
}

std::optional<Area> area_of(const machine::MachineConfig& machine) {
    if (!machine.energy) return std::nullopt;
    const Percent shrinks = process_factor(machine.energy->process_nm);
    const double columns = machine.matrix_unit.columns;
    const double sums_bytes = 4.0 * columns * machine.accumulators.rows;
    const auto fifo_bytes = static_cast<double>(machine.weight_fifo.depth_tiles * machine.tile_bytes());
    const double fifo_percent = unified_buffer_percent * anchor_fifo_bytes / anchor_buffer_bytes;
    const double instruction_percent =
        unified_buffer_percent * (machine.sequencer.instruction_buffer_bytes - anchor_instruction_bytes) /
        anchor_buffer_bytes;
    const double activation = activation_percent * columns / anchor_columns;
    const double control = std::max(control_percent + instruction_percent, 0.0);

    const Percent array = matrix_unit(machine);
    const Percent buffer = memory(unified_buffer_percent,
                                  static_cast<double>(machine.unified_buffer_bytes()) / anchor_buffer_bytes);
    const Percent sums = memory(accumulators_percent, sums_bytes / anchor_sums_bytes);
    // The floorplan does not name the FIFO: it is taken from the rest, as a memory like the unified buffer.
    const Percent fifo = memory(fifo_percent, fifo_bytes / anchor_fifo_bytes);

    // What is not named grows with the units between which it lies; or it stays.
    const double core = array.nominal + buffer.nominal + sums.nominal + activation;
    constexpr double anchor_core =
        matrix_unit_percent + unified_buffer_percent + accumulators_percent + activation_percent;
    const double rest_of_anchor = unnamed_percent - fifo_percent;
    const Percent rest = between(rest_of_anchor * core / anchor_core, {rest_of_anchor});

    struct Named {
        std::string_view name;
        Percent percent;
    };
    const std::array<Named, 10> units{
        {{"matrix_unit", in_process(array, shrinks)},
         {"unified_buffer", in_process(buffer, shrinks)},
         {"accumulators", in_process(sums, shrinks)},
         {"activation_unit", in_process({activation, activation, activation}, shrinks)},
         {"sequencer", in_process({control, control, control}, shrinks)},
         {"host_interface", host(machine)},
         {"weight_memory_ports", memory_ports(machine)},
         {"io", {io_percent, io_percent, io_percent}},
         {"weight_fifo", in_process(fifo, shrinks)},
         {"other", in_process(rest, shrinks)}}};
    Area area{.process_nm = machine.energy->process_nm, .units = {}, .die = {}};
    Percent whole{0.0, 0.0, 0.0};  // 100 for the anchor, without rounding
    for (const Named& unit : units) {
        area.units.push_back({unit.name, mm2(unit.percent)});
        whole.nominal += unit.percent.nominal;
        whole.low += unit.percent.low;
        whole.high += unit.percent.high;
    }
    area.die = mm2(whole);
    return area;
}

}  // namespace systole::area
