#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "compiler/ir/model_error.h"
#include "compiler/operators/host_segments.h"
#include "compiler/passes/set_rounding.h"
#include "compiler/reference/executor.h"
#include "compiler/target/tpu_v1/choose/choose_blocks.h"
#include "compiler/target/tpu_v1/choose/choose_joins.h"
#include "compiler/target/tpu_v1/choose/fit_memory.h"
#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/emit/program_data.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/lowering/lowerings.h"
#include "compiler/target/tpu_v1/network/fold_lines.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "hw/isa/multipliers.h"
#include "hw/isa/program_rules.h"
#include "tests/support/integer_graphs.h"
#include "tests/support/program_interpreter.h"
#include "tests/support/random_network.h"
#include "tests/support/random_runs.h"
#include "tests/support/reference_host.h"

namespace systole::tpu_v1 {
namespace {

std::uint32_t draw(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
}

std::uint32_t widest_output(const Network& network) {
    std::uint32_t width = 1;
    for (const Layer& layer : network.layers) {
        width = std::max(width, network.tensors[layer.output].shape.width);
    }
    return width;
}

/// The fewest unified-buffer rows with which one image of the network can be computed.
std::uint32_t fewest_rows(const Network& network, Target target) {
    target.unified_buffer_rows = std::numeric_limits<std::uint16_t>::max();
    target.choices.pipeline.reset();
    return make_schedule(network, target, {.batch = 1, .inferences = 1}).memory.rows;
}

std::uint32_t constant_rows(const Network& network, Target target) {
    target.unified_buffer_rows = std::numeric_limits<std::uint16_t>::max();
    return make_schedule(network, target, {.batch = 1, .inferences = 1}).constant_rows;
}

/// Sets for each layer one of its possible blocks, or two for different channels.
void draw_blocks(const Network& network, Target& target, std::mt19937& random) {
    const auto groups = analyse(network, target).members;
    target.choices.blocks.assign(groups.size(), {});
    target.choices.rests.assign(groups.size(), {});
    for (std::size_t l = 0; l < groups.size(); ++l) {
        if (groups[l].empty()) continue;
        const auto one_of = [&](const auto& all) {
            return all[draw(random, 0, static_cast<std::uint32_t>(all.size()) - 1)];
        };
        const auto cuts = possible_cuts(network, target, groups[l]);
        if (!cuts.empty() && draw(random, 0, 1) == 1) {
            const ChannelCut cut = one_of(cuts);
            target.choices.blocks[l] = one_of(cut.first_blocks);
            target.choices.rests[l] = {.first_channel = cut.first_channel, .block = one_of(cut.rest_blocks)};
            continue;
        }
        const auto block = one_of(possible_blocks(network, target, groups[l]));
        for (const std::uint32_t member : groups[l]) target.choices.blocks[member] = block;
    }
    target.choices.joins = group_parallel_layers(network, target);
}

/// Of the layers that read the same rows, some with others: some groups at random.
std::vector<std::uint32_t> random_joins(const Network& network, const Target& target, std::mt19937& random) {
    std::vector<SiblingAlternatives> sets;
    for (const auto& layers : sibling_layers(network, target)) {
        JoinAlternative drawn;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const std::uint32_t groups =
                drawn.groups.empty() ? 0 : *std::ranges::max_element(drawn.groups) + 1;
            drawn.groups.push_back(draw(random, 0, groups));
        }
        sets.push_back({.layers = layers, .alternatives = {drawn}, .chosen = 0});
    }
    return chosen_joins(sets, network.layers.size());
}

/// The costs of a machine with the properties of the target.
std::shared_ptr<const Costs> costs_of(const Target& target, std::mt19937& random) {
    auto costs = std::make_shared<Costs>();
    machine::MachineConfig* const machine = &costs->machine;
    machine->matrix_unit.rows = target.geometry.rows;
    machine->matrix_unit.columns = target.geometry.columns;
    machine->accumulators.rows = target.accumulator_rows;
    machine->weight_memory.bandwidth_gb_per_s = draw(random, 1, 50);
    machine->weight_fifo.depth_tiles = draw(random, 1, 5);
    machine->activation_unit.latency_cycles = draw(random, 1, 200);
    machine->sequencer.queue_depth = draw(random, 1, 40);
    costs->host.seconds_per_operation = 1e-9 * draw(random, 0, 100);
    costs->host.seconds_per_layer = 1e-7 * draw(random, 0, 5);
    return costs;
}

/// Up to three stages, each of one layer or more.
Pipeline random_pipeline(const Network& network, std::mt19937& random) {
    Pipeline pipeline{.stages = {}, .weights_first = draw(random, 0, 1) == 1};
    const auto layers = static_cast<std::uint32_t>(network.layers.size());
    for (std::uint32_t first = 0; pipeline.stages.size() < 2;) {
        first += draw(random, 1, std::max(layers / 2, 1U));
        if (first >= layers) break;
        pipeline.stages.push_back(first);
    }
    return pipeline;
}

/// A machine on which the network just fits, or somewhat larger.
Target random_target(const Network& network, std::mt19937& random) {
    Target target;
    target.geometry = {.rows = draw(random, 1, 40), .columns = draw(random, 1, 40)};
    if (draw(random, 0, 2) == 0) target.geometry.columns = target.geometry.rows;
    // Several pixels of layers that are joined need many columns.
    if (draw(random, 0, 3) == 0) target.geometry.columns = draw(random, 40, 160);
    target.row_sums = draw(random, 0, 1) == 1;  // decides which layers are joined, and so their rows
    target.mapping.skip_zero_tiles = draw(random, 0, 3) > 0;
    if (draw(random, 0, 1) == 1) target.choices.joins = random_joins(network, target, random);
    if (draw(random, 0, 1) == 1) draw_blocks(network, target, random);
    target.mapping.in_place = draw(random, 0, 3) > 0;
    target.accumulator_rows = widest_output(network) + draw(random, 0, 60);
    const std::uint32_t least = fewest_rows(network, target);
    target.unified_buffer_rows = least + draw(random, 0, draw(random, 1, 4) * least);
    target.mapping.overlap_transfers = draw(random, 0, 9) > 0;
    target.mapping.double_buffers = draw(random, 0, 2) > 0;
    if (draw(random, 0, 2) == 0) target.choices.slice_images = draw(random, 1, 4);
    // The compiler pipelines no network without layers (compare_stages).
    if (draw(random, 0, 1) == 0 && !network.layers.empty()) {
        target.choices.pipeline = random_pipeline(network, random);
        target.costs = costs_of(target, random);
        target.unified_buffer_rows += draw(random, 0, 1) * 20 * least;
    }
    return target;
}

/// A machine of the target's size.
machine::MachineConfig machine_of(const Target& target) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = target.geometry.rows;
    machine.matrix_unit.columns = target.geometry.columns;
    return machine;
}

