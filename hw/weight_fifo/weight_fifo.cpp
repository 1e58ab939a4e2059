#include "hw/weight_fifo/weight_fifo.h"

#include <fmt/format.h>

#include <stdexcept>

#include "hw/common/tag_extension.h"
#include "hw/isa/queue.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

namespace {

constexpr std::size_t buffers_in_array = 2;

}  // namespace

WeightFifo::WeightFifo(const sc_core::sc_module_name& name, const UnitContext& context, WeightLink& link,
                       SharedWeights* shared)
    : QueuedUnit(name, isa::QueueId::Weights,
                 {.track = "weights",
                  .signals = "weight_fifo.",
                  .tiles = TileTracks{"weight memory", "weight shift", "weight FIFO", "weight memory read",
                                      "weight_fetch", "weight_shift"}},
                 context),
      depth_(context.machine.weight_fifo.depth_tiles),
      link_(link),
      shared_(shared),
      buffers_(std::size_t{depth_} + buffers_in_array) {
    register_counters(counters_);
    start("weight_fifo", [this](const Command& command) { execute(command); });
}

void WeightFifo::load(const isa::Program& program, TileValues where, std::uint64_t address) {
    where_ = where;
    const std::vector<bool> is_written = isa::written_tiles(program);
    for (const isa::WeightTile& tile : program.tiles) {
        const std::uint64_t end = address + isa::memory_bytes(tile, program.geometry);
        const bool spilled = end > context_.machine.weight_memory.bytes;
        const std::uint32_t stored_columns = spilled ? tile.columns : context_.machine.matrix_unit.columns;
        stored_.push_back({.address = address,
                           .fetched_bytes = timing::tile_fetch_cost({&tile, 1}, context_.machine).bytes,
                           .spilled = spilled,
                           .written = is_written[stored_.size()],
                           .shape = {.rows = tile.rows,
                                     .columns = tile.columns,
                                     .useful_macs = tile.useful_macs,
                                     .block_macs = tile.block_macs,
                                     .type = tile.type,
                                     .bytes = 0,
                                     .tag = 0,
                                     .whole_at = 0,
                                     .values = nullptr,
                                     .row_bytes = std::size_t{stored_columns} * bytes_of(tile.type)},
                           .values = tile.values});
        address = end;
    }
}

void WeightFifo::execute(const Command& command) {
    begin();
    const auto& read = std::get<isa::ReadWeights>(command.bound.instruction);
    for (std::uint32_t i = 0; i < read.tiles; ++i) {
        fetch(command.number, read.first_tile + i, command.tag);
    }
    complete(context_.clock.now(), context_.clock.now());
}

void WeightFifo::fetch(InstructionNumber instruction, std::uint32_t number, Tag tag) {
    while (tiles_.size() == depth_) context_.clock.wait(freed_);
    waited(counters_.full_cycles);

    const StoredTile& stored = stored_.at(number);
    Tile tile = stored.shape;
    const std::uint64_t bytes = stored.fetched_bytes;
    const Cycle issued = context_.clock.now();
    tile.tag = tag;
    if (stored.spilled) {
        if (context_.computes_values()) tile.values = stored.values.data();
        tile.whole_at = link_.receive_weights(bytes, tag);
        waited(counters_.link_cycles);
        counters_.spilled_bytes.add(bytes, tag);
    } else {
        shared_ == nullptr ? read_memory(stored, tile) : request(stored, tile);
        counters_.bytes.add(bytes, tag);
    }
    tile.bytes = bytes;
    tiles_.push_back(tile);
    if (context_.trace != nullptr) {
        times_.push_back({.number = instruction,
                          .tile = number,
                          .tag = tag,
                          .bytes = bytes,
                          .spilled = stored.spilled,
                          .fetched = issued,
                          .whole = tile.whole_at});
        if (tile.is_timed) context_.trace->tile_fetched(times_.back());
    }
    counters_.tiles.add(1, tag);
    issued_.notify(sc_core::SC_ZERO_TIME);
}

