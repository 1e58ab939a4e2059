#include "sim/view/trace/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "hw/common/bound_instructions.h"
#include "hw/isa/encoding.h"
#include "hw/isa/program.h"
#include "sim/view/energy/run_energy.h"
#include "sim/view/trace/chrome_events.h"

namespace systole::trace {

namespace {

// Colour names of the format.
constexpr std::string_view green = "good";
constexpr std::string_view orange = "bad";
constexpr std::string_view red = "terrible";
constexpr std::string_view grey = "grey";
constexpr std::string_view yellow = "yellow";

}  // namespace

void show_power(ChromeEvents& events, const Window& window, const energy::PowerOverTime& power) {
    for (std::size_t i = 0; i < power.windows.size(); ++i) {
        const Cycle begin = i * power.window_cycles;
        if (begin >= window.to() || begin + power.window_cycles <= window.from()) continue;
        const energy::Joules& joules = power.windows[i];
        for (std::size_t consumer = 0; consumer < joules.size(); ++consumer) {
            events.counter("power", joules.name(consumer), begin,
                           fmt::format("{:.6g}", joules[consumer] / power.seconds[i]));
        }
    }
}

Timeline::Timeline(ChromeEvents events, std::string_view name, const Window& window,
                   const isa::Program& program, const machine::MachineConfig& machine)
    : window_(window),
      program_(program),
      labels_(program.buffers),
      issue_cycles_(machine.sequencer.issue_cycles),
      events_(std::move(events)) {
    events_.name_process(name);
}

Track Timeline::add_track(std::string_view name) {
    const Track track{++tracks_};
    events_.name_track(track, name);
    return track;
}

void Timeline::begun(const hw::TracedCore& core) {
    layers_track_ = add_track("layers");
    sequencer_track_ = add_track("sequencer");
    for (const hw::TracedQueue& queue : core.queues) {
        if (queue.unit >= units_.size()) units_.resize(queue.unit + 1);
        UnitState& state = units_[queue.unit];
        state.traces = queue.traces;
        state.queue_track = add_track(fmt::format("{} queue", queue.name));
        state.track = add_track(queue.traces.track);
        if (queue.traces.is_main) main_unit_ = queue.unit;
        if (!queue.traces.bytes.empty()) state.bytes.emplace(events_, window_, queue.traces.bytes, "bytes");
        if (const auto& tiles = queue.traces.tiles) {
            const Track fetch = add_track(tiles->fetch);
            const Track shift = add_track(tiles->shift);
            tiles_.emplace(TileStates{.fetch = fetch,
                                      .shift = shift,
                                      .held = {events_, window_, tiles->held, "tiles"},
                                      .bytes = {events_, window_, tiles->bytes, "bytes"}});
        }
    }
}

const std::string& Timeline::layer_text(hw::Tag tag) {
    if (tag >= layer_texts_.size()) layer_texts_.resize(tag + std::size_t{1});
    std::string& text = layer_texts_[tag];
    if (text.empty()) text = json_text(isa::layer_name(program_, tag));
    return text;
}

TextBuffer& Timeline::begin_wait(Track track, Cycle begin, Cycle end, std::string_view name,
                                 hw::InstructionNumber number, hw::Tag tag, std::string_view color) {
    return events_.begin_slice(track, begin, end, name, color)
           << ",\"number\":" << number << ",\"layer\":" << layer_text(tag);
}

void Timeline::wait(Track track, Cycle begin, Cycle end, std::string_view name, hw::InstructionNumber number,
                    hw::Tag tag) {
    if (begin >= end || !window_.takes(tag, begin, end)) return;
    begin_wait(track, begin, end, name, number, tag);
    events_.end_slice();
}

TextBuffer& Timeline::begin_instruction(Track track, Cycle begin, Cycle end, hw::InstructionNumber number,
                                        hw::Tag tag, std::string_view color) {
    const isa::Instruction& instruction = instruction_of(number);
    TextBuffer& text = begin_wait(track, begin, end, isa::mnemonic(instruction), number, tag, color);
    append_fields(instruction, labels_, text);
    return text;
}

void Timeline::issued(const hw::IssueTimes& times) {
    wait(sequencer_track_, times.asked, times.arrived, "empty", times.number, times.tag);
    const isa::Instruction& instruction = instruction_of(times.number);
    if (std::holds_alternative<isa::Halt>(instruction)) {
        halt_ = times;
        return;
    }
    wait(sequencer_track_, times.arrived, times.issued, "queue_full", times.number, times.tag);
    if (isa::queue_of(instruction)) return;  // shown on the tracks of its queue and unit
    const Cycle end = times.issued + issue_cycles_;
    if (!window_.takes(times.tag, times.issued, end)) return;
    begin_instruction(sequencer_track_, times.issued, end, times.number, times.tag);
    events_.end_slice();
}

void Timeline::queued(const hw::QueueTimes& times) {
    UnitState& state = units_.at(times.unit);
    const Track track = state.queue_track;
    const isa::Instruction& instruction = instruction_of(times.number);
    if (!hw::is_sync(instruction)) {
        state.taken.push_back(times);
        wait(track, times.first, times.taken, isa::mnemonic(instruction), times.number, times.tag);
        return;
    }
    if (times.first >= times.taken || !window_.takes(times.tag, times.first, times.taken)) return;
    begin_instruction(track, times.first, times.taken, times.number, times.tag);
    events_.end_slice();
}

void Timeline::step(UnitState& state, const hw::InstructionTimes& times) {
    const bool is_repetition = state.taken.empty() || state.taken.front().number != times.number;
    if (is_repetition) {
        ++state.repetition;
        return;
    }
    state.repetition = 0;
    state.taken_at = state.taken.front().taken;
    state.taken.pop_front();
}

void Timeline::instruction(const hw::InstructionTimes& times) {
    UnitState& state = units_.at(times.unit);
    step(state, times);
    if (state.traces.tells_idle) {
        streams_.push_back({times, state.repetition});
        show_streams();
    } else {
        if (state.traces.is_main) layer(state.released, times.tag);
        wait(state.track, std::max(state.taken_at, state.released), times.begun, "stall", times.number,
             times.tag);
        if (window_.takes(times.tag, times.begun, times.released)) {
            begin_instruction(state.track, times.begun, times.released, times.number, times.tag)
                << ",\"issued\":" << times.issued << ",\"complete\":" << times.complete;
            events_.end_slice();
        }
        // Inside the instruction's slice, and behind it in the file.
        for (const hw::StallTimes& stall : state.stalls) {
            const std::string_view name = stall.reason.substr(0, stall.reason.rfind("_cycles"));
            wait(state.track, stall.from, stall.until, name, stall.number, stall.tag);
        }
        state.stalls.clear();
        if (state.bytes && times.bytes) {
            state.bytes->add(times.released, static_cast<std::int64_t>(*times.bytes), times.tag);
        }
    }
    state.released = times.released;
}

void Timeline::show_streams() {
    while (!streams_.empty() && !entered_.empty()) {
        show_stream(streams_.front(), entered_.front());
        streams_.pop_front();
        entered_.pop_front();
    }
}

void Timeline::show_stream(const Stream& stream, const hw::MatrixIdleTimes& entered) {
    const hw::InstructionTimes& times = stream.times;
    if (!entered.keep_weights && !shifted_.empty()) {
        in_array_ = shifted_.front();
        shifted_.pop_front();
    }
    ++shown_streams_;
    if (!window_.takes(times.tag, times.begun, times.released)) return;
    begin_instruction(main_unit().track, times.begun, times.released, times.number, times.tag, green)
        << ",\"repetition\":" << stream.repetition
        << ",\"active\":" << times.released - times.begun - entered.gaps << ",\"issued\":" << times.issued
        << ",\"complete\":" << times.complete;
    events_.end_slice();
    if (in_array_) arrow(*in_array_, times);
}

void Timeline::arrow(const ShiftedTile& tile, const hw::InstructionTimes& multiply) {
    const hw::TileTimes& times = tile.times;
    const bool is_seen = window_.takes(times.tag, tile.fetch.begun, tile.fetch.end) &&
                         window_.takes(times.tag, times.shifting, times.shifted);
    if (!is_seen) return;
    events_.flow_begin(shown_streams_, tiles_->fetch, tile.fetch.begun);
    events_.flow_step(shown_streams_, tiles_->shift, times.shifting);
    events_.flow_end(shown_streams_, main_unit().track, multiply.begun);
}

void Timeline::tile_fetched(const hw::TileTimes& times) {
    tiles_->held.add(times.fetched, 1, times.tag);
    // Tiles are shown one after the other, although a memory with several channels may overlap them.
    const Cycle begun = std::max(times.fetched, last_whole_);
    last_whole_ = std::max(times.whole, last_whole_);
    if (!times.spilled) tiles_->bytes.add(last_whole_, static_cast<std::int64_t>(times.bytes), times.tag);
    fetches_.push_back({begun, last_whole_});
    if (!window_.takes(times.tag, begun, last_whole_)) return;
    begin_wait(tiles_->fetch, begun, last_whole_, "fetch", times.number, times.tag)
        << ",\"tile\":" << times.tile << ",\"bytes\":" << times.bytes
        << ",\"spilled\":" << (times.spilled ? "true" : "false") << ",\"issued\":" << times.fetched
        << ",\"complete\":" << times.whole;
    events_.end_slice();
}

void Timeline::tile(const hw::TileTimes& times) {
    tiles_->held.add(times.shifted, -1, times.tag);
    shifted_.push_back({.times = times, .fetch = fetches_.front()});
    fetches_.pop_front();
    if (!window_.takes(times.tag, times.shifting, times.shifted)) return;
    begin_wait(tiles_->shift, times.shifting, times.shifted, "shift", times.number, times.tag)
        << ",\"tile\":" << times.tile;
    events_.end_slice();
}

void Timeline::matrix_idle(const hw::MatrixIdleTimes& times) {
    layer(times.begin, times.tag);
    Cycle begin = times.begin;
    const auto part = [&](std::string_view name, std::string_view color, Cycle cycles,
                          bool without_rows = false) {
        const Cycle end = begin + cycles;
        if (cycles > 0 && window_.takes(times.tag, begin, end)) {
            TextBuffer& text =
                begin_wait(main_unit().track, begin, end, name, times.number, times.tag, color);
            if (without_rows && times.activations > 0) text << ",\"raw_stall\":" << times.activations;
            if (without_rows && times.inputs > 0) text << ",\"input_stall\":" << times.inputs;
            events_.end_slice();
        }
        begin = end;
    };
    part("non_matrix", grey, times.idle.without_rows, true);
    part("weight_stall", red, times.idle.without_tile);
    part("weight_shift", orange, times.idle.shifting);
    part("port_stall", yellow, times.idle.without_port);
    idle_until_ = begin;
    entered_.push_back(times);
    show_streams();
}

void Timeline::layer(Cycle begin, hw::Tag tag) {
    if (layer_ == tag) return;
    close_layer(begin);
    layer_ = tag;
    layer_begun_ = begin;
}

void Timeline::close_layer(Cycle end) {
    if (layer_ && end > layer_begun_ && window_.takes(*layer_, layer_begun_, end)) {
        const std::string& quoted = layer_text(*layer_);
        events_.begin_slice(layers_track_, layer_begun_, end,
                            std::string_view(quoted).substr(1, quoted.size() - 2))
            << ",\"tag\":" << *layer_;
        events_.end_slice();
    }
    layer_.reset();
}

void Timeline::ended(Cycle end, hw::Tag tag) {
    const Cycle array_free = main_unit().released;
    layer(array_free, tag);
    close_layer(end);
    const hw::InstructionNumber number = halt_ ? halt_->number : 0;
    if (main_unit().traces.tells_idle && array_free < end && window_.takes(tag, array_free, end)) {
        begin_wait(main_unit().track, array_free, end, "non_matrix", number, tag, grey);
        events_.end_slice();
    }
    if (halt_ && window_.takes(tag, halt_->issued, end)) {
        begin_instruction(sequencer_track_, halt_->issued, end, number, tag);
        events_.end_slice();
    }
    finish_counters();
}

void Timeline::failed(const hw::FailureTimes& where) {
    if (where.issue) unfinished_issue(*where.issue);
    for (const hw::QueueTimes& first : where.queues) {
        unfinished(units_.at(first.unit).queue_track, first.first, where.at, first.number, first.tag);
    }
    for (const UnitState& state : units_) {
        if (state.traces.tells_idle || state.taken.empty()) continue;
        const hw::QueueTimes& taken = state.taken.front();
        unfinished(state.track, std::max(taken.taken, state.released), where.at, taken.number, taken.tag);
    }
    if (main_unit().traces.tells_idle) {
        unfinished_stream(where);
    } else {
        close_layer(std::max(where.at, main_unit().released));
    }
    finish_counters();
}

void Timeline::unfinished_issue(const hw::IssueTimes& times) {
    if (times.asked < times.arrived) {
        unfinished_wait(sequencer_track_, times.asked, times.arrived, "empty", times.number, times.tag);
    }
    if (std::holds_alternative<isa::Halt>(instruction_of(times.number))) {
        unfinished(sequencer_track_, times.arrived, times.issued, times.number, times.tag);
    } else if (isa::queue_of(instruction_of(times.number))) {
        unfinished_wait(sequencer_track_, times.arrived, times.issued, "queue_full", times.number, times.tag);
    }
}

void Timeline::unfinished_stream(const hw::FailureTimes& where) {
    const UnitState& state = main_unit();
    const Cycle begin = std::max(state.released, idle_until_);
    const Cycle end = std::max(where.at, begin);  // the last stream may end after the failure
    if (state.taken.empty()) {
        layer(begin, where.tag);
        const hw::InstructionNumber number = where.issue ? where.issue->number : 0;
        unfinished_wait(state.track, begin, end, "non_matrix", number, where.tag, grey);
    } else {
        const hw::QueueTimes& taken = state.taken.front();
        layer(begin, taken.tag);
        unfinished(state.track, begin, end, taken.number, taken.tag);
    }
    close_layer(end);
}

void Timeline::unfinished(Track track, Cycle begin, Cycle end, hw::InstructionNumber number, hw::Tag tag) {
    end = std::max(begin, end);
    if (!window_.takes(tag, begin, end)) return;
    begin_instruction(track, begin, end, number, tag) << ",\"unfinished\":true";
    events_.end_slice();
}

void Timeline::unfinished_wait(Track track, Cycle begin, Cycle end, std::string_view name,
                               hw::InstructionNumber number, hw::Tag tag, std::string_view color) {
    if (!window_.takes(tag, begin, end)) return;
    begin_wait(track, begin, end, name, number, tag, color) << ",\"unfinished\":true";
    events_.end_slice();
}

void Timeline::finish_counters() {
    if (tiles_) {
        tiles_->held.finish();
        tiles_->bytes.finish();
    }
    for (UnitState& state : units_) {
        if (state.bytes) state.bytes->finish();
    }
}

void Timeline::memory(const OccupiedTrack& memory) {
    CounterTrack rows(events_, window_, memory.track, memory.places);
    for (const occupancy::Change& change : memory.changes) {
        if (change.amount != 0) rows.add(change.at, change.amount);
    }
    rows.finish();
}

void Timeline::finish() {
    events_.finish();
}

}  // namespace systole::trace