tests::ProgramInterpreter interpreter(const isa::Program& program, const Target& target,
                                      std::span<const std::uint8_t> input) {
    return {program,
            {.unified_buffer_rows = target.unified_buffer_rows, .accumulator_rows = target.accumulator_rows},
            input};
}

std::string describe(std::uint32_t seed, const Target& target, const mapping::Batches& options) {
    return fmt::format("seed {}: array {} x {}, {} accumulators, {} buffer rows, batch {}, {} inferences",
                       seed, target.geometry.rows, target.geometry.columns, target.accumulator_rows,
                       target.unified_buffer_rows, options.batch, options.inferences);
}

/// Whether work goes back to an earlier layer more often than slices begin.
bool takes_turns(const Schedule& plan) {
    std::uint32_t last = 0, back = 0, slices = 0;
    for (const Operation& operation : plan.operations) {
        const auto* const read = std::get_if<ReadInput>(&operation);
        slices += read != nullptr && read->part == 0;
        const auto* const work = std::get_if<ActivatePixels>(&operation);
        if (work == nullptr) continue;
        back += work->layer < last;
        last = work->layer;
    }
    return plan.memory.pipeline && back > slices;
}

/// Element-wise layers that write into an operand.
std::uint32_t layers_in_place(const Network& network, const MemoryPlan& memory) {
    std::uint32_t count = 0;
    for (const Layer& layer : network.layers) {
        if (!std::holds_alternative<Elementwise>(layer.work)) continue;
        count += std::ranges::any_of(layer.inputs, [&](TensorId input) {
            return memory.tensors[input].row == memory.tensors[layer.output].row;
        });
    }
    return count;
}

/// A graph of one dense layer, whose sums are scaled by 2^-10.
ir::Graph dense_graph(std::uint32_t inputs, std::uint32_t outputs) {
    std::mt19937 random(1);
    tests::IntegerWeights weights{.values = {}, .scales = {std::ldexp(1.0, -10)}};
    for (std::uint64_t i = 0; i < std::uint64_t{inputs} * outputs; ++i) {
        weights.values.push_back(static_cast<std::int8_t>(random()));
    }
    weights.bias.assign(outputs, 100);
    tests::IntegerGraph made("net.h5");
    const ir::ValueId image = made.input({1, 1, inputs});
    made.dense({image}, outputs, weights, {});
    made.graph().values[made.graph().inputs.front()].name = "image";
    made.graph().values[made.graph().outputs.front()].name = "scores";
    made.graph().nodes.front().name = "dense";
    return made.graph();
}

/// Tall images through a convolution of two groups whose windows have gaps, residual layers, pooling, a
/// depthwise convolution and a concatenation, with strides and paddings, to a dense layer.
ir::Graph tall_graph(std::mt19937& random) {
    const ir::Encoding encoding{0.5, 117, DataType::Uint8};
    const auto weights = [&](std::uint64_t count) {
        tests::IntegerWeights drawn{.values = {}, .scales = {0.004}};
        for (std::uint64_t i = 0; i < count; ++i) {
            drawn.values.push_back(static_cast<std::int8_t>(random()));
        }
        return drawn;
    };
    const ir::Window same{
        .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
    ir::Window gaps = same;
    gaps.dilation_y = 2;
    gaps.pad_top = gaps.pad_bottom = 2;
    ir::Window half = same;
    half.stride_y = 2;
    tests::IntegerGraph made("tall");
    const ir::ValueId image = made.input({24, 7, 4}, encoding);
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(gaps);
    attributes.emplace_back("groups", std::int64_t{2});
    const ir::ValueId grouped =
        made.append("convolution", made.with_weights({image}, {3, 3, 2, 12}, weights(3 * 3 * 2 * 12)),
                    encoding, attributes);
    const ir::ValueId branch = made.convolution(grouped, same, 12, weights(3 * 3 * 12 * 12), encoding);
    const ir::ValueId sum = made.append("add", {grouped, branch}, encoding);
    const ir::ValueId pooled = made.pool("max_pool", sum, half);
    const ir::ValueId depthwise = made.depthwise(pooled, same, 1, weights(3 * 3 * 12), encoding);
    const ir::ValueId both = made.append("concat", {depthwise, pooled}, encoding);
    const ir::ValueId last = made.convolution(both, half, 9, weights(3 * 3 * 24 * 9), encoding);
    made.dense({last}, 5, weights(made.map(last).elements() * 5), encoding);
    return made.graph();
}

/// Pointwise convolutions of images, convolutions along lines of images of one line, sums and concatenations.
ir::Graph graph_of_long_lines(std::mt19937& random) {
    const ir::Encoding encoding{0.5, 101, DataType::Uint8};
    const auto weights = [&](std::uint64_t count) {
        tests::IntegerWeights drawn{.values = {}, .scales = {0.01}};
        for (std::uint64_t i = 0; i < count; ++i) {
            drawn.values.push_back(static_cast<std::int8_t>(random()));
        }
        return drawn;
    };
    tests::IntegerGraph made("long");
    const std::uint32_t height = draw(random, 0, 1) == 0 ? 1 : draw(random, 2, 5);
    std::vector<ir::ValueId> values{
        made.input({height, draw(random, 20, 120), draw(random, 1, 9)}, encoding)};
    const std::uint32_t layers = draw(random, 2, 6);
    while (made.graph().nodes.size() < layers) {
        const auto count = static_cast<std::uint32_t>(values.size());
        const ir::ValueId from = values[draw(random, count > 1 ? count - 2 : 0, count - 1)];
        const ir::FeatureMap map = made.map(from);
        const std::uint32_t filters = draw(random, 1, 12);
        ir::Window window;
        switch (draw(random, 0, 4)) {
            case 0:
                values.push_back(made.append("add", {from, from}, encoding));
                continue;
            case 1:
                if (made.map(values.back()) != map) continue;
                values.push_back(made.append("concat", {from, values.back()}, encoding));
                continue;
            case 2:
                if (height > 1) continue;
                window.kernel_width = draw(random, 2, 5);
                window.dilation_x = draw(random, 1, 2);
                window.stride_x = draw(random, 1, 2);
                window.pad_left = draw(random, 0, 1);
                window.pad_right = draw(random, 0, 1);
                if (map.width < 2 * window.kernel_width) continue;
                break;
            default:
                break;
        }
        const std::uint64_t elements = window.kernel_elements() * map.channels * filters;
        values.push_back(made.convolution(from, window, filters, weights(elements), encoding));
    }
    return made.graph();
}

Network dense_network(std::uint32_t inputs, std::uint32_t outputs) {
    return tpu_v1::lower(dense_graph(inputs, outputs));
}

template <typename Kind>
std::vector<Kind> all_of(const isa::Program& program) {
    std::vector<Kind> found;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* match = std::get_if<Kind>(&instruction)) found.push_back(*match);
    }
    return found;
}

}  // namespace

