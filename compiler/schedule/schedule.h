#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/memory_plan.h"
#include "compiler/schedule/operation.h"
#include "compiler/schedule/target.h"

/// From a quantized network to the order of work on a machine: tiles, chunks and places in memory.
namespace systole::schedule {

struct Schedule {
    std::string network;
    Target target;
    Options options;
    std::vector<LayerPlan> layers;
    std::uint32_t weight_tiles = 0;   ///< of all layers
    std::uint32_t constant_rows = 0;  ///< unified-buffer rows from 0 on with parameters and tables
    MemoryPlan memory;
    std::vector<Operation> operations;  ///< in program order, all inferences

    bool operator==(const Schedule&) const = default;
};

/// Schedules all inferences, batch by batch. Throws ModelError where the network does not fit the target
/// or the options are 0, std::logic_error where the network contradicts itself.
Schedule make_schedule(const mapping::Network& network, const Target& target, const Options& options);

/// The schedule as text, to read and to compare: memory, tiles, then a line for each operation.
std::string to_text(const Schedule& schedule);

}  // namespace systole::schedule
