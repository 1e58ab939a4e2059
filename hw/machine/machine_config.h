#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cycle.h"
#include "base/data_type.h"
#include "hw/machine/config_description.h"
#include "hw/machine/config_fields.h"
#include "hw/machine/dram_config.h"
#include "hw/machine/energy_config.h"
#include "hw/machine/tensor_config.h"
#include "hw/machine/tile_config.h"

/// The machine description: one plain struct for each unit, with default, unit and meaning of each field.
/// Defaults are TPU v1's numbers where they are published, otherwise those of a small generic machine;
/// configs/machines/*.json name a source for each number.
namespace systole::machine {

/// Which units a core has. What differs within a family is numbers in its file.
enum class Family : std::uint8_t {
    TpuV1,       ///< a systolic array, a unified buffer, accumulators, weights from a memory of their own
    EdgeTpu,     ///< tiles with memories of their own, a ring and a mesh between them
    TensorCore,  ///< a systolic array and a vector unit that compute in floats, a vector memory, HBM
};
inline constexpr std::array<std::string_view, 3> family_names{"tpu_v1", "edge_tpu", "tensor_core"};

/// The simulator's engine for the matrix unit; every engine gives the same cycles and the same bits.
enum class Engine : std::uint8_t { Wavefront, Pe };
inline constexpr std::array<std::string_view, 2> engine_names{"wavefront", "pe"};

/// A combination of number formats that the array computes with.
struct MatrixFormat {
    DataType activations = DataType::Uint8;
    DataType weights = DataType::Int8;
    DataType accumulators = DataType::Int32;
    std::uint32_t passes = 1;  ///< cycles of array input that a row takes

    bool multiplies_floats() const { return !is_integer(activations); }
    bool operator==(const MatrixFormat&) const = default;
};

/// The formats of an array that multiplies bytes: integers of 8 and 16 bits, weights in two's complement,
/// sums of 32 bits. It makes a pass for each pair of a byte of the activation and a byte of the weight.
std::vector<MatrixFormat> byte_array_formats();

/// The formats of an array that multiplies bfloat16 and adds in float32, in one pass.
std::vector<MatrixFormat> float_array_formats();

/// How much of a float32 an array of floats multiplies, in parts of bfloat16: one, two or three.
enum class MatrixPrecision : std::uint8_t { Default, High, Highest };
inline constexpr std::array<std::string_view, 3> matrix_precision_names{"default", "high", "highest"};

struct MatrixUnitConfig {
    std::uint32_t rows = 256;
    std::uint32_t columns = 256;
    Engine engine = Engine::Wavefront;
    std::uint32_t mac_latency_cycles = 1;
    std::uint32_t cells_per_stage = 1;  ///< divides rows and columns
    std::uint32_t weight_switch = 1;    ///< cycles, 0 or 1
    std::uint32_t setup_cycles = 1;
    bool row_sums = true;
    std::vector<MatrixFormat> formats = byte_array_formats();  ///< each pair of operands once
    MatrixPrecision precision = MatrixPrecision::Default;      ///< of networks' products in float32
    /// Arrays of the unit, all with the same weights: a cycle takes in a row for each of them.
    std::uint32_t arrays = 1;

    /// Array passes of a row of activations; nullopt if the array does not multiply these formats.
    std::optional<std::uint32_t> passes(DataType activations, DataType weights) const;
    /// The reason why the array does not multiply these formats; nullopt if it does.
    std::optional<std::string> refusal(DataType activations, DataType weights) const;
    /// Whether the array multiplies floats. Throws std::logic_error if it multiplies integers, too.
    bool computes_floats() const;
    /// The reason why the array cannot subtract this zero point from its weights; nullopt if it can.
    std::optional<std::string> refusal_of_weight_zero_point(std::int32_t zero_point) const;
};

struct SystolicDataSetupConfig {
    std::uint32_t fetches_per_cycle = 1;
};

struct WeightFifoConfig {
    std::uint32_t depth_tiles = 4;
};

/// The timing model of weight memory.
enum class WeightMemoryModel : std::uint8_t { Bandwidth, Dram };
inline constexpr std::array<std::string_view, 2> weight_memory_model_names{"bandwidth", "dram"};

/// The port through which a program writes tiles into weight memory.
struct WeightWriteConfig {
    double gb_per_s = 0.0;             ///< above 0
    std::uint32_t latency_cycles = 0;  ///< from a write's request to its first byte
};

struct WeightMemoryConfig {
    std::uint64_t bytes = std::uint64_t{8} << 30;
    WeightMemoryModel model = WeightMemoryModel::Bandwidth;
    double bandwidth_gb_per_s = 34.0;  ///< of the model "bandwidth"
    DramConfig dram;                   ///< of the model "dram"
    std::uint32_t latency_cycles = 0;
    bool whole_tiles = true;
    /// Absent: the memory is read-only while a program runs. Only with the model "bandwidth".
    std::optional<WeightWriteConfig> writable = {};
    bool spill = false;  ///< tiles beyond `bytes` lie in host memory; their fetches take the host link