void WeightFifo::read_memory(const StoredTile& stored, Tile& tile) {
    const std::uint64_t bytes = stored.fetched_bytes;
    TagExtension counted_for(tile.tag);
    tlm::tlm_generic_payload& payload = payload_;
    payload.set_extension(&counted_for);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    payload.set_data_ptr(nullptr);
    payload.set_read();
    payload.set_address(stored.address);
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    if (context_.computes_values()) {
        tile.values = direct_values(stored.address, std::uint64_t{tile.rows} * tile.row_bytes);
        if (tile.values == nullptr) {
            std::vector<std::uint8_t>& buffer = free_buffer();
            buffer.resize(bytes);
            payload.set_data_ptr(buffer.data());
            tile.values = buffer.data();
        }
    }
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    memory->b_transport(payload, delay);
    payload.clear_extension(&counted_for);
    if (!payload.is_response_ok()) {  // only a memory of the user's (SystemOptions) does this
        throw std::logic_error(fmt::format("weight memory: reading {} bytes at address {} gives {}", bytes,
                                           stored.address, payload.get_response_string()));
    }
    tile.whole_at = context_.clock.after(delay);
}

std::vector<std::uint8_t>& WeightFifo::free_buffer() {
    // The array has finished with this buffer's tile in simulated time, but jobs that read it may still run.
    context_.workers.wait_for_jobs(context_.queue(isa::QueueId::Matrix));
    std::vector<std::uint8_t>& buffer = buffers_[next_buffer_];
    next_buffer_ = (next_buffer_ + 1) % buffers_.size();
    return buffer;
}

const std::uint8_t* WeightFifo::direct_values(std::uint64_t address, std::uint64_t bytes) {
    if (where_ == TileValues::Copied) return nullptr;
    const auto covered = [&] {
        return direct_.get_dmi_ptr() != nullptr && direct_.is_read_allowed() &&
               address >= direct_.get_start_address() && address + bytes - 1 <= direct_.get_end_address();
    };
    if (!covered()) {
        tlm::tlm_generic_payload payload;
        payload.set_read();
        payload.set_address(address);
        // A memory that refuses says in the same structure what it refuses.
        tlm::tlm_dmi answer;
        if (!memory->get_direct_mem_ptr(payload, answer)) return nullptr;
        direct_ = answer;
        if (!covered()) return nullptr;
    }
    return direct_.get_dmi_ptr() + (address - direct_.get_start_address());
}

void WeightFifo::request(const StoredTile& stored, Tile& tile) {
    if (context_.computes_values()) {
        const std::uint64_t bytes = std::uint64_t{tile.rows} * tile.row_bytes;
        tile.values = direct_values(stored.address, bytes);
        sc_assert(tile.values != nullptr);  // a memory that units share is the system's
        if (stored.written) {
            // The array gets the tile as it is now, whatever is written behind the fetch.
            wait_for_order();
            std::vector<std::uint8_t>& buffer = free_buffer();
            buffer.assign(tile.values, tile.values + bytes);
            tile.values = buffer.data();
        }
    }
    shared_->request(context_.core, stored.address, stored.fetched_bytes, tile.tag);
    tile.is_timed = false;
}

void WeightFifo::time_front() {
    const Cycle whole_at = shared_->next_arrival(context_.core);
    Tile& tile = tiles_.front();
    tile.whole_at = whole_at;
    tile.is_timed = true;
    if (context_.trace == nullptr) return;
    times_.front().whole = whole_at;
    context_.trace->tile_fetched(times_.front());
}

const Tile& WeightFifo::front() {
    while (tiles_.empty()) context_.clock.wait(issued_);
    if (!tiles_.front().is_timed) time_front();
    return tiles_.front();
}

void WeightFifo::release() {
    sc_assert(!tiles_.empty());
    counters_.shifted_bytes.add(tiles_.front().bytes, tiles_.front().tag);
    tiles_.pop_front();
    if (context_.trace != nullptr) {
        times_.front().shifted = context_.clock.now();
        times_.front().shifting = context_.clock.now() - timing::shift_cycles(context_.machine);
        context_.trace->tile(times_.front());
        times_.pop_front();
    }
    freed_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace systole::hw
