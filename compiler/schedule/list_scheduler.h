#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/schedule/layer_graph.h"
#include "compiler/schedule/stages.h"

namespace systole::schedule {

/// A step that may be next: work on a part of a layer of a slice.
struct NextStep {
    std::size_t slice = 0;
    std::uint32_t layer = 0;
    std::size_t step = 0;  ///< of the layer's
};

/// What it means to take a step next.
struct StepOffer {
    double wait = 0;          ///< cycles that its unit waits for it
    bool goes_first = false;  ///< of steps for which units wait as long
};

/// The units of a machine, of which each family brings its own: what steps take of them, and when each could
/// begin. The list scheduler asks them, and tells them what it takes. Times are in cycles.
class StepUnits {
public:
    virtual ~StepUnits() = default;
    StepUnits(const StepUnits&) = delete;
    StepUnits& operator=(const StepUnits&) = delete;

    /// A slice enters the network. Slices come in order, from 0 on.
    virtual void open_slice(std::size_t slice) = 0;
    /// Cuts the work of a layer, which may now begin, into steps. Returns of each the cycles of the unit that
    /// is busy longest. None: the layer is finished.
    virtual std::vector<double> begin_layer(std::size_t slice, std::uint32_t layer) = 0;
    /// nullopt if the step can't be taken yet.
    virtual std::optional<StepOffer> offer(const NextStep& step) const = 0;
    /// The fewest cycles that units wait behind a step for one of `steps` of another layer, or for the next
    /// of its own layer.
    virtual double wait_behind(const NextStep& chosen, std::span<const NextStep> steps) const = 0;
    /// Takes a step. Returns when its results are there.
    virtual double take(const NextStep& step) = 0;
    /// A slice has left the network, with the results that came at `end`. Slices leave in order.
    virtual void close_slice(double end) = 0;

protected:
    StepUnits() = default;
};

/// Puts the steps of pipelined slices in order: a list scheduler. Of all steps that may be next, it takes the
/// one for which units wait the fewest cycles, before it and before the best step behind it; if there are
/// several, one of the slice with the most work left in its stage. Waits that differ by `alike` cycles or
/// less are equal.
///
/// The steps of a layer may begin when the layers are finished for which it waits in the graph; slices enter
/// stages as Stages says. Throws std::logic_error if no step can be next and slices are left.
void order_steps(const LayerGraph& graph, const Stages& stages, std::size_t slices, double alike,
                 StepUnits& units);

}  // namespace systole::schedule
