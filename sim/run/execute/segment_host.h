#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/comparison.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// The host's processor: it computes the segments of a program by their graphs, and takes the time that a
/// baseline takes for them (baselines::work_costs).
class SegmentHost final : public isa::HostProcessor {
public:
    /// The program must outlive the host; `clock_hz` is that of the chip. Throws ProgramError if the graph of
    /// a segment cannot be read or has other tensors than the segment; with `with_values`, also if it has
    /// none.
    SegmentHost(const isa::Program& program, const baselines::Baseline& baseline, double clock_hz,
                bool with_values);

    Cycle cycles(const isa::HostWork& work) const override;
    void compute(const isa::HostWork& work, const isa::HostTensors& tensors) override;

    /// The work of each segment in the whole program, up to `halt`.
    std::vector<SegmentWork> work() const;

private:
    const isa::Program& program_;
    const baselines::WorkCosts costs_;
    const double clock_hz_;
    std::vector<ir::Graph> graphs_;  ///< by segment; none in a run without values
};

}  // namespace systole::run