    /// The reason why a program cannot write a tile that ends at this address; nullopt if it can.
    std::optional<std::string> refusal_of_write(std::uint64_t tile_end) const;
};

struct UnifiedBufferConfig {
    std::uint32_t rows = 98304;
    std::uint32_t read_ports = 3;
    std::uint32_t write_ports = 2;
};

struct AccumulatorsConfig {
    std::uint32_t rows = 4096;
    std::uint32_t banks = 2;
    std::uint32_t ports = 2;
    std::uint32_t write_cycles = 1;
    std::uint32_t sum_bits = 32;
};

struct ActivationUnitConfig {
    std::uint32_t latency_cycles = 1;
    double latency_ns = 0.0;  ///< added to the cycles; does not depend on the clock
};

struct HostInterfaceConfig {
    double read_gb_per_s = 10.73741824;
    double write_gb_per_s = 10.73741824;
    std::uint32_t latency_cycles = 0;
    double latency_ns = 0.0;  ///< added to the cycles; does not depend on the clock
};

struct SequencerConfig {
    std::uint32_t instruction_buffer_bytes = 32768;
    std::uint32_t queue_depth = 32;
    std::uint32_t issue_cycles = 1;
};

/// Watts of one chip. All are 0 if unknown; the report then says so.
struct PowerConfig {
    double idle_watts = 0.0;
    double busy_watts = 0.0;
    double tdp_watts = 0.0;
    // The chip that the watts are of, and at whose voltage events have their energy. 0 if unknown.
    double clock_mhz = 0.0;
    std::uint32_t array_rows = 0;
    std::uint32_t array_columns = 0;
    double die_mm2 = 0.0;
};

/// The host's time, in addition to the chip's, in per cent of the chip's time.
struct HostPercent {
    double typical = 0.0;
    double least = 0.0;
    double most = 0.0;
};

/// The server that holds the chip, for comparisons with the host included.
struct ServerConfig {
    std::uint32_t dies = 1;
    double tdp_watts = 0.0;       ///< of the whole server
    double host_tdp_watts = 0.0;  ///< of the same server without accelerators
    /// Absent if unknown.
    std::optional<HostPercent> host_percent = {};
};

struct MachineConfig {
    std::string schema = "sim.machine/1";
    std::string name = "machine";
    Family family = Family::TpuV1;
    double clock_mhz = 700.0;
    // Of the families tpu_v1 and tensor_core.
    MatrixUnitConfig matrix_unit;
    // Of the family tpu_v1.
    SystolicDataSetupConfig systolic_data_setup;
    WeightFifoConfig weight_fifo;
    WeightMemoryConfig weight_memory;
    UnifiedBufferConfig unified_buffer;
    AccumulatorsConfig accumulators;
    ActivationUnitConfig activation_unit;
    // Of the family edge_tpu.
    TileArrayConfig tile_array;
    NarrowMemoryConfig narrow_memory;
    WideMemoryConfig wide_memory;
    RingConfig ring;
    MeshConfig mesh;
    StagingBufferConfig staging_buffer;
    ParameterCacheConfig parameter_cache;
    ProgramConfig program;
    HostCallConfig host;
    /// Absent if energy comes from the watts of `power` alone.
    std::optional<TileEnergyConfig> tile_energy;
    // Of the family tensor_core.
    SystemConfig system;
    VectorMemoryConfig vector_memory;
    VectorUnitConfig vector_unit;
    CrossLaneUnitConfig cross_lane_unit;
    HbmConfig hbm;
    InterconnectConfig interconnect;
    /// Absent if energy comes from the watts of `power` alone.
    std::optional<TensorEnergyConfig> tensor_energy;
    // Of all families.
    HostInterfaceConfig host_interface;
    SequencerConfig sequencer;
    PowerConfig power;
    /// Of the family tpu_v1. Absent if energy comes from the watts of `power` alone.
    std::optional<EnergyConfig> energy;
    ServerConfig server;
    /// The sources of the numbers, by dotted key.
    std::map<std::string, std::string> sources;

