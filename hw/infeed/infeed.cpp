#include "hw/infeed/infeed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <variant>
#include <vector>

#include "hw/common/order_checker.h"
#include "hw/isa/instruction.h"
#include "hw/math/floats/word_rows.h"
#include "hw/timing/tensor.h"

namespace systole::hw {

InfeedLink::InfeedLink(const sc_core::sc_module_name& name, const UnitContext& context, HostLink& link,
                       HostMemoryAccess& host_memory, WordMemoryAccess& hbm)
    : UnitModule(name),
      context_(context),
      shape_(timing::tensor_shape_of(context.machine)),
      latency_(context.machine.host_latency()),
      link_(link),
      host_memory_(host_memory),
      hbm_(hbm),
      reads_(isa::QueueId::HostRead, host_read_traces, context, nullptr, context.machine.system.cores > 1),
      writes_(isa::QueueId::HostWrite, host_write_traces, context, nullptr,
              context.machine.system.cores > 1) {
    context.waits.set_role(isa::QueueId::HostRead, QueueRole::Feeds);
    context.waits.set_role(isa::QueueId::HostWrite, QueueRole::Fetches);
    register_counters(counters_);
    register_counters("host_read", reads_.counters());
    register_counters("host_write", writes_.counters());
    reads_.start("host_read", [this](const Command& command) { read(command); });
    writes_.start("host_write", [this](const Command& command) { write(command); });
}

void InfeedLink::send_instruction(std::uint64_t bytes, Tag tag) {
    counters_.instruction_bytes.add(bytes, tag);
    link_.send_urgent(context_.core, bytes);
}

std::uint8_t* InfeedLink::host_words(const Command& command, const isa::RowRange& bytes) {
    if (!host_memory_.has(bytes.first, bytes.count())) {
        throw InstructionError(command.number,
                               fmt::format("host bytes {} to {} lie in none of the program's buffers",
                                           bytes.first, bytes.last - 1));
    }
    return context_.computes_values() ? host_memory_.host_bytes(bytes.first, bytes.count()) : nullptr;
}

void InfeedLink::read(const Command& command) {
    link_.acquire(context_.core, HostLink::Inbound::Data);
    if (Counter* const reason = reads_.counters().link_stall_cycles) reads_.waited(*reason);
    reads_.begin();
    const auto& infeed = std::get<isa::Infeed>(command.bound.instruction);
    const isa::Registers& registers = *command.bound.registers;
    const isa::RowRange host = isa::host_words(registers, infeed.host_address, infeed.rows, infeed.columns);
    const Matrix matrix{
        .host = host_words(command, host),
        .panels = isa::hbm_panels(registers, shape_, infeed.hbm_row, {infeed.rows, infeed.columns},
                                  isa::Register::ResultPanelRows, infeed.packed),
        .rows = infeed.rows,
        .columns = infeed.columns};
    if (matrix.host != nullptr) {
        reads_.compute([this, matrix](ValueWorkers::Scratch&) { copy_in(matrix); });
    }
    hbm_.touch(command.bound.footprint);
    hbm_.count_writes(matrix.panels.panels * matrix.panels.rows * shape_.lanes * isa::word_bytes,
                      command.tag);
    const std::uint64_t bytes = infeed.bytes_sent();
    counters_.read_bytes.add(bytes, command.tag);
    reads_.moves(bytes);
    link_.inbound(context_.core).transfer(bytes);
    const Cycle sent = context_.clock.now();
    link_.release(context_.core, HostLink::Inbound::Data, sent);
    reads_.complete(sent, sent + latency_);
}

void InfeedLink::write(const Command& command) {
    const auto* const outfeed = std::get_if<isa::Outfeed>(&command.bound.instruction);
    if (outfeed == nullptr) {
        std::get<isa::InterruptHost>(command.bound.instruction);
        const Cycle sent = writes_.begin();
        counters_.interrupts.add(1, command.tag);
        writes_.complete(sent, sent + latency_);
        return;
    }
    link_.acquire_outbound(context_.core);
    if (Counter* const reason = writes_.counters().link_stall_cycles) writes_.waited(*reason);
    writes_.begin();
    const isa::Registers& registers = *command.bound.registers;
    const isa::RowRange host =
        isa::host_words(registers, outfeed->host_address, outfeed->rows, outfeed->columns);
    const Matrix matrix{
        .host = host_words(command, host),
        .panels = isa::hbm_panels(registers, shape_, outfeed->hbm_row, {outfeed->rows, outfeed->columns},
                                  isa::Register::SourcePanelRows),
        .rows = outfeed->rows,
        .columns = outfeed->columns};
    if (matrix.host != nullptr) {
        writes_.compute([this, matrix](ValueWorkers::Scratch&) { copy_out(matrix); });
    }
    hbm_.touch(command.bound.footprint);
    hbm_.count_reads(host.count(), command.tag);
    counters_.write_bytes.add(host.count(), command.tag);
    writes_.moves(host.count());
    link_.outbound(context_.core).transfer(host.count());
    const Cycle sent = context_.clock.now();
    link_.release_outbound(context_.core, sent);
    writes_.complete(sent, sent + latency_);
}

void InfeedLink::copy_in(const Matrix& matrix) const {
    const std::uint8_t* from = matrix.host;
    const bool packed = matrix.panels.packed;
    std::vector<std::uint32_t> line(packed ? shape_.lanes : 0);
    for (std::uint64_t row = 0; row < matrix.rows; ++row) {
        for (std::uint64_t panel = 0; panel < matrix.panels.panels; ++panel) {
            const std::uint64_t words =
                std::min<std::uint64_t>(shape_.lanes, matrix.columns - panel * shape_.lanes);
            const std::uint64_t memory_row = matrix.panels.first_row_of(panel) + (packed ? row / 2 : row);
            std::uint32_t* const to = hbm_.from_row(memory_row);
            if (packed) {
                std::memcpy(line.data(), from, words * isa::word_bytes);
                if (row % 2 == 0) std::fill_n(to, shape_.lanes, 0);
                math::narrow(line.data(), words, row % 2 == 0 ? math::WordHalf::Lower : math::WordHalf::Upper,
                             to);
            } else {
                std::memcpy(to, from, words * isa::word_bytes);
                std::fill(to + words, to + shape_.lanes, 0);
            }
            from += words * isa::word_bytes;
        }
    }
}

void InfeedLink::copy_out(const Matrix& matrix) const {
    std::uint8_t* to = matrix.host;
    for (std::uint64_t row = 0; row < matrix.rows; ++row) {
        for (std::uint64_t panel = 0; panel < matrix.panels.panels; ++panel) {
            const std::uint64_t bytes =
                std::min<std::uint64_t>(shape_.lanes, matrix.columns - panel * shape_.lanes) *
                isa::word_bytes;
            std::memcpy(to, hbm_.from_row(matrix.panels.first_row_of(panel) + row), bytes);
            to += bytes;
        }
    }
}

}  // namespace systole::hw
