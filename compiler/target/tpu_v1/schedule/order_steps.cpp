#include "compiler/target/tpu_v1/schedule/order_steps.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>

#include "compiler/schedule/list_scheduler.h"
#include "compiler/schedule/stages.h"
#include "compiler/target/tpu_v1/cost/step_costs.h"
#include "compiler/target/tpu_v1/cost/unit_times.h"
#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/schedule/accumulator_rows.h"
#include "hw/timing/transfers.h"

namespace systole::tpu_v1 {
namespace {

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

/// A slice whose input has been read and whose output has not left.
struct ReadSlice {
    SliceWork work;
    std::vector<std::vector<Step>> steps;   ///< by layer: cut when the layer may begin
    std::vector<std::uint32_t> sums;        ///< by layer: accumulator row of sums that are not complete
    std::vector<std::vector<double>> done;  ///< by tensor, by line of the slice: when it has been written
};

/// The array with its weights and accumulators, the activation unit, the host and its link.
class Units final : public schedule::StepUnits {
public:
    Units(const AnalysedNetwork& analysed, const Schedule& schedule, std::size_t count,
          const std::function<SliceWork(std::size_t)>& work)
        : network_(analysed.network()),
          uses_(analysed.uses),
          schedule_(schedule),
          machine_(schedule.target.costs->machine),
          count_(count),
          work_(work),
          costs_(analysed, schedule),
          times_(machine_),
          accumulators_(schedule.target.accumulator_rows) {
        read_inputs(0);
    }

    /// Reads the input of the slice behind it.
    void open_slice(std::size_t number) override { read_inputs(number + 1); }

    std::vector<double> begin_layer(std::size_t number, std::uint32_t layer) override {
        ReadSlice& slice = this->slice(number);
        slice.work.layers[layer] = costs_.split(std::move(slice.work.layers[layer]));
        slice.steps[layer] = costs_.steps_of(layer, slice.work.layers[layer], slice.work.first_image);
        for (const TensorId output : outputs_of(network_.layers[layer])) {
            slice.done[output].assign(lines(output, slice.work.images), inputs_done(slice, layer));
        }
        std::vector<double> longest;
        for (const Step& step : slice.steps[layer]) longest.push_back(step.longest());
        return longest;
    }

    /// nullopt if the step has no rows of accumulators yet.
    std::optional<schedule::StepOffer> offer(const schedule::NextStep& next) const override {
        const Step& step = this->step(next);
        if (!step.is_product) {
            // Transfers and the host keep neither array nor activation unit.
            if (!step.is_vector_work) return schedule::StepOffer{.goes_first = true};
            const double wait = ready(slice(next.slice), next.layer, step) - times_.activation();
            return schedule::StepOffer{.wait = std::max(wait, 0.0)};
        }
        const bool kept = keeps_tile(next.layer, step);
        const std::optional<double> begin = begin_of(times_, next, kept);
        if (!begin) return std::nullopt;
        return schedule::StepOffer{.wait = *begin - times_.matrix(),
                                   .goes_first = schedule_.memory.pipeline->weights_first && !kept &&
                                                 step.fetch_cycles > step.array_cycles};
    }

    /// Of the array: work of the activation unit leaves it as it is.
    double wait_behind(const schedule::NextStep& chosen,
                       std::span<const schedule::NextStep> steps) const override {
        const Step& step = this->step(chosen);
        if (!step.is_product) return 0;
        UnitTimes times = times_;
        const bool keeps = keeps_tile(chosen.layer, step);
        double begin = begin_of(times_, chosen, keeps).value();
        for (const StreamOfStep& stream : costs_.streams_of(operations(chosen, step))) {
            times.add_stream(stream.shape, begin, fetch_of(stream.fetch, keeps));
            begin = 0;
        }
        double least = std::numeric_limits<double>::infinity();
        for (const schedule::NextStep& other : steps) {
            if (other.slice == chosen.slice && other.layer == chosen.layer) continue;
            const Step& following = this->step(other);
            if (!following.is_product) continue;
            const bool kept = step.column && other.layer == chosen.layer && following.column == step.column;
            if (const auto at = begin_of(times, other, kept)) least = std::min(least, *at - times.matrix());
        }
        const std::vector<Step>& own = slice(chosen.slice).steps[chosen.layer];
        if (chosen.step + 1 < own.size()) {
            const Step& next = own[chosen.step + 1];
            const bool kept = step.column && next.column == step.column;
            least = std::min(least, times.stream_begin(0, fetch_of(next.first_fetch, kept)) - times.matrix());
        }
        return std::isinf(least) ? 0 : least;
    }

