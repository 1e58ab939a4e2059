#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hw/machine/machine_config.h"

/// Rules between keys of a machine, which the range of a single key cannot express.
namespace systole::machine {

// As the reference tells them; messages add the numbers that break them.
inline constexpr std::string_view bytes_rule =
    "it must hold a tile of the array, and its DRAM's channels and banks evenly";
inline constexpr std::string_view cells_per_stage_rule =
    "it must divide matrix_unit.rows and matrix_unit.columns";
inline constexpr std::string_view banks_rule = "it must divide accumulators.rows";
inline constexpr std::string_view formats_rule =
    "each pair of operands once; the datapath has activations of 8 and 16 bits, int8 and int16 weights and "
    "int32 sums";
inline constexpr std::string_view tpu_v1_rule = R"(it is read only where family is "tpu_v1")";
inline constexpr std::string_view edge_tpu_rule = R"(it is read only where family is "edge_tpu")";
inline constexpr std::string_view tensor_core_rule = R"(it is read only where family is "tensor_core")";
inline constexpr std::string_view array_rule = R"(it is read only where family is "tpu_v1" or "tensor_core")";
inline constexpr std::string_view hbm_bytes_rule =
    "it must be a multiple of a row for each core, 4 bytes for each of vector_unit.lanes";
inline constexpr std::string_view float_formats_rule =
    "an array of the family tensor_core multiplies bfloat16 by bfloat16 into float32, in one pass";
inline constexpr std::string_view columns_rule = "it must be at most vector_unit.lanes";
inline constexpr std::string_view lanes_rule = "it must be a multiple of 16";
inline constexpr std::string_view wide_bytes_rule = "it must be a multiple of 64";
inline constexpr std::string_view staging_rule = "it must hold a weight buffer";
inline constexpr std::string_view idle_watts_rule =
    "beside a section energy or tensor_energy it must say the static power";
inline constexpr std::string_view busy_watts_rule =
    "where they are known, it must be at least power.idle_watts and at most power.tdp_watts";
inline constexpr std::string_view server_watts_rule = "it must be at least server.host_tdp_watts";
inline constexpr std::string_view host_percent_rule =
    "it must be from server.host_percent.least to server.host_percent.most";

/// Throws ConfigError with the file if a machine breaks one.
void check_rules(const MachineConfig& machine, const std::string& file);

}  // namespace systole::machine
