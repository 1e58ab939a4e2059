#include "compiler/target/tpu_v1/cost/unit_times.h"

#include <algorithm>

namespace systole::tpu_v1 {

UnitTimes::UnitTimes(const machine::MachineConfig& machine)
    : latency_(static_cast<double>(timing::matrix_latency(machine))),
      shift_(static_cast<double>(timing::shift_cycles(machine))),
      switch_(machine.matrix_unit.weight_switch),
      activation_latency_(static_cast<double>(machine.activation_latency())),
      shifted_(machine.weight_fifo.depth_tiles, 0.0) {}

double UnitTimes::end() const {
    return std::max(matrix_, activation_) + activation_latency_;
}

// The tile in the array left the FIFO when it was shifted in, so the FIFO's places are full of the tiles
// behind the first.
double UnitTimes::fetched(const Fetch& fetch) const {
    if (tiles_ <= shifted_.size()) return 0.0;
    return std::max({memory_, place_free(), fetch.issued}) + fetch.cycles;
}

double UnitTimes::tile_in_array(const Fetch& fetch) const {
    if (tiles_ == 0) return 0.0;
    const bool is_in_fifo = tiles_ <= shifted_.size();
    return std::max(is_in_fifo ? 0.0 : fetched(fetch) + fetch.latency, shadow_free_) + shift_;
}

double UnitTimes::stream_begin(double ready, const std::optional<Fetch>& fetch) const {
    const double begin = std::max(matrix_, ready);
    return !fetch ? begin : std::max(begin, tile_in_array(*fetch));
}

double UnitTimes::add_stream(const timing::StreamShape& stream, double ready,
                             const std::optional<Fetch>& fetch) {
    const double begin = stream_begin(ready, fetch);
    if (fetch) {
        const double shifted = tile_in_array(*fetch);
        memory_ = std::max(memory_, fetched(*fetch));
        place_free() = shifted;
        ++tiles_;
        shadow_free_ = begin + switch_;
    }
    matrix_ = begin + static_cast<double>(stream.span());
    return begin + static_cast<double>(timing::stream_completion(stream, static_cast<Cycle>(latency_)));
}

double UnitTimes::add_activation(double ready, double cycles) {
    activation_ = std::max(activation_, ready) + cycles;
    return activation_ + activation_latency_;
}

std::vector<double> UnitTimes::state(bool fetches) const {
    std::vector<double> times{matrix_, activation_};
    if (!fetches) return times;
    if (tiles_ <= shifted_.size()) return {};
    times.insert(times.end(), {memory_, shadow_free_});
    for (std::size_t i = 0; i < shifted_.size(); ++i) {
        times.push_back(shifted_[(tiles_ + i) % shifted_.size()]);
    }
    return times;
}

void UnitTimes::advance(double cycles, bool fetches) {
    for (double* time : {&matrix_, &activation_}) *time += cycles;
    if (!fetches) return;
    for (double* time : {&memory_, &shadow_free_}) *time += cycles;
    for (double& time : shifted_) time += cycles;
}

}  // namespace systole::tpu_v1