    double take(const schedule::NextStep& chosen) override {
        ReadSlice& slice = this->slice(chosen.slice);
        const std::uint32_t layer = chosen.layer;
        const Step& step = this->step(chosen);
        double done = 0;
        if (step.is_product) {
            done = add_product(slice, chosen, step);
        } else if (!step.is_vector_work) {
            done = add_host_work(slice, layer);
        } else {
            done = times_.add_activation(ready(slice, layer, step), step.activation_cycles);
        }
        if (!step.is_product) append(operations(chosen, step));
        if (!step.ends_sums) return done;
        for (const TensorId output : outputs_of(network_.layers[layer])) {
            std::vector<double>& written = slice.done[output];
            const std::uint64_t end =
                std::min<std::uint64_t>(step.written.first + step.written.count, written.size());
            for (std::uint64_t line = step.written.first; line < end; ++line) written[line] = done;
        }
        return done;
    }

    void close_slice(double end) override {
        result_.slice_ends.push_back(static_cast<Cycle>(std::llround(end)));
        std::uint64_t bytes = 0;
        for (const HostPart& part : schedule_.memory.outputs) {
            bytes += image_bytes(network_.tensors[part.tensor]) * slices_.front().work.images;
        }
        host_writes_ =
            std::max(host_writes_, end) + static_cast<double>(timing::host_write_cycles(bytes, machine_));
        result_.outputs_left.push_back(static_cast<Cycle>(std::llround(host_writes_)));
        slices_.pop_front();
        ++closed_;
    }

    OrderedWork result() && {
        result_.cycles = static_cast<Cycle>(std::llround(std::max(times_.end(), host_writes_)));
        return std::move(result_);
    }

private:
    ReadSlice& slice(std::size_t number) { return slices_[number - closed_]; }
    const ReadSlice& slice(std::size_t number) const { return slices_[number - closed_]; }
    const Step& step(const schedule::NextStep& next) const {
        return slice(next.slice).steps[next.layer][next.step];
    }

