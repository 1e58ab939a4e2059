#pragma once

#include <cstdint>

/// What one simulation of a workload counted.
namespace systole::validate {

struct Measurement {
    double clock_hz = 0.0;
    double cells = 0.0;  ///< of the array
    std::uint32_t batch = 0;
    std::uint64_t macs = 0;          ///< that the network asks for, of the whole batch
    std::uint64_t weight_bytes = 0;  ///< of the tiles' used cells, each tile once

    std::uint64_t cycles = 0;
    std::uint64_t active_cycles = 0;
    std::uint64_t weight_stall_cycles = 0;
    std::uint64_t weight_shift_cycles = 0;
    std::uint64_t non_matrix_cycles = 0;
    std::uint64_t raw_stall_cycles = 0;
    std::uint64_t input_stall_cycles = 0;
    std::uint64_t useful_macs = 0;  ///< cell cycles: one of two 8-bit passes each for 16-bit activations
    std::uint64_t unused_macs = 0;
    std::uint64_t tiles = 0;
    std::uint64_t unified_buffer_peak_bytes = 0;
    std::uint64_t host_read_bytes = 0;
    std::uint64_t host_write_bytes = 0;
    std::uint64_t host_busy_cycles = 0;  ///< of both directions, added

    /// Before the first rows entered the array: its rows were still on their way from the host.
    std::uint64_t head_cycles = 0;
    /// After the last result was in the unified buffer: it only went to the host.
    std::uint64_t tail_cycles = 0;
    /// From the first fetch to the last tile whole.
    std::uint64_t weight_fetch_cycles = 0;

    /// Of the die; 0 where the machine has no section `energy`.
    double static_watts = 0.0;
    double dynamic_watts = 0.0;

    double seconds() const { return static_cast<double>(cycles) / clock_hz; }
    double inferences_per_second() const { return batch / seconds(); }
    /// 10^12 operations a second, a multiply-accumulate counting two.
    double tera_ops() const { return 2.0 * static_cast<double>(macs) / seconds() / 1e12; }
    double macs_per_weight_byte() const {
        return static_cast<double>(macs) / static_cast<double>(weight_bytes);
    }
    /// Row 2 of Table 3: useful MACs, of all that the cells could do. A fraction.
    double useful_share() const { return share(static_cast<double>(useful_macs) / cells); }
    double unused_share() const { return share(static_cast<double>(unused_macs) / cells); }
    /// Cycles as a fraction of the run's.
    double share(std::uint64_t part) const { return share(static_cast<double>(part)); }
    /// Without the cycles that are the host's alone.
    double device_seconds() const {
        return static_cast<double>(cycles - head_cycles - tail_cycles) / clock_hz;
    }

private:
    double share(double part) const { return part / static_cast<double>(cycles); }
};

}  // namespace systole::validate
