#pragma once

#include "sim/run/record/record.h"

namespace systole::baselines {

/// The work of a network, for any processor, layer by layer.
using Network = run::NetworkWork;
using NetworkLayer = run::LayerWork;

}  // namespace systole::baselines
