#include "tests/support/random_program/draft.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/arithmetic.h"
#include "base/wrapped_sum.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"
#include "tests/support/random_program/data.h"

namespace systole::tests {

Draft::Draft(const machine::MachineConfig& machine, Choices& choices) : machine_(machine), choices_(choices) {
    program_.geometry = {.rows = machine.matrix_unit.rows, .columns = machine.matrix_unit.columns};
    draw_buffers();
    draw_initial_rows();
    draw_segments();
    loaded_.emplace(program_, machine_.accumulators.rows);
}

void Draft::draw_buffers() {
    const std::uint64_t chip_bytes = machine_.unified_buffer_bytes();
    std::uint64_t address = 0;
    const auto add_buffer = [&](const char* name, isa::BufferKind kind, std::uint64_t bytes) {
        address += choices_.from(0, 40);
        program_.buffers.push_back({.name = name, .kind = kind, .address = address, .bytes = bytes});
        if (kind == isa::BufferKind::Constant) {
            program_.buffers.back().contents = random_bytes(bytes, 1, choices_);
        }
        address += bytes;
    };
    add_buffer("first", isa::BufferKind::Constant,
               choices_.from(1, std::min<std::uint64_t>(chip_bytes, 900)));
    add_buffer("out", isa::BufferKind::Output, choices_.from(1, 600));
    if (choices_.chance(50)) add_buffer("second", isa::BufferKind::Constant, choices_.from(1, 200));
    if (choices_.chance(30)) add_buffer("third", isa::BufferKind::Output, choices_.from(1, 90));
    for (const char* name : {"exchanged", "also exchanged", "exchanged too"}) {
        if (choices_.chance(50)) add_buffer(name, isa::BufferKind::Exchange, choices_.from(1, 120));
    }
}

void Draft::draw_segments() {
    for (std::uint64_t i = choices_.from(0, 2); i > 0; --i) {
        isa::HostSegment segment{.name = "segment"};
        for (std::uint32_t buffer = 0; buffer < program_.buffers.size(); ++buffer) {
            const isa::HostBuffer& candidate = program_.buffers[buffer];
            const bool is_exchange = candidate.kind == isa::BufferKind::Exchange;
            if ((!is_exchange && candidate.kind != isa::BufferKind::Output) || choices_.chance(30)) continue;
            // Mostly of a few bytes, so that several inferences have room.
            const isa::SegmentTensor tensor{
                .buffer = buffer,
                .bytes = choices_.from(
                    1, choices_.chance(20) ? candidate.bytes : std::min<std::uint64_t>(candidate.bytes, 9))};
            (is_exchange && choices_.chance(50) ? segment.reads : segment.writes).push_back(tensor);
        }
        if (!segment.writes.empty()) program_.host_segments.push_back(std::move(segment));
    }
}

/// Sums that the machine's accumulators have room for.
std::vector<std::uint8_t> Draft::random_sums(std::uint64_t bytes) {
    std::vector<std::uint8_t> values = random_bytes(bytes, sizeof(std::int32_t), choices_);
    for (std::size_t at = 0; at < values.size(); at += sizeof(std::int32_t)) {
        std::int32_t sum = 0;
        std::memcpy(&sum, values.data() + at, sizeof sum);
        sum = wrapped_sum(sum, machine_.accumulators.sum_bits);
        std::memcpy(values.data() + at, &sum, sizeof sum);
    }
    return values;
}

void Draft::draw_initial_rows() {
    // Often all sums, so that every row can be activated; else some rows, or none.
    const std::uint64_t sums = machine_.accumulators.rows;
    const std::uint64_t sums_rows =
        choices_.chance(50) ? sums : choices_.from(0, std::min<std::uint64_t>(sums, 9));
    if (sums_rows > 0) {
        const std::uint64_t bytes =
            sums_rows * isa::row_bytes(isa::MemoryId::Accumulators, program_.geometry);
        program_.initial[isa::MemoryId::Accumulators].push_back(
            {.first_row = choices_.from(0, sums - sums_rows), .values = random_sums(bytes)});
    }
    if (!choices_.chance(30)) return;
    const std::uint64_t bytes =
        choices_.from(1, std::min<std::uint64_t>(machine_.unified_buffer_bytes(), 300));
    const std::uint64_t rows = divide_up(bytes, std::uint64_t{program_.geometry.rows});
    program_.initial[isa::MemoryId::UnifiedBuffer].push_back(
        {.first_row = choices_.from(0, machine_.unified_buffer.rows - rows),
         .values = random_bytes(bytes, 1, choices_)});
}

void Draft::add(const isa::Instruction& instruction, TileRun tiles) {
    instructions_.push_back({instruction, tiles});
    if (tiles.count > 0) in_array_ = tiles.first + tiles.count - 1;
}

void Draft::add_any() {
    constexpr std::array<Attempt, 9> attempts{&Draft::read_host, &Draft::write_host, &Draft::matmul,
                                              &Draft::convolve,  &Draft::activate,   &Draft::elementwise,
                                              &Draft::pooling,   &Draft::host_work,  &Draft::write_weights};
    // What moves data, in the proportion in which it meets others; a little of the rest.
    constexpr std::array<std::size_t, 18> common{0, 0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 7, 7, 8, 8};
    const auto kind = choices_.from(0, common.size() + 2);
    if (kind < common.size()) return add_fitting(attempts[common[kind]]);
    if (kind == common.size()) return add(isa::DebugTag{choices_.number<std::uint16_t>(0, 6)});
    if (kind == common.size() + 1) return add(isa::Nop{});
    add(isa::InterruptHost{});
}

void Draft::add_fitting(Attempt attempt) {
    constexpr int attempts = 25;
    for (int i = 0; i < attempts; ++i) {
        wanted_ = registers_;
        drawn_ = {};
        const auto instruction = (this->*attempt)();
        if (!instruction || !fits(*instruction)) continue;
        loaded_->follow(*instruction, wanted_, isa::footprint(*instruction, wanted_, program_));
        want_registers();
        add(*instruction, drawn_);
        return;
    }
}

bool Draft::fits(const isa::Instruction& instruction) const {
    try {
        const isa::Footprint touched = isa::footprint(instruction, wanted_, program_);
        if (!std::all_of(touched.begin(), touched.end(),
                         [this](const auto& each) { return is_there(each); })) {
            return false;
        }
        isa::LoadedValues(*loaded_).follow(instruction, wanted_, touched);
        return true;
    } catch (const isa::ProgramError&) {
        return false;  // the fields make no sense under the registers, or it uses what nothing has written
    }
}

bool Draft::is_there(const isa::MemoryRows& touched) const {
    if (touched.rows.empty()) return true;
    if (touched.memory == isa::MemoryId::UnifiedBuffer) {
        return touched.rows.last <= machine_.unified_buffer.rows;
    }
    return touched.memory != isa::MemoryId::Accumulators || touched.rows.last <= machine_.accumulators.rows;
}

void Draft::want_registers() {
    for (std::size_t index = 0; index < isa::register_count; ++index) {
        const auto reg = static_cast<isa::Register>(index);
        if (wanted_[reg] != registers_[reg]) add(isa::SetConfig{reg, wanted_[reg]});
    }
    registers_ = wanted_;
}

isa::Program random_program(const machine::MachineConfig& machine, Choices& choices) {
    Draft draft(machine, choices);
    isa::Program& program = draft.program();
    if (choices.chance(85)) {
        // Something to compute with.
        const std::uint64_t bytes = program.buffers.front().bytes;
        draft.add(isa::ReadHostMemory{
            .host_address = program.buffers.front().address,
            .unified_buffer_row = 0,
            .block_bytes = static_cast<std::uint32_t>(bytes),
            .blocks = 1,
        });
    }
    for (std::uint64_t i = choices.from(1, 24); i > 0; --i) draft.add_any();
    draft.add(isa::Halt{});
    // What stands behind the end is sent and never issued.
    for (std::uint64_t i = choices.chance(20) ? 3 : 0; i > 0; --i) draft.add(isa::Nop{});
    program.instructions = with_read_weights(draft.instructions(), program.tiles.size(), machine, choices);
    return std::move(program);
}

}  // namespace systole::tests
