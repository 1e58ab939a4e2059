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

HostInterface::HostInterface(const sc_core::sc_module_name& name, const UnitContext& context, HostLink& link,
                             UnifiedBufferAccess& buffer)
    : UnitModule(name),
      context_(context),
      latency_(context.machine.host_latency()),
      link_(link),
      buffer_(buffer),
      reads_(isa::QueueId::HostRead, host_read_traces, context, &context.waits.inputs()),
      writes_(isa::QueueId::HostWrite, host_write_traces, context, nullptr, context.cores > 1) {
    context.waits.set_role(isa::QueueId::HostRead, QueueRole::Delivers);
    context.waits.set_role(isa::QueueId::HostWrite, QueueRole::Fetches);
    register_counters(counters_);
    register_counters("host_read", reads_.counters());
    register_counters("host_write", writes_.counters());
    reads_.start("host_read", [this](const Command& command) { execute_read(command); });
    writes_.start("host_write", [this](const Command& command) { execute_write(command); });
}

void HostInterface::send_instruction(std::uint64_t bytes, Tag tag) {
    counters_.instruction_bytes.add(bytes, tag);
    link_.send_urgent(context_.core, bytes);
}

Cycle HostInterface::receive_weights(std::uint64_t bytes, Tag tag) {
    link_.acquire(context_.core, HostLink::Inbound::Weights);
    link_.inbound(context_.core).transfer(bytes);
    const Cycle sent = context_.clock.now();
    link_.release(context_.core, HostLink::Inbound::Weights, sent);
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

template <class Counters>
void HostInterface::move(QueueLoop<Counters>& loop, tlm::tlm_command direction, InstructionNumber number,
                         const Blocks& blocks) {
    if (context_.computes_values()) {
        if (std::uint8_t* const host =
                direct_bytes(direction, blocks.host_address,
                             (blocks.blocks - 1) * blocks.host_stride + blocks.block_bytes)) {
            loop.compute([direction, blocks, host](ValueWorkers::Scratch&) {
                for (std::uint64_t block = 0; block < blocks.blocks; ++block) {
                    std::uint8_t* const in_host = host + block * blocks.host_stride;
                    std::uint8_t* const in_rows = blocks.rows + block * blocks.stride;
                    const bool read = direction == tlm::TLM_READ_COMMAND;
                    std::memcpy(read ? in_rows : in_host, read ? in_host : in_rows, blocks.block_bytes);
                }
            });
            return;
        }
        loop.wait_for_order();
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

void HostInterface::execute_read(const Command& command) {
    using Activity = UnitHistory::Activity;
    const auto& read = std::get<isa::ReadHostMemory>(command.bound.instruction);
    const timing::HostTransferCost cost = timing::host_transfer_cost(read, context_.machine);
    link_.acquire(context_.core, HostLink::Inbound::Data);
    reads_.waited(reads_.counters().link_stall_cycles, Activity::Port);
    context_.ports.acquire(host_read_user, {{.port = buffer_write_port, .offset = latency_}});
    reads_.waited(reads_.counters().port_stall_cycles, Activity::Port);
    reads_.begin();
    const std::uint64_t rows = command.bound.footprint.written_rows(isa::MemoryId::UnifiedBuffer).count();
    move(reads_, tlm::TLM_READ_COMMAND, command.number,
         blocks_of(read.host_address, read.block_bytes, read.blocks, *command.bound.registers,
                   buffer_.write(read.unified_buffer_row, rows)));
    link_.inbound(context_.core).transfer(cost.bytes);
    const Cycle sent = context_.clock.now();
    link_.release(context_.core, HostLink::Inbound::Data, sent);
    context_.ports.release(host_read_user, sent + latency_);
    counters_.read_bytes.add(cost.bytes, command.tag);
    buffer_.count_writes(cost.buffer_accesses, command.tag);
    counters_.buffer_writes.add(cost.buffer_accesses, command.tag);
    reads_.moves(cost.bytes);
    reads_.complete(sent, sent + latency_);
}

void HostInterface::execute_write(const Command& command) {
    if (const auto* write = std::get_if<isa::WriteHostMemory>(&command.bound.instruction)) {
        const timing::HostTransferCost cost = timing::host_transfer_cost(*write, context_.machine);
        link_.acquire_outbound(context_.core);
        if (Counter* const reason = writes_.counters().link_stall_cycles) writes_.waited(*reason);
        context_.ports.acquire(host_write_user, {{.port = buffer_read_port}});
        writes_.waited(writes_.counters().port_stall_cycles);
        writes_.begin();
        const std::uint64_t count = command.bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer).count();
        // TLM payloads carry a writable pointer; a write command only reads from it.
        auto* const rows = const_cast<std::uint8_t*>(buffer_.read(write->unified_buffer_row, count));
        move(writes_, tlm::TLM_WRITE_COMMAND, command.number,
             blocks_of(write->host_address, write->block_bytes, write->blocks, *command.bound.registers,
                       rows));
        link_.outbound(context_.core).transfer(cost.bytes);
        link_.release_outbound(context_.core, context_.clock.now());
        context_.ports.release(host_write_user, context_.clock.now());
        counters_.write_bytes.add(cost.bytes, command.tag);
        writes_.moves(cost.bytes);
        buffer_.count_reads(cost.buffer_accesses, command.tag);
        counters_.buffer_reads.add(cost.buffer_accesses, command.tag);
    } else if (std::holds_alternative<isa::InterruptHost>(command.bound.instruction)) {
        writes_.begin();
        counters_.interrupts.add(1, command.tag);
    } else {
        throw std::logic_error("an instruction that the host interface does not write for");
    }
    const Cycle sent = context_.clock.now();
    writes_.complete(sent, sent + latency_);
}

}  // namespace systole::hw
