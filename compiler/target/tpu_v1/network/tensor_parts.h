#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/mapping/tensor_use.h"
#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// The place of a tensor's channels: in rows of its own, among the channels or lines of a concatenated
/// tensor, or, for a slice, in the rows of its parent.
struct TensorPart {
    /// The tensor that has the rows: itself, the concatenated tensor or the parent.
    TensorId whole = 0;
    std::uint64_t first_channel = 0;  ///< in a pixel of `whole`; for a slice: the first element in its image
    bool is_slice = false;
    std::uint64_t first_row = 0;  ///< of an image of `whole`, for lines of it that begin at a row

    bool operator==(const TensorPart&) const = default;
};

/// The place of each tensor of the network. A tensor whose only reader is a concatenation lies in the
/// concatenated tensor if its layer can write some channels of a pixel (`activate` and pooling can,
/// element-wise work cannot), or, among concatenated lines, if these begin at a row. A slice lies in its
/// parent. All other tensors have rows of their own and are copied by concatenations; so do host parts
/// (host_parts.h). Readers therefore find each tensor that they read packed. Tensor ids must be valid.
/// `row_bytes` is that of the unified buffer.
std::vector<TensorPart> place_parts(const Network& network, std::span<const mapping::TensorUse> uses,
                                    std::span<const HostPart> inputs, std::span<const HostPart> outputs,
                                    std::uint32_t row_bytes);

}  // namespace systole::tpu_v1
