#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/cycle.h"
#include "compiler/schedule/layer_graph.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/operation.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"

namespace systole::tpu_v1 {

/// The work of a slice, to be put in order.
struct SliceWork {
    std::uint32_t images = 0;
    std::uint32_t first_image = 0;               ///< its place in the unified buffer
    std::vector<Operation> inputs;               ///< what it reads from the host before its first layer
    std::vector<std::vector<Operation>> layers;  ///< by layer, each with the outputs that it sends
};

struct OrderedWork {
    std::vector<Operation> operations;
    /// By slice, predicted: its last results are in the unified buffer, in cycles from the first row of array
    /// input of the first.
    std::vector<Cycle> slice_ends;
    std::vector<Cycle> outputs_left;  ///< by slice, predicted: its last output has left
    Cycle cycles = 0;                 ///< predicted: the last output has left
    Cycle array_cycles = 0;           ///< of all streams
};

/// Which layers of a slice come before which, by the tensors' places in the unified buffer.
schedule::LayerGraph layer_graph(const AnalysedNetwork& analysed, const Schedule& schedule);

/// Puts the work of pipelined slices in order (compiler/schedule/list_scheduler.h). A step is the work on a
/// chunk of a layer: streams of one column tile with the activations of their sums, or an operation of the
/// activation unit; a product that waits for weights has a step for each tile. A step gets rows of
/// accumulators when it is taken. `work` gives the work of a slice; it is called for each slice once, in
/// order. `schedule` has layers and memory, with a pipeline.
OrderedWork order_steps(const AnalysedNetwork& analysed, const Schedule& schedule, std::size_t slices,
                        const std::function<SliceWork(std::size_t)>& work);

}  // namespace systole::tpu_v1
