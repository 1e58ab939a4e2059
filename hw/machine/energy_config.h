#pragma once

#include <optional>
#include <string_view>

#include "hw/machine/config_fields.h"

namespace systole::machine {

/// The energy of each event. The energies come from the published table of
/// hw/machine/published_energies.h, by the process and by the sizes of the machine's memories; a field
/// that is given replaces the table's value. Static power is power.idle_watts.
struct EnergyConfig {
    double process_nm = 28.0;
    double die_dynamic_factor = 1.0;
    double unused_mac_fraction = 0.0;
    /// 1.93 pJ per bit: Bae et al., Electronics 10(1), 2021, a PCI Express Gen4 transmitter in 28 nm.
    double host_link_pj_per_byte = 15.44;
    std::optional<double> mac_pj;
    std::optional<double> int32_add_pj;
    std::optional<double> int32_multiply_pj;
    std::optional<double> unified_buffer_pj_per_byte;
    std::optional<double> accumulators_pj_per_byte;
    std::optional<double> weight_fifo_pj_per_byte;
    std::optional<double> instruction_buffer_pj_per_byte;
    std::optional<double> weight_memory_pj_per_byte;
};

template <class Visitor>
void describe(Visitor& visitor, EnergyConfig& config) {
    constexpr RealRange picojoules{0.0, 1e6};
    const auto of_the_table = [](std::string_view key, std::string_view meaning) {
        return Field{.key = key, .unit = "pJ", .meaning = meaning, .if_absent = "published table"};
    };
    // The range between the two processes of the published table: nothing is extrapolated.
    visitor.field({"process_nm", "nm", "feature size of the chip's process"}, config.process_nm,
                  RealRange{7.0, 45.0});
    visitor.field({"die_dynamic_factor", "",
                   "factor on the energy of each event on the die; the only calibrated number"},
                  config.die_dynamic_factor, RealRange{0.01, 100.0});
    visitor.field({"unused_mac_fraction", "",
                   "energy of an unused cell in an active cycle, as a share of a multiply-accumulate's"},
                  config.unused_mac_fraction, RealRange{0.0, 1.0});
    visitor.field({"host_link_pj_per_byte", "pJ",
                   "energy per byte at the chip's end of the host link, in each direction"},
                  config.host_link_pj_per_byte, picojoules);
    visitor.field(
        of_the_table("mac_pj",
                     "energy of a multiply-accumulate in a cell: 8-bit multiplication, 32-bit addition"),
        config.mac_pj, picojoules);
    visitor.field(
        of_the_table("int32_add_pj", "energy of a 32-bit addition in accumulators or activation unit"),
        config.int32_add_pj, picojoules);
    visitor.field(
        of_the_table("int32_multiply_pj", "energy of a 32-bit multiplication in the activation unit"),
        config.int32_multiply_pj, picojoules);
    visitor.field(of_the_table("unified_buffer_pj_per_byte", "energy per byte read or written"),
                  config.unified_buffer_pj_per_byte, picojoules);
    visitor.field(
        of_the_table("accumulators_pj_per_byte", "energy per byte of a sum that is read or written"),
        config.accumulators_pj_per_byte, picojoules);
    visitor.field(of_the_table("weight_fifo_pj_per_byte", "energy per byte read or written"),
                  config.weight_fifo_pj_per_byte, picojoules);
    visitor.field(of_the_table("instruction_buffer_pj_per_byte", "energy per byte read or written"),
                  config.instruction_buffer_pj_per_byte, picojoules);
    visitor.field(of_the_table("weight_memory_pj_per_byte",
                               "energy per byte read from weight memory, its link to the chip included"),
                  config.weight_memory_pj_per_byte, picojoules);
}

}  // namespace systole::machine
