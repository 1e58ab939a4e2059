#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cycle.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/layer_plan.h"
#include "compiler/target/tpu_v1/schedule/memory_plan.h"
#include "compiler/target/tpu_v1/schedule/operation.h"
#include "compiler/target/tpu_v1/target.h"

/// The schedule: the order of a network's work on a machine, with its tiles, chunks and places in memory.
namespace systole::tpu_v1 {

struct Schedule {
    std::string network;
    Target target;
    mapping::Batches batches;
    std::vector<LayerPlan> layers;
    std::uint32_t weight_tiles = 0;   ///< of all layers
    std::uint32_t constant_rows = 0;  ///< unified-buffer rows from 0 on with parameters and tables
    MemoryPlan memory;
    std::vector<Operation> operations;  ///< in program order, all inferences

    bool operator==(const Schedule&) const = default;
};

/// Schedules all inferences, batch by batch. Throws ModelError if the network does not fit the target or an
/// option is 0, std::logic_error if the network is inconsistent.
Schedule make_schedule(const AnalysedNetwork& analysed, const Target& target,
                       const mapping::Batches& batches);
Schedule make_schedule(const Network& network, const Target& target, const mapping::Batches& batches);

/// What the list scheduler predicts of pipelined slices.
struct PipelinePrediction {
    Cycle cycles = 0;
    Cycle array = 0;  ///< of `cycles`, those in which the array takes input or the data setup collects it
    std::size_t operations = 0;  ///< that were put in order for the prediction: what it cost
};

/// To compute a few slices is enough: others follow at the same interval. nullopt if the unified buffer has
/// no rows for them.
std::optional<PipelinePrediction> predict_pipeline(const AnalysedNetwork& analysed, const Target& target,
                                                   const mapping::Batches& batches);

/// The schedule without its operations. Throws as make_schedule does.
Schedule plan_schedule(const AnalysedNetwork& analysed, const Target& target,
                       const mapping::Batches& batches);

/// The schedule as text, for reading and comparing: memory, tiles, then a line for each operation.
std::string to_text(const Schedule& schedule);

}  // namespace systole::tpu_v1
