#include "compiler/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/schedule/constants_layout.h"
#include "compiler/schedule/lowering.h"
#include "compiler/schedule/parallel_convolutions.h"

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

void check_options(const mapping::Network& network, const Options& options) {
    const auto check = [&](const char* what, std::uint64_t value) {
        if (value == 0) {
            throw ModelError(fmt::format("{}: {} is 0; it must be at least 1", network.name, what));
        }
    };
    check("batch", options.batch);
    check("inferences", options.inferences);
}

void check_border(const mapping::Network& network) {
    for (const mapping::TensorId id : {network.input, network.output}) {
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

/// The step that last reads a part of the network's input.
std::uint32_t last_step_of_input(const mapping::Network& network, const Schedule& schedule) {
    const std::vector<std::uint32_t> joined_to =
        group_parallel_convolutions(network, schedule.target.geometry);
    std::uint32_t last = 0;
    for (const HostPart& part : schedule.memory.inputs) {
        last = std::max(last, last_reading_step(network, joined_to, part.tensor));
    }
    return last;
}

/// Appends the work of all passes in program order.
class Sequence {
public:
    Sequence(const mapping::Network& network, Schedule& schedule)
        : network_(network),
          schedule_(schedule),
          passes_(cut_passes(schedule.options, schedule.memory.images_per_pass)),
          input_read_out_(last_step_of_input(network, schedule)),
          accumulators_(schedule.target.accumulator_rows) {}

    void append_all() {
        const auto layers = static_cast<std::uint32_t>(network_.layers.size());
        const SubBatches& groups = schedule_.memory.groups;
        for (std::size_t p = 0; p < passes_.size(); ++p) {
            const Pass& pass = passes_[p];
            if (p == 0) {
                read_first_input(pass);
            } else if (!schedule_.memory.overlap_transfers) {
                read_input(pass);
            }
            prefetch_after(0, p);
            if (groups.layers > 0) append_groups(groups, p);
            for (std::uint32_t l = groups.layers; l < layers; ++l) {
                append_layer(l, {.first = 0, .count = pass.images});
                write_output_of(l, pass);
                prefetch_after(l + 1, p);
            }
            if (layers == 0) write_output_of(0, pass);
            prefetch_after(layers + 1, p);
            if (p == 0) check_size(schedule_, schedule_.operations.size() * passes_.size());
        }
    }

private:
    /// All parts of the input.
    void read_input(const Pass& pass) {
        for (std::uint32_t part = 0; part < schedule_.memory.inputs.size(); ++part) {
            read_part(pass, part, {.first = 0, .count = pass.images});
        }
    }

    void read_part(const Pass& pass, std::uint32_t part, const Piece& images) {
        if (images.count == 0) return;
        schedule_.operations.emplace_back(ReadInput{.first_inference = pass.first_inference + images.first,
                                                    .first_image = images.first,
                                                    .images = images.count,
                                                    .part = part});
    }

    /// What the first layer reads, of its first group; then the constants, which its results need; then the
    /// rest.
    void read_first_input(const Pass& pass) {
        const SubBatches& groups = schedule_.memory.groups;
        const std::uint32_t group = groups.layers > 0 ? std::min(groups.images, pass.images) : pass.images;
        const std::vector<HostPart>& parts = schedule_.memory.inputs;
        std::uint32_t first_parts = 0;
        while (first_parts < parts.size() && parts[first_parts].layer == parts.front().layer) ++first_parts;
        for (std::uint32_t part = 0; part < first_parts; ++part) {
            read_part(pass, part, {.first = 0, .count = group});
        }
        if (schedule_.constant_rows > 0) schedule_.operations.emplace_back(ReadConstants{});
        for (std::uint32_t first = group; first < pass.images; first += group) {
            for (std::uint32_t part = 0; part < first_parts; ++part) {
                read_part(pass, part, {.first = first, .count = std::min(group, pass.images - first)});
            }
        }
        for (std::uint32_t part = first_parts; part < parts.size(); ++part) {
            read_part(pass, part, {.first = 0, .count = pass.images});
        }
    }

    /// Sends what the layer, and what is joined to it, has made of the output.
    void write_output_of(std::uint32_t layer, const Pass& pass) {
        for (std::uint32_t part = 0; part < schedule_.memory.outputs.size(); ++part) {
            if (computed_at(schedule_.memory.outputs[part].layer) != layer) continue;
            schedule_.operations.emplace_back(
                WriteOutput{.first_inference = pass.first_inference, .images = pass.images, .part = part});
        }
    }

    /// The next pass's input comes as soon as nothing of this pass reads the input any more.
    void prefetch_after(std::uint32_t step, std::size_t pass) {
        const bool wanted = schedule_.memory.overlap_transfers && pass + 1 < passes_.size();
        if (wanted && step == input_read_out_) read_input(passes_[pass + 1]);
    }

    /// The first layers, group by group.
    void append_groups(const SubBatches& groups, std::size_t pass) {
        const std::uint32_t images = passes_[pass].images;
        for (std::uint32_t first = 0; first < images; first += groups.images) {
            const Piece group{.first = first, .count = std::min(groups.images, images - first)};
            const bool is_last = first + group.count == images;
            for (std::uint32_t l = 0; l < groups.layers; ++l) {
                append_layer(l, group);
                if (!is_last) continue;
                write_output_of(l, passes_[pass]);
                prefetch_after(l + 1, pass);
            }
        }
    }

    /// The layer in whose place a layer is computed. Of a network without layers, the input is the output.
    std::uint32_t computed_at(std::uint32_t layer) const {
        return schedule_.layers.empty() ? layer : schedule_.layers[layer].joined_to.value_or(layer);
    }

    /// The layer's work for some images of a pass.
    void append_layer(std::uint32_t index, const Piece& images) {
        if (schedule_.layers[index].joined_to) return;
        const mapping::Layer& layer = network_.layers[index];
        PassContext context{.view = {network_, layer, schedule_.target},
                            .plan = schedule_.layers[index],
                            .layer = index,
                            .image_rows = schedule_.memory.tensors[layer.output].image_rows,
                            .memory = schedule_.memory,
                            .first_image = images.first,
                            .images = images.count,
                            .accumulators = accumulators_,
                            .operations = schedule_.operations};
        std::visit([&](const auto& work) { lower(work, context); }, layer.work);
    }

    const mapping::Network& network_;
    Schedule& schedule_;
    const std::vector<Pass> passes_;
    const std::uint32_t input_read_out_;  ///< the step that last reads the network's input
    AccumulatorParts accumulators_;
};

}  // namespace

Schedule make_schedule(const mapping::Network& network, const Target& target, const Options& options) {
    check_options(network, options);
    check_border(network);
    Schedule schedule;
    schedule.network = network.name;
    schedule.target = target;
    schedule.options = options;
    schedule.layers = plan_layers(network, target);
    std::vector<std::uint32_t> tiles;
    for (const LayerPlan& plan : schedule.layers) {
        tiles.push_back(plan.tiling.tiles);
        schedule.weight_tiles += plan.tiling.tiles;
    }
    schedule.constant_rows = lay_out_constants(network, target, schedule.layers);
    schedule.memory = plan_memory(network, target, options, schedule.constant_rows, tiles);
    check_size(schedule, options.inferences / schedule.memory.images_per_pass);
    Sequence(network, schedule).append_all();
    return schedule;
}

}  // namespace systole::schedule
