#include "compiler/target/tpu_v1/schedule/list_scheduler.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>

#include "compiler/schedule/stages.h"
#include "compiler/target/tpu_v1/cost/step_costs.h"
#include "compiler/target/tpu_v1/cost/unit_times.h"
#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/schedule/accumulator_rows.h"
#include "compiler/target/tpu_v1/schedule/layer_graph.h"
#include "hw/timing/transfers.h"

namespace systole::tpu_v1 {
namespace {

/// A slice that has begun and not ended.
struct OpenSlice {
    std::size_t number = 0;
    SliceWork work;
    std::vector<std::uint32_t> waits_for;    ///< by layer: layers to finish before; none: done or under way
    std::vector<std::vector<Step>> steps;    ///< by layer: cut when the layer may begin
    std::vector<std::size_t> next_step;      ///< by layer
    std::vector<std::uint32_t> sums;         ///< by layer: accumulator row of sums that are not complete
    std::vector<std::uint32_t> ready;        ///< layers that may begin, with steps left
    std::vector<std::vector<double>> done;   ///< by tensor, by line of the slice: when it has been written
    std::vector<std::uint32_t> layers_left;  ///< by stage, from 1 on
    std::vector<double> work_left;           ///< by stage: cycles of the steps that have been cut
    std::uint32_t stage = 1;                 ///< the first that has layers left
};

/// A step that may be next.
struct Candidate {
    OpenSlice* slice = nullptr;
    std::uint32_t layer = 0;
    double wait = 0;          ///< cycles that its unit waits for it
    bool goes_first = false;  ///< a transfer, or see Pipeline::weights_first
    double work_left = 0;     ///< of the slice in its stage
};

/// Waits that differ by less are alike: they are those between the streams of full tiles.
constexpr double few_cycles = 32;

/// A step's instructions in the queue of the activation unit: it waits for the sums, activates them, and says
/// that their rows are free.
constexpr std::size_t instructions_of_step = 3;

/// The tile that is in the array.
struct TileInArray {
    std::uint32_t layer = 0;
    std::uint32_t column = 0;

    bool operator==(const TileInArray&) const = default;
};

class ListScheduler {
public:
    ListScheduler(const AnalysedNetwork& analysed, const Schedule& schedule, std::size_t slices,
                  const std::function<SliceWork(std::size_t)>& work)
        : network_(analysed.network()),
          uses_(analysed.uses),
          schedule_(schedule),
          machine_(schedule.target.costs->machine),
          slices_(slices),
          work_(work),
          stages_(schedule.memory.pipeline.value().stages, static_cast<std::uint32_t>(network_.layers.size()),
                  schedule.memory.slack),
          graph_(layer_graph(analysed, schedule)),
          costs_(analysed, schedule),
          times_(machine_),
          accumulators_(schedule.target.accumulator_rows) {}

    OrderedWork run() {
        read_inputs(0);
        open_slices();
        while (!open_.empty()) {
            add(choose());
            open_slices();
        }
        result_.cycles = static_cast<Cycle>(std::llround(std::max(times_.end(), host_writes_)));
        return std::move(result_);
    }

private:
    std::uint32_t stage_of(std::uint32_t layer) const { return stages_.of_step(graph_.step[layer]); }

    /// Whether the slices before this one have left the stages that it needs to enter `stage`.
    bool may_enter(std::size_t slice, std::uint32_t stage) const {
        return std::ranges::all_of(open_, [&](const OpenSlice& other) {
            return other.number >= slice || stages_.may_enter(stage, slice - other.number, other.stage);
        });
    }