TEST_CASE("Networks with work of the host in any place compute what the reference computes",
          "[compiler][emit]") {
    const std::uint32_t seed = 150815;
    INFO("first seed " << seed);
    std::uint32_t segments = 0, sent = 0, fetched = 0, at_begin = 0, at_end = 0, refused = 0, split = 0;
    const std::uint32_t runs = tests::random_runs(300);
    for (std::uint32_t run = 0; run < runs; ++run) {
        std::mt19937 random(seed + run);
        tests::RandomNetwork networks(random);
        networks.add_host_work();
        const ir::Graph graph = networks.draw();
        Network network;
        try {
            network = tpu_v1::lower(graph);
        } catch (const ModelError&) {
            ++refused;  // all layers are the host's
            continue;
        }
        const Target target = random_target(network, random);
        const mapping::Batches options{.batch = draw(random, 1, 7), .inferences = draw(random, 1, 12)};
        INFO(describe(seed + run, target, options));
        const auto inferences = static_cast<std::uint32_t>(options.inferences);
        const std::vector<std::uint8_t> input = networks.images(graph, inferences);
        const std::vector<std::uint8_t> expected = reference::execute(graph, input, inferences);
        const Schedule plan = make_schedule(network, target, options);
        INFO(to_text(plan));
        const isa::Program program = emit_program(network, plan);
        REQUIRE_NOTHROW(isa::validate(program));
        tests::ReferenceHost host(program);

        auto in_order = interpreter(program, target, input);
        in_order.set_host(host);
        in_order.run_in_program_order();
        REQUIRE(in_order.output() == expected);
        CHECK(in_order.unused_signals() == 0);

        auto shuffled = interpreter(program, target, input);
        shuffled.set_host(host);
        shuffled.run_in_any_order(random);
        REQUIRE(shuffled.output() == expected);

        segments += static_cast<std::uint32_t>(program.host_segments.size());
        for (const Operation& operation : plan.operations) {
            sent += std::holds_alternative<SendTensor>(operation);
            fetched += std::holds_alternative<FetchTensor>(operation);
        }
        at_begin += plan.memory.inputs.empty();
        at_end += plan.memory.outputs.empty();
        if (plan.memory.images_per_slice < std::min(options.batch, inferences)) ++split;
    }
    CHECK(segments >= tests::random_share(121));
    CHECK(sent >= tests::random_share(100));
    CHECK(fetched >= tests::random_share(100));
    CHECK(at_begin >= tests::random_share(5));
    CHECK(at_end >= tests::random_share(20));
    CHECK(split >= tests::random_share(10));
    CHECK(refused < runs / 4 + 1);
}

