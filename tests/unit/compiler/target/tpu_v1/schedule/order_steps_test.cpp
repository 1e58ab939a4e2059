#include "compiler/target/tpu_v1/schedule/order_steps.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/schedule/stages.h"
#include "compiler/target/tpu_v1/cost/cost.h"
#include "compiler/target/tpu_v1/cost/layer_costs.h"
#include "compiler/target/tpu_v1/cost/step_costs.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"
#include "compiler/target/tpu_v1/schedule/order_steps.h"
#include "tests/support/network_builder.h"
#include "tests/support/random_layers.h"
#include "tests/support/random_network.h"
#include "tests/support/random_runs.h"
#include "tests/support/small_schedules.h"

namespace systole::tpu_v1 {
namespace {

using tests::between;
using tests::NetworkBuilder;
using tests::one_of;

const MatrixWork* matrix_work_of(const Operation& operation) {
    if (const auto* work = std::get_if<ConvolveLines>(&operation)) return work;
    return std::get_if<MultiplyImages>(&operation);
}

/// A network on a machine, and the work of its slices, which have places of their own.
class Ordering {
public:
    Ordering(Network network, const Target& target, std::uint32_t images = 1, std::size_t slices = 1)
        : analysed_(analyse(std::move(network), target)),
          network_(analysed_.network()),
          images_(images),
          slices_(slices),
          schedule_(tests::planned(analysed_, target, images, slices)),
          costs_(analysed_, schedule_) {
        REQUIRE(schedule_.memory.pipeline.has_value());
        for (std::uint32_t slice = 0; slice < slices; ++slice) work_.push_back(work_of(slice));
        ordered_ = order_steps(analysed_, schedule_, slices, [&](std::size_t slice) {
            asked_.push_back(slice);
            return work_[slice];
        });
    }
    Ordering(const Ordering&) = delete;

    const Network& network() const { return network_; }
    const Schedule& schedule() const { return schedule_; }
    const StepCosts& costs() const { return costs_; }
    std::uint32_t images() const { return images_; }
    std::size_t slices() const { return slices_; }
    const std::vector<SliceWork>& work() const { return work_; }
    const OrderedWork& ordered() const { return ordered_; }
    /// The slices whose work was asked for.
    const std::vector<std::size_t>& asked() const { return asked_; }

    std::size_t slice_of(const Operation& operation) const {
        return std::visit([&](const auto& work) { return place_of(work) / images_; }, operation);
    }
    /// The layer that an operation computes, or whose results it sends; absent for inputs.
    std::optional<std::uint32_t> layer_of(const Operation& operation) const {
        if (const auto* written = std::get_if<WriteOutput>(&operation)) {
            return computed_at(schedule_.memory.outputs[written->part].layer);
        }
        return std::visit(
            [](const auto& work) -> std::optional<std::uint32_t> {
                if constexpr (requires { work.layer; }) return work.layer;
                return std::nullopt;
            },
            operation);
    }
    /// The streams as slice and layer, "0:1 0:1 1:0", each as often as it comes.
    std::string streams() const {
        std::string text;
        for (const Operation& operation : ordered_.operations) {
            if (matrix_work_of(operation) == nullptr) continue;
            if (!text.empty()) text += ' ';
            text += std::to_string(slice_of(operation)) + ':' + std::to_string(*layer_of(operation));
        }
        return text;
    }

private:
    std::uint32_t computed_at(std::uint32_t layer) const {
        return schedule_.layers.at(layer).joined_to.value_or(layer);
    }

    /// The place of the first image of an operation, or of its inference.
    template <typename Work>
    std::uint64_t place_of(const Work& work) const {
        if constexpr (requires { work.chunk; }) {
            return work.chunk.first_image;
        } else if constexpr (std::is_same_v<Work, ElementwiseRows>) {
            const Tensor& output = network_.tensors[network_.layers[work.layer].output];
            return work.rows.first / image_rows(output, schedule_.target.geometry.rows);
        } else if constexpr (requires { work.first_image; }) {
            return work.first_image;
        } else if constexpr (requires { work.first_inference; }) {
            return work.first_inference;
        } else {
            return 0;
        }
    }