    /// Opens slices that may enter the first stage; the input of the one behind is then read.
    void open_slices() {
        while (opened_ < slices_ && may_enter(opened_, 1)) {
            OpenSlice& slice = open_.emplace_back();
            slice.number = opened_;
            slice.work = std::move(read_.front());
            read_.pop_front();
            slice.done = std::move(read_done_.front());
            read_done_.pop_front();
            const std::size_t layers = network_.layers.size();
            slice.steps.resize(layers);
            slice.next_step.resize(layers);
            slice.sums.resize(layers);
            slice.layers_left.resize(stages_.count() + 2);
            slice.work_left.resize(stages_.count() + 2);
            for (std::uint32_t l = 0; l < layers; ++l) {
                slice.waits_for.push_back(static_cast<std::uint32_t>(graph_.before[l].size()));
                ++slice.layers_left[stage_of(l)];
            }
            ++opened_;
            read_inputs(opened_);
            for (std::uint32_t l = 0; l < layers; ++l) {
                if (graph_.before[l].empty()) begin_layer(slice, l);
            }
            skip_empty_stages(slice);
        }
    }

    void read_inputs(std::size_t number) {
        if (number >= slices_) return;
        SliceWork& work = read_.emplace_back(work_(number));
        std::uint64_t bytes = 0;
        for (const HostPart& part : schedule_.memory.inputs) {
            bytes += image_bytes(network_.tensors[part.tensor]) * work.images;
        }
        // The first two have places from the beginning; the others wait for a slice that has left the first
        // stage, as the array does when this is called.
        const double begin = number < 2 ? host_reads_ : std::max(host_reads_, times_.matrix());
        const auto link = static_cast<double>(timing::host_read_cycles(bytes, machine_));
        // What the first slice waits for comes before the first row of array input.
        if (number > 0) host_reads_ = begin + link;
        std::vector<std::vector<double>>& done = read_done_.emplace_back(network_.tensors.size());
        for (const HostPart& part : schedule_.memory.inputs) {
            for (const TensorId id : {part.whole, part.tensor}) {
                done[id].assign(lines(id, work.images), host_reads_);
            }
        }
        append(work.inputs);
    }

    std::uint64_t lines(TensorId id, std::uint32_t images) const {
        return std::uint64_t{network_.tensors[id].shape.height} * images;
    }

    void append(std::span<const Operation> operations) {
        result_.operations.insert(result_.operations.end(), operations.begin(), operations.end());
    }

    /// A layer whose work may now be put in order. One without work is finished at once.
    void begin_layer(OpenSlice& slice, std::uint32_t layer) {
        slice.work.layers[layer] = costs_.split(std::move(slice.work.layers[layer]));
        slice.steps[layer] = costs_.steps_of(layer, slice.work.layers[layer], slice.work.first_image);
        for (const TensorId output : outputs_of(network_.layers[layer])) {
            slice.done[output].assign(lines(output, slice.work.images), inputs_done(slice, layer));
        }
        if (slice.steps[layer].empty()) {
            finish_layer(slice, layer);
            return;
        }
        for (const Step& step : slice.steps[layer]) slice.work_left[stage_of(layer)] += step.longest();
        slice.ready.push_back(layer);
    }

