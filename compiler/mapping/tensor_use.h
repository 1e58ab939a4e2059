#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace systole::mapping {

using TensorId = std::uint32_t;

/// The tensors of a layer, and where it works on them: all that analysis needs to know of its work.
struct LayerTensors {
    std::vector<TensorId> inputs;  ///< that it reads, some perhaps twice
    std::vector<TensorId> outputs;
    bool runs_on_host = false;
    bool reads_host_memory = false;
    bool writes_host_memory = false;
    bool is_view = false;  ///< its output lies in its input: who reads the one reads the other
};

/// The layers of a network, in an order in which every tensor is written before it is read. Tensors go by
/// their numbers.
struct NetworkTensors {
    std::vector<LayerTensors> layers;
    std::size_t tensors = 0;
    std::vector<TensorId> inputs;  ///< of the network
    std::vector<TensorId> outputs;
};

/// Who makes and reads a tensor, and where.
struct TensorUse {
    std::optional<std::uint32_t> maker;          ///< a layer; absent for the network's inputs
    std::vector<std::uint32_t> readers;          ///< layers, in order, each once
    std::vector<std::uint32_t> chip_readers;     ///< those that read it in a memory of the chip
    std::optional<std::uint32_t> first_segment;  ///< of the host that reads it
    /// It lies in host memory without a transfer that the schedule adds: an input of the network, the result
    /// of a segment, or what layers send.
    bool begins_in_host = false;
    bool is_output = false;  ///< of the network
};

/// By tensor. Tensor ids must be valid.
std::vector<TensorUse> tensor_uses(const NetworkTensors& network);

/// By tensor, the last step that reads it or a view of it; 0 if none does. Step 0 reads the network's inputs,
/// step l + 1 computes layer l, and the step after the last layer sends those in `sent`. `computed_with`: by
/// layer, itself or the layer with which it is computed.
std::vector<std::uint32_t> last_reading_steps(const NetworkTensors& network,
                                              std::span<const std::uint32_t> computed_with,
                                              std::span<const TensorId> sent);

}  // namespace systole::mapping
