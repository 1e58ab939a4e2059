#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"

/// The area of the die, by docs/area.md: shares of TPU v1's die, each with the ways in which it may grow.
namespace systole::figures {

/// Square millimetres: as the model says, and by its lowest and highest estimates.
struct Mm2 {
    double mm2 = 0.0;
    double low = 0.0;
    double high = 0.0;
};

using AreaByUnit = std::vector<std::pair<std::string, Mm2>>;

/// Published SRAM cells, between them linearly on logarithmic axes.
inline double cell_um2(double nm) {
    const std::array<std::pair<double, double>, 4> published{
        {{45, 0.346}, {28, 0.127}, {16, 0.07}, {7, 0.027}}};
    for (std::size_t i = 0; i + 1 < published.size(); ++i) {
        const auto [large, at_large] = published[i];
        const auto [small, at_small] = published[i + 1];
        if (nm < small && i + 2 < published.size()) continue;
        const double part = (std::log(nm) - std::log(small)) / (std::log(large) - std::log(small));
        return std::exp(std::log(at_small) + part * (std::log(at_large) - std::log(at_small)));
    }
    return 0.0;
}

inline AreaByUnit area_by_unit(const Facts& facts) {
    constexpr double die = 331.0;
    constexpr double mib = 1048576.0;
    const auto share = [](double percent) { return die * percent / 100.0; };
    const double nm = facts.number("energy.process_nm");
    const double by_cells = cell_um2(nm) / 0.127;
    const double by_feature = nm / 28.0 * (nm / 28.0);
    // Several estimates of a unit in 28 nm, the first of which is the model's; transistors shrink, in two
    // ways.
    const auto shrunk = [&](const std::vector<double>& estimates) {
        const double low = *std::min_element(estimates.begin(), estimates.end());
        const double high = *std::max_element(estimates.begin(), estimates.end());
        return Mm2{estimates[0] * by_cells, low * std::min(by_cells, by_feature),
                   high * std::max(by_cells, by_feature)};
    };
    const auto fixed = [](const std::vector<double>& estimates) {
        return Mm2{estimates[0], *std::min_element(estimates.begin(), estimates.end()),
                   *std::max_element(estimates.begin(), estimates.end())};
    };
    // 24 MiB with SECDED in cells of 0.127 um2, over the area of the unified buffer.
    const double cells = 24 * mib * 8 * 72 / 64 * 0.127e-6 / share(29);
    const auto memory = [&](double mm2, double ratio) {
        return std::vector{mm2 * ratio, mm2 * (cells * ratio + (1 - cells) * std::sqrt(ratio))};
    };
    const auto rows = static_cast<double>(facts.rows());
    const auto columns = static_cast<double>(facts.columns());
    const double of_cells = share(24) * rows * columns / 65536.0;
    const double a_bit = (1368.0 - 1071.0) / 8.0 / 1071.0;
    const std::vector array{of_cells * (1 + a_bit * std::log2(rows / 256.0)), of_cells};
    const std::vector buffer = memory(share(29), facts.number("unified_buffer.rows") * rows / (24 * mib));
    const std::vector sums = memory(share(6), facts.number("accumulators.rows") * columns * 4 / (4 * mib));
    const std::vector activation{share(6) * columns / 256.0};
    const double fifo_of_v1 = share(29) * 4 * 65536 / (24 * mib);
    const std::vector fifo =
        memory(fifo_of_v1, facts.number("weight_fifo.depth_tiles") * rows * columns / (4 * 65536));
    const double grown = facts.number("sequencer.instruction_buffer_bytes") - 32768;
    const std::vector sequencer{std::max(0.0, share(2) + share(29) * grown / (24 * mib))};
    const double quicker =
        std::max(facts.number("host_interface.read_gb_per_s"), facts.number("host_interface.write_gb_per_s"));
    const std::vector host{share(5) * quicker / 10.73741824, share(5)};
    // DDR3-2133 of 64 bits moves 17.07 GB/s; GDDR5 of four channels 183 GB/s in 10 % more of the die.
    constexpr double ddr3_port = 17.066666667;
    const double ports = facts.is_dram()
                             ? facts.number("weight_memory.dram.channels")
                             : std::ceil(facts.number("weight_memory.bandwidth_gb_per_s") / ddr3_port);
    const double bandwidth =
        facts.is_dram() ? ports * ddr3_port : facts.number("weight_memory.bandwidth_gb_per_s");
    const double ddr3 = share(3) * ports;
    std::vector memory_ports{ddr3};
    if (ports > 2) {
        const double gddr5 = share(16) * bandwidth / 183.0;
        const double at_least_four_channels = std::max(gddr5, share(16));
        memory_ports = {std::min(ddr3, at_least_four_channels), ddr3, std::max(gddr5, share(6))};
    }
    const double core = array[0] + buffer[0] + sums[0] + activation[0];
    const double rest = share(21) - fifo_of_v1;
    return {{"matrix_unit", shrunk(array)},
            {"unified_buffer", shrunk(buffer)},
            {"accumulators", shrunk(sums)},
            {"activation_unit", shrunk(activation)},
            {"sequencer", shrunk(sequencer)},
            {"host_interface", fixed(host)},
            {"weight_memory_ports", fixed(memory_ports)},
            {"io", fixed({share(1)})},
            {"weight_fifo", shrunk(fifo)},
            {"other", shrunk({rest * core / share(24 + 29 + 6 + 6), rest})}};
}

inline Mm2 area_of_die(const Facts& facts) {
    Mm2 die;
    for (const auto& [unit, area] : area_by_unit(facts)) {
        die.mm2 += area.mm2;
        die.low += area.low;
        die.high += area.high;
    }
    return die;
}

inline Json area_json(const Mm2& area) {
    return {{"mm2", area.mm2}, {"mm2_low", area.low}, {"mm2_high", area.high}};
}

inline Rows rows_of_area() {
    return {{"area", [](const Facts& facts, const Place&) -> Expected {
                 if (!facts.has("energy")) return nullptr;
                 Json area = area_json(area_of_die(facts));
                 area["process_nm"] = facts.machine("energy.process_nm");
                 for (const auto& [unit, mm2] : area_by_unit(facts)) area["by_unit"][unit] = area_json(mm2);
                 return area;
             }}};
}

}  // namespace systole::figures
