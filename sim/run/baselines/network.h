#pragma once

#include "sim/run/record/record.h"

namespace systole::baselines {

/// What a network asks of any processor, layer by layer.
using Network = run::NetworkWork;
using NetworkLayer = run::LayerWork;

}  // namespace systole::baselines
