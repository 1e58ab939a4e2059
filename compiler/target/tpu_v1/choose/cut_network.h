#pragma once

#include <vector>

#include "compiler/target/tpu_v1/choose/strips.h"
#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// A network whose layers are computed run by run, strip by strip, with tensors where `homes` says.
struct CutNetwork {
    Network network;
    std::vector<std::uint32_t>
        whole_layers;  ///< by layer: the layer of the given network that it is a part of
};

/// Every transfer of the result is a layer of its own: it reads no input and sends no output whole. Each
/// strip is a layer with an input and an output of its own lines; transfers, views and concatenations of
/// lines stand between them. The runs cover all layers, in order, and can be planned (plan_strip).
CutNetwork cut_network(const AnalysedNetwork& analysed, const Homes& homes,
                       const std::vector<LayerRun>& runs);

}  // namespace systole::tpu_v1