TEST_CASE("Compiled random networks compute what the integer reference computes", "[compiler][emit]") {
    const std::uint32_t seed = 20240611;
    INFO("first seed " << seed);
    std::set<std::string> kinds;
    std::uint32_t split_batches = 0, in_turn = 0, overlapping = 0, kept_weights = 0, parts = 0, copies = 0;
    std::uint32_t on_host = 0, grouped = 0, joined = 0, joined_behind_groups = 0, cut = 0;
    std::uint32_t joined_dense = 0, joined_blocks = 0, groups = 0, group_blocks = 0;
    std::uint32_t rests = 0, grouped_rests = 0, in_place = 0;
    std::uint32_t pipelines = 0, with_slack = 0, in_stages = 0, turns = 0;
    std::uint32_t blocks = 0, depthwise_blocks = 0, two_inputs = 0, two_outputs = 0, by_columns = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(400); ++run) {
        std::mt19937 random(seed + run);
        tests::RandomNetwork networks(random);
        const ir::Graph graph = networks.draw();
        const Network network = tpu_v1::lower(graph);
        if (std::ranges::any_of(network.layers, runs_on_host)) {
            ++on_host;  // a sum with a scale that the chip does not have; the test above has such networks
            continue;
        }
        const Target target = random_target(network, random);
        const mapping::Batches options{.batch = draw(random, 1, 7), .inferences = draw(random, 1, 12)};
        INFO(describe(seed + run, target, options));

        const auto inferences = static_cast<std::uint32_t>(options.inferences);
        const std::vector<std::uint8_t> input = networks.images(graph, inferences);
        const std::vector<std::uint8_t> expected = reference::execute(graph, input, inferences);

        const Schedule plan = make_schedule(network, target, options);
        INFO(to_text(plan));
        const isa::Program program = emit_program(network, plan);
        REQUIRE(program == compile(network, target, options));
        REQUIRE_NOTHROW(isa::validate(program));

        auto in_order = interpreter(program, target, input);
        in_order.run_in_program_order();
        REQUIRE(in_order.output() == expected);
        CHECK(in_order.unused_signals() == 0);
        CHECK(in_order.tiles_left() == 0);
        CHECK(in_order.interrupts() == 1);

        auto shuffled = interpreter(program, target, input);
        shuffled.run_in_any_order(random);
        REQUIRE(shuffled.output() == expected);

        std::uint64_t macs = 0;
        for (const isa::LayerInfo& layer : program.layers) {
            macs += layer.macs * options.inferences;
            if (!layer.kind.starts_with("joined to ")) kinds.insert(layer.kind);
        }
        for (std::uint32_t l = 0; l < plan.layers.size(); ++l) {
            if (plan.layers[l].parts.front().block.pixels() > 1) {
                const auto& product = std::get<MatrixProduct>(network.layers[l].work);
                ++(product.groups > 1 ? depthwise_blocks : blocks);
            }
            if (plan.layers[l].parts.size() > 1) {
                const auto& product = std::get<MatrixProduct>(network.layers[l].work);
                ++(product.groups > 1 ? grouped_rests : rests);
            }
            if (plan.layers[l].kind == "convolution") {
                const bool in_groups = std::get<MatrixProduct>(network.layers[l].work).groups > 1;
                groups += in_groups;
                group_blocks += in_groups && plan.layers[l].parts.front().block.pixels() > 1;
            }
            const std::optional<std::uint32_t> first = plan.layers[l].joined_to;
            if (!first) continue;
            ++joined;
            joined_dense += !std::get<MatrixProduct>(network.layers[l].work).window;
            joined_blocks += plan.layers[l].parts.front().block.pixels() > 1;
            joined_behind_groups += *first < plan.memory.groups.layers && l >= plan.memory.groups.layers;
            std::uint32_t segments = 0;
            for (const auto& column_tile : plan.layers[*first].segments) {
                for (const Segment& segment : column_tile) segments += segment.layer == l;
            }
            cut += segments > 1;
        }
        CHECK(in_order.useful_macs() == macs);
        if (plan.memory.images_per_slice < std::min(options.batch, inferences)) ++split_batches;
        if (plan.memory.groups.layers > 0) ++grouped;
        ++(plan.memory.overlap_transfers ? overlapping : in_turn);
        pipelines += plan.memory.pipeline.has_value();
        with_slack += plan.memory.slack;
        in_stages += plan.memory.pipeline && !plan.memory.pipeline->stages.empty();
        turns += takes_turns(plan);
        in_place += layers_in_place(network, plan.memory);
        two_inputs += plan.memory.two_inputs;
        two_outputs += plan.memory.two_outputs;
        for (const TensorPlacement& tensor : plan.memory.tensors) {
            parts += tensor.part_of.has_value();
            by_columns += tensor.by_columns;
        }
        for (const Operation& operation : plan.operations)
            copies += std::holds_alternative<CopyLines>(operation);
        for (const auto& convolve : all_of<isa::Convolve>(program))
            kept_weights += convolve.flags.keep_weights;
    }
    CHECK(kinds == std::set<std::string>{"convolution", "depthwise_convolution", "dense", "max_pool",
                                         "average_pool", "add", "multiply", "lookup", "concat", "slice"});
    CHECK(on_host <= tests::random_runs(20));
    CHECK(split_batches >= tests::random_share(21));
    CHECK(in_turn >= tests::random_share(21));
    CHECK(overlapping >= tests::random_share(21));
    CHECK(kept_weights >= tests::random_share(21));
    CHECK(parts >= tests::random_share(201));
    CHECK(copies >= tests::random_share(201));
    CHECK(grouped >= tests::random_share(6));
    CHECK(pipelines >= tests::random_share(100));
    CHECK(with_slack >= tests::random_share(30));
    CHECK(in_stages >= tests::random_share(30));
    CHECK(turns >= tests::random_share(21));
    CHECK(in_place >= tests::random_share(21));
    CHECK(two_inputs >= tests::random_share(21));
    CHECK(two_outputs >= tests::random_share(21));
    CHECK(by_columns >= tests::random_share(5));
    CHECK(blocks >= tests::random_share(30));
    CHECK(depthwise_blocks >= tests::random_share(10));
    CHECK(joined >= tests::random_share(101));
    CHECK(groups >= tests::random_share(10));
    CHECK(group_blocks >= tests::random_share(2));
    CHECK(rests >= tests::random_share(8));
    CHECK(grouped_rests >= tests::random_share(3));
    CHECK(joined_dense >= tests::random_share(10));
    CHECK(joined_blocks >= tests::random_share(4));
    CHECK(joined_behind_groups >= tests::random_share(1));
    CHECK(cut >= tests::random_share(21));
}

TEST_CASE("Networks of which not one image fits compute what the integer reference computes",
          "[compiler][emit]") {
    const std::uint32_t seed = 5112026;
    INFO("first seed " << seed);
    std::uint32_t refused = 0, cut = 0, spilled = 0, both = 0, kept = 0, slices = 0, grouped = 0, several = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(450); ++run) {
        std::mt19937 random(seed + run);
        tests::RandomNetwork networks(random);
        if (draw(random, 0, 3) == 0) networks.add_host_work();
        const ir::Graph graph = networks.draw();
        Network network;
        try {
            network = tpu_v1::lower(graph);
        } catch (const ModelError&) {
            continue;  // all layers are the host's
        }
        Target target = random_target(network, random);
        const std::uint32_t least = fewest_rows(network, target);
        const std::uint32_t constants = constant_rows(network, target);
        if (least <= constants + 1) continue;
        const std::uint32_t of_tensors = least - constants;
        target.unified_buffer_rows = constants + draw(random, (of_tensors + 4) / 5, of_tensors - 1);
        const mapping::Batches options{.batch = draw(random, 1, 9), .inferences = draw(random, 1, 12)};
        INFO(describe(seed + run, target, options));
        std::optional<FittedNetwork> found;
        try {
            found = fit_memory(analyse(network, target), target, machine_of(target));
        } catch (const ModelError&) {
            ++refused;
            continue;
        }
        const FittedNetwork& fitted = *found;
        if (!fitted.fit) continue;  // fits without blocks of pixels
        const auto inferences = static_cast<std::uint32_t>(options.inferences);
        const std::vector<std::uint8_t> input = networks.images(graph, inferences);
        const std::vector<std::uint8_t> expected = reference::execute(graph, input, inferences);
        const Schedule plan = make_schedule(fitted.analysed, fitted.target, options);
        INFO(to_text(plan));
        const isa::Program program = emit_program(fitted.analysed.network(), plan);
        REQUIRE_NOTHROW(isa::validate(program));
        tests::ReferenceHost host(program);

        auto in_order = interpreter(program, target, input);
        in_order.set_host(host);
        in_order.run_in_program_order();
        REQUIRE(in_order.output() == expected);
        CHECK(in_order.unused_signals() == 0);
        CHECK(in_order.tiles_left() == 0);

        auto shuffled = interpreter(program, target, input);
        shuffled.set_host(host);
        shuffled.run_in_any_order(random);
        REQUIRE(shuffled.output() == expected);

        // Reports list the layers of the network; what strips compute twice is known.
        REQUIRE(program.layers.size() == network.layers.size());
        auto macs = static_cast<std::uint64_t>(fitted.fit->extra_macs);
        for (std::size_t l = 0; l < network.layers.size(); ++l) {
            CHECK(program.layers[l].name == network.layers[l].name);
            macs += program.layers[l].macs;
        }
        CHECK(in_order.useful_macs() == macs * options.inferences);

        cut += fitted.fit->cut_layers > 0;
        several += fitted.fit->strips > 3 * fitted.fit->cut_layers;
        spilled += !fitted.fit->spilled.empty();
        both += fitted.fit->cut_layers > 0 && !fitted.fit->spilled.empty();
        slices += plan.memory.images_per_slice < std::min(options.batch, inferences);
        grouped += plan.memory.groups.layers > 0;
        for (const Layer& layer : fitted.analysed.network().layers) {
            const auto* const joined = std::get_if<Concatenation>(&layer.work);
            kept += joined != nullptr && joined->axis == Concatenation::Axis::Lines;
        }
    }
    CHECK(refused <= tests::random_runs(225));  // half of them
    CHECK(cut >= tests::random_share(150));
    CHECK(spilled >= tests::random_share(35));
    CHECK(both >= tests::random_share(30));
    CHECK(kept >= tests::random_share(30));
    CHECK(several >= tests::random_share(15));
    CHECK(slices >= tests::random_share(80));
    CHECK(grouped >= tests::random_share(4));
}