    SliceWork work_of(std::uint32_t slice) const {
        AccumulatorParts accumulators(schedule_.target.accumulator_rows);
        const std::uint32_t place = slice * images_;
        SliceWork work{.images = images_, .first_image = place, .inputs = {}, .layers = {}};
        for (std::uint32_t part = 0; part < schedule_.memory.inputs.size(); ++part) {
            work.inputs.emplace_back(
                ReadInput{.first_inference = place, .first_image = place, .images = images_, .part = part});
        }
        for (std::uint32_t l = 0; l < network_.layers.size(); ++l) {
            std::vector<Operation>& operations = work.layers.emplace_back();
            const LayerPlan& plan = schedule_.layers[l];
            if (plan.joined_to) continue;
            const Layer& layer = network_.layers[l];
            LayerLowering context{.view = {network_, layer, schedule_.target},
                                  .plan = plan,
                                  .layer = l,
                                  .image_rows = schedule_.memory.tensors[layer.output].image_rows,
                                  .memory = schedule_.memory,
                                  .uses = analysed_.uses,
                                  .first_inference = place,
                                  .first_image = place,
                                  .images = images_,
                                  .output_part = std::nullopt,
                                  .accumulators = accumulators,
                                  .operations = operations};
            std::visit([&](const auto& kind) { lower(kind, context); }, layer.work);
            for (std::uint32_t part = 0; part < schedule_.memory.outputs.size(); ++part) {
                if (computed_at(schedule_.memory.outputs[part].layer) != l) continue;
                operations.emplace_back(WriteOutput{
                    .first_inference = place, .first_image = place, .images = images_, .part = part});
            }
        }
        return work;
    }

