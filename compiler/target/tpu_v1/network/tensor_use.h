#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// Who makes and reads a tensor, and where.
struct TensorUse {
    std::optional<std::uint32_t> maker;          ///< a layer; absent for the network's inputs
    std::vector<std::uint32_t> readers;          ///< layers, in order, each once
    std::vector<std::uint32_t> chip_readers;     ///< those that read it in the unified buffer
    std::optional<std::uint32_t> first_segment;  ///< of the host that reads it
    /// It lies in host memory without a transfer that the schedule adds: an input of the network, the result
    /// of a segment, or what layers send.
    bool begins_in_host = false;
    bool is_output = false;  ///< of the network
};

/// By tensor. Tensor ids must be valid.
std::vector<TensorUse> tensor_uses(const Network& network);

}  // namespace systole::tpu_v1
