#include "hw/isa/footprint.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/field_checker.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"

namespace systole::isa {
namespace {

Footprint host_footprint(const HostWork& work, const Program& program) {
    if (const auto rule = broken_rule(work, program)) throw ProgramError(*rule);
    std::vector<MemoryRows> ranges;
    const HostSegment& segment = program.host_segments[work.segment];
    const auto add = [&](const std::vector<SegmentTensor>& tensors, Access access) {
        for (const SegmentTensor& tensor : tensors) {
            const std::uint64_t first =
                program.buffers[tensor.buffer].address + work.first_inference * tensor.bytes;
            ranges.push_back({.memory = MemoryId::HostMemory,
                              .access = access,
                              .rows = {first, first + work.images * tensor.bytes}});
        }
    };
    add(segment.reads, Access::Read);
    add(segment.writes, Access::Write);
    return Footprint(std::move(ranges));
}

}  // namespace

Footprint footprint(const Instruction& instruction, const Registers& registers, const Geometry& geometry) {
    if (geometry.rows == 0 || geometry.columns == 0) {
        throw ProgramError(
            fmt::format("the array is {} x {}; each must be at least 1", geometry.rows, geometry.columns));
    }
    try {
        check_fields(instruction);
        return std::visit([&](const auto& each) { return each.footprint(registers, geometry); }, instruction);
    } catch (const ProgramError& error) {
        throw ProgramError(fmt::format("{}: {}", to_string(instruction), error.what()));
    }
}

Footprint footprint(const Instruction& instruction, const Registers& registers, const Program& program) {
    const Footprint touched = footprint(instruction, registers, program.geometry);
    const auto* const work = std::get_if<HostWork>(&instruction);
    return work == nullptr ? touched : host_footprint(*work, program);
}

std::optional<QueueId> queue_of(const Instruction& instruction) {
    return std::visit([](const auto& each) { return each.queue(); }, instruction);
}

}  // namespace systole::isa
