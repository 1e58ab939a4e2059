#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/target/edge_tpu/instructions.h"
#include "compiler/target/edge_tpu/network.h"
#include "hw/machine/machine_config.h"

namespace systole::edge_tpu {

/// Where the parameters of a product are.
struct ParameterPlace {
    ProductInstruction product;
    bool is_again = false;   ///< they are those of an earlier step: of another strip, or of a repeated part
    bool cached = false;     ///< in wide memory, since the first call; otherwise they come with every call
    std::uint64_t unit = 0;  ///< of cached ones: the first; of a dense product, in each tile
    std::uint64_t units = 0;
    std::uint64_t host_address = 0;
    std::uint64_t bytes = 0;  ///< in host memory
};

/// Where the table of a step is: in wide memory since the first call, from the same unit on in each tile.
struct TablePlace {
    bool is_again = false;
    std::uint32_t unit = 0;
    std::uint32_t units = 0;
    std::uint64_t host_address = 0;  ///< of as many as there are tiles
};

/// A constant operand in host memory, an element for each one of the image. It comes with every call.
struct ConstantPlace {
    std::uint64_t host_address = 0;
    std::uint64_t bytes = 0;
};

struct ParameterPlan {
    std::vector<std::optional<TablePlace>> tables;        ///< by step; of those that have one
    std::vector<std::optional<ConstantPlace>> constants;  ///< by step; of those that read one
    std::vector<std::optional<ParameterPlace>> places;    ///< by step; of products
    std::uint64_t cached_bytes = 0;
    std::uint64_t streamed_bytes = 0;  ///< of a call, those of each strip, and constant operands
    std::uint64_t host_bytes = 0;      ///< of all
};

/// Bytes of the parameter cache: what weight buffers and other networks leave of the wide memories.
std::uint64_t cache_bytes(const machine::MachineConfig& machine);

/// Tables come first. Parameters stay in the cache in the order of the network, up to the first product whose
/// parameters do not fit; those of the rest are streamed. A dense product that is streamed becomes a
/// convolution of one pixel: its result's form changes.
ParameterPlan plan_parameters(Network& network, const machine::MachineConfig& machine);

/// The bytes of all parameters, as they lie in host memory.
std::vector<std::uint8_t> parameter_bytes(const Network& network, const ParameterPlan& plan);

}  // namespace systole::edge_tpu