    void read_inputs(std::size_t number) {
        if (number >= count_) return;
        ReadSlice& slice = slices_.emplace_back();
        const SliceWork& work = slice.work = work_(number);
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
        slice.steps.resize(network_.layers.size());
        slice.sums.resize(network_.layers.size());
        slice.done.resize(network_.tensors.size());
        for (const HostPart& part : schedule_.memory.inputs) {
            for (const TensorId id : {part.whole, part.tensor}) {
                slice.done[id].assign(lines(id, work.images), host_reads_);
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

    /// When all that a layer passes on has been written: one without work, but to send its output.
    double inputs_done(const ReadSlice& slice, std::uint32_t layer) const {
        const bool has_work = !std::ranges::all_of(slice.work.layers[layer], [](const Operation& operation) {
            return std::holds_alternative<WriteOutput>(operation);
        });
        return has_work ? 0 : last_written(slice, network_.layers[layer].inputs);
    }

    static double last_written(const ReadSlice& slice, std::span<const TensorId> tensors) {
        double done = 0;
        for (const TensorId tensor : tensors) {
            for (const double line : slice.done[tensor]) done = std::max(done, line);
        }
        return done;
    }

    /// When the rows that a step reads have been written.
    double ready(const ReadSlice& slice, std::uint32_t layer, const Step& step) const {
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

    std::span<const Operation> operations(const schedule::NextStep& next, const Step& step) const {
        return std::span(slice(next.slice).work.layers[next.layer])
            .subspan(step.first_operation, step.operations);
    }

    bool keeps_tile(std::uint32_t layer, const Step& step) const {
        return step.column && in_array_ == TileInArray{.layer = layer, .column = *step.column};
    }

    /// When a product's step could begin with the units at `times`.
    std::optional<double> begin_of(const UnitTimes& times, const schedule::NextStep& next,
                                   bool keeps_tile) const {
        const Step& step = this->step(next);
        const auto fetch = fetch_of(step.first_fetch, keeps_tile);
        double begin = 0;
        if (step.begins_sums) {
            begin = times.stream_begin(ready(slice(next.slice), next.layer, step), fetch);
            const std::optional<double> rows_free = accumulators_.free(step.accumulator_rows, begin);
            // Sums that are not complete can go on, and without them there are rows for each chunk.
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

    /// Lets the host compute a segment. Returns when the chip has its results.
    double add_host_work(ReadSlice& slice, std::uint32_t layer) {
        const Layer& segment = network_.layers[layer];
        const auto* const work = std::get_if<HostSegment>(&segment.work);
        if (work == nullptr) return last_written(slice, outputs_of(segment));  // a transfer
        const double ready = last_written(slice, segment.inputs);
        std::uint64_t sent = 0, fetched = 0;
        for (const TensorId input : segment.inputs) {
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
    double add_product(ReadSlice& slice, const schedule::NextStep& chosen, const Step& step) {
        const std::uint32_t layer = chosen.layer;
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
        const std::span<const Operation> all = operations(chosen, step);
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

    const Network& network_;
    const std::vector<mapping::TensorUse>& uses_;
    const Schedule& schedule_;
    const machine::MachineConfig& machine_;
    const std::size_t count_;  ///< of all slices
    const std::function<SliceWork(std::size_t)>& work_;
    const StepCosts costs_;
    UnitTimes times_;
    AccumulatorRows accumulators_;
    std::optional<TileInArray> in_array_;
    std::vector<double> activated_;  ///< by step with sums: when they are complete
    double host_reads_ = 0;          ///< the link to the chip is free
    double host_writes_ = 0;
    double host_ = 0;  ///< the host may begin the next segment
    std::deque<ReadSlice> slices_;
    std::size_t closed_ = 0;  ///< slices before the first of these
    OrderedWork result_;
};

/// The rows of each tensor, of all slices that have any.
std::vector<schedule::TensorRows> rows_of_tensors(const AnalysedNetwork& analysed, const MemoryPlan& memory) {
    std::vector<schedule::TensorRows> rows;
    for (const TensorPart& part : analysed.parts) {
        const TensorPlacement& place = memory.tensors[part.whole];
        rows.push_back({.whole = part.whole,
                        .begin = place.row,
                        .end = place.row + std::uint64_t{place.image_rows} * place.images});
    }
    return rows;
}

}  // namespace

schedule::LayerGraph layer_graph(const AnalysedNetwork& analysed, const Schedule& schedule) {
    std::vector<std::uint32_t> computed_with;
    for (std::uint32_t l = 0; l < schedule.layers.size(); ++l) {
        computed_with.push_back(schedule.layers[l].joined_to.value_or(l));
    }
    return schedule::layer_graph(analysed.tensors.layers, computed_with,
                                 rows_of_tensors(analysed, schedule.memory));
}

OrderedWork order_steps(const AnalysedNetwork& analysed, const Schedule& schedule, std::size_t slices,
                        const std::function<SliceWork(std::size_t)>& work) {
    const schedule::LayerGraph graph = layer_graph(analysed, schedule);
    const schedule::Stages stages(schedule.memory.pipeline.value().stages,
                                  static_cast<std::uint32_t>(analysed.network().layers.size()),
                                  schedule.memory.slack);
    Units units(analysed, schedule, slices, work);
    schedule::order_steps(graph, stages, slices, few_cycles, units);
    return std::move(units).result();
}

}  // namespace systole::tpu_v1