    const AnalysedNetwork analysed_;
    const Network& network_;
    const std::uint32_t images_;
    const std::size_t slices_;
    const Schedule schedule_;
    const StepCosts costs_;
    std::vector<SliceWork> work_;
    std::vector<std::size_t> asked_;
    OrderedWork ordered_;
};

/// Without the rows of sums and the kept tiles, which are chosen when a step is taken.
Operation without_places(Operation operation) {
    std::visit(
        [](auto& work) {
            if constexpr (requires { work.accumulator_row; }) work.accumulator_row = 0;
            if constexpr (requires { work.keep_weights; }) work.keep_weights = false;
        },
        operation);
    return operation;
}

/// Operations by slice and layer, those of the input as layer `of_inputs`.
constexpr std::uint32_t of_inputs = 0xFFFFFFFF;
using OperationsOfLayers = std::map<std::pair<std::size_t, std::uint32_t>, std::vector<Operation>>;

OperationsOfLayers given_operations(const Ordering& ordering) {
    OperationsOfLayers given;
    for (std::size_t slice = 0; slice < ordering.slices(); ++slice) {
        const SliceWork& work = ordering.work()[slice];
        const auto keep = [&](std::uint32_t layer, const std::vector<Operation>& operations) {
            for (const Operation& each : operations) given[{slice, layer}].push_back(without_places(each));
        };
        keep(of_inputs, work.inputs);
        for (std::uint32_t l = 0; l < work.layers.size(); ++l) {
            keep(l, ordering.costs().split(work.layers[l]));
        }
    }
    return given;
}

void check_that_operations_are_kept(const Ordering& ordering) {
    OperationsOfLayers ordered;
    for (const Operation& each : ordering.ordered().operations) {
        ordered[{ordering.slice_of(each), ordering.layer_of(each).value_or(of_inputs)}].push_back(
            without_places(each));
    }
    CHECK(ordered == given_operations(ordering));
}

/// The layers that each layer waits for, directly or not.
std::vector<std::vector<bool>> all_before(const schedule::LayerGraph& graph) {
    const std::size_t layers = graph.before.size();
    std::vector<std::vector<bool>> before(layers, std::vector<bool>(layers, false));
    for (std::size_t round = 0; round < layers; ++round) {
        for (std::size_t l = 0; l < layers; ++l) {
            for (const std::uint32_t earlier : graph.before[l]) {
                before[l][earlier] = true;
                for (std::size_t other = 0; other < layers; ++other) {
                    if (before[earlier][other]) before[l][other] = true;
                }
            }
        }
    }
    return before;
}

/// Each operation comes behind those of the slice's layers that its layer waits for, and in a stage that the
/// slices before it let it enter.
void check_dependencies(const Ordering& ordering) {
    const Schedule& schedule = ordering.schedule();
    const auto layers = static_cast<std::uint32_t>(ordering.network().layers.size());
    const schedule::LayerGraph graph = layer_graph(analyse(ordering.network(), schedule.target), schedule);
    const std::vector<std::vector<bool>> before = all_before(graph);
    const schedule::Stages stages(schedule.memory.pipeline->stages, layers, schedule.memory.slack);
    const auto stage_of = [&](std::uint32_t layer) { return stages.of_step(graph.step[layer]); };
    std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> left;
    for (const auto& [key, operations] : given_operations(ordering)) left[key] = operations.size();
    const auto left_of = [&](std::size_t slice, std::uint32_t layer) {
        const auto found = left.find({slice, layer});
        return found == left.end() ? 0 : found->second;
    };
    /// The first stage in which the slice has something to do.
    const auto stage_of_slice = [&](std::size_t slice) {
        std::uint32_t stage = stages.count() + 1;
        for (std::uint32_t l = 0; l < layers; ++l) {
            if (left_of(slice, l) > 0) stage = std::min(stage, stage_of(l));
        }
        return stage;
    };
    for (const Operation& each : ordering.ordered().operations) {
        const std::size_t slice = ordering.slice_of(each);
        const std::optional<std::uint32_t> layer = ordering.layer_of(each);
        --left[{slice, layer.value_or(of_inputs)}];
        if (!layer) continue;
        CAPTURE(slice, *layer);
        REQUIRE(left_of(slice, of_inputs) == 0);
        for (std::uint32_t l = 0; l < layers; ++l) {
            if (before[*layer][l]) REQUIRE(left_of(slice, l) == 0);
        }
        for (std::size_t earlier = 0; earlier < slice; ++earlier) {
            REQUIRE(stages.may_enter(stage_of(*layer), slice - earlier, stage_of_slice(earlier)));
        }
    }
}

/// Rows of sums belong to one chunk from its first stream until its last activation, and tiles that are kept
/// are in the array.
void check_array(const Ordering& ordering) {
    struct Sums {
        std::uint32_t rows = 0;
        std::size_t activations = 0;  ///< to come
    };
    std::map<std::uint32_t, Sums> live;  // by first row
    std::optional<std::uint32_t> tile;   // in the array
    for (const Operation& each : ordering.ordered().operations) {
        if (const MatrixWork* const work = matrix_work_of(each)) {
            const LayerPlan& plan = ordering.schedule().layers[work->layer];
            const std::uint32_t first_tile = work->first_weight_tile - plan.first_weight_tile;
            std::size_t column = 0;
            while (plan.tiling.columns[column].runs.back().first_weight_tile +
                       plan.tiling.columns[column].runs.back().tiles <=
                   first_tile) {
                ++column;
            }
            const std::uint32_t rows = work->chunk.lines * part_of_column(plan, column).grid.width;
            const std::uint32_t row = work->accumulator_row;
            CAPTURE(row, rows);
            if (work->accumulate) {
                REQUIRE(live.contains(row));
                REQUIRE(live.at(row).rows == rows);
            } else {
                REQUIRE(row + rows <= ordering.schedule().target.accumulator_rows);
                for (const auto& [other, sums] : live) {
                    REQUIRE((row + rows <= other || other + sums.rows <= row));
                }
                live[row] = {.rows = rows, .activations = plan.segments[column].size()};
            }
            if (work->keep_weights) REQUIRE((work->tiles == 1 && tile == work->first_weight_tile));
            tile = work->first_weight_tile + work->tiles - 1;
        } else if (const auto* const activate = std::get_if<ActivatePixels>(&each)) {
            REQUIRE(live.contains(activate->accumulator_row));
            Sums& sums = live.at(activate->accumulator_row);
            REQUIRE(sums.rows == activate->pixels);
            if (--sums.activations == 0) live.erase(activate->accumulator_row);
        }
    }
    CHECK(live.empty());
}

void check_prediction(const Ordering& ordering) {
    double array = 0;
    for (const SliceWork& work : ordering.work()) {
        for (const std::vector<Operation>& operations : work.layers) {
            for (const StreamOfStep& stream : ordering.costs().streams_of(operations)) {
                array += static_cast<double>(stream.shape.span());
            }
        }
    }
    const OrderedWork& ordered = ordering.ordered();
    CHECK(static_cast<double>(ordered.array_cycles) == array);
    CHECK(ordered.cycles >= ordered.array_cycles);
    REQUIRE(ordered.slice_ends.size() == ordering.slices());
    for (const Cycle end : ordered.slice_ends) CHECK(end <= ordered.cycles);
    CHECK(std::ranges::is_sorted(ordered.slice_ends));
}

void check_all(const Ordering& ordering) {
    std::vector<std::size_t> all(ordering.slices());
    for (std::size_t slice = 0; slice < all.size(); ++slice) all[slice] = slice;
    CHECK(ordering.asked() == all);
    check_that_operations_are_kept(ordering);
    check_dependencies(ordering);
    check_array(ordering);
    check_prediction(ordering);
}

/// Results take 1,000 cycles until they can be read.
machine::MachineConfig with_late_results(machine::MachineConfig machine) {
    machine.activation_unit.latency_cycles = 1000;
    return machine;
}

/// The stages of a pipeline, drawn for a network.
std::vector<std::uint32_t> random_stages(std::mt19937& random, std::size_t layers) {
    std::vector<std::uint32_t> stages;
    for (std::uint32_t first = 1; first < layers; ++first) {
        if (between(random, 0, 2) == 0) stages.push_back(first);
    }
    return stages;
}

}  // namespace

TEST_CASE("The prediction of a single product is that of its chunk and of the transfer behind it",
          "[compiler][schedule][list_scheduler]") {
    NetworkBuilder builder({1, 1, 8});
    builder.dense(0, 4);
    const machine::MachineConfig machine = tests::small_machine();
    const Ordering ordering(builder.network(), tests::pipelined(machine), 10);
    check_all(ordering);
    // The last of ten rows enters in cycle 9; its sums are complete after a cycle of setup, eight rows, three
    // more columns and a cycle of writing. Ten rows are activated, which takes a cycle more.
    const Cycle end = 9 + 1 + 8 + 3 + 1 + 10 + 1;
    CHECK(ordering.ordered().slice_ends == std::vector<Cycle>{end});
    CHECK(ordering.ordered().array_cycles == 10);
    CHECK(ordering.ordered().cycles == end + 10 * 4);
    // The product by itself also loads the parameters of four channels, 36 bytes.
    const AnalysedNetwork analysed = analyse(ordering.network(), ordering.schedule().target);
    const LayerCosts costs(analysed, ordering.schedule().target, machine);
    CHECK(costs.product_cycles(0, ordering.schedule().layers[0], 10) == end + 5);
}

TEST_CASE("Tiles behind those in the FIFO at the beginning are fetched one after the other",
          "[compiler][schedule][list_scheduler]") {
    // 56 elements are seven tiles of 32 cycles: the first is in the array and four are in the FIFO. A tile
    // shifts in eight cycles, one after the first row of the stream before has entered.
    NetworkBuilder builder({1, 1, 56});
    builder.dense(0, 4);
    const Ordering ordering(builder.network(), tests::pipelined(tests::small_machine()));
    check_all(ordering);
    CHECK(ordering.streams() == "0:0 0:0 0:0 0:0 0:0 0:0 0:0");
    // Streams begin at 0, 9, 18, 27 and 36. The sixth tile is fetched when the second has left the FIFO, in
    // cycle 9, until 41, the seventh until 73; it has been shifted in at 81.
    CHECK(ordering.ordered().array_cycles == 7);
    CHECK(ordering.ordered().slice_ends == std::vector<Cycle>{81 + 13 + 1 + 1});
}

TEST_CASE("One slice is computed in the order of the layers", "[compiler][schedule][list_scheduler]") {
    NetworkBuilder builder({6, 6, 1});
    const TensorId made = builder.convolution(0, 4, {.kernel_height = 3, .kernel_width = 3});
    const TensorId pooled =
        builder.pool(made, {.kernel_height = 2, .kernel_width = 2, .stride_y = 2, .stride_x = 2});
    builder.dense(builder.sum(pooled, pooled), 3);
    const Ordering ordering(builder.network(), tests::pipelined(tests::small_machine()), 2);
    check_all(ordering);
    std::uint32_t last = 0;
    for (const Operation& each : ordering.ordered().operations) {
        const std::uint32_t layer = ordering.layer_of(each).value_or(0);
        CHECK(layer >= last);
        last = layer;
    }
    CHECK(last == 3);
}

TEST_CASE("Slices take turns where one would wait for its own results",
          "[compiler][schedule][list_scheduler]") {
    NetworkBuilder builder({1, 1, 8});
    builder.dense(builder.dense(0, 4), 4);
    machine::MachineConfig machine = with_late_results(tests::small_machine());
    machine.accumulators.rows = 4096;  // all 64 images are one chunk
    const Cycle product = 63 + 13 + 64 + 1000;
    const Ordering alone(builder.network(), tests::pipelined(machine), 64, 2);
    const Ordering together(builder.network(), tests::pipelined(machine, {1}), 64, 2);
    check_all(alone);
    check_all(together);
    // With one stage, the second slice begins when the first has left it.
    CHECK(alone.streams() == "0:0 0:1 1:0 1:1");
    CHECK(alone.ordered().slice_ends == std::vector<Cycle>{2 * product, product + 64 + 2 * product});
    // With two, it begins when its input has arrived: a byte a cycle.
    const Cycle arrived = 64 * 8;
    CHECK(together.streams() == "0:0 1:0 0:1 1:1");
    CHECK(together.ordered().slice_ends == std::vector<Cycle>{2 * product, arrived + 2 * product});
    CHECK(together.ordered().cycles == arrived + 2 * product + 64 * 4);
    // The tile of a layer stays for the next slice, if no other has come between.
    const auto kept = [](const Ordering& ordering) {
        std::vector<bool> keeps;
        for (const Operation& each : ordering.ordered().operations) {
            if (const auto* work = matrix_work_of(each)) keeps.push_back(work->keep_weights);
        }
        return keeps;
    };
    CHECK(kept(alone) == std::vector<bool>{false, false, false, false});
    CHECK(kept(together) == std::vector<bool>{false, true, false, true});
}

TEST_CASE("The step for which the array waits least comes first", "[compiler][schedule][list_scheduler]") {
    NetworkBuilder builder({1, 1, 8});
    builder.dense(builder.dense(0, 4), 4);  // layers 0 and 1, which waits for its results
    builder.dense(0, 3);                    // layer 2
    const Ordering ordering(builder.network(), tests::pipelined(with_late_results(tests::small_machine())));
    check_all(ordering);
    CHECK(ordering.streams() == "0:0 0:2 0:1");
}

TEST_CASE("A step counts the wait of the best step behind it, too", "[compiler][schedule][list_scheduler]") {
    // A dense layer, whose single row leaves 63 of the 64 cycles in which the next tile shifts in, and a
    // convolution of 64 rows, which hides them.
    machine::MachineConfig machine = tests::small_machine();
    machine.matrix_unit.rows = 64;
    machine.accumulators.rows = 256;
    NetworkBuilder builder({8, 8, 1});
    builder.dense(0, 4);
    builder.convolution(0, 4);
    const Ordering ordering(builder.network(), tests::pipelined(machine));
    check_all(ordering);
    CHECK(ordering.streams() == "0:1 0:0");
}

TEST_CASE(
    "Of steps that wait alike, one of the slice with the most work left comes first, or one that waits "
    "for weights",
    "[compiler][schedule][list_scheduler]") {
    // 32 chunks of 32 rows against one tile; pooling; eight tiles of 32 cycles.
    NetworkBuilder builder({32, 32, 4});
    const TensorId made = builder.convolution(0, 4);
    const TensorId pooled =
        builder.pool(made, {.kernel_height = 8, .kernel_width = 8, .stride_y = 8, .stride_x = 8});
    builder.dense(pooled, 4);
    machine::MachineConfig machine = tests::small_machine();
    machine.host_interface.read_gb_per_s = 1000.0;  // the second slice need not wait for its input
    // The chunks of the second slice's first layer before the first tile of the first slice's last layer, and
    // between its tiles.
    const auto chunks = [&](bool weights_first) {
        const Ordering ordering(builder.network(), tests::pipelined(machine, {2}, weights_first), 1, 2);
        check_all(ordering);
        std::size_t before = 0, between_tiles = 0, tiles = 0;
        for (const Operation& each : ordering.ordered().operations) {
            if (matrix_work_of(each) == nullptr) continue;
            if (ordering.slice_of(each) == 0) {
                tiles += ordering.layer_of(each) == 2U;
            } else if (tiles < 8) {
                ++(tiles == 0 ? before : between_tiles);
            }
        }
        return std::pair(before, between_tiles);
    };
    // The second slice has more work left than the first until eight of its chunks are left, which take as
    // long as the eight tiles. From then on, they take turns.
    CHECK(chunks(false) == std::pair<std::size_t, std::size_t>{24, 7});
    // Two chunks fill the accumulators until the results are pooled; then the tiles come first.
    CHECK(chunks(true) == std::pair<std::size_t, std::size_t>{2, 0});
}

TEST_CASE("Work behind a segment of the host waits for it and for its transfers",
          "[compiler][schedule][list_scheduler]") {
    NetworkBuilder builder({1, 1, 8});
    builder.dense(builder.host({0}, {1, 1, 8}), 4);
    Target target = tests::pipelined(tests::small_machine());
    Costs costs = *target.costs;
    costs.host.seconds_per_layer = 500e-9;  // cycles of a nanosecond
    target.costs = std::make_shared<const Costs>(costs);
    const Cycle product = 9 + 13 + 10 + 1;
    const Ordering by_layer(builder.network(), target, 10);
    check_all(by_layer);
    CHECK(by_layer.ordered().slice_ends == std::vector<Cycle>{500 + 10 * 8 + product});
    // The longer of operations and bytes counts in addition, by images.
    auto& segment = std::get<HostSegment>(builder.network().layers[0].work);
    segment.operations = 3;
    segment.bytes = 1;
    segment.constant_bytes = 25;
    costs.host.seconds_per_operation = 10e-9;
    costs.host.seconds_per_byte = 4e-9;
    target.costs = std::make_shared<const Costs>(costs);
    CHECK(Ordering(builder.network(), target, 10).ordered().slice_ends ==
          std::vector<Cycle>{500 + 10 * 3 * 10 + 10 * 8 + product});
    costs.host.seconds_per_byte = 10e-9;
    target.costs = std::make_shared<const Costs>(costs);
    CHECK(Ordering(builder.network(), target, 10).ordered().slice_ends ==
          std::vector<Cycle>{500 + (10 + 25) * 10 + 10 * 8 + product});
}

TEST_CASE("A slice ends when its results are there, although its last layer only sends them",
          "[compiler][schedule][list_scheduler]") {
    // Both parts lie in the concatenated output, which takes no work but its transfer.
    NetworkBuilder builder({8, 8, 4});
    const TensorId a = builder.convolution(0, 4);
    const TensorId b = builder.pool(0);
    builder.concat({a, b});
    const Ordering ordering(builder.network(), tests::pipelined(tests::small_machine()), 2, 3);
    CHECK(ordering.ordered().slice_ends.front() > 0);
    CHECK(ordering.ordered().slice_ends[1] > ordering.ordered().slice_ends[0]);
    // Twice the inferences take about twice the cycles: each has 512 bytes of output, a byte a cycle.
    const auto cycles = [&](std::uint32_t inferences) {
        const Target target = tests::pipelined(tests::small_machine());
        return predict_pipeline(analyse(builder.network(), target), target,
                                {.batch = 2, .inferences = inferences})
            ->cycles;
    };
    CHECK(cycles(40) >= cycles(20) + 20 * 512);
}

TEST_CASE("Slices end one after the other", "[compiler][schedule][list_scheduler]") {
    NetworkBuilder builder({8, 8, 4});
    const TensorId made = builder.convolution(0, 4);
    builder.dense(builder.pool(made, {.kernel_height = 4, .kernel_width = 4, .stride_y = 4, .stride_x = 4}),
                  6);
    for (const std::vector<std::uint32_t>& stages : {std::vector<std::uint32_t>{}, {1}, {2}, {1, 2}}) {
        const Ordering ordering(builder.network(), tests::pipelined(tests::small_machine(), stages), 2, 5);
        check_all(ordering);
        const std::vector<Cycle>& ends = ordering.ordered().slice_ends;
        for (std::size_t slice = 1; slice < ends.size(); ++slice) CHECK(ends[slice - 1] < ends[slice]);
        // The last output leaves behind the last results.
        CHECK(ordering.ordered().cycles >= ends.back() + 2 * 6);
    }
}

TEST_CASE("The work of random networks is put in an order that layers, stages and accumulators allow",
          "[compiler][schedule][list_scheduler]") {
    const std::uint32_t first_seed = 8300;
    std::size_t pipelines = 0, mixed = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        tests::RandomNetwork drawing(random);
        if (seed % 3 == 0) drawing.add_host_work();
        Network network = tpu_v1::lower(drawing.draw());
        machine::MachineConfig machine = tests::random_machine(random);
        machine.matrix_unit.rows = one_of(random, {8U, 16U, 40U});
        machine.matrix_unit.columns = one_of(random, {4U, 8U, 32U});
        machine.accumulators.rows = one_of(random, {32U, 64U, 1024U});
        machine.weight_memory.bandwidth_gb_per_s = one_of(random, {0.5, 3.0, 300.0});
        Target target = tests::pipelined(machine, random_stages(random, network.layers.size()),
                                         between(random, 0, 1) == 0);
        target.mapping.in_place = between(random, 0, 1) == 0;
        const Ordering ordering(std::move(network), target, between(random, 1, 3), between(random, 1, 4));
        check_all(ordering);
        pipelines += ordering.slices() > 1 && !target.choices.pipeline->stages.empty();
        std::size_t last = 0;
        bool goes_back = false;
        for (const Operation& each : ordering.ordered().operations) {
            if (!ordering.layer_of(each)) continue;
            goes_back = goes_back || ordering.slice_of(each) < last;
            last = ordering.slice_of(each);
        }
        mixed += goes_back;
    }
    CHECK(pipelines >= tests::random_share(100));
    CHECK(mixed >= tests::random_share(50));
}

}  // namespace systole::tpu_v1
