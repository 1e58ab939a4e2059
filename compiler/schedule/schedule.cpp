#include "compiler/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/model_error.h"
#include "compiler/schedule/constants_layout.h"
#include "compiler/schedule/lowering.h"

namespace systole::schedule {
namespace {

/// Images that go through the network together.
struct Pass {
    std::uint64_t first_inference = 0;
    std::uint32_t images = 0;
};

std::vector<Pass> cut_passes(const Options& options, std::uint32_t images_per_pass) {
    std::vector<Pass> passes;
    for (std::uint64_t first = 0; first < options.inferences;) {
        const std::uint64_t left = options.inferences - first;
        const auto images = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, left));
        for (const Piece& piece : cut_evenly(images, images_per_pass)) {
            passes.push_back({.first_inference = first + piece.first, .images = piece.count});
        }
        first += images;
    }
    return passes;
}

void check_options(const quantized::Network& network, const Options& options) {
    const auto check = [&](const char* what, std::uint64_t value) {
        if (value == 0) {
            throw ModelError(fmt::format("{}: {} is 0; it must be at least 1", network.name, what));
        }
    };
    check("batch", options.batch);
    check("inferences", options.inferences);
}

void check_border(const quantized::Network& network) {
    for (const quantized::TensorId id : {network.input, network.output}) {
        if (id >= network.tensors.size() || network.tensors[id].shape.elements() == 0) {
            throw std::logic_error(fmt::format(
                "quantized network \"{}\": input and output must be tensors with elements", network.name));
        }
    }
}

/// A program contains all inferences, so that there is an end to how many there can be. Beyond this one,
/// compiling takes gigabytes of memory.
constexpr std::uint64_t most_operations = std::uint64_t{1} << 24;

void check_size(const Schedule& schedule, std::uint64_t operations) {
    if (operations > most_operations) {
        throw ModelError(fmt::format(
            "{}: {} inferences, {} at a time, take {} operations or more; a program may have at most {}",
            schedule.network, schedule.options.inferences, schedule.memory.images_per_pass, operations,
            most_operations));
    }
}

/// Appends the work of all passes in program order.
class Sequence {
public:
    Sequence(const quantized::Network& network, Schedule& schedule)
        : network_(network),
          schedule_(schedule),
          passes_(cut_passes(schedule.options, schedule.memory.images_per_pass)),
          input_read_out_(last_reading_step(network, network.input)),
          accumulators_(schedule.target.accumulator_rows) {}

    void append_all() {
        const auto layers = static_cast<std::uint32_t>(network_.layers.size());
        for (std::size_t p = 0; p < passes_.size(); ++p) {
            const Pass& pass = passes_[p];
            if (p == 0 || !schedule_.memory.overlap_transfers) read_input(pass);
            if (p == 0 && schedule_.constant_rows > 0) schedule_.operations.emplace_back(ReadConstants{});
            prefetch_after(0, p);
            for (std::uint32_t l = 0; l < layers; ++l) {
                append_layer(l, pass);
                prefetch_after(l + 1, p);
            }
            schedule_.operations.emplace_back(
                WriteOutput{.first_inference = pass.first_inference, .images = pass.images});
            prefetch_after(layers + 1, p);
            if (p == 0) check_size(schedule_, schedule_.operations.size() * passes_.size());
        }
    }

private:
    void read_input(const Pass& pass) {
        schedule_.operations.emplace_back(
            ReadInput{.first_inference = pass.first_inference, .images = pass.images});
    }

    /// The next pass's input comes as soon as nothing of this pass reads the input any more.
    void prefetch_after(std::uint32_t step, std::size_t pass) {
        const bool wanted = schedule_.memory.overlap_transfers && pass + 1 < passes_.size();
        if (wanted && step == input_read_out_) read_input(passes_[pass + 1]);
    }

    void append_layer(std::uint32_t index, const Pass& pass) {
        const quantized::Layer& layer = network_.layers[index];
        PassContext context{.view = {network_, layer, schedule_.target},
                            .plan = schedule_.layers[index],
                            .layer = index,
                            .image_rows = schedule_.memory.tensors[layer.output].image_rows,
                            .images = pass.images,
                            .accumulators = accumulators_,
                            .operations = schedule_.operations};
        std::visit([&](const auto& operation) { lower(operation, context); }, layer.operation);
    }

    const quantized::Network& network_;
    Schedule& schedule_;
    const std::vector<Pass> passes_;
    const std::uint32_t input_read_out_;  ///< the step that last reads the network's input
    AccumulatorParts accumulators_;
};

}  // namespace

Schedule make_schedule(const quantized::Network& network, const Target& target, const Options& options) {
    check_options(network, options);
    check_border(network);
    Schedule schedule;
    schedule.network = network.name;
    schedule.target = target;
    schedule.options = options;
    schedule.layers = plan_layers(network, target);
    for (const LayerPlan& plan : schedule.layers) schedule.weight_tiles += plan.tiling.tiles;
    schedule.constant_rows = lay_out_constants(network, target, schedule.layers);
    schedule.memory = plan_memory(network, target, options, schedule.constant_rows);
    check_size(schedule, options.inferences / schedule.memory.images_per_pass);
    Sequence(network, schedule).append_all();
    return schedule;
}

}  // namespace systole::schedule
