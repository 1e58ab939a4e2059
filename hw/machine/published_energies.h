#pragma once

#include <cstdint>

/// Energy per operation as published: Jouppi et al., "Ten Lessons From Three Generations Shaped Google's
/// TPUv4i", ISCA 2021, Table 2, whose 45 nm column is Horowitz, "Computing's Energy Problem", ISSCC 2014.
namespace systole::machine {

/// An operation in the processes of the table's two columns, in pJ.
struct TwoProcesses {
    double at_45_nm = 0.0;
    double at_7_nm = 0.0;

    /// The energy in a process from 7 to 45 nm: linear interpolation between the two columns, with
    /// logarithmic feature size and energy.
    double at(double process_nm) const;
};

inline constexpr TwoProcesses int8_multiply{0.2, 0.07};
inline constexpr TwoProcesses int32_add{0.1, 0.03};
inline constexpr TwoProcesses int32_multiply{3.1, 1.48};
inline constexpr TwoProcesses fp16_multiply{1.1, 0.34};
inline constexpr TwoProcesses fp32_add{0.9, 0.38};
inline constexpr TwoProcesses fp32_multiply{3.7, 1.31};
/// The table has a bfloat16 multiplication in 7 nm alone; in other processes it grows as one of half
/// precision.
inline constexpr double bf16_multiply_at_7_nm = 0.21;
inline double bf16_multiply(double process_nm) {
    return bf16_multiply_at_7_nm * fp16_multiply.at(process_nm) / fp16_multiply.at_7_nm;
}
/// HBM2 with its link, in pJ for 64 bits: the middle of 250 to 450.
inline constexpr double hbm_per_64_bits = 350.0;
/// DDR3 or DDR4, the device and its link, in pJ for 64 bits; the same in both columns.
inline constexpr double ddr_per_64_bits = 1300.0;

/// The energy of reading or writing 64 bits of an SRAM of this many bytes, in pJ. The table has 8 KB, 32 KB
/// and 1 MB; between and above these sizes the energy is interpolated and extrapolated linearly, with
/// logarithmic size and energy. A smaller memory takes as much as one of 8 KB: its decoder and sense
/// amplifiers do not shrink.
double sram_per_64_bits(double bytes, double process_nm);

}  // namespace systole::machine