    std::uint64_t clock_hz() const;
    /// Exact bytes per cycle; for a DRAM, the peak of its data buses.
    Rate weight_rate() const;
    /// Of the port that writes weight memory. Throws std::logic_error if the memory is read-only.
    Rate weight_write_rate() const;
    Rate host_read_rate() const;
    Rate host_write_rate() const;
    Rate ring_rate() const;
    Rate mesh_rate() const;
    Rate hbm_rate() const;
    /// Of a link between cores, each way.
    Rate interconnect_rate() const;
    /// Latencies in cycles of this clock: the configured cycles and nanoseconds, rounded up together.
    std::uint64_t activation_latency() const;
    std::uint64_t host_latency() const;
    std::uint64_t hbm_latency() const;
    std::uint64_t interconnect_latency() const;
    /// Cycles of the host's part of a call, rounded up.
    std::uint64_t host_call_cycles() const;
    /// Whether events have their energy; else it comes from the watts of `power` alone.
    bool has_event_energy() const { return energy || tile_energy || tensor_energy; }
    /// The feature size of the chip's process; absent where the machine does not say it.
    std::optional<double> process_nm() const;
    /// Bytes of a row of vector memory, and of HBM.
    std::uint64_t vector_row_bytes() const;
    /// Rows of the part of high-bandwidth memory that a core has.
    std::uint64_t hbm_rows_of_core() const { return hbm.bytes / system.cores / vector_row_bytes(); }
    /// Weight bytes of one 8-bit tile.
    std::uint64_t tile_bytes() const { return std::uint64_t{matrix_unit.rows} * matrix_unit.columns; }
    /// Bytes of the unified buffer.
    std::uint64_t unified_buffer_bytes() const {
        return std::uint64_t{unified_buffer.rows} * matrix_unit.rows;
    }
    /// Multiply-accumulates of all cells, or of all lanes of all tiles.
    std::uint64_t macs_a_cycle() const;
    /// Cores of the machine, all alike.
    std::uint32_t cores() const { return system.all_cores(); }
    /// The path of a core in the machine, without levels of one member: "chip2.core1", or nothing.
    std::string core_name(std::size_t core) const;
    /// The same of a chip.
    std::string chip_name(std::size_t chip) const;
    /// Arrays of all cores.
    std::uint32_t arrays() const { return cores() * matrix_unit.arrays; }
    /// A core's part of a rate that the cores of a chip share.
    Rate rate_of_core(Rate of_chip) const { return {of_chip.bytes, of_chip.cycles * system.cores}; }
    /// Whether networks are computed in floats, and not quantized.
    bool computes_floats() const { return family == Family::TensorCore; }
    /// Operations per second; a multiply-accumulate counts as two.
    double peak_ops_per_second() const;
    /// The key of the simulator's engine, and its value for the fast one. All give the same cycles.
    std::pair<std::string_view, std::string_view> fast_engine() const;
    void use_fast_engine();
    /// Why nothing can show registers of the array's cells, one by one; nullopt if the simulation has them.
    std::optional<std::string> no_cells_reason() const;
};

/// Reads a machine from JSON; messages begin with `file`. Throws ConfigError for unknown keys, wrong types,
/// values out of range and machines that cannot be built.
MachineConfig read_machine(const nlohmann::json& object, const std::string& file);
MachineConfig read_machine(const std::filesystem::path& path);
/// The effective configuration with every key.
nlohmann::ordered_json to_json(const MachineConfig& machine);
/// The descriptions of all keys that read_machine reads.
std::vector<KeyDescription> machine_keys();

}  // namespace systole::machine
