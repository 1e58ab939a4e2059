#include "hw/isa/footprint.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <variant>

#include "base/arithmetic.h"
#include "hw/isa/assembly.h"
#include "hw/isa/field_checker.h"
#include "hw/isa/panels.h"
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

/// A source or result of a chain.
struct ChainOperand {
    Panels panels;
    RowWalk walk;
    bool packed = false;

    bool operator==(const ChainOperand&) const = default;
};

ChainOperand chain_operand(const RunChain& run, const Registers& registers, const TensorShape& shape,
                           std::size_t place, const ChainSource& source) {
    ChainOperand operand{.panels = {}, .walk = {}, .packed = source.packed};
    const std::uint64_t first_row = run.sources[place];
    switch (source.spread) {
        case Spread::Rows: {
            if (place == 0) operand.walk = walk_from(registers, run.rows);
            const Register panel_rows = place == 0 ? Register::SourcePanelRows : Register::OtherPanelRows;
            operand.panels =
                panels_of(registers, shape, first_row, {operand.walk.reach(run.rows), run.columns},
                          panel_rows, source.packed);
            return operand;
        }
        case Spread::Row:
            operand.panels = {
                .first_row = first_row, .rows = divide_up(run.columns, shape.lanes), .panels = 1};
            memory_rows(first_row, operand.panels.rows);
            return operand;
        case Spread::Column:
            operand.panels = {.first_row = first_row, .rows = run.rows, .panels = 1};
            memory_rows(first_row, run.rows);
            return operand;
        case Spread::Result:
            break;  // the result's own rows
    }
    throw std::logic_error("a spread without rows of its own");
}

/// Each row of a result is written when the rows of the sources of the same number have been read.
Footprint chain_footprint(const RunChain& run, const Registers& registers, const Program& program) {
    if (const auto rule = broken_rule(run, program)) throw ProgramError(*rule);
    const Chain& chain = program.chains[run.chain];
    const TensorShape& shape = program.geometry.tensor;
    std::vector<ChainOperand> results;
    std::vector<MemoryRows> ranges;
    for (std::size_t i = 0; i < chain.results.size(); ++i) {
        const RowWalk walk = i == 0 ? walk_to(registers, run.rows) : RowWalk{};
        const bool packed = chain.results[i].packed;
        results.push_back(
            {.panels = panels_of(registers, shape, run.results[i], {walk.reach(run.rows), run.columns},
                                 Register::ResultPanelRows, packed),
             .walk = walk,
             .packed = packed});
        ranges.push_back({.memory = MemoryId::VectorMemory,
                          .access = Access::Write,
                          .rows = results.back().panels.range()});
    }
    if (results.size() > 1 && ranges[0].rows.overlaps(ranges[1].rows))
        throw ProgramError("its results overlap");
    for (std::size_t i = 0; i < chain.sources.size(); ++i) {
        if (chain.sources[i].spread == Spread::Result) {
            ranges.push_back(
                {.memory = MemoryId::VectorMemory, .access = Access::Read, .rows = ranges[0].rows});
            continue;
        }
        const ChainOperand source = chain_operand(run, registers, shape, i, chain.sources[i]);
        const RowRange read = source.panels.range();
        for (std::size_t j = 0; j < results.size(); ++j) {
            const bool in_place = chain.sources[i].spread == Spread::Rows && source == results[j];
            if (in_place || !read.overlaps(ranges[j].rows)) continue;
            throw ProgramError("a result may not overlap a source, but for replacing it in its place");
        }
        ranges.push_back({.memory = MemoryId::VectorMemory, .access = Access::Read, .rows = read});
    }
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
    Footprint touched = footprint(instruction, registers, program.geometry);
    if (const auto* const work = std::get_if<HostWork>(&instruction)) return host_footprint(*work, program);
    const auto* const run = std::get_if<RunChain>(&instruction);
    if (run == nullptr) return touched;
    try {
        return chain_footprint(*run, registers, program);
    } catch (const ProgramError& error) {
        throw ProgramError(fmt::format("{}: {}", to_string(instruction), error.what()));
    }
}

std::optional<QueueId> queue_of(const Instruction& instruction) {
    return std::visit([](const auto& each) { return each.queue(); }, instruction);
}

}  // namespace systole::isa