TEST_CASE("A network of every kind of window is cut to fewer and fewer rows, down to a line of a layer",
          "[compiler][emit]") {
    const auto array = GENERATE(isa::Geometry{16, 10}, isa::Geometry{7, 24}, isa::Geometry{64, 64});
    CAPTURE(array.rows, array.columns);
    std::mt19937 random(1612);
    const ir::Graph graph = tall_graph(random);
    const Network network = tpu_v1::lower(graph);
    Target target;
    target.geometry = array;
    target.accumulator_rows = 20;
    const std::uint32_t inferences = 2;
    const std::vector<std::uint8_t> input = tests::RandomNetwork(random).images(graph, inferences);
    const std::vector<std::uint8_t> expected = reference::execute(graph, input, inferences);
    std::uint64_t most_strips = 0, most_spilled = 0;
    std::string refusal;
    for (std::uint32_t rows = fewest_rows(network, target); refusal.empty(); rows -= rows / 12 + 1) {
        CAPTURE(rows);
        target.unified_buffer_rows = rows;
        try {
            const auto fitted = fit_memory(analyse(network, target), target, machine_of(target));
            const isa::Program program = emit_program(
                fitted.analysed.network(),
                make_schedule(fitted.analysed, fitted.target, {.batch = 2, .inferences = inferences}));
            auto machine = interpreter(program, target, input);
            machine.run_in_any_order(random);
            REQUIRE(machine.output() == expected);
            if (!fitted.fit) continue;
            most_strips = std::max(most_strips, fitted.fit->strips);
            most_spilled = std::max(most_spilled, std::uint64_t{fitted.fit->spilled.size()});
        } catch (const ModelError& error) {
            refusal = error.what();
        }
    }
    CHECK(most_strips >= 40);
    CHECK(most_spilled >= 3);
    CHECK(refusal.find(" bytes of unified buffer; the machine has ") != std::string::npos);
}

TEST_CASE("Lines longer than the accumulators are folded, and compute what the integer reference computes",
          "[compiler][emit]") {
    const std::uint32_t seed = 8400;
    INFO("first seed " << seed);
    std::uint32_t folded = 0, swapped = 0, in_blocks = 0, cut = 0, refused = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(200); ++run) {
        std::mt19937 random(seed + run);
        const ir::Graph graph = graph_of_long_lines(random);
        const Network network = tpu_v1::lower(graph);
        Target target;
        target.geometry = {.rows = draw(random, 1, 40), .columns = draw(random, 1, 40)};
        target.accumulator_rows = draw(random, 1, 25);
        target.unified_buffer_rows = std::numeric_limits<std::uint16_t>::max();
        const Network whole = fold_long_lines(network, target);
        if (draw(random, 0, 1) == 1) draw_blocks(whole, target, random);
        const mapping::Batches options{.batch = draw(random, 1, 4), .inferences = draw(random, 1, 5)};
        INFO(describe(seed + run, target, options));
        FittedNetwork fitted{.analysed = analyse(whole, target), .target = target, .fit = {}};
        if (draw(random, 0, 2) == 0) {
            const std::uint32_t least = fewest_rows(whole, target);
            target.unified_buffer_rows = draw(random, (least + 1) / 2, least);
            try {
                fitted = fit_memory(analyse(whole, target), target, machine_of(target));
            } catch (const ModelError&) {
                ++refused;
                continue;
            }
        }
        const auto inferences = static_cast<std::uint32_t>(options.inferences);
        const std::vector<std::uint8_t> input = tests::RandomNetwork(random).images(graph, inferences);
        const Schedule plan = make_schedule(fitted.analysed, fitted.target, options);
        INFO(to_text(plan));
        const isa::Program program = emit_program(fitted.analysed.network(), plan);
        REQUIRE_NOTHROW(isa::validate(program));
        auto machine = interpreter(program, target, input);
        machine.run_in_any_order(random);
        REQUIRE(machine.output() == reference::execute(graph, input, inferences));
        CHECK(machine.unused_signals() == 0);

        REQUIRE(program.layers.size() == network.layers.size());
        std::uint64_t macs = 0, of_network = 0;
        for (std::size_t l = 0; l < network.layers.size(); ++l) {
            CHECK(program.layers[l].name == network.layers[l].name);
            macs += program.layers[l].macs;
            of_network += network.layers[l].macs;
        }
        CHECK(macs == of_network);
        const std::int64_t extra = fitted.fit ? fitted.fit->extra_macs : 0;
        CHECK(machine.useful_macs() == (macs + static_cast<std::uint64_t>(extra)) * options.inferences);
        CHECK(program.outputs.front().shape == network.output_shapes.front());
        folded += whole.layers.size() > network.layers.size();
        in_blocks += !target.choices.blocks.empty();
        cut += fitted.fit.has_value();
        swapped += std::ranges::any_of(whole.layers, [](const Layer& layer) {
            const auto* const product = std::get_if<MatrixProduct>(&layer.work);
            return product != nullptr && product->window && product->window->kernel_height > 1;
        });
    }
    CHECK(folded >= tests::random_share(100));
    CHECK(swapped >= tests::random_share(30));
    CHECK(in_blocks >= tests::random_share(60));
    CHECK(cut >= tests::random_share(10));
    CHECK(refused <= tests::random_runs(60));
}

