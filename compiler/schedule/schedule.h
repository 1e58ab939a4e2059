#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/memory_plan.h"
#include "compiler/schedule/operation.h"
#include "compiler/schedule/target.h"

/// The schedule: the order of a network's work on a machine, with its tiles, chunks and places in memory.
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

/// Schedules all inferences, batch by batch. Throws ModelError if the network does not fit the target or an
/// option is 0, std::logic_error if the network is inconsistent.
Schedule make_schedule(const mapping::Network& network, const Target& target, const Options& options);

/// How the unified buffer of such a schedule is used. Throws as make_schedule does.
MemoryPlan plan_memory_of(const mapping::Network& network, const Target& target, const Options& options);

/// The schedule as text, for reading and comparing: memory, tiles, then a line for each operation.
std::string to_text(const Schedule& schedule);

}  // namespace systole::schedule
