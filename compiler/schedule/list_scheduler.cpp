#include "compiler/schedule/list_scheduler.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>

namespace systole::schedule {
namespace {

/// A slice that has begun and not ended.
struct OpenSlice {
    std::size_t number = 0;
    std::vector<std::uint32_t> waits_for;    ///< by layer: layers to finish before; none: done or under way
    std::vector<std::vector<double>> steps;  ///< by layer that may begin: what its steps take
    std::vector<std::size_t> next_step;      ///< by layer
    std::vector<std::uint32_t> ready;        ///< layers that may begin, with steps left
    std::vector<std::uint32_t> layers_left;  ///< by stage, from 1 on
    std::vector<double> work_left;           ///< by stage: cycles of the steps that have been cut
    std::uint32_t stage = 1;                 ///< the first that has layers left
};

struct Candidate {
    OpenSlice* slice = nullptr;
    NextStep next;
    StepOffer offer;
    double work_left = 0;  ///< of the slice in its stage
};

class ListScheduler {
public:
    ListScheduler(const LayerGraph& graph, const Stages& stages, std::size_t slices, double alike,
                  StepUnits& units)
        : graph_(graph), stages_(stages), slices_(slices), alike_(alike), units_(units) {}

    void run() {
        open_slices();
        while (!open_.empty()) {
            take(choose());
            open_slices();
        }
    }

private:
    std::uint32_t stage_of(std::uint32_t layer) const { return stages_.of_step(graph_.step[layer]); }

    /// Whether the slices before this one have left the stages that it needs to enter `stage`.
    bool may_enter(std::size_t slice, std::uint32_t stage) const {
        return std::ranges::all_of(open_, [&](const OpenSlice& other) {
            return other.number >= slice || stages_.may_enter(stage, slice - other.number, other.stage);
        });
    }

    void open_slices() {
        while (opened_ < slices_ && may_enter(opened_, 1)) {
            OpenSlice& slice = open_.emplace_back();
            slice.number = opened_++;
            const auto layers = static_cast<std::uint32_t>(graph_.step.size());
            slice.steps.resize(layers);
            slice.next_step.resize(layers);
            slice.layers_left.resize(stages_.count() + 2);
            slice.work_left.resize(stages_.count() + 2);
            for (std::uint32_t l = 0; l < layers; ++l) {
                slice.waits_for.push_back(static_cast<std::uint32_t>(graph_.before[l].size()));
                ++slice.layers_left[stage_of(l)];
            }
            units_.open_slice(slice.number);
            for (std::uint32_t l = 0; l < layers; ++l) {
                if (graph_.before[l].empty()) begin_layer(slice, l);
            }
            skip_empty_stages(slice);
        }
    }

    /// A layer whose work may now be put in order. One without work is finished at once.
    void begin_layer(OpenSlice& slice, std::uint32_t layer) {
        slice.steps[layer] = units_.begin_layer(slice.number, layer);
        if (slice.steps[layer].empty()) {
            finish_layer(slice, layer);
            return;
        }
        for (const double cycles : slice.steps[layer]) slice.work_left[stage_of(layer)] += cycles;
        slice.ready.push_back(layer);
    }

    void finish_layer(OpenSlice& slice, std::uint32_t layer) {
        --slice.layers_left[stage_of(layer)];
        for (const std::uint32_t after : graph_.after[layer]) {
            if (--slice.waits_for[after] == 0) begin_layer(slice, after);
        }
    }

    void skip_empty_stages(OpenSlice& slice) const {
        while (slice.stage <= stages_.count() && slice.layers_left[slice.stage] == 0) ++slice.stage;
    }

    /// Of the steps that may be next, the one to take.
    Candidate choose() {
        std::vector<Candidate> candidates;
        std::vector<NextStep> steps;
        for (OpenSlice& slice : open_) {
            for (const std::uint32_t layer : slice.ready) {
                if (!may_enter(slice.number, stage_of(layer))) continue;
                const NextStep next{.slice = slice.number, .layer = layer, .step = slice.next_step[layer]};
                const auto offer = units_.offer(next);
                if (!offer) continue;
                candidates.push_back({.slice = &slice,
                                      .next = next,
                                      .offer = *offer,
                                      .work_left = slice.work_left[stage_of(layer)]});
                steps.push_back(next);
            }
        }
        if (candidates.empty()) throw std::logic_error("no step of pipelined slices can be next");
        if (candidates.size() > 1) {
            for (Candidate& each : candidates) each.offer.wait += units_.wait_behind(each.next, steps);
        }
        return *std::ranges::min_element(
            candidates, [&](const Candidate& a, const Candidate& b) { return is_better(a, b); });
    }

    bool is_better(const Candidate& a, const Candidate& b) const {
        if (std::abs(a.offer.wait - b.offer.wait) > alike_) return a.offer.wait < b.offer.wait;
        if (a.offer.goes_first != b.offer.goes_first) return a.offer.goes_first;
        return a.work_left > b.work_left;
    }

    void take(const Candidate& chosen) {
        OpenSlice& slice = *chosen.slice;
        const std::uint32_t layer = chosen.next.layer;
        const double done = units_.take(chosen.next);
        slice.work_left[stage_of(layer)] -= slice.steps[layer][slice.next_step[layer]++];
        if (slice.next_step[layer] < slice.steps[layer].size()) return;
        std::erase(slice.ready, layer);
        finish_layer(slice, layer);
        skip_empty_stages(slice);
        while (!open_.empty() && open_.front().stage > stages_.count()) {
            units_.close_slice(done);
            open_.pop_front();
        }
    }

    const LayerGraph& graph_;
    const Stages& stages_;
    const std::size_t slices_;
    const double alike_;
    StepUnits& units_;
    std::size_t opened_ = 0;  ///< slices that have been opened
    std::deque<OpenSlice> open_;
};

}  // namespace

void order_steps(const LayerGraph& graph, const Stages& stages, std::size_t slices, double alike,
                 StepUnits& units) {
    ListScheduler(graph, stages, slices, alike, units).run();
}

}  // namespace systole::schedule
