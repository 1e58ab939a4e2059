#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/machine/chosen_mapping.h"
#include "hw/machine/machine_config.h"

namespace systole::tpu_v1 {

/// A network and the target that it is scheduled for.
struct FittedNetwork {
    AnalysedNetwork analysed;
    Target target;
    std::optional<machine::CutImages> fit;  ///< absent if it is the given network
};

/// The network itself if the unified buffer holds one image of it. If not, a network with the same results
/// that fits: runs of its layers are computed in strips of lines, and if that is not enough, tensors go
/// through host memory.
///
/// Every division of the layers into runs is weighed, with the fewest strips with which a run fits. Their
/// cost is in cycles of hw/timing: of products, also of lines that two strips need, of their weights, which
/// every strip fetches, and of transfers. While no division fits, the tensor is spilled that moves the fewest
/// bytes for the rows and layers that it gives free; in the end, those that need not be are taken back.
///
/// The target of the result has the same blocks, or none if that costs less because their parameters take
/// rows, and joins no convolutions. Throws ModelError if a layer does not even fit with one line,
/// std::logic_error if the network is inconsistent.
FittedNetwork fit_memory(const AnalysedNetwork& analysed, const Target& target,
                         const machine::MachineConfig& machine);

/// What was done, in lines of text.
std::string to_text(const machine::CutImages& fit);

}  // namespace systole::tpu_v1
