#pragma once

#include <span>
#include <vector>

#include "compiler/reference/segment_executor.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"

namespace systole::tests {

/// A host that computes the segments of a program by their graphs, in 100 cycles and 10 for each inference.
class ReferenceHost final : public isa::HostProcessor {
public:
    explicit ReferenceHost(const isa::Program& program) {
        for (const isa::HostSegment& segment : program.host_segments) {
            graphs_.push_back(reference::read_segment(segment.graph));
        }
    }

    Cycle cycles(const isa::HostWork& work) const override { return 100 + Cycle{10} * work.images; }

    void compute(const isa::HostWork& work, const isa::HostTensors& tensors) override {
        reference::execute_segment(graphs_.at(work.segment),
                                   {.inputs = tensors.reads, .outputs = tensors.writes}, work.images);
    }

private:
    std::vector<ir::Graph> graphs_;
};

}  // namespace systole::tests
