#include "hw/isa/footprint.h"

#include <fmt/format.h>

#include "hw/isa/assembly.h"
#include "hw/isa/field_checker.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"

namespace systole::isa {

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

std::vector<HostRange> host_ranges(const HostWork& work, const Program& program) {
    if (const auto rule = broken_rule(work, program)) throw ProgramError(*rule);
    std::vector<HostRange> ranges;
    const HostSegment& segment = program.host_segments[work.segment];
    const auto add = [&](const std::vector<SegmentTensor>& tensors, bool is_written) {
        for (const SegmentTensor& tensor : tensors) {
            const std::uint64_t first =
                program.buffers[tensor.buffer].address + work.first_inference * tensor.bytes;
            ranges.push_back(
                {.bytes = {first, first + work.images * tensor.bytes}, .is_written = is_written});
        }
    };
    add(segment.reads, false);
    add(segment.writes, true);
    return ranges;
}

Footprint footprint(const Instruction& instruction, const Registers& registers, const Program& program) {
    Footprint touched = footprint(instruction, registers, program.geometry);
    if (const auto* work = std::get_if<HostWork>(&instruction)) {
        touched.host_work = std::make_shared<const std::vector<HostRange>>(host_ranges(*work, program));
    }
    return touched;
}

std::optional<Unit> unit_of(const Instruction& instruction) {
    return std::visit([](const auto& each) { return each.queue(); }, instruction);
}

}  // namespace systole::isa
