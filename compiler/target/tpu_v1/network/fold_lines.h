#pragma once

#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

/// The network with the same results in which convolutions have shorter lines where an output line has more
/// pixels than the accumulators have rows:
/// - a pointwise convolution (kernel 1x1, stride 1, no padding) reads the pixels of the image as a number of
///   lines that divides them evenly;
/// - a convolution along the only line of an image (kernel height 1) reads the line as a column.
/// In both cases the pixels lie in memory as before, so that the other shapes are slices of the whole tensor,
/// which take no time. They are reported with the convolution. Other convolutions stay as they are.
Network fold_long_lines(Network network, const Target& target);

}  // namespace systole::tpu_v1
