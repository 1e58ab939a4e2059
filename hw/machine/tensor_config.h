#pragma once

#include <cstdint>
#include <optional>

#include "hw/machine/dram_config.h"

/// The units of the family tensor_core. Defaults are a core of the Cloud TPU v2;
/// configs/machines/tpu_v2_*.json name a source for each number.
namespace systole::machine {

/// The chips of a machine, and the cores of each. All cores are alike.
struct SystemConfig {
    std::uint32_t chips = 1;
    std::uint32_t cores = 1;  ///< of a chip

    std::uint32_t all_cores() const { return chips * cores; }
};

/// Cores of a machine.
inline constexpr std::uint32_t most_cores = 8;

/// The on-chip memory of a tensor core. A row has a word for each lane.
struct VectorMemoryConfig {
    std::uint32_t rows = 32768;
};

/// The unit that works element by element. A vector has `lanes` x `sublanes` words.
struct VectorUnitConfig {
    std::uint32_t lanes = 128;
    std::uint32_t sublanes = 8;
    std::uint32_t operations_per_cycle = 2;  ///< on whole vectors
    std::uint32_t loads_per_cycle = 1;
    std::uint32_t stores_per_cycle = 1;
    std::uint32_t function_operations = 15;  ///< that a division, a root or a function with a curve takes
    std::uint32_t latency_cycles = 2;        ///< from the last operation until the result is in vector memory
};

/// The unit that moves words between lanes: transpositions, and reductions of rows.
struct CrossLaneUnitConfig {
    std::uint32_t vectors_per_cycle = 1;
    std::uint32_t latency_cycles = 128;  ///< from the last vector until the result is in vector memory
};

/// The high-bandwidth memory of a chip, of which each core has an equal part. Its cores share the bandwidth.
struct HbmConfig {
    std::uint64_t bytes = std::uint64_t{8} << 30;
    double bandwidth_gb_per_s = 350.0;
    double efficiency = 1.0;  ///< share of the bandwidth that transfers reach
    std::uint32_t latency_cycles = 0;
    double latency_ns = 0.0;  ///< added to the cycles; does not depend on the clock
};

/// The links of a core to its neighbours in the chain of all cores, in the order of their numbers. Chips are
/// numbered along the torus that they form.
struct InterconnectConfig {
    double gb_per_s = 62.0;  ///< each way
    std::uint64_t chunk_bytes = 65536;
    std::uint32_t latency_cycles = 0;
    double latency_ns = 0.0;  ///< added to the cycles; does not depend on the clock
};

/// The energy of each event of a tensor core. What is absent follows from the published table of
/// hw/machine/published_energies.h, by the process and by the sizes of the machine's memories. Static power
/// is power.idle_watts.
struct TensorEnergyConfig {
    double process_nm = 16.0;
    /// 1.93 pJ per bit: Bae et al., Electronics 10(1), 2021, a PCI Express Gen4 transmitter in 28 nm.
    double host_link_pj_per_byte = 15.44;
    std::optional<double> mac_pj = {};
    std::optional<double> vector_operation_pj = {};  ///< of a word
    std::optional<double> vector_memory_pj_per_byte = {};
    std::optional<double> hbm_pj_per_byte = {};
    std::optional<double> instruction_buffer_pj_per_byte = {};
};

}  // namespace systole::machine
