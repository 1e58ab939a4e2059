#include "hw/dma/dma.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "hw/common/order_checker.h"
#include "hw/common/tag_extension.h"
#include "hw/isa/encoding.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program_error.h"

namespace systole::hw {

Dma::Dma(const sc_core::sc_module_name& name, const UnitContext& context, HbmAccess& hbm,
         WordMemoryAccess& vector_memory)
    : UnitModule(name),
      context_(context),
      lanes_(context.machine.vector_unit.lanes),
      row_bytes_(context.machine.vector_row_bytes()),
      latency_(context.machine.hbm_latency()),
      hbm_(hbm),
      vector_memory_(vector_memory),
      in_(isa::QueueId::DmaIn, {.track = "dma_in", .signals = "dma.in_"}, context, &context.waits.inputs()),
      out_(isa::QueueId::DmaOut, {.track = "dma_out", .signals = "dma.out_"}, context,
           &context.waits.outputs()) {
    context.waits.set_role(isa::QueueId::DmaIn, QueueRole::Delivers);
    context.waits.set_role(isa::QueueId::DmaOut, QueueRole::Fetches);
    register_counters(counters_);
    register_counters("dma_in", in_.counters());
    register_counters("dma_out", out_.counters());
    in_.start("dma_in", [this](const Command& command) { execute(in_, command); });
    out_.start("dma_out", [this](const Command& command) { execute(out_, command); });
}

void Dma::execute(Queue& queue, const Command& command) {
    queue.begin();
    hbm_.touch(command.bound.footprint);
    vector_memory_.touch(command.bound.footprint);
    if (const auto* const rows = std::get_if<isa::GatherRows>(&command.bound.instruction)) {
        gather(*rows, command);
    } else {
        copy_blocks(queue, command);
    }
    const Cycle sent = context_.clock.now();
    queue.complete(sent, sent + latency_);
}

void Dma::copy_blocks(Queue& queue, const Command& command) {
    Transfer transfer{.tag = command.tag};
    const auto take_rows = [&](const auto& dma) {
        transfer.hbm_row = hbm_.first_row() + dma.hbm_row;
        transfer.row = dma.row;
        transfer.blocks = {.rows = dma.rows, .blocks = dma.blocks};
    };
    if (const auto* const in = std::get_if<isa::DmaIn>(&command.bound.instruction)) {
        take_rows(*in);
    } else {
        take_rows(std::get<isa::DmaOut>(command.bound.instruction));
        transfer.direction = Direction::Out;
    }
    const isa::Registers& registers = *command.bound.registers;
    transfer.hbm_stride = isa::hbm_stride(registers, transfer.blocks);
    transfer.memory_stride = isa::memory_stride(registers, transfer.blocks);
    if (context_.computes_values()) {
        queue.compute(
            [this, transfer, words = hbm_words()](ValueWorkers::Scratch&) { copy(transfer, words); });
    }
    const std::uint64_t bytes = transfer.blocks.rows * transfer.blocks.blocks * row_bytes_;
    if (transfer.direction == Direction::In) {
        counters_.in_bytes.add(bytes, command.tag);
        vector_memory_.count_writes(bytes, command.tag);
    } else {
        counters_.out_bytes.add(bytes, command.tag);
        vector_memory_.count_reads(bytes, command.tag);
    }
    this->transfer(queue, transfer);
}

void Dma::gather(const isa::GatherRows& gather, const Command& command) {
    // Each row is a transaction. The rows' own places are not known without values, and change no time: all
    // count as the table's first.
    const auto rows_at = [&](std::uint64_t row, std::uint64_t rows) {
        return Transfer{.hbm_row = hbm_.first_row() + row,
                        .blocks = {.rows = 1, .blocks = rows},
                        .hbm_stride = 0,
                        .tag = command.tag};
    };
    transfer(in_, rows_at(gather.indices, 1));
    context_.clock.wait_until(context_.clock.now() + latency_);
    in_.waited(in_.counters().busy_cycles);
    const std::uint64_t rows = std::uint64_t{gather.rows} * gather.blocks;
    if (context_.computes_values()) {
        const isa::Registers& registers = *command.bound.registers;
        in_.compute(
            [this, gather, rows = gathered_rows(gather, command),
             apart = isa::hbm_stride(registers, {.rows = gather.table_rows, .blocks = gather.blocks}),
             memory_apart = isa::memory_stride(registers, {.rows = gather.rows, .blocks = gather.blocks}),
             words = hbm_words()](ValueWorkers::Scratch&) {
                for (std::uint64_t block = 0; block < gather.blocks; ++block) {
                    std::uint32_t* to = vector_memory_.from_row(gather.row + block * memory_apart);
                    for (const std::uint64_t row : rows)
                        to = std::copy_n(words + (row + block * apart) * lanes_, lanes_, to);
                }
            });
    }
    counters_.in_bytes.add((rows + 1) * row_bytes_, command.tag);
    vector_memory_.count_writes(rows * row_bytes_, command.tag);
    transfer(in_, rows_at(gather.hbm_row, rows));
}

std::vector<std::uint64_t> Dma::gathered_rows(const isa::GatherRows& gather, const Command& command) {
    in_.wait_for_order();
    const std::uint64_t first = hbm_.first_row();
    const std::uint32_t* const indices = hbm_words() + (first + gather.indices) * lanes_;
    std::vector<std::uint64_t> rows;
    rows.reserve(gather.rows);
    try {
        for (std::uint64_t i = 0; i < gather.rows; ++i)
            rows.push_back(first + gather.hbm_row + isa::gathered_row(gather, i, indices[i]));
    } catch (const isa::ProgramError& error) {
        throw InstructionError(command.number, error.what());
    }
    return rows;
}

void Dma::transfer(Queue& queue, const Transfer& transfer) {
    const auto direction = static_cast<std::size_t>(transfer.direction);
    asked_[direction] = transfer;
    const Cycle sent = hbm_.requests().transfer(hbm_.core(), *this, direction);
    context_.clock.wait_until(started_[direction]);
    queue.waited(queue.counters().hbm_cycles);
    context_.clock.wait_until(sent);
}

Cycle Dma::serve_transfer(std::size_t direction) {
    const Transfer& transfer = asked_[direction];
    Cycle& free_at = hbm_.requests().free_at;
    started_[direction] = std::max(context_.clock.now(), free_at);
    const isa::RowBlocks& blocks = transfer.blocks;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (transfer.hbm_stride == blocks.rows) {
        move(transfer, transfer.hbm_row, blocks.rows * blocks.blocks, delay);
    } else {
        for (std::uint64_t block = 0; block < blocks.blocks; ++block) {
            move(transfer, transfer.hbm_row + block * transfer.hbm_stride, blocks.rows, delay);
        }
    }
    free_at = context_.clock.after(delay);
    return free_at;
}

void Dma::move(const Transfer& transfer, std::uint64_t row, std::uint64_t rows, sc_core::sc_time& delay) {
    // A transaction has fewer bytes than 2^32, whatever the memory's size.
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;
    const std::uint64_t most_rows = most_bytes / row_bytes_;
    TagExtension counted_for(transfer.tag);
    tlm::tlm_generic_payload payload;
    payload.set_extension(&counted_for);
    payload.set_command(transfer.direction == Direction::In ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
    for (std::uint64_t done = 0; done < rows; done += most_rows) {
        const std::uint64_t bytes = std::min(most_rows, rows - done) * row_bytes_;
        payload.set_address((row + done) * row_bytes_);
        payload.set_data_length(static_cast<unsigned>(bytes));
        payload.set_streaming_width(static_cast<unsigned>(bytes));
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        memory->b_transport(payload, delay);
        if (payload.is_response_ok()) continue;
        throw std::logic_error(fmt::format("high-bandwidth memory: {} bytes at address {} give {}", bytes,
                                           payload.get_address(), payload.get_response_string()));
    }
    payload.clear_extension(&counted_for);
}

std::uint32_t* Dma::hbm_words() {
    if (hbm_words_ != nullptr) return hbm_words_;
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(0);
    tlm::tlm_dmi access;
    if (!memory->get_direct_mem_ptr(payload, access) || !access.is_read_write_allowed()) {
        throw std::logic_error("high-bandwidth memory gives no direct access");
    }
    hbm_words_ = reinterpret_cast<std::uint32_t*>(access.get_dmi_ptr());
    return hbm_words_;
}

void Dma::copy(const Transfer& transfer, std::uint32_t* hbm) const {
    for (std::uint64_t block = 0; block < transfer.blocks.blocks; ++block) {
        std::uint32_t* const outside = hbm + (transfer.hbm_row + block * transfer.hbm_stride) * lanes_;
        std::uint32_t* const inside = vector_memory_.from_row(transfer.row + block * transfer.memory_stride);
        const std::uint64_t words = transfer.blocks.rows * lanes_;
        if (transfer.direction == Direction::In) {
            std::copy_n(outside, words, inside);
        } else {
            std::copy_n(inside, words, outside);
        }
    }
}

}  // namespace systole::hw
