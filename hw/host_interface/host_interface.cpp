#include "hw/host_interface/host_interface.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <variant>

#include "hw/common/order_checker.h"
#include "hw/common/ports.h"
#include "hw/isa/queue.h"
#include "hw/isa/rows.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

namespace {

constexpr std::size_t read_unit = static_cast<std::size_t>(isa::QueueId::HostRead);
constexpr std::size_t write_unit = static_cast<std::size_t>(isa::QueueId::HostWrite);

}  // namespace

HostInterface::HostInterface(const sc_core::sc_module_name& name, const UnitContext& context,
                             UnifiedBufferAccess& buffer)
    : UnitModule(name),
      context_(context),
      latency_(context.machine.host_latency()),
      buffer_(buffer),
      history_(context.waits.host_read()),
      inbound_(context.machine.host_read_rate(), context.clock),
      outbound_(context.machine.host_write_rate(), context.clock),
      read_queue_(read_unit, context.machine.sequencer.queue_depth, context.semaphores, context.clock),
      write_queue_(write_unit, context.machine.sequencer.queue_depth, context.semaphores, context.clock) {
    read_queue_.record_waits(&history_);
    register_counters(counters_);
    register_counters("host_read", read_counters_);
    register_counters("host_write", write_counters_);
    spawn("host_read", context.failure, [this] { run_reads(); });
    spawn("host_write", context.failure, [this] { run_writes(); });
}

Cycle HostInterface::send_instruction(std::uint64_t bytes, Tag tag) {
    counters_.instruction_bytes.add(bytes, tag);
    return inbound_.send_urgent(bytes) + latency_;
}

Cycle HostInterface::receive_weights(std::uint64_t bytes, Tag tag) {
    context_.ports.acquire(weight_link_user, {{.port = host_link_port}});
    inbound_.transfer(bytes);
    const Cycle sent = context_.clock.now();
    context_.ports.release(weight_link_user, sent);
    counters_.weight_bytes.add(bytes, tag);
    return sent + latency_;
}

std::uint8_t* HostInterface::direct_bytes(tlm::tlm_command direction, std::uint64_t address,
                                          std::uint64_t bytes) {
    tlm::tlm_generic_payload& payload = new_payload(direction, address);
    tlm::tlm_dmi access;
    if (!memory->get_direct_mem_ptr(payload, access)) return nullptr;
    const bool allowed =
        direction == tlm::TLM_READ_COMMAND ? access.is_read_allowed() : access.is_write_allowed();
    const bool covered =
        address >= access.get_start_address() && address + bytes - 1 <= access.get_end_address();
    return allowed && covered ? access.get_dmi_ptr() + (address - access.get_start_address()) : nullptr;
}

tlm::tlm_generic_payload& HostInterface::new_payload(tlm::tlm_command direction, std::uint64_t address) {
    tlm::tlm_generic_payload& payload = direction == tlm::TLM_READ_COMMAND ? read_payload_ : write_payload_;
    payload.set_command(direction);
    payload.set_address(address);
    payload.set_data_ptr(nullptr);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return payload;
}

HostInterface::Blocks HostInterface::blocks_of(std::uint64_t host_address, std::uint64_t block_bytes,
                                               std::uint64_t blocks, const isa::Registers& registers,
                                               std::uint8_t* rows) const {
    const std::uint64_t row_bytes = buffer_.row_bytes();
    return {.host_address = host_address,
            .host_stride = isa::host_block_stride(registers, block_bytes),
            .block_bytes = block_bytes,
            .blocks = blocks,
            .rows = rows,
            .stride = isa::host_block_rows(registers, block_bytes, row_bytes) * row_bytes};
}

void HostInterface::move(tlm::tlm_command direction, std::size_t unit, InstructionNumber number,
                         const Blocks& blocks) {
    if (context_.computes_values()) {
        if (std::uint8_t* const host =
                direct_bytes(direction, blocks.host_address,
                             (blocks.blocks - 1) * blocks.host_stride + blocks.block_bytes)) {
            context_.workers.compute(
                unit, number, ValueWorkers::all_rows, [direction, blocks, host](ValueWorkers::Scratch&) {
                    for (std::uint64_t block = 0; block < blocks.blocks; ++block) {
                        std::uint8_t* const in_host = host + block * blocks.host_stride;
                        std::uint8_t* const in_rows = blocks.rows + block * blocks.stride;
                        const bool read = direction == tlm::TLM_READ_COMMAND;
                        std::memcpy(read ? in_rows : in_host, read ? in_host : in_rows, blocks.block_bytes);
                    }
                });
            return;
        }
        context_.workers.wait_for_order(unit);
    }
    for (std::uint64_t block = 0; block < blocks.blocks; ++block) {
        const std::uint64_t address = blocks.host_address + block * blocks.host_stride;
        tlm::tlm_generic_payload& payload = new_payload(direction, address);
        payload.set_data_length(static_cast<unsigned>(blocks.block_bytes));
        payload.set_streaming_width(static_cast<unsigned>(blocks.block_bytes));
        payload.set_data_ptr(context_.computes_values() ? blocks.rows + block * blocks.stride : nullptr);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        memory->b_transport(payload, delay);
        if (!payload.is_response_ok()) {
            throw InstructionError(
                number, fmt::format("host bytes {} to {} lie in none of the program's buffers", address,
                                    address + blocks.block_bytes - 1));
        }
    }
}

