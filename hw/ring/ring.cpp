#include "hw/ring/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/tile_layout.h"
#include "hw/timing/tiles.h"

namespace systole::hw {

RingBus::RingBus(const sc_core::sc_module_name& name, const UnitContext& context, NarrowMemoryAccess& narrow,
                 WideMemoryAccess& wide, StagedParts& staged)
    : QueuedUnit(name, isa::QueueId::Ring, {.track = "ring", .signals = "ring."}, context),
      grid_(timing::grid_of(context.machine)),
      rate_(context.machine.ring_rate()),
      latency_(context.machine.ring.latency_cycles),
      buffers_(context.machine.tile_array.weight_buffers),
      moves_words_(context.computes_values() &&
                   context.machine.tile_array.engine == machine::TileEngine::Lane),
      narrow_(narrow),
      wide_(wide),
      staged_(staged) {
    register_counters(counters());
    start("ring", [this](const Command& command) { execute(command); });
}

void RingBus::execute(const Command& command) {
    begin();
    narrow_.touch(command.bound.footprint);
    if (const auto* const sent = std::get_if<isa::Multicast>(&command.bound.instruction)) {
        multicast(*sent, command.tag);
    } else if (const auto* const moved = std::get_if<isa::Collect>(&command.bound.instruction)) {
        collect(*moved, command);
    } else {
        throw std::logic_error("an instruction that is not the ring's");
    }
    const Cycle sent = context_.clock.now();
    complete(sent, sent + latency_);
}

void RingBus::send(std::uint64_t bytes) {
    const ExactTime now{.whole = context_.clock.now(), .parts = 0};
    free_at_ = rate_.after(std::max(free_at_, now), bytes);
    context_.clock.wait_until(free_at_.whole);
}

void RingBus::multicast(const isa::Multicast& multicast, Tag tag) {
    if (moves_words_ && !multicast.streamed) wait_for_order();
    const timing::BlockParts parts = timing::block_parts(multicast.rows, context_.machine);
    const std::uint64_t row_bytes = std::uint64_t{multicast.units} * isa::tile_unit_bytes;
    const std::uint64_t step =
        multicast.streamed ? multicast.rows * row_bytes : std::uint64_t{multicast.rows} * multicast.units;
    for (std::uint64_t repeat = 0; repeat < multicast.repeats; ++repeat) {
        for (std::uint64_t group = 0; group < multicast.groups; ++group) {
            for (std::uint64_t part = 0; part < parts.count(); ++part) {
                send_part({.block = multicast.parameters + group * step,
                           .streamed = multicast.streamed,
                           .first_row = parts.begin(part),
                           .rows = parts.rows_of(part),
                           .row_units = multicast.units,
                           .whole_at = 0},
                          tag);
            }
        }
    }
}

void RingBus::send_part(WeightPart part, Tag tag) {
    while (sent_.size() >= buffers_) {
        counters_.spend(counters_.busy_cycles, context_.clock.now(), tag);
        context_.clock.wait(released_);
        stalled(counters_.buffer_stall_cycles);
    }
    const std::uint64_t bytes = part.bytes();
    if (part.streamed) {
        counters_.spend(counters_.busy_cycles, context_.clock.now(), tag);
        const WeightPart& staged = staged_.next();
        stalled(counters_.staging_stall_cycles);
        if (staged.block != part.block || staged.first_row != part.first_row || staged.rows != part.rows ||
            staged.row_units != part.row_units) {
            throw InstructionError(
                executing().number,
                fmt::format("the next weights in the staging buffer are rows {} to {} of the block at host "
                            "byte {}, {} units each; it sends rows {} to {} of the one at host byte {}, {} "
                            "units each",
                            staged.first_row, staged.first_row + staged.rows - 1, staged.block,
                            staged.row_units, part.first_row, part.first_row + part.rows - 1, part.block,
                            part.row_units));
        }
        part.values = staged.values;
    } else {
        wide_.count_reads(bytes, tag);
        counters_.wide_bytes.add(bytes, tag);
        if (moves_words_) {
            const std::uint64_t unit = part.block + part.first_row * part.row_units;
            const std::uint8_t* const first = wide_.from_unit(unit);
            part.values.assign(first, first + bytes);
        }
    }
    send(bytes);
    counters_.spend(counters_.busy_cycles, context_.clock.now(), tag);
    counters_.parameter_bytes.add(bytes, tag);
    if (part.streamed) staged_.release();
    part.whole_at = context_.clock.now() + latency_;
    sent_.push_back(std::move(part));
    arrived_.notify(sc_core::SC_ZERO_TIME);
}

const WeightPart& RingBus::next() {
    while (sent_.empty()) context_.clock.wait(arrived_);
    context_.clock.wait_until(sent_.front().whole_at);
    return sent_.front();
}

void RingBus::release() {
    sent_.pop_front();
    released_.notify(sc_core::SC_ZERO_TIME);
}

void RingBus::collect(const isa::Collect& collect, const Command& command) {
    const isa::Registers& registers = *command.bound.registers;
    const std::uint64_t bytes = timing::collected_bytes(collect, registers, grid_);
    if (context_.computes_values()) {
        compute([this, collect, bound = command.bound.registers](ValueWorkers::Scratch& scratch) {
            const auto copy_to_all = [&] {
                for (std::size_t tile = 0; tile < grid_.tiles(); ++tile) {
                    std::ranges::copy(scratch, narrow_.of_tile(tile) + collect.destination);
                }
            };
            scratch.clear();
            if (collect.over_lanes) {
                const isa::LaneVector vector = isa::lane_vector(*bound, grid_, collect.source);
                for (std::uint64_t i = 0; i < vector.elements; ++i) {
                    scratch.push_back(narrow_.of_tile(vector.tile_of(i))[vector.address_of(i)]);
                }
                copy_to_all();
                return;
            }
            const isa::TileLayout layout =
                isa::tile_layout(*bound, isa::source_registers, grid_, collect.source);
            isa::for_each_pixel(layout, [&](std::size_t tile, std::uint64_t address) {
                const std::uint8_t* const pixel = narrow_.of_tile(tile) + address;
                scratch.insert(scratch.end(), pixel, pixel + layout.channels);
            });
            copy_to_all();
        });
    }
    send(bytes);
    counters_.vector_bytes.add(bytes, command.tag);
    narrow_.count_reads(bytes / 2, command.tag);
    narrow_.count_writes(bytes / 2 * grid_.tiles(), command.tag);
}

}  // namespace systole::hw
