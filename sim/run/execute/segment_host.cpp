#include "sim/run/execute/segment_host.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <variant>

#include "compiler/ir/model_error.h"
#include "compiler/reference/segment_executor.h"
#include "hw/isa/program_error.h"

namespace systole::run {
namespace {

[[noreturn]] void fail_segment(const isa::HostSegment& segment, const std::string& rule) {
    throw isa::ProgramError(fmt::format("host segment \"{}\": {}", segment.name, rule));
}

/// Throws unless values and tensors are as many and as large.
void check_sizes(const isa::HostSegment& segment, const ir::Graph& graph, const char* side,
                 const std::vector<ir::ValueId>& values, const std::vector<isa::SegmentTensor>& tensors) {
    if (values.size() != tensors.size()) {
        fail_segment(segment, fmt::format("its graph has {} {}; the segment has {}", values.size(), side,
                                          tensors.size()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const ir::Value& value = graph.values[values[i]];
        const std::uint64_t bytes = value.shape.elements() * bytes_of(value.type);
        if (bytes == tensors[i].bytes) continue;
        fail_segment(segment, fmt::format("value \"{}\" of its graph takes {} bytes; the segment's tensor {}",
                                          value.name, bytes, tensors[i].bytes));
    }
}

ir::Graph graph_of(const isa::HostSegment& segment) {
    if (segment.graph.empty()) fail_segment(segment, "it has no graph; such a program can only be timed");
    try {
        ir::Graph graph = reference::read_segment(segment.graph);
        check_sizes(segment, graph, "inputs", graph.inputs, segment.reads);
        check_sizes(segment, graph, "outputs", graph.outputs, segment.writes);
        if (!graph.has_weights) {
            fail_segment(segment, "its graph has no weights; such a program can only be timed");
        }
        return graph;
    } catch (const ModelError& error) {
        fail_segment(segment, error.what());
    }
}

}  // namespace

SegmentHost::SegmentHost(const isa::Program& program, const baselines::Baseline& baseline, double clock_hz,
                         bool with_values)
    : program_(program), costs_(baselines::work_costs(baseline)), clock_hz_(clock_hz) {
    if (!with_values) return;
    for (const isa::HostSegment& segment : program.host_segments) graphs_.push_back(graph_of(segment));
}

Cycle SegmentHost::cycles(const isa::HostWork& work) const {
    const isa::HostSegment& segment = program_.host_segments.at(work.segment);
    const double images = work.images;
    const double seconds = costs_.seconds(
        static_cast<double>(segment.layers.size()), images * static_cast<double>(segment.operations),
        images * static_cast<double>(segment.bytes) + static_cast<double>(segment.constant_bytes));
    // A time that is a whole number of cycles stays one: divisions may round up.
    constexpr double rounding = 1e-12;
    return static_cast<Cycle>(std::ceil(seconds * clock_hz_ * (1.0 - rounding)));
}

void SegmentHost::compute(const isa::HostWork& work, const isa::HostTensors& tensors) {
    reference::execute_segment(graphs_.at(work.segment), {.inputs = tensors.reads, .outputs = tensors.writes},
                               work.images);
}

std::vector<SegmentWork> SegmentHost::work() const {
    std::vector<SegmentWork> all;
    for (const isa::HostSegment& segment : program_.host_segments) {
        all.push_back({.name = segment.name,
                       .layers = segment.layers,
                       .macs = segment.macs,
                       .calls = 0,
                       .images = 0,
                       .cycles = 0});
    }
    for (const isa::Instruction& instruction : program_.instructions) {
        if (std::holds_alternative<isa::Halt>(instruction)) break;
        const auto* const work = std::get_if<isa::HostWork>(&instruction);
        if (work == nullptr) continue;
        SegmentWork& segment = all.at(work->segment);
        ++segment.calls;
        segment.images += work->images;
        segment.cycles += cycles(*work);
    }
    return all;
}

}  // namespace systole::run