void HostInterface::run_reads() {
    for (;;) {
        const auto command = read_queue_.next(read_counters_);
        const auto& read = std::get<isa::ReadHostMemory>(command.bound.instruction);
        const timing::HostTransferCost cost = timing::host_transfer_cost(read, context_.machine);
        context_.ports.acquire(data_link_user, {{.port = host_link_port}});
        read_counters_.spend(read_counters_.link_stall_cycles, context_.clock.now(), command.tag);
        history_.waited(UnitHistory::Activity::Port, context_.clock.now());
        context_.ports.acquire(host_read_user, {{.port = buffer_write_port, .offset = latency_}});
        read_counters_.spend(read_counters_.port_stall_cycles, context_.clock.now(), command.tag);
        history_.waited(UnitHistory::Activity::Port, context_.clock.now());
        const Cycle begun = context_.clock.now();
        context_.order.begin(read_unit, command.number);
        move(tlm::TLM_READ_COMMAND, read_unit, command.number,
             blocks_of(
                 read.host_address, read.block_bytes, read.blocks, *command.bound.registers,
                 buffer_.write(read.unified_buffer_row,
                               command.bound.footprint.written_rows(isa::MemoryId::UnifiedBuffer).count())));
        inbound_.transfer(cost.bytes);
        const Cycle sent = context_.clock.now();
        context_.ports.release(data_link_user, sent);
        context_.ports.release(host_read_user, sent + latency_);
        counters_.read_bytes.add(cost.bytes, command.tag);
        read_counters_.spend(read_counters_.busy_cycles, sent, command.tag);
        buffer_.count_writes(cost.buffer_accesses, command.tag);
        counters_.buffer_writes.add(cost.buffer_accesses, command.tag);
        history_.worked(UnitHistory::Activity::Work, command.number, command.tag, sent, sent + latency_);
        read_queue_.complete(sent + latency_);
        if (context_.trace != nullptr) {
            context_.trace->instruction(
                {read_unit, command.number, command.tag, command.issued, begun, sent, sent + latency_});
        }
    }
}

void HostInterface::run_writes() {
    for (;;) {
        const auto command = write_queue_.next(write_counters_);
        Cycle begun = context_.clock.now();
        if (const auto* write = std::get_if<isa::WriteHostMemory>(&command.bound.instruction)) {
            const timing::HostTransferCost cost = timing::host_transfer_cost(*write, context_.machine);
            context_.ports.acquire(host_write_user, {{.port = buffer_read_port}});
            write_counters_.spend(write_counters_.port_stall_cycles, context_.clock.now(), command.tag);
            begun = context_.clock.now();
            context_.order.begin(write_unit, command.number);
            // TLM payloads carry a writable pointer; a write command only reads from it.
            const std::uint8_t* rows =
                buffer_.read(write->unified_buffer_row,
                             command.bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer).count());
            move(tlm::TLM_WRITE_COMMAND, write_unit, command.number,
                 blocks_of(write->host_address, write->block_bytes, write->blocks, *command.bound.registers,
                           const_cast<std::uint8_t*>(rows)));
            outbound_.transfer(cost.bytes);
            context_.ports.release(host_write_user, context_.clock.now());
            counters_.write_bytes.add(cost.bytes, command.tag);
            write_counters_.spend(write_counters_.busy_cycles, context_.clock.now(), command.tag);
            buffer_.count_reads(cost.buffer_accesses, command.tag);
            counters_.buffer_reads.add(cost.buffer_accesses, command.tag);
        } else if (std::holds_alternative<isa::InterruptHost>(command.bound.instruction)) {
            context_.order.begin(write_unit, command.number);
            counters_.interrupts.add(1, command.tag);
        } else {
            throw std::logic_error("an instruction that the host interface does not write for");
        }
        const Cycle sent = context_.clock.now();
        write_queue_.complete(sent + latency_);
        if (context_.trace != nullptr) {
            context_.trace->instruction(
                {write_unit, command.number, command.tag, command.issued, begun, sent, sent + latency_});
        }
    }
}

}  // namespace systole::hw