TEST_CASE("A network fits a unified buffer of exactly the rows it needs", "[compiler][emit]") {
    const std::uint32_t seed = 77;
    INFO("first seed " << seed);
    for (std::uint32_t run = 0; run < tests::random_runs(50); ++run) {
        std::mt19937 random(seed + run);
        const Network network = tpu_v1::lower(tests::RandomNetwork(random).draw());
        Target target = random_target(network, random);
        target.unified_buffer_rows = fewest_rows(network, target);
        INFO(describe(seed + run, target, {}));
        CHECK_NOTHROW(compile(network, target, {.batch = 3, .inferences = 5}));
        --target.unified_buffer_rows;
        CHECK_THROWS_AS(compile(network, target, {.batch = 3, .inferences = 5}), ModelError);
    }
}

TEST_CASE("More than 256 tiles along a product take several instructions", "[compiler][emit]") {
    const std::uint32_t tiles = 256 * 2 + 3;
    const Network network = dense_network(tiles * 2, 3);
    Target target;
    target.geometry = {.rows = 2, .columns = 4};
    target.unified_buffer_rows = 4096;
    const isa::Program program = compile(network, target, {.batch = 2, .inferences = 2});
    const auto multiplies = all_of<isa::MatrixMultiply>(program);
    REQUIRE(multiplies.size() == 3);
    CHECK(multiplies[0].repeat == 255);
    CHECK_FALSE(multiplies[0].flags.accumulate);
    CHECK(multiplies[1].repeat == 255);
    CHECK(multiplies[1].flags.accumulate);
    CHECK(multiplies[2].repeat == 2);
    CHECK(multiplies[2].flags.accumulate);

    std::mt19937 random(3);
    const std::vector<std::uint8_t> input = tests::RandomNetwork(random).bytes(2 * 2 * tiles);
    auto machine = interpreter(program, target, input);
    machine.run_in_program_order();
    CHECK(machine.output() == reference::execute(dense_graph(tiles * 2, 3), input, 2));
}

TEST_CASE("Weights with a zero point are held in 8 bits by arrays with row sums, in 16 bits by others",
          "[compiler][emit]") {
    const bool row_sums = GENERATE(true, false);
    CAPTURE(row_sums);
    std::mt19937 random(5);
    tests::IntegerWeights weights{.values = {}, .scales = {std::ldexp(1.0, -9)}, .zero_point = -100};
    for (int i = 0; i < 3 * 3 * 5 * 7; ++i) weights.values.push_back(static_cast<std::int8_t>(random()));
    tests::IntegerGraph made;
    const ir::ValueId image = made.input({6, 5, 5}, {0.5, 130, DataType::Uint8});
    const ir::Window window{.kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1};
    made.convolution(image, window, 7, weights, {1.0, 99, DataType::Uint8});
    Target target;
    target.geometry = {.rows = 8, .columns = 4};
    target.row_sums = row_sums;
    const isa::Program program = compile(tpu_v1::lower(made.graph()), target, {.batch = 1, .inferences = 2});
    const DataType held = row_sums ? DataType::Int8 : DataType::Int16;
    for (const isa::WeightTile& tile : program.tiles) CHECK(tile.type == held);
    for (const auto& convolve : all_of<isa::Convolve>(program)) CHECK(convolve.flags.weights == held);
    CHECK(isa::uses_weight_zero_points(program) == row_sums);
    const std::vector<std::uint8_t> input = tests::RandomNetwork(random).bytes(2 * 6 * 5 * 5);
    auto machine = interpreter(program, target, input);
    machine.run_in_program_order();
    CHECK(machine.output() == reference::execute(made.graph(), input, 2));
}

TEST_CASE("A layer that rounds once does so on the chip, halves to the even number", "[compiler][emit]") {
    std::mt19937 random(7);
    const auto graph_of = [&](double scale, std::int64_t real) {
        tests::IntegerWeights weights{.values = {}, .scales = {scale}};
        for (int i = 0; i < 40 * 9; ++i) weights.values.push_back(static_cast<std::int8_t>(random() % 256));
        tests::IntegerGraph made;
        made.dense({made.input({1, 1, 40}, {1.0, 128})}, 9, weights, {1.0, 128},
                   {{"rounding", std::string("half_to_even")}, {"real_multiplier", real}});
        return made.graph();
    };
    for (const double scale : {1.5, 0.9, 1.0 / 7.0, 0.0031, std::ldexp(1.0, -6), std::ldexp(0.75, -12)}) {
        const bool is_real = random() % 2 == 0;
        CAPTURE(scale, is_real);
        const ir::Graph graph = graph_of(scale, is_real ? 1 : 0);
        Target target;
        target.geometry = {.rows = 16, .columns = 8};
        const isa::Program program = compile(tpu_v1::lower(graph), target, {.batch = 2, .inferences = 20});
        for (const auto& activate : all_of<isa::Activate>(program)) {
            CHECK(activate.multipliers ==
                  (is_real ? isa::Multipliers::RealToEven : isa::Multipliers::ToEven));
        }
        const std::vector<std::uint8_t> input = tests::RandomNetwork(random).bytes(20 * 40);
        auto machine = interpreter(program, target, input);
        machine.run_in_program_order();
        CHECK(machine.output() == reference::execute(graph, input, 20));
    }
}

TEST_CASE("Work that rounds in float32 is the host's", "[compiler][emit]") {
    const std::uint32_t seed = 590;
    INFO("first seed " << seed);
    std::uint32_t on_host = 0, compiled = 0;
    const std::uint32_t runs = tests::random_runs(100);
    for (std::uint32_t run = 0; run < runs; ++run) {
        std::mt19937 random(seed + run);
        tests::RandomNetwork networks(random);
        ir::Graph graph = networks.draw();
        const ir::Graph whole = passes::set_rounding(graph, Rounding::FloatHalfEven);
        const std::vector<bool> before = tpu_v1::nodes_on_chip(graph);
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (draw(random, 0, 2) == 0) graph.nodes[i] = whole.nodes[i];
        }
        const std::vector<bool> on_chip = tpu_v1::nodes_on_chip(graph);
        std::uint32_t in_float = 0;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const ir::Node& node = graph.nodes[i];
            const bool is_float = node.op->declares("rounding") && node.text("rounding") == "float_half_even";
            CHECK(on_chip[i] == (before[i] && !is_float));
            if (is_float) CHECK_THROWS_AS(rounds_to_even(node), std::logic_error);
            in_float += is_float && before[i] ? 1 : 0;
        }
        Network network;
        try {
            network = tpu_v1::lower(graph);
        } catch (const ModelError&) {
            CHECK(std::ranges::find(on_chip, true) == on_chip.end());  // all layers are the host's
            continue;
        }
        on_host += in_float;
        ++compiled;
        const Target target = random_target(network, random);
        const mapping::Batches options{.batch = draw(random, 1, 4), .inferences = draw(random, 1, 6)};
        INFO(describe(seed + run, target, options));
        const auto inferences = static_cast<std::uint32_t>(options.inferences);
        const std::vector<std::uint8_t> input = networks.images(graph, inferences);
        const isa::Program program = emit_program(network, make_schedule(network, target, options));
        tests::ReferenceHost host(program);
        auto machine = interpreter(program, target, input);
        machine.set_host(host);
        machine.run_in_program_order();
        REQUIRE(machine.output() == reference::execute(graph, input, inferences));
    }
    CHECK(on_host >= tests::random_share(20));
    CHECK(compiled >= tests::random_share(60));
}

