#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/mapping/tensor_use.h"
#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

/// A network with what its layers and tensors are to each other, which is found once and passed on.
struct AnalysedNetwork {
    /// With no layers joined. Throws std::logic_error if the network is inconsistent.
    AnalysedNetwork(Network network, std::uint32_t bytes_of_row);

    const Network& network() const { return *network_; }
    /// Joins layers: by layer, the layer with which it is computed.
    void join(std::vector<std::uint32_t> joins);

    std::uint32_t row_bytes = 0;  ///< of the unified buffer
    mapping::NetworkTensors tensors;
    std::vector<mapping::TensorUse> uses;  ///< by tensor
    std::vector<HostPart> inputs;
    std::vector<HostPart> outputs;
    std::vector<TensorPart> parts;  ///< by tensor
    /// By tensor: rows of an image if it had rows of its own, with those that a product may read beyond it.
    std::vector<std::uint64_t> own_rows;
    /// The same of a tensor that has rows, with those that products may read beyond slices of it.
    std::vector<std::uint64_t> image_rows;
    std::vector<std::uint32_t> joined_to;             ///< by layer: itself or the layer that computes it
    std::vector<std::vector<std::uint32_t>> members;  ///< by layer: those computed with it, itself first
    /// By tensor: the last step (memory_plan.h) that reads it or a slice of it; 0 if none does.
    std::vector<std::uint32_t> last_steps;

private:
    std::shared_ptr<const Network> network_;
};

/// Row offset of a slice in an image of its parent; 0 for other values.
std::uint64_t slice_row(const AnalysedNetwork& analysed, TensorId id);

/// The network with the joins of the target's choices, or those of the rule (parallel_layers.h).
AnalysedNetwork analyse(Network network, const Target& target);

}  // namespace systole::tpu_v1
