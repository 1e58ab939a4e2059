#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "compiler/frontend/tflite/tensors.h"

/// Dilated convolutions as older converters write them: SPACE_TO_BATCH_ND, a convolution without dilation,
/// BATCH_TO_SPACE_ND.
namespace systole::frontend::tflite {

/// What the reader does instead of one of these three nodes.
struct DilatedConvolution {
    /// The convolution that gives the result of BATCH_TO_SPACE_ND; null for the other two nodes, which are
    /// left out.
    const Operator* convolution = nullptr;
    std::int32_t input = -1;                 ///< the tensor that SPACE_TO_BATCH_ND reads
    std::array<std::uint32_t, 2> sides{};    ///< of a block: the dilation
    std::array<std::uint32_t, 4> padding{};  ///< top, left, bottom, right
};

using DilatedConvolutions = std::map<const Operator*, DilatedConvolution>;

DilatedConvolutions find_dilated_convolutions(const File& file);

}  // namespace systole::frontend::tflite