TEST_CASE("Wide sums that fit in 32 bits are rounded once on the chip", "[compiler][emit]") {
    std::mt19937 random(6);
    const auto graph_of = [&](int largest, double scale) {
        tests::IntegerWeights weights{.values = {}, .scales = {scale}};
        for (int i = 0; i < 40 * 9; ++i) {
            weights.values.push_back(
                static_cast<std::int8_t>(static_cast<int>(random() % (2U * 100U)) - 100));
            weights.values.back() = static_cast<std::int8_t>(weights.values.back() * largest / 100);
        }
        tests::IntegerGraph made;
        const ir::ValueId numbers = made.input({1, 1, 40}, {1.0, 0, DataType::Int16});
        made.dense({numbers}, 9, weights, {1.0, 0, DataType::Int16}, {{"wide_sums", std::int64_t{1}}});
        return made.graph();
    };
    const auto needs_host = [](const ir::Graph& graph) { return !tpu_v1::nodes_on_chip(graph).front(); };
    CHECK(needs_host(graph_of(100, 0.01)) == false);
    CHECK(needs_host(graph_of(100, 40.0)));                  // the multiplier shifts sums beyond 32 bits
    CHECK(needs_host(graph_of(100, std::ldexp(1.0, -20))));  // the multiplier would lose bits
    for (const double scale : {0.9, 0.01, 0.0031}) {
        const ir::Graph graph = graph_of(100, scale);
        Target target;
        target.geometry = {.rows = 16, .columns = 8};
        const isa::Program program = compile(tpu_v1::lower(graph), target, {.batch = 2, .inferences = 20});
        const std::vector<std::uint8_t> input = tests::RandomNetwork(random).bytes(20 * 40 * 2);
        auto machine = interpreter(program, target, input);
        machine.run_in_program_order();
        CHECK(machine.output() == reference::execute(graph, input, 20));
    }
}

TEST_CASE("Sums are multiplied in float64 on the chip, if they fit in 32 bits", "[compiler][emit]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto graph_of = [&](DataType type, bool is_wide, double scale) {
        const int outputs = 9;
        tests::IntegerWeights weights{.values = {}, .scales = {}};
        for (int i = 0; i < 40 * outputs; ++i) {
            weights.values.push_back(static_cast<std::int8_t>(static_cast<int>(random() % 200U) - 100));
        }
        for (int i = 0; i < outputs; ++i)
            weights.scales.push_back(scale * (1.0 + static_cast<double>(random() % 1000) / 999.0));
        const std::int32_t zero_point = type == DataType::Int16 ? 0 : 11;
        tests::IntegerGraph made;
        const ir::ValueId numbers = made.input({1, 1, 40}, {1.0, zero_point, type});
        made.dense({numbers}, 9, weights, {1.0, zero_point, type},
                   {{"real_multiplier", std::int64_t{1}}, {"wide_sums", std::int64_t{is_wide}}});
        return made.graph();
    };
    const auto needs_host = [](const ir::Graph& graph) { return !tpu_v1::nodes_on_chip(graph).front(); };
    // Of wide sums, fixed-point multipliers of 16 bits lose bits here.
    CHECK(needs_host(graph_of(DataType::Int16, true, std::ldexp(1.0, -20))) == false);
    for (const DataType type : {DataType::Int8, DataType::Uint8, DataType::Int16}) {
        for (const double scale : {1.5, 0.5, 0.01, 0.0031, std::ldexp(1.0, -12)}) {
            const bool is_wide = type == DataType::Int16 && random() % 2 == 0;
            CAPTURE(name_of(type), scale, is_wide);
            const ir::Graph graph = graph_of(type, is_wide, scale);
            Target target;
            target.geometry = {.rows = 16, .columns = 8};
            const isa::Program program =
                compile(tpu_v1::lower(graph), target, {.batch = 2, .inferences = 20});
            for (const auto& activate : all_of<isa::Activate>(program)) {
                CHECK(activate.multipliers == isa::Multipliers::Real);
            }
            const std::vector<std::uint8_t> input =
                tests::RandomNetwork(random).bytes(20 * 40 * bytes_of(type));
            auto machine = interpreter(program, target, input);
            machine.run_in_program_order();
            CHECK(machine.output() == reference::execute(graph, input, 20));
        }
    }
}

TEST_CASE("A network without layers gives its input back", "[compiler][emit]") {
    Network network;
    network.name = "nothing";
    network.tensors = {{.name = "image", .shape = {3, 3, 2}}};
    Target target;
    target.geometry = {.rows = 4, .columns = 4};
    target.unified_buffer_rows = 10;
    std::mt19937 random(8);
    const std::vector<std::uint8_t> input = tests::RandomNetwork(random).bytes(5 * 18);
    const isa::Program program = compile(network, target, {.batch = 4, .inferences = 5});
    auto machine = interpreter(program, target, input);
    machine.run_in_any_order(random);
    CHECK(machine.output() == input);
}

