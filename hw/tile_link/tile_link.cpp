#include "hw/tile_link/tile_link.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>
#include <variant>

#include "hw/common/order_checker.h"
#include "hw/isa/tile_layout.h"
#include "hw/timing/tiles.h"

namespace systole::hw {

TileLink::TileLink(const sc_core::sc_module_name& name, const UnitContext& context, HostLink& link,
                   HostMemoryAccess& host_memory, const TileMemories& memories)
    : UnitModule(name),
      context_(context),
      grid_(timing::grid_of(context.machine)),
      latency_(context.machine.host_latency()),
      call_cycles_(context.machine.host_call_cycles()),
      staging_bytes_(context.machine.staging_buffer.bytes),
      moves_words_(context.computes_values() &&
                   context.machine.tile_array.engine == machine::TileEngine::Lane),
      link_(link),
      host_memory_(host_memory),
      narrow_(memories.narrow),
      wide_(memories.wide),
      reads_(isa::QueueId::HostRead, host_read_traces, context),
      writes_(isa::QueueId::HostWrite, host_write_traces, context) {
    register_counters(counters_);
    register_counters("host_read", reads_.counters());
    register_counters("host_write", writes_.counters());
    reads_.start("host_read", [this](const Command& command) { execute_read(command); });
    writes_.start("host_write", [this](const Command& command) { execute_write(command); });
}

void TileLink::send_instruction(std::uint64_t bytes, Tag tag) {
    counters_.instruction_bytes.add(bytes, tag);
    link_.send_urgent(context_.core, bytes);
}

std::uint8_t* TileLink::host_bytes(const Command& command, std::uint64_t address, std::uint64_t bytes) {
    if (!host_memory_.has(address, bytes)) {
        throw InstructionError(
            command.number, fmt::format("host bytes {} to {} lie in none of the program's buffers", address,
                                        address + bytes - 1));
    }
    return context_.computes_values() ? host_memory_.host_bytes(address, bytes) : nullptr;
}

void TileLink::receive(std::uint64_t bytes) {
    reads_.moves(bytes);
    link_.inbound(context_.core).transfer(bytes);
}

void TileLink::execute_read(const Command& command) {
    link_.acquire(context_.core, HostLink::Inbound::Data);
    reads_.begin();
    const isa::Instruction& instruction = command.bound.instruction;
    if (const auto* const program = std::get_if<isa::ReadProgram>(&instruction)) {
        context_.clock.wait_until(context_.clock.now() + call_cycles_);
        counters_.program_bytes.add(program->bytes, command.tag);
        counters_.calls.add(1, command.tag);
        receive(program->bytes);
    } else if (const auto* const parameters = std::get_if<isa::ReadParameters>(&instruction)) {
        read_parameters(*parameters, command);
    } else if (const auto* const tensor = std::get_if<isa::ReadTensor>(&instruction)) {
        read_tensor(*tensor, command);
    } else if (const auto* const streamed = std::get_if<isa::StreamParameters>(&instruction)) {
        stream(*streamed, command);
    } else {
        throw std::logic_error("an instruction that the link does not read for");
    }
    const Cycle sent = context_.clock.now();
    link_.release(context_.core, HostLink::Inbound::Data, sent);
    reads_.complete(sent, sent + latency_);
}

void TileLink::read_parameters(const isa::ReadParameters& read, const Command& command) {
    const std::uint64_t bytes = std::uint64_t{read.units} * isa::tile_unit_bytes;
    if (const std::uint8_t* const host = host_bytes(command, read.host_address, bytes)) {
        reads_.compute([host, bytes, units = wide_.from_unit(read.unit)](ValueWorkers::Scratch&) {
            std::memcpy(units, host, bytes);
        });
    }
    counters_.parameter_bytes.add(bytes, command.tag);
    wide_.touch(command.bound.footprint);
    wide_.count_writes(bytes, command.tag);
    receive(bytes);
}

void TileLink::read_tensor(const isa::ReadTensor& read, const Command& command) {
    const isa::TileLayout layout =
        isa::tile_layout(*command.bound.registers, isa::result_registers, grid_, read.address);
    if (const std::uint8_t* const host = host_bytes(command, read.host_address, layout.elements())) {
        reads_.compute([this, layout, host](ValueWorkers::Scratch&) {
            const std::uint8_t* next = host;
            isa::for_each_pixel(layout, [&](std::size_t tile, std::uint64_t address) {
                std::memcpy(narrow_.of_tile(tile) + address, next, layout.channels);
                next += layout.channels;
            });
        });
    }
    counters_.read_bytes.add(layout.elements(), command.tag);
    narrow_.touch(command.bound.footprint);
    narrow_.count_writes(layout.elements(), command.tag);
    receive(layout.elements());
}

void TileLink::stream(const isa::StreamParameters& stream, const Command& command) {
    const timing::BlockParts parts = timing::block_parts(stream.rows, context_.machine);
    const std::uint64_t row_bytes = std::uint64_t{stream.units} * isa::tile_unit_bytes;
    // Also in a run without values: the host must have all of them.
    host_bytes(command, stream.host_address, stream.group_bytes() * stream.groups);
    for (std::uint64_t repeat = 0; repeat < stream.repeats; ++repeat) {
        for (std::uint64_t group = 0; group < stream.groups; ++group) {
            const std::uint64_t block = stream.host_address + group * stream.group_bytes();
            for (std::uint64_t part = 0; part < parts.count(); ++part) {
                send_part({.block = block,
                           .streamed = true,
                           .first_row = parts.begin(part),
                           .rows = parts.rows_of(part),
                           .row_units = stream.units,
                           .whole_at = 0},
                          block + parts.begin(part) * row_bytes, command.tag);
            }
        }
    }
}

void TileLink::send_part(WeightPart part, std::uint64_t address, Tag tag) {
    const std::uint64_t bytes = part.bytes();
    while (staged_bytes_ + bytes > staging_bytes_) {
        TileReadCounters& counters = reads_.counters();
        counters.spend(counters.busy_cycles, context_.clock.now(), tag);
        context_.clock.wait(released_);
        reads_.stalled(counters.staging_full_cycles);
    }
    staged_bytes_ += bytes;
    receive(bytes);
    counters_.streamed_bytes.add(bytes, tag);
    part.whole_at = context_.clock.now() + latency_;
    if (moves_words_) {
        const std::uint8_t* const host = host_memory_.host_bytes(address, bytes);
        part.values.assign(host, host + bytes);
    }
    staged_.push_back(std::move(part));
    arrived_.notify(sc_core::SC_ZERO_TIME);
}

const WeightPart& TileLink::next() {
    while (staged_.empty()) context_.clock.wait(arrived_);
    context_.clock.wait_until(staged_.front().whole_at);
    return staged_.front();
}

void TileLink::release() {
    staged_bytes_ -= staged_.front().bytes();
    staged_.pop_front();
    released_.notify(sc_core::SC_ZERO_TIME);
}

void TileLink::execute_write(const Command& command) {
    const isa::Instruction& instruction = command.bound.instruction;
    if (const auto* const write = std::get_if<isa::WriteTensor>(&instruction)) {
        link_.acquire_outbound(context_.core);
        writes_.begin();
        write_tensor(*write, command);
        link_.release_outbound(context_.core, context_.clock.now());
    } else if (std::holds_alternative<isa::InterruptHost>(instruction)) {
        writes_.begin();
        counters_.interrupts.add(1, command.tag);
        writes_.moves(0);  // so that traces have a sample of the bytes written before it
    } else {
        throw std::logic_error("an instruction that the link does not write for");
    }
    const Cycle sent = context_.clock.now();
    writes_.complete(sent, sent + latency_);
}

void TileLink::write_tensor(const isa::WriteTensor& write, const Command& command) {
    const isa::Registers& registers = *command.bound.registers;
    std::uint64_t elements = 0;
    if (write.over_lanes) {
        const isa::LaneVector vector = isa::lane_vector(registers, grid_, write.address);
        elements = vector.elements;
        if (std::uint8_t* const host = host_bytes(command, write.host_address, elements)) {
            writes_.compute([this, vector, host](ValueWorkers::Scratch&) {
                for (std::uint64_t i = 0; i < vector.elements; ++i) {
                    host[i] = narrow_.of_tile(vector.tile_of(i))[vector.address_of(i)];
                }
            });
        }
    } else {
        const isa::TileLayout layout =
            isa::tile_layout(registers, isa::source_registers, grid_, write.address);
        elements = layout.elements();
        if (std::uint8_t* const host = host_bytes(command, write.host_address, elements)) {
            writes_.compute([this, layout, host](ValueWorkers::Scratch&) {
                std::uint8_t* next = host;
                isa::for_each_pixel(layout, [&](std::size_t tile, std::uint64_t address) {
                    std::memcpy(next, narrow_.of_tile(tile) + address, layout.channels);
                    next += layout.channels;
                });
            });
        }
    }
    counters_.write_bytes.add(elements, command.tag);
    writes_.moves(elements);
    narrow_.touch(command.bound.footprint);
    narrow_.count_reads(elements, command.tag);
    link_.outbound(context_.core).transfer(elements);
}

}  // namespace systole::hw