    /// When all that a layer without work passes on has been written.
    double inputs_done(const OpenSlice& slice, std::uint32_t layer) const {
        double done = 0;
        if (!slice.work.layers[layer].empty()) return done;
        for (const TensorId input : network_.layers[layer].inputs) {
            for (const double line : slice.done[input]) done = std::max(done, line);
        }
        return done;
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

    /// When the rows that a step reads have been written.
    double ready(const OpenSlice& slice, std::uint32_t layer, const Step& step) const {
        double ready = 0;
        const Layer& read_by = network_.layers[layer];
        for (std::size_t i = 0; i < read_by.inputs.size(); ++i) {
            const std::vector<double>& done = slice.done[read_by.inputs[i]];
            const std::uint64_t height = network_.tensors[read_by.inputs[i]].shape.height;
            const std::uint64_t end = costs_.lines_read(layer, i, step);
            if (end == 0 || done.empty()) continue;
            ready = std::max(ready, done[end - 1]);
            if (const std::uint64_t image = (end - 1) / height; image > 0) {
                ready = std::max(ready, done[image * height - 1]);
            }
        }
        return ready;
    }

    std::span<const Operation> operations(const OpenSlice& slice, std::uint32_t layer,
                                          const Step& step) const {
        return std::span(slice.work.layers[layer]).subspan(step.first_operation, step.operations);
    }

    bool keeps_tile(std::uint32_t layer, const Step& step) const {
        return step.column && in_array_ == TileInArray{.layer = layer, .column = *step.column};
    }

    /// The layer's next step; nullopt if it has no rows of accumulators yet.
    std::optional<Candidate> candidate(OpenSlice& slice, std::uint32_t layer) const {
        Candidate found{.slice = &slice, .layer = layer, .work_left = slice.work_left[stage_of(layer)]};
        const Step& step = next_step(found);
        if (!step.is_product) {
            // Transfers and the host keep neither array nor activation unit.
            found.goes_first = !step.is_vector_work;
            if (!found.goes_first) {
                found.wait = std::max(ready(slice, layer, step) - times_.activation(), 0.0);
            }
            return found;
        }
        const bool kept = keeps_tile(layer, step);
        const std::optional<double> begin = begin_of(times_, found, kept);
        if (!begin) return std::nullopt;
        found.wait = *begin - times_.matrix();
        found.goes_first =
            schedule_.memory.pipeline->weights_first && !kept && step.fetch_cycles > step.array_cycles;
        return found;
    }

    /// When the candidate's step, a product, could begin with the units at `times`.
    std::optional<double> begin_of(const UnitTimes& times, const Candidate& candidate,
                                   bool keeps_tile) const {
        const Step& step = next_step(candidate);
        const auto fetch = fetch_of(step.first_fetch, keeps_tile);
        double begin = 0;
        if (step.begins_sums) {
            begin = times.stream_begin(ready(*candidate.slice, candidate.layer, step), fetch);
            const std::optional<double> rows_free = accumulators_.free(step.accumulator_rows, begin);
            if (!rows_free) return std::nullopt;
            begin = std::max(begin, *rows_free);
        }
        return times.stream_begin(begin, fetch);
    }

    /// The fetch of a tile; none if it is kept. Its instruction is issued when those of the steps before have
    /// places in the queue of the activation unit.
    std::optional<UnitTimes::Fetch> fetch_of(double cycles, bool is_kept) const {
        if (is_kept) return std::nullopt;
        const std::size_t places = machine_.sequencer.queue_depth / instructions_of_step;
        const double issued = activated_.size() <= places ? 0.0 : activated_[activated_.size() - 1 - places];
        return UnitTimes::Fetch{.cycles = cycles, .issued = issued};
    }

    /// Of the steps that may be next, the one to take: that for which units wait the fewest cycles, before it
    /// and before the best step behind it.
    Candidate choose() {
        std::vector<Candidate> candidates;
        for (OpenSlice& slice : open_) {
            for (const std::uint32_t layer : slice.ready) {
                if (!may_enter(slice.number, stage_of(layer))) continue;
                if (const auto found = candidate(slice, layer)) candidates.push_back(*found);
            }
        }
        if (candidates.size() > 1) {
            for (Candidate& each : candidates) each.wait += wait_behind(each, candidates);
        }
        // Sums that are not complete can go on, and without them there are rows for each chunk.
        if (candidates.empty()) throw std::logic_error("no step of pipelined slices can be next");
        return *std::ranges::min_element(candidates, is_better);
    }

    /// The fewest cycles that the array waits for another candidate, or the next step of its layer, behind
    /// one. Work of the activation unit leaves the array as it is.
    double wait_behind(const Candidate& chosen, const std::vector<Candidate>& candidates) const {
        const Step& step = next_step(chosen);
        if (!step.is_product) return 0;
        UnitTimes times = times_;
        double begin = begin_of(times_, chosen, keeps_tile(chosen.layer, step)).value();
        for (const StreamOfStep& stream : costs_.streams_of(operations(*chosen.slice, chosen.layer, step))) {
            times.add_stream(stream.shape, begin, fetch_of(stream.fetch, keeps_tile(chosen.layer, step)));
            begin = 0;
        }
        double least = std::numeric_limits<double>::infinity();
        for (const Candidate& other : candidates) {
            if (other.slice == chosen.slice && other.layer == chosen.layer) continue;
            if (!next_step(other).is_product) continue;
            const bool kept =
                step.column && other.layer == chosen.layer && next_step(other).column == step.column;
            if (const auto at = begin_of(times, other, kept)) least = std::min(least, *at - times.matrix());
        }
        const std::size_t behind = chosen.slice->next_step[chosen.layer] + 1;
        if (behind < chosen.slice->steps[chosen.layer].size()) {
            const Step& next = chosen.slice->steps[chosen.layer][behind];
            const bool kept = step.column && next.column == step.column;
            least = std::min(least, times.stream_begin(0, fetch_of(next.first_fetch, kept)) - times.matrix());
        }
        return std::isinf(least) ? 0 : least;
    }

    static const Step& next_step(const Candidate& candidate) {
        return candidate.slice->steps[candidate.layer][candidate.slice->next_step[candidate.layer]];
    }

    static bool is_better(const Candidate& a, const Candidate& b) {
        if (std::abs(a.wait - b.wait) > few_cycles) return a.wait < b.wait;
        if (a.goes_first != b.goes_first) return a.goes_first;
        return a.work_left > b.work_left;
    }

    void add(const Candidate& chosen) {
        OpenSlice& slice = *chosen.slice;
        const std::uint32_t layer = chosen.layer;
        const Step& step = slice.steps[layer][slice.next_step[layer]++];
        double done = 0;
        if (step.is_product) {
            done = add_product(slice, layer, step);
        } else if (!step.is_vector_work) {
            done = add_host_work(slice, layer);
        } else {
            done = times_.add_activation(ready(slice, layer, step), step.activation_cycles);
        }
        if (!step.is_product) append(operations(slice, layer, step));
        slice.work_left[stage_of(layer)] -= step.longest();
        if (!step.ends_sums) return;
        for (const TensorId output : outputs_of(network_.layers[layer])) {
            std::vector<double>& written = slice.done[output];
            const std::uint64_t end =
                std::min<std::uint64_t>(step.written.first + step.written.count, written.size());
            for (std::uint64_t line = step.written.first; line < end; ++line) written[line] = done;
        }
        if (slice.next_step[layer] < slice.steps[layer].size()) return;
        std::erase(slice.ready, layer);
        finish_layer(slice, layer);
        skip_empty_stages(slice);
        while (!open_.empty() && open_.front().stage > stages_.count()) {
            end_slice(open_.front(), done);
            open_.pop_front();
        }
    }

    /// Lets the host compute a segment. Returns when the chip has its results.
    double add_host_work(OpenSlice& slice, std::uint32_t layer) {
        const Layer& segment = network_.layers[layer];
        const auto* const work = std::get_if<HostSegment>(&segment.work);
        if (work == nullptr) return 0;  // a transfer
        double ready = 0;
        std::uint64_t sent = 0, fetched = 0;
        for (const TensorId input : segment.inputs) {
            for (const double line : slice.done[input]) ready = std::max(ready, line);
            if (!uses_[input].begins_in_host) sent += image_bytes(network_.tensors[input]);
        }
        for (const TensorId output : segment.outputs) {
            if (!uses_[output].chip_readers.empty()) fetched += image_bytes(network_.tensors[output]);
        }
        const Costs& costs = *schedule_.target.costs;
        const auto images = static_cast<double>(slice.work.images);
        const double bytes =
            images * static_cast<double>(work->bytes) + static_cast<double>(work->constant_bytes);
        const double seconds =
            static_cast<double>(work->layers.size()) * costs.host.seconds_per_layer +
            std::max(images * static_cast<double>(work->operations) * costs.host.seconds_per_operation,
                     bytes * costs.host.seconds_per_byte);
        const auto busy = static_cast<Cycle>(std::ceil(seconds * machine_.clock_mhz * 1e6));
        const Cycle transfers = timing::host_write_cycles(sent * slice.work.images, machine_) +
                                timing::host_read_cycles(fetched * slice.work.images, machine_);
        host_ = std::max(host_, ready) + static_cast<double>(busy);
        const double done =
            host_ + static_cast<double>(transfers + timing::host_work_cost(busy, machine_).complete - busy);
        for (const TensorId output : segment.outputs) std::ranges::fill(slice.done[output], done);
        return done;
    }

    /// Appends the streams and activations of a step. Returns when its results are written.
    double add_product(OpenSlice& slice, std::uint32_t layer, const Step& step) {
        const bool keeps = keeps_tile(layer, step);
        double rows_free = 0;
        if (step.begins_sums) {
            const double begin =
                times_.stream_begin(ready(slice, layer, step), fetch_of(step.first_fetch, keeps));
            rows_free = std::max(begin, accumulators_.free(step.accumulator_rows, begin).value());
            slice.sums[layer] = accumulators_.take(step.accumulator_rows, begin);
        }
        const std::uint32_t row = slice.sums[layer];
        double done = 0;
        const std::span<const Operation> all = operations(slice, layer, step);
        for (const StreamOfStep& stream : costs_.streams_of(all)) {
            result_.array_cycles += stream.shape.span();
            done = times_.add_stream(stream.shape, rows_free, fetch_of(stream.fetch, keeps));
            rows_free = 0;
        }
        if (step.ends_sums) {
            activated_.push_back(done);
            done = times_.add_activation(done, step.activation_cycles);
            accumulators_.release(row, done);
        }
        for (Operation operation : all) {
            std::visit([&](auto& work) { place(work, row, keeps); }, operation);
            result_.operations.push_back(operation);
        }
        in_array_.reset();
        if (step.column) in_array_ = {.layer = layer, .column = *step.column};
        return done;
    }

    /// Gives an operation of a step its rows of sums.
    template <typename Work>
    static void place(Work& work, std::uint32_t row, bool keeps_tile) {
        if constexpr (std::is_base_of_v<MatrixWork, Work>) {
            work.accumulator_row = row;
            work.keep_weights = keeps_tile;
        } else if constexpr (std::is_same_v<Work, ActivatePixels>) {
            work.accumulator_row = row;
        }
    }

    void end_slice(const OpenSlice& slice, double done) {
        result_.slice_ends.push_back(static_cast<Cycle>(std::llround(done)));
        std::uint64_t bytes = 0;
        for (const HostPart& part : schedule_.memory.outputs) {
            bytes += image_bytes(network_.tensors[part.tensor]) * slice.work.images;
        }
        host_writes_ =
            std::max(host_writes_, done) + static_cast<double>(timing::host_write_cycles(bytes, machine_));
    }

    const Network& network_;
    const std::vector<TensorUse>& uses_;
    const Schedule& schedule_;
    const machine::MachineConfig& machine_;
    const std::size_t slices_;
    const std::function<SliceWork(std::size_t)>& work_;
    const schedule::Stages stages_;
    const LayerGraph graph_;
    const StepCosts costs_;
    UnitTimes times_;
    AccumulatorRows accumulators_;
    std::optional<TileInArray> in_array_;
    std::vector<double> activated_;  ///< by step with sums: when they are complete
    double host_reads_ = 0;          ///< the link to the chip is free
    double host_writes_ = 0;
    double host_ = 0;             ///< the host may begin the next segment
    std::size_t opened_ = 0;      ///< slices that have been opened
    std::deque<SliceWork> read_;  ///< slices whose input has been read, not opened yet
    std::deque<std::vector<std::vector<double>>> read_done_;
    std::deque<OpenSlice> open_;
    OrderedWork result_;
};

}  // namespace

OrderedWork order_steps(const AnalysedNetwork& analysed, const Schedule& schedule, std::size_t slices,
                        const std::function<SliceWork(std::size_t)>& work) {
    return ListScheduler(analysed, schedule, slices, work).run();
}

}  // namespace systole::tpu_v1