TEST_CASE("A program carries the description of its network", "[compiler][emit]") {
    Network network = dense_network(10, 3);
    network.tensors[1].scale = 0.25;
    network.tensors[1].zero_point = 7;
    network.host_operations = {{.kind = "softmax", .layer = "activation"}};
    Target target;
    target.geometry = {.rows = 4, .columns = 8};
    const isa::Program program = compile(network, target, {.batch = 2, .inferences = 5});
    CHECK(program.model == "net.h5");
    CHECK(program.batch == 2);
    CHECK(program.inferences == 5);
    CHECK(program.geometry == target.geometry);
    REQUIRE(program.layers.size() == 1);
    CHECK(program.layers[0] == isa::LayerInfo{.name = "dense", .kind = "dense", .macs = 30});
    REQUIRE(program.outputs.size() == 1);
    CHECK(program.outputs[0].shape == std::vector<std::uint32_t>{1, 1, 3});
    CHECK(program.outputs[0].scale == 0.25);
    CHECK(program.outputs[0].zero_point == 7);
    REQUIRE(program.host_operations.size() == 1);
    CHECK(program.host_operations[0].kind == "softmax");

    std::map<std::string, std::uint64_t> bytes;
    for (const isa::HostBuffer& buffer : program.buffers) bytes[buffer.name] = buffer.bytes;
    const std::uint64_t constant_rows = 7;  // 9 bytes for each of 3 channels, in rows of 4
    CHECK(bytes == std::map<std::string, std::uint64_t>{
                       {"constants", constant_rows * 4}, {"input", 5 * 10}, {"output", 5 * 3}});
    REQUIRE(program.instructions.size() > 2);
    CHECK(std::holds_alternative<isa::Halt>(program.instructions.back()));
    CHECK(std::holds_alternative<isa::InterruptHost>(program.instructions[program.instructions.size() - 2]));
}

TEST_CASE("The next batch's input is read as soon as this batch no longer needs it", "[compiler][emit]") {
    // Two dense layers: the second works while the next input arrives.
    Network network = dense_network(6, 6);
    network.tensors.push_back({.name = "result", .shape = {1, 1, 6}});
    network.layers.push_back(network.layers[0]);
    network.layers[1].inputs = {1};
    network.layers[1].output = 2;
    network.outputs = {2};
    Target target;
    target.geometry = {.rows = 8, .columns = 8};
    const Schedule plan = make_schedule(network, target, {.batch = 1, .inferences = 2});
    std::vector<std::string> order;
    for (const Operation& operation : plan.operations) {
        if (std::holds_alternative<ReadInput>(operation)) order.push_back("read");
        if (std::holds_alternative<WriteOutput>(operation)) order.push_back("write");
        if (const auto* work = std::get_if<MultiplyImages>(&operation)) {
            order.push_back(fmt::format("multiply {}", work->layer + 1));
        }
    }
    CHECK(order == std::vector<std::string>{"read", "multiply 1", "read", "multiply 2", "write", "multiply 1",
                                            "multiply 2", "write"});
}

TEST_CASE("Registers, tags and parameters are written only when they change", "[compiler][emit]") {
    const Network network = dense_network(8, 8);
    Target target;
    target.geometry = {.rows = 8, .columns = 8};
    const isa::Program once = compile(network, target, {.batch = 1, .inferences = 1});
    const isa::Program often = compile(network, target, {.batch = 1, .inferences = 9});
    CHECK(all_of<isa::SetConfig>(once).size() == all_of<isa::SetConfig>(often).size());
    std::uint32_t loads = 0;
    for (const auto& activate : all_of<isa::Activate>(often)) loads += activate.load_parameters;
    CHECK(all_of<isa::Activate>(often).size() == 9);
    CHECK(loads == 1);
    isa::Registers registers;
    std::vector<isa::Register> unchanged;
    for (const auto& config : all_of<isa::SetConfig>(often)) {
        if (registers[config.reg] == config.value) unchanged.push_back(config.reg);
        registers.set(config.reg, config.value);
    }
    // Of the network's numbers each layer writes its own, so that no number decides how many are written.
    CHECK(unchanged == std::vector{isa::Register::OutputZeroPoint, isa::Register::OutputMinimum,
                                   isa::Register::OutputMaximum});
}

TEST_CASE("A network that does not fit is a ModelError in one line", "[compiler][emit]") {
    const Network network = dense_network(100, 20);
    Target target;
    target.geometry = {.rows = 8, .columns = 8};
    const auto message = [&](const Target& machine, const mapping::Batches& options) {
        try {
            compile(network, machine, options);
        } catch (const ModelError& error) {
            return std::string(error.what());
        }
        return std::string("compiled");
    };

    const std::uint64_t tiles = 13 * 3;
    target.weight_memory_bytes = tiles * 64;
    CHECK(message(target, {}) == "compiled");
    target.weight_memory_bytes = tiles * 64 - 1;
    CHECK(message(target, {}) ==
          "net.h5: its weights take 39 tiles of 8 x 8 bytes, 2496 bytes in all; the weight memory has 2495 "
          "bytes, and weight_memory.spill is false");

    target.weight_memory_bytes = 1 << 20;
    const std::uint32_t constant_rows = 9 + 9 + 5;
    target.unified_buffer_rows = constant_rows - 1;
    CHECK(message(target, {}) ==
          "net.h5: requantization parameters and tables take 184 bytes; the unified buffer has 176");
    target.unified_buffer_rows = constant_rows + 13 + 3 - 1;
    CHECK(message(target, {}) ==
          "net.h5: tensor \"scores\": one image of this tensor and of those that live at the same time needs "
          "312 bytes of "
          "unified buffer; the machine has 304");
    target.unified_buffer_rows = constant_rows + 13 + 3;
    CHECK(message(target, {}) == "compiled");

    CHECK(message(target, {.batch = 0, .inferences = 1}) == "net.h5: batch is 0; it must be at least 1");
    CHECK(message(target, {.batch = 1, .inferences = 0}) == "net.h5: inferences is 0; it must be at least 1");
    CHECK(
        message(target, {.batch = 2, .inferences = std::uint64_t{1} << 40}) ==
        "net.h5: 1099511627776 inferences, 1 at a time, take 1099511627776 operations or more; a program may "
        "have at most 16777216");
}

TEST_CASE("Inferences must fit the host memory that instructions can address", "[compiler][emit]") {
    const Network network = dense_network(6, 2);
    Schedule plan = make_schedule(network, {}, {});
    const std::uint64_t host_bytes = std::uint64_t{1} << 40;
    const std::uint64_t constants = 256 + 2 * 64;  // a row, and alignment
    plan.batches.inferences = (host_bytes - constants) / 8;
    const HostMemory memory = lay_out_host_memory(network, plan);
    const std::uint64_t output = memory.output(network.outputs.front()).address;
    CHECK(output + plan.batches.inferences * 2 <= host_bytes);
    CHECK(output + plan.batches.inferences * 2 > host_bytes - constants - 8);
    ++plan.batches.inferences;
    CHECK_THROWS_WITH(lay_out_host_memory(network, plan),
                      "net.h5: 137438953425 inferences take 8 bytes each; the host has 1099511627776 bytes");
}

}  // namespace systole::tpu_v1
