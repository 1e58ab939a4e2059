// Calls, loops, choices, outputs, replicas and limits of HLO programs as graphs of words.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/hlo/hlo_runs.h"

namespace systole::tests {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

/// A computation of one s32[n] that adds a number to it.
std::int64_t adder(HloModule& module, const std::string& shape, std::int64_t number) {
    HloComputation made = module.computation("add" + std::to_string(number));
    const std::int64_t x = made.parameter(shape);
    const std::int64_t added = add_constant(made, "s32[]", {number});
    const std::int64_t wide = made.add("broadcast", shape, {added});
    made.add("add", shape, {x, wide});
    return made.id();
}

TEST_CASE("A choice by data takes the result of its branch, beyond the branches that of the last",
          "[hlo][graph]") {
    HloModule module;
    const Ids branches{adder(module, "s32[2]", 10), adder(module, "s32[2]", 20), adder(module, "s32[2]", 30)};
    HloComputation entry = module.computation("main");
    const std::int64_t choice = entry.parameter("s32[]");
    const std::int64_t x = entry.parameter("s32[2]");
    entry.add("conditional", "s32[2]", {choice, x, x, x}, branches);
    for (const auto& [chosen, added] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
             {0, 10}, {1, 20}, {2, 30}, {3, 30}, {~0U, 30}}) {
        CHECK(run(module, {{chosen}, {1, 2}}) == std::vector<Words>{{1 + added, 2 + added}});
    }

    HloModule truth;
    const Ids both{adder(truth, "s32[2]", 10), adder(truth, "s32[2]", 20)};
    HloComputation main = truth.computation("main");
    const std::int64_t is_first = main.parameter("pred[1,1]");
    const std::int64_t y = main.parameter("s32[2]");
    const std::int64_t scalar = main.add("reshape", "pred[]", {is_first});
    main.add("conditional", "s32[2]", {scalar, y, y}, both);
    CHECK(run(truth, {{1}, {1, 2}}) == std::vector<Words>{{11, 12}});
    CHECK(run(truth, {{0}, {1, 2}}) == std::vector<Words>{{21, 22}});
}

/// state (s32[], s32[2]) -> while (state.0 < turns) (state.0 + 1, state.1 * 2).
HloModule counted_loop(std::int64_t turns) {
    HloModule module;
    HloComputation body = module.computation("body");
    const std::int64_t state = body.parameter("(s32[], s32[2])");
    const std::int64_t i = body.add("get-tuple-element", "s32[]", {state});
    const std::int64_t x = body.add("get-tuple-element", "s32[2]", {state});
    body.last().set_tuple_index(1);
    const std::int64_t one = add_constant(body, "s32[]", {1});
    const std::int64_t next = body.add("add", "s32[]", {i, one});
    const std::int64_t twice = body.add("add", "s32[2]", {x, x});
    body.add("tuple", "(s32[], s32[2])", {next, twice});
    HloComputation condition = module.computation("condition");
    const std::int64_t before = condition.parameter("(s32[], s32[2])");
    const std::int64_t turn = condition.add("get-tuple-element", "s32[]", {before});
    const std::int64_t limit = add_constant(condition, "s32[]", {turns});
    condition.add("compare", "pred[]", {turn, limit});
    condition.last().set_comparison_direction("LT");
    HloComputation entry = module.computation("main");
    const std::int64_t input = entry.parameter("s32[2]");
    const std::int64_t zero = add_constant(entry, "s32[]", {0});
    const std::int64_t begin = entry.add("tuple", "(s32[], s32[2])", {zero, input});
    const std::int64_t end = entry.add("while", "(s32[], s32[2])", {begin}, {body.id(), condition.id()});
    entry.add("get-tuple-element", "s32[2]", {end});
    entry.last().set_tuple_index(1);
    return module;
}

TEST_CASE("A counted loop runs as often as its condition says", "[hlo][graph]") {
    for (const std::int64_t turns : {1, 2, 17}) {
        const auto factor = static_cast<std::uint32_t>(std::int64_t{1} << turns);
        CHECK(run(counted_loop(turns), {{3, 5}}) == std::vector<Words>{{3 * factor, 5 * factor}});
    }
    CHECK(run(counted_loop(0), {{3, 5}}) == std::vector<Words>{{3, 5}});
    CHECK(refusal(counted_loop(4096)) == "");
    CHECK_THAT(refusal(counted_loop(4097)),
               EndsWith("its body runs more than 4096 times; loops are compiled with at most as many turns"));

    // By data.
    HloModule module;
    HloComputation body = module.computation("body");
    body.parameter("pred[]");
    HloComputation condition = module.computation("condition");
    condition.parameter("pred[]");
    HloComputation entry = module.computation("main");
    const std::int64_t goes_on = entry.parameter("pred[]");
    entry.add("while", "pred[]", {goes_on}, {body.id(), condition.id()});
    CHECK_THAT(refusal(module), EndsWith("how often its body runs depends on data; loops are compiled whose "
                                         "condition depends on constants alone"));
}

TEST_CASE("A map applies its computation, calls and choices in it included, to each element",
          "[hlo][graph]") {
    HloModule module;
    const std::int64_t ten = adder(module, "s32[]", 10);
    const std::int64_t twenty = adder(module, "s32[]", 20);
    HloComputation each = module.computation("each");
    const std::int64_t x = each.parameter("s32[]");
    const std::int64_t y = each.parameter("s32[]");
    const std::int64_t is_less = each.add("compare", "pred[]", {x, y});
    each.last().set_comparison_direction("LT");
    const std::int64_t chosen = each.add("conditional", "s32[]", {is_less, x, y}, {ten, twenty});
    each.add("call", "s32[]", {chosen}, {ten});
    HloComputation entry = module.computation("main");
    const std::int64_t a = entry.parameter("s32[3]");
    const std::int64_t b = entry.parameter("s32[3]");
    entry.add("map", "s32[3]", {a, b}, {each.id()});
    entry.last().add_dimensions(0);
    CHECK(run(module, {{1, 5, 7}, {2, 5, 6}}) == std::vector<Words>{{21, 35, 36}});
}

TEST_CASE("A dot algorithm states the precision, whatever the machine's is", "[hlo][graph]") {
    const auto precision = [](int algorithm, int stated, const std::string& of_machine) {
        HloModule module;
        HloComputation entry = module.computation("main");
        const std::int64_t x = entry.parameter("f32[2,3]");
        const std::int64_t y = entry.parameter("f32[3,4]");
        entry.add("dot", "f32[2,4]", {x, y});
        auto& numbers = *entry.last().mutable_dot_dimension_numbers();
        numbers.add_lhs_contracting_dimensions(1);
        numbers.add_rhs_contracting_dimensions(0);
        auto& config = *entry.last().mutable_precision_config();
        config.set_algorithm(algorithm);
        for (int i = 0; i < 2; ++i) config.add_operand_precision(i == 0 ? stated : 0);
        const ir::Graph graph = passes::prepare_in_words(graph_of(module), {.precision = of_machine}, {});
        REQUIRE(graph.nodes.size() == 1);
        return graph.nodes.front().text("precision");
    };
    for (const std::string of_machine : {"default", "high", "highest"}) {
        CHECK(precision(0, 0, of_machine) == of_machine);
        CHECK(precision(0, 1, of_machine) == "high");
        CHECK(precision(0, 2, of_machine) == "highest");
        CHECK(precision(6, 0, of_machine) == "default");
        CHECK(precision(7, 0, of_machine) == "high");
        CHECK(precision(8, 0, of_machine) == "highest");
    }
}

TEST_CASE("Outputs may be inputs, the same array twice, and constants", "[hlo][graph]") {
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter("u32[2]");
    const std::int64_t constant = add_constant(entry, "s32[2]", {4, -5});
    const std::int64_t sum = entry.add("add", "u32[2]", {x, x});
    const std::int64_t other = entry.add("convert", "s32[2]", {x});
    entry.add("tuple", "(u32[2], u32[2], s32[2], u32[2], u32[2], s32[2])", {x, x, constant, sum, sum, other});
    const ir::Graph graph = graph_of(module);
    REQUIRE(graph.outputs.size() == 5);
    REQUIRE(graph.constant_outputs.size() == 1);
    CHECK(graph.constant_outputs.front().place == 2);
    CHECK(graph.constant_outputs.front().value.shape == ir::Shape{2});
    CHECK(run(module, {{1, 0xFFFFFFFF}}) ==
          std::vector<Words>{
              {1, 0xFFFFFFFF}, {1, 0xFFFFFFFF}, {2, 0xFFFFFFFE}, {2, 0xFFFFFFFE}, {1, 0xFFFFFFFF}});
    // The last one has the same words, and another number format in files.
    CHECK(graph.values[graph.outputs[0]].file_type == DataType::Uint32);
    CHECK(graph.values[graph.outputs[4]].file_type == DataType::Int32);
}

TEST_CASE("Constant outputs have their own dimensions", "[hlo][graph]") {
    for (const Extents& dimensions :
         std::vector<Extents>{{}, {1}, {4}, {1, 4}, {3, 1}, {2, 3, 2}, {1, 2, 1, 3, 1}}) {
        for (const bool is_one_number : {true, false}) {
            HloModule module;
            HloComputation entry = module.computation("main");
            const std::int64_t x = entry.parameter("s32[2]");
            const std::int64_t sum = entry.add("add", "s32[2]", {x, x});
            const std::string shape = shape_text("s32", dimensions);
            std::vector<std::int64_t> numbers(elements_of(dimensions), 7);
            if (!is_one_number) std::iota(numbers.begin(), numbers.end(), 0);
            const std::int64_t number = add_constant(entry, "s32[]", {7});
            const std::int64_t constant =
                is_one_number ? entry.add("broadcast", shape, {number}) : add_constant(entry, shape, numbers);
            entry.add("tuple", "(" + shape + ", s32[2])", {constant, sum});
            const ir::Graph graph = graph_of(module);
            REQUIRE(graph.constant_outputs.size() == 1);
            const ir::Value& value = graph.constant_outputs.front().value;
            CHECK(value.shape == ir::Shape(std::vector<std::uint32_t>(dimensions.begin(), dimensions.end())));
            const std::span<const std::int32_t> elements = value.constant->values<std::int32_t>();
            CHECK(std::vector<std::int64_t>(elements.begin(), elements.end()) == numbers);
        }
    }
}

TEST_CASE("Programs need an input and a computed output", "[hlo][graph]") {
    HloModule constants;
    HloComputation entry = constants.computation("main");
    entry.parameter("s32[]");
    add_constant(entry, "s32[2]", {1, 2});
    CHECK(refusal(constants) == "all of its outputs are constants; a program must compute one of them");

    HloModule nothing;
    HloComputation main = nothing.computation("main");
    main.parameter("s32[]");
    main.add("tuple", "()");
    CHECK(refusal(nothing) == "all of its outputs are constants; a program must compute one of them");

    HloModule tuples;
    HloComputation of_tuple = tuples.computation("main");
    const std::int64_t tuple = of_tuple.parameter("(s32[], s32[])");
    of_tuple.add("get-tuple-element", "s32[]", {tuple});
    CHECK(refusal(tuples) == "input \"input 0\": it is a tuple; inputs of a program must be arrays");

    HloModule gather;
    HloComputation of_parts = gather.computation("main");
    const std::int64_t part = of_parts.parameter("u32[4]");
    of_parts.add("all-gather", "u32[8]", {part});
    of_parts.last().add_dimensions(0);
    auto& group = *of_parts.last().add_replica_groups();
    group.add_replica_ids(0);
    group.add_replica_ids(1);
    CHECK_THAT(refusal(gather), EndsWith("programs with all-gather are not compiled"));

    HloModule alike;
    HloComputation of_two = alike.computation("main");
    for (const std::string name : {"x", "x"}) {
        of_two.parameter("s32[2]");
        of_two.last().mutable_metadata()->set_op_name(name);
    }
    of_two.add("add", "s32[2]", {of_two.proto().instructions(0).id(), of_two.proto().instructions(1).id()});
    CHECK(refusal(alike) == "input \"x\": another input has its name; each must have one of its own");
    of_two.proto().mutable_instructions(0)->mutable_metadata()->set_op_name("input 1");
    of_two.proto().mutable_instructions(1)->clear_metadata();
    CHECK(refusal(alike) == "input \"input 1\": another input has its name; each must have one of its own");

    HloModule wide;
    HloComputation of_axes = wide.computation("main");
    const std::int64_t x = of_axes.parameter("s32[1,1,1,1,1,1]");
    of_axes.add("negate", "s32[1,1,1,1,1,1]", {x});
    CHECK(refusal(wide) ==
          "input \"input 0\": an array has 6 dimensions; programs are compiled with at most 5");
}

TEST_CASE("State is paired with the array that takes its place, behind tuples, too", "[hlo][graph]") {
    // ((a, b), c): output 1 of the tuple is array 2.
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter("s32[2]");
    const std::int64_t a = entry.add("add", "s32[2]", {x, x});
    const std::int64_t b = entry.add("multiply", "s32[2]", {x, x});
    const std::int64_t c = entry.add("negate", "s32[2]", {x});
    const std::int64_t inner = entry.add("tuple", "(s32[2], s32[2])", {a, b});
    entry.add("tuple", "((s32[2], s32[2]), s32[2])", {inner, c});
    auto& alias = *module.proto().mutable_input_output_alias()->add_entries();
    alias.add_output_shape_index(1);
    alias.set_kind(1);
    const ir::Graph graph = graph_of(module);
    REQUIRE(graph.state.size() == 1);
    CHECK(graph.state.front() == ir::Graph::State{.input = 0, .output = 2});
    alias.clear_output_shape_index();
    alias.add_output_shape_index(0);
    alias.add_output_shape_index(1);
    CHECK(refusal(module) == "an output in a tuple of tuples replaces an input; only arrays do");

    HloModule constant;
    HloComputation main = constant.computation("main");
    const std::int64_t y = main.parameter("s32[2]");
    const std::int64_t sum = main.add("add", "s32[2]", {y, y});
    const std::int64_t fixed = add_constant(main, "s32[2]", {1, 2});
    main.add("tuple", "(s32[2], s32[2])", {sum, fixed});
    auto& of_constant = *constant.proto().mutable_input_output_alias()->add_entries();
    of_constant.add_output_shape_index(1);
    of_constant.set_kind(1);
    CHECK(refusal(constant) ==
          "output 1 takes the place of an input and is a constant, which is not compiled");
}

/// "#sdy.sharding<...>" of an array whose dimensions are divided by these axes of the mesh.
std::string sharding_text(const std::vector<std::string>& axes_by_dimension) {
    std::string text;
    for (const std::string& axes : axes_by_dimension) text += (text.empty() ? "{" : ", {") + axes + "}";
    return "<@mesh, [" + text + "]>";
}

void set_shardings(InstructionProto& instruction, const std::string& list) {
    const bool splits = instruction.custom_call_target() == "xla.sdy.GlobalToLocalShape";
    auto& attributes = *instruction.mutable_frontend_attributes()->mutable_map();
    attributes[splits ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings"] =
        "#sdy.sharding_per_value<[" + list + "]>";
}

/// A program of two devices: each sums its part of x over both devices.
struct Replicated {
    HloModule module;
    std::int64_t combiner = module.combiner("add");
    HloComputation entry = module.computation("main");
    std::int64_t input = 0;
    std::int64_t part = 0;

    explicit Replicated(const std::string& whole = "f32[4,3]", const std::string& local = "f32[2,3]") {
        input = entry.parameter(whole);
        part = custom("xla.sdy.GlobalToLocalShape", local, input);
        (*module.proto().mutable_frontend_attributes()->mutable_map())["xla.sdy.meshes"] =
            "{mesh = #sdy.mesh<[\"d\"=2, \"e\"=1]>}";
    }
    std::int64_t custom(const std::string& target, const std::string& shape, std::int64_t operand) {
        hlo_proto::ShapeProto before;
        for (const InstructionProto& each : entry.proto().instructions()) {
            if (each.id() == operand) before = each.shape();
        }
        const std::int64_t id = entry.add("custom-call", shape, {operand});
        entry.last().set_custom_call_target(target);
        std::vector<std::string> axes;
        std::string next = "\"d\"";
        for (int i = 0; i < before.dimensions_size(); ++i) {
            const bool is_split = before.dimensions(i) != entry.last().shape().dimensions(i);
            axes.push_back(is_split ? next : "");
            if (is_split) next = "\"e\"";
        }
        set_shardings(entry.last(), sharding_text(axes));
        return id;
    }
    std::int64_t sum_of_devices(const std::string& shape, std::int64_t operand, std::uint32_t devices = 2) {
        const std::int64_t id = entry.add("all-reduce", shape, {operand}, {combiner});
        auto& group = *entry.last().add_replica_groups();
        for (std::uint32_t device = 0; device < devices; ++device) group.add_replica_ids(device);
        return id;
    }
};

TEST_CASE("Replicas work on parts of arrays and sum over all devices", "[hlo][graph]") {
    Replicated made;
    const std::int64_t sum = made.sum_of_devices("f32[2,3]", made.part);
    const std::int64_t difference = made.entry.add("subtract", "f32[2,3]", {sum, made.part});
    const std::int64_t sums = made.custom("xla.sdy.LocalToGlobalShape", "f32[2,3]", sum);
    const std::int64_t differences = made.custom("xla.sdy.LocalToGlobalShape", "f32[4,3]", difference);
    made.entry.add("tuple", "(f32[2,3], f32[4,3])", {sums, differences});
    const ir::Graph graph = graph_of(made.module);
    CHECK(graph.replicas == 2);
    CHECK(graph.values[graph.inputs[0]].shape == ir::Shape{1, 2, 3});
    CHECK(graph.values[graph.inputs[0]].split_axis == 0);
    CHECK(graph.values[graph.outputs[0]].split_axis == std::nullopt);
    CHECK(graph.values[graph.outputs[1]].split_axis == 0);
    const std::vector<float> numbers{1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
    const std::vector<float> sums_of_parts{11, 22, 33, 44, 55, 66, 11, 22, 33, 44, 55, 66};
    const std::vector<float> of_the_other{10, 20, 30, 40, 50, 60, 1, 2, 3, 4, 5, 6};
    CHECK(run(made.module, {words_of(numbers)}, 2) ==
          std::vector<Words>{words_of(sums_of_parts), words_of(of_the_other)});
}

/// Devices of a mesh of axes "0", "1", ..., and the axes that divide a dimension of an array, in their order.
struct Division {
    std::vector<std::int64_t> sizes{};
    std::vector<std::size_t> axes{};

    explicit Division(std::mt19937& random) {
        for (std::uint32_t axis = 0; axis <= random() % 3; ++axis) sizes.push_back(1 + random() % 3);
        sizes.front() += sizes.front() == 1 ? 1 : 0;
        axes.resize(sizes.size());
        std::iota(axes.begin(), axes.end(), 0);
        std::ranges::shuffle(axes, random);
        if (random() % 3 == 0) axes.resize(random() % (axes.size() + 1));
    }
    std::int64_t devices() const {
        std::int64_t count = 1;
        for (const std::int64_t size : sizes) count *= size;
        return count;
    }
    std::int64_t parts() const {
        std::int64_t count = 1;
        for (const std::size_t axis : axes) count *= sizes[axis];
        return count;
    }
    /// The part that a device has, and its number among those that have the same.
    std::pair<std::int64_t, std::int64_t> part_of(std::int64_t device) const {
        std::vector<std::int64_t> place(sizes.size());
        for (std::size_t axis = sizes.size(); axis-- > 0;) {
            place[axis] = device % sizes[axis];
            device /= sizes[axis];
        }
        std::pair<std::int64_t, std::int64_t> numbers{0, 0};
        for (const std::size_t axis : axes) numbers.first = numbers.first * sizes[axis] + place[axis];
        for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
            if (std::ranges::find(axes, axis) == axes.end())
                numbers.second = numbers.second * sizes[axis] + place[axis];
        }
        return numbers;
    }
    std::string mesh_text() const {
        std::string text;
        for (std::size_t axis = 0; axis < sizes.size(); ++axis)
            text += (axis == 0 ? "\"" : ", \"") + std::to_string(axis) + "\"=" + std::to_string(sizes[axis]);
        return "{grid = #sdy.mesh<[" + text + "]>, none = #sdy.mesh<[]>}";
    }
    std::string sharding_text() const {
        std::string text;
        for (const std::size_t axis : axes)
            text += (text.empty() ? "\"" : ", \"") + std::to_string(axis) + "\"";
        return "<@grid, [{" + text + "}, {}]>";
    }
    hlo_proto::OpSharding sharding() const {
        hlo_proto::OpSharding proto;
        proto.set_type(3);
        for (const std::int64_t count : {parts(), std::int64_t{1}})
            proto.add_tile_assignment_dimensions(count);
        const std::int64_t alike = devices() / parts();
        if (alike > 1) {
            proto.add_tile_assignment_dimensions(alike);
            proto.set_replicate_on_last_tile_dim(true);
        }
        for (std::int64_t i = 0; i < devices(); ++i) proto.add_tile_assignment_devices(0);
        for (std::int64_t device = 0; device < devices(); ++device) {
            const auto [part, number] = part_of(device);
            proto.set_tile_assignment_devices(static_cast<int>(part * alike + number), device);
        }
        return proto;
    }
};

TEST_CASE("Arrays are split over all devices in their order, or not at all", "[hlo][graph][random]") {
    const std::uint32_t seeds = random_runs(300);
    std::uint32_t accepted = 0;
    std::uint32_t refused = 0;
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        std::mt19937 random(seed);
        Division of_input(random);
        Division of_output = of_input;
        // One of them is in the order of the devices.
        Division& plain_one = random() % 2 == 0 ? of_input : of_output;
        plain_one.axes.resize(plain_one.sizes.size());
        std::iota(plain_one.axes.begin(), plain_one.axes.end(), 0);
        const bool is_shardy = random() % 2 == 0;
        const std::int64_t devices = of_input.devices();
        INFO("seed " << seed << ", mesh " << of_input.mesh_text() << ", input " << of_input.sharding_text()
                     << ", output " << of_output.sharding_text() << (is_shardy ? "" : ", tiles"));
        HloModule module;
        const std::int64_t combiner = module.combiner("add");
        HloComputation entry = module.computation("main");
        const auto rows = [](std::int64_t count) { return shape_text("f32", {count, 2}); };
        // An argument before it that all devices have.
        const std::int64_t number = entry.parameter("f32[1,2]");
        const std::int64_t input = entry.parameter(rows(of_input.parts()));
        const auto custom = [&](const std::string& target, const std::string& shape, const Ids& operands) {
            const std::int64_t id = entry.add("custom-call", shape, operands);
            entry.last().set_custom_call_target(target);
            return id;
        };
        std::int64_t part = 0;
        std::int64_t factor = 0;
        if (is_shardy) {
            (*module.proto().mutable_frontend_attributes()->mutable_map())["xla.sdy.meshes"] =
                of_input.mesh_text();
            const std::int64_t both =
                custom("xla.sdy.GlobalToLocalShape", "(f32[1,2], f32[1,2])", {number, input});
            set_shardings(entry.last(), "<@none, [{}, {}]>, " + of_input.sharding_text());
            factor = entry.add("get-tuple-element", "f32[1,2]", {both});
            part = entry.add("get-tuple-element", "f32[1,2]", {both});
            entry.last().set_tuple_index(1);
        } else {
            factor = number;
            const std::int64_t tiled = custom("Sharding", rows(of_input.parts()), {input});
            *entry.last().mutable_sharding() = of_input.sharding();
            part = custom("SPMDFullToShardShape", "f32[1,2]", {tiled});
            entry.last().mutable_sharding()->set_type(4);
        }
        const std::int64_t sum = entry.add("all-reduce", "f32[1,2]", {part}, {combiner});
        auto& group = *entry.last().add_replica_groups();
        for (std::int64_t device = 0; device < devices; ++device) group.add_replica_ids(device);
        const std::int64_t scaled = entry.add("multiply", "f32[1,2]", {part, factor});
        const std::int64_t result = entry.add("subtract", "f32[1,2]", {sum, scaled});
        if (is_shardy) {
            custom("xla.sdy.LocalToGlobalShape", rows(of_output.parts()), {result});
            set_shardings(entry.last(), of_output.sharding_text());
        } else {
            custom("SPMDShardToFullShape", rows(of_output.parts()), {result});
            *entry.last().mutable_sharding() = of_output.sharding();
        }
        const auto is_in_order = [&](const Division& division) {
            if (division.parts() == 1) return true;
            bool is_each = division.parts() == devices;
            for (std::int64_t i = 0; i < devices; ++i) is_each &= division.part_of(i).first == i;
            return is_each;
        };
        if (!is_in_order(of_input) || !is_in_order(of_output)) {
            const bool is_partly = (of_input.parts() != 1 && of_input.parts() != devices) ||
                                   (of_output.parts() != 1 && of_output.parts() != devices);
            CHECK_THAT(refusal(module),
                       EndsWith(is_partly ? "whose arrays are split along one axis, over all devices"
                                          : "programs are compiled in which device i has part i"));
            ++refused;
            continue;
        }
        ++accepted;
        std::vector<float> numbers;
        std::vector<float> sums(2, 0.0F);
        for (std::int64_t i = 0; i < 2 * devices; ++i) {
            // All devices have the one part.
            const auto place = static_cast<std::size_t>(i % (2 * of_input.parts()));
            numbers.push_back(static_cast<float>(1 + place * place));
            sums[static_cast<std::size_t>(i) % 2] += numbers.back();
        }
        std::vector<float> factors;
        std::vector<float> results;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            factors.push_back(3);
            results.push_back(sums[i % 2] - 3 * numbers[i]);
        }
        REQUIRE(run(module, {words_of(factors), words_of(numbers)}, static_cast<std::uint32_t>(devices)) ==
                std::vector<Words>{words_of(results)});
    }
    CHECK(accepted >= random_share(60));
    CHECK(refused >= random_share(60));
}

TEST_CASE("Shardings that are not understood are refused", "[hlo][graph]") {
    const auto fault = [](const std::string& shardings, const std::string& meshes) {
        Replicated made("f32[4]", "f32[2]");
        made.sum_of_devices("f32[2]", made.part);
        auto& instruction = *made.entry.proto().mutable_instructions(1);
        auto& attributes = *instruction.mutable_frontend_attributes()->mutable_map();
        attributes["xla.sdy.in_shardings"] = shardings;
        if (shardings.empty()) attributes.clear();
        (*made.module.proto().mutable_frontend_attributes()->mutable_map())["xla.sdy.meshes"] = meshes;
        const std::string of_reader = made.module.fault();
        return of_reader.empty() ? refusal(made.module) : of_reader;
    };
    const std::string begin = "#sdy.sharding_per_value<[";
    const std::string mesh = "{mesh = #sdy.mesh<[\"d\"=2]>}";
    CHECK(fault(begin + "<@mesh, [{\"d\"}]>]>", mesh) == "");
    CHECK(fault(begin + "<@m, [{\"d\"}], replicated={\"e\"}>]>",
                "{o = #sdy.mesh<[]>, m = #sdy.mesh<[\"e\"=1,\"d\"=2]>}") == "");
    for (const std::string shardings :
         {"[", "<@mesh, [{\"d\"}]>", "<@mesh, [{\"d\"}]>]", "<@other, [{\"d\"}]>]>", "<@mesh, [{\"e\"}]>]>",
          "<@mesh, [{\"d\", \"d\"}]>]>", "<@mesh, [{\"d\", ?}]>]>", "<@mesh, [{\"d\":(1)2}]>]>",
          "<@mesh, [{\"d\"}p0]>]>", "<@mesh, [{\"d\"}], unreduced={\"e\"}>]>", "<@mesh, [{\"d\"}]>]> ]",
          "<mesh<[\"d\"=2]>, [{\"d\"}]>]>"}) {
        INFO(shardings);
        CHECK_THAT(
            fault(begin + shardings, mesh),
            Contains("its sharding is \"#sdy.sharding_per_value<[") &&
                EndsWith("it must be like #sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>, with axes "
                         "of its mesh"));
    }
    CHECK_THAT(fault(begin + "]>", mesh), EndsWith("it has 0 shardings for 1 array; each must have one"));
    CHECK_THAT(
        fault("", mesh),
        EndsWith("an array of f32[4] has parts of f32[2], and its sharding has none; it must be of tiles "
                 "[2]"));
    CHECK_THAT(
        fault(begin + "<@mesh, [{}]>]>", mesh),
        EndsWith("an array of f32[4] has parts of f32[2], and its sharding is of tiles [1]; it must be of "
                 "tiles [2]"));
    CHECK_THAT(fault(begin + "<@mesh, [{\"d\"}, {}]>]>", mesh),
               EndsWith("is of tiles [2,1]; it must be of tiles [2]"));
    for (const std::string meshes :
         {"", "{", "{}}", "{mesh}", "{mesh = #sdy.mesh<[d=2]>}", "{mesh = #sdy.mesh<[\"d\"=0]>}",
          "{mesh = #sdy.mesh<[\"d\"=-2]>}", "{mesh = #sdy.mesh<[\"d\"=99999999999]>}",
          "{mesh = #sdy.mesh<[\"d\"=65536, \"e\"=2]>}", "{mesh = #sdy.mesh<[\"d\"=2], device_ids=[1, 0]>}"}) {
        INFO(meshes);
        CHECK_THAT(fault(begin + "<@mesh, [{\"d\"}]>]>", meshes),
                   StartsWith("xla.sdy.meshes: it is \"") &&
                       EndsWith("it must be like {mesh = #sdy.mesh<[\"a\"=4, \"b\"=2]>}"));
    }
}

TEST_CASE("A mesh says how many devices there are, without any sum over them", "[hlo][graph]") {
    Replicated made("f32[6,3]", "f32[2,3]");
    (*made.module.proto().mutable_frontend_attributes()->mutable_map())["xla.sdy.meshes"] =
        "{mesh = #sdy.mesh<[\"d\"=3]>}";
    made.custom("xla.sdy.LocalToGlobalShape", "f32[6,3]", made.entry.add("negate", "f32[2,3]", {made.part}));
    const ir::Graph graph = graph_of(made.module);
    CHECK(graph.replicas == 3);
    CHECK(graph.values[graph.inputs[0]].split_axis == 0);
    CHECK(graph.values[graph.outputs[0]].split_axis == 0);
}

TEST_CASE("A program that does not say what each device does with its part is refused", "[hlo][graph]") {
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter("f32[4,3]");
    entry.add("negate", "f32[4,3]", {x});
    CHECK(refusal(module) == "");
    hlo_proto::OpSharding sharding;
    sharding.set_type(3);
    for (const std::int64_t count : {1, 1, 2}) sharding.add_tile_assignment_dimensions(count);
    for (const std::int64_t device : {0, 1}) sharding.add_tile_assignment_devices(device);
    sharding.set_replicate_on_last_tile_dim(true);
    for (const bool is_split : {false, true}) {
        sharding.set_tile_assignment_dimensions(1, is_split ? 2 : 1);
        sharding.set_tile_assignment_dimensions(2, is_split ? 1 : 2);
        for (const bool is_of_instruction : {false, true}) {
            HloModule made = module;
            auto& parameter = *made.proto().mutable_computations(0)->mutable_instructions(0);
            *(is_of_instruction ? parameter.mutable_sharding()
                                : made.proto().add_spmd_parameters_shardings()) = sharding;
            CHECK(refusal(made) ==
                  (is_split ? "input \"input 0\": it is split over devices; programs of several devices are "
                              "compiled where shard_map says what each device does"
                            : ""));
        }
    }
}

TEST_CASE("A function that the program calls makes parts of the program's inputs", "[hlo][graph]") {
    // Two calls deep, with the inputs in another order.
    HloModule module;
    const std::int64_t combiner = module.combiner("add");
    (*module.proto().mutable_frontend_attributes()->mutable_map())["xla.sdy.meshes"] =
        "{mesh = #sdy.mesh<[\"d\"=2]>}";
    HloComputation inner = module.computation("inner");
    const auto custom = [&](const std::string& target, std::int64_t operand, const std::string& axis) {
        const std::int64_t id = inner.add("custom-call", "f32[2,3]", {operand});
        inner.last().set_custom_call_target(target);
        set_shardings(inner.last(), sharding_text({axis, ""}));
        return id;
    };
    const std::int64_t split = inner.parameter("f32[4,3]");
    const std::int64_t same = inner.parameter("f32[2,3]");
    const std::int64_t part = custom("xla.sdy.GlobalToLocalShape", split, "\"d\"");
    const std::int64_t whole = custom("xla.sdy.GlobalToLocalShape", same, "");
    const std::int64_t sum = inner.add("all-reduce", "f32[2,3]", {part}, {combiner});
    auto& group = *inner.last().add_replica_groups();
    group.add_replica_ids(0);
    group.add_replica_ids(1);
    const std::int64_t difference = inner.add("subtract", "f32[2,3]", {sum, whole});
    custom("xla.sdy.LocalToGlobalShape", difference, "");
    HloComputation outer = module.computation("outer");
    const std::int64_t a = outer.parameter("f32[2,3]");
    const std::int64_t b = outer.parameter("f32[4,3]");
    outer.add("call", "f32[2,3]", {b, a}, {inner.id()});
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter("f32[4,3]");
    const std::int64_t y = entry.parameter("f32[2,3]");
    entry.add("call", "f32[2,3]", {y, x}, {outer.id()});
    const ir::Graph graph = graph_of(module);
    CHECK(graph.replicas == 2);
    CHECK(graph.values[graph.inputs[0]].split_axis == 0);
    CHECK(graph.values[graph.inputs[1]].split_axis == std::nullopt);
    const std::vector<float> ones(12, 1);
    const std::vector<float> numbers{1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
    const std::vector<float> expected{10, 21, 32, 43, 54, 65, 10, 21, 32, 43, 54, 65};
    CHECK(run(module, {words_of(numbers), words_of(ones)}, 2) == std::vector<Words>{words_of(expected)});
}

TEST_CASE("What replicas may not do is refused", "[hlo][graph]") {
    {
        Replicated made;
        made.sum_of_devices("f32[4,3]", made.input);
        CHECK_THAT(refusal(made.module), Contains("it works on an array of all devices"));
    }
    {
        // The whole array beside its parts.
        Replicated made;
        made.sum_of_devices("f32[2,3]", made.part);
        const std::int64_t sum = made.entry.add("negate", "f32[4,3]", {made.input});
        made.entry.add("tuple", "(f32[4,3], f32[2,3])", {sum, made.part});
        CHECK_THAT(refusal(made.module), Contains("it works on an array of all devices"));
    }
    {
        // Parts of two kinds.
        Replicated made("f32[4,4]", "f32[2,4]");
        const std::int64_t other = made.custom("xla.sdy.GlobalToLocalShape", "f32[4,2]", made.input);
        const std::int64_t sum = made.sum_of_devices("f32[2,4]", made.part);
        made.entry.add("tuple", "(f32[2,4], f32[4,2])", {sum, other});
        CHECK_THAT(
            refusal(made.module),
            EndsWith("it makes parts of f32[4,2] of an array of which parts of f32[2,4] are there; each "
                     "array has one kind of parts"));
    }
    {
        Replicated made("f32[4,4]", "f32[2,2]");
        made.sum_of_devices("f32[2,2]", made.part);
        CHECK(refusal(made.module) ==
              "computation \"main\": instruction \"custom-call.2\" (custom-call): an array of f32[4,4] has "
              "parts of f32[2,2] on 2 devices; programs are compiled whose arrays are split along one axis, "
              "over all devices");
    }
    {
        // A combiner that is a sum of something else.
        HloModule other;
        HloComputation twice = other.computation("twice");
        const std::int64_t a = twice.parameter("f32[]");
        twice.parameter("f32[]");
        twice.add("add", "f32[]", {a, a});
        HloComputation entry = other.computation("main");
        const std::int64_t x = entry.parameter("f32[2]");
        entry.add("all-reduce", "f32[2]", {x}, {twice.id()});
        auto& group = *entry.last().add_replica_groups();
        group.add_replica_ids(0);
        group.add_replica_ids(1);
        CHECK_THAT(
            refusal(other),
            EndsWith("it combines by another operation than the sum of floats, which alone is compiled"));
    }
    for (const std::uint32_t devices : {1U, 2U}) {
        for (const std::int64_t channel : {0, 1, 7}) {
            for (const bool is_global : {false, true}) {
                Replicated made;
                made.sum_of_devices("f32[2,3]", made.part);
                made.sum_of_devices("f32[2,3]", made.entry.last().id(), devices);
                made.entry.last().set_channel_id(channel);
                made.entry.last().set_use_global_device_ids(is_global);
                const std::string fault = refusal(made.module);
                const bool names_devices = is_global == (channel != 0);
                if (names_devices) CHECK(fault == "");
                if (!names_devices)
                    CHECK_THAT(fault,
                               EndsWith("its channel_id is " + std::to_string(channel) +
                                        ", its use_global_device_ids " + (is_global ? "true" : "false") +
                                        ", so that groups are not of the devices that they name, which "
                                        "is not compiled"));
            }
        }
    }
    {
        Replicated made;
        const std::int64_t sum = made.sum_of_devices("f32[2,3]", made.part);
        const std::int64_t number = made.entry.add("partition-id", "u32[]");
        made.entry.add("tuple", "(f32[2,3], u32[])", {sum, number});
        CHECK_THAT(refusal(made.module),
                   EndsWith("it asks for the number of the device; programs of several devices may not"));
    }
}

TEST_CASE("An input that is split may not be replaced by an output that is not", "[hlo][graph]") {
    Replicated made("f32[2,3]", "f32[1,3]");
    const std::int64_t sum = made.sum_of_devices("f32[1,3]", made.part);
    const std::int64_t twice = made.entry.add("concatenate", "f32[2,3]", {sum, sum});
    made.entry.last().add_dimensions(0);
    made.custom("xla.sdy.LocalToGlobalShape", "f32[2,3]", twice);
    auto& alias = *made.module.proto().mutable_input_output_alias()->add_entries();
    alias.set_kind(1);
    CHECK(refusal(made.module) ==
          "state %0 \"input 0\" -> %2 \"output 0\": both must have the same shape, type and scales, the same "
          "axes and number format in files, and be split along the same axis");
}

// Small modules that ask for much.

TEST_CASE("Calls that double at each level, and deep ones, are refused in time", "[hlo][graph]") {
    HloModule doubling;
    std::int64_t callee = adder(doubling, "s32[]", 1);
    for (int level = 0; level < 40; ++level) {
        HloComputation made = doubling.computation("level" + std::to_string(level));
        const std::int64_t x = made.parameter("s32[]");
        const std::int64_t once = made.add("call", "s32[]", {x}, {callee});
        made.add("call", "s32[]", {once}, {callee});
        callee = made.id();
    }
    CHECK_THAT(refusal(doubling),
               EndsWith("it has more than 1048576 instructions with those of all calls and turns of loops; "
                        "programs are compiled with fewer"));
    HloModule deep;
    callee = adder(deep, "s32[]", 1);
    for (int level = 0; level < 300; ++level) {
        HloComputation made = deep.computation("level" + std::to_string(level));
        const std::int64_t x = made.parameter("s32[]");
        made.add("call", "s32[]", {x}, {callee});
        callee = made.id();
    }
    CHECK_THAT(refusal(deep),
               EndsWith("its calls are nested more than 256 deep; programs are compiled with fewer"));
}

TEST_CASE("A tuple of many parts is not copied for each reader", "[hlo][graph]") {
    constexpr int parts = 50'000;
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter("s32[]");
    hlo_proto::ShapeProto shape;
    shape.set_element_type(13);
    for (int i = 0; i < parts; ++i) *shape.add_tuple_shapes() = shape_proto("s32[]");
    entry.add("tuple", "()", Ids(parts, x));
    *entry.last().mutable_shape() = shape;
    const std::int64_t tuple = entry.last().id();
    Ids read;
    for (int i = 0; i < parts; ++i) {
        read.push_back(entry.add("get-tuple-element", "s32[]", {tuple}));
        entry.last().set_tuple_index(i);
    }
    std::int64_t sum = read.front();
    for (int i = 1; i < parts; ++i) sum = entry.add("xor", "s32[]", {sum, read[static_cast<std::size_t>(i)]});
    CHECK(graph_of(module).outputs.size() == 1);
}

TEST_CASE("Constants are not computed again and again, and not without end", "[hlo][graph]") {
    // Each turn reads the same constants; each value is large.
    HloModule module;
    HloComputation body = module.computation("body");
    const std::int64_t state = body.parameter("(s32[], s32[4000000])");
    const std::int64_t i = body.add("get-tuple-element", "s32[]", {state});
    const std::int64_t x = body.add("get-tuple-element", "s32[4000000]", {state});
    body.last().set_tuple_index(1);
    const std::int64_t count = body.add("iota", "s32[4000000]");
    body.last().add_dimensions(0);
    const std::int64_t sum = body.add("add", "s32[4000000]", {x, count});
    const std::int64_t one = add_constant(body, "s32[]", {1});
    const std::int64_t next = body.add("add", "s32[]", {i, one});
    body.add("tuple", "(s32[], s32[4000000])", {next, sum});
    HloComputation condition = module.computation("condition");
    const std::int64_t before = condition.parameter("(s32[], s32[4000000])");
    const std::int64_t turn = condition.add("get-tuple-element", "s32[]", {before});
    const std::int64_t limit = add_constant(condition, "s32[]", {4000});
    condition.add("compare", "pred[]", {turn, limit});
    condition.last().set_comparison_direction("LT");
    HloComputation entry = module.computation("main");
    const std::int64_t input = entry.parameter("s32[]");
    const std::int64_t zero = add_constant(entry, "s32[]", {0});
    const std::int64_t begin_number = add_constant(entry, "s32[]", {5});
    const std::int64_t begin_array = entry.add("broadcast", "s32[4000000]", {begin_number});
    const std::int64_t begin = entry.add("tuple", "(s32[], s32[4000000])", {zero, begin_array});
    const std::int64_t end =
        entry.add("while", "(s32[], s32[4000000])", {begin}, {body.id(), condition.id()});
    const std::int64_t array = entry.add("get-tuple-element", "s32[4000000]", {end});
    entry.last().set_tuple_index(1);
    const std::int64_t wide = entry.add("broadcast", "s32[4000000]", {input});
    entry.add("add", "s32[4000000]", {array, wide});
    const ir::Graph graph = graph_of(module);
    std::size_t elements = 0;
    for (const ir::Value& value : graph.values) elements += value.constant ? value.shape.elements() : 0;
    CHECK(elements < 10'000'000);

    HloModule counting;
    HloComputation main = counting.computation("main");
    const std::int64_t y = main.parameter("s32[268435456]");
    const std::int64_t numbers = main.add("iota", "s32[268435456]");
    main.last().add_dimensions(0);
    main.add("add", "s32[268435456]", {y, numbers});
    CHECK_THAT(refusal(counting),
               EndsWith("it counts to 268435456; programs are compiled that count to at most 16777216"));
}

TEST_CASE("A convolution of an image that is spread without end takes no time for the zeros",
          "[hlo][graph]") {
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t image = entry.parameter("f32[1,1,1]");
    const std::int64_t kernel = entry.parameter("f32[1,1,1]");
    entry.add("convolution", "f32[1,1000,1]", {image, kernel});
    auto& numbers = *entry.last().mutable_convolution_dimension_numbers();
    numbers.set_input_feature_dimension(2);
    numbers.add_input_spatial_dimensions(1);
    numbers.set_kernel_input_feature_dimension(1);
    numbers.set_kernel_output_feature_dimension(2);
    numbers.add_kernel_spatial_dimensions(0);
    numbers.set_output_feature_dimension(2);
    numbers.add_output_spatial_dimensions(1);
    auto& dimension = *entry.last().mutable_window()->add_dimensions();
    dimension.set_size(1);
    dimension.set_stride(1);
    dimension.set_padding_high(999);
    dimension.set_window_dilation(1);
    dimension.set_base_dilation(std::int64_t{1} << 28);
    // The one tap falls on the pixel once, and elsewhere on zeros between pixels.
    CHECK(ir::macs(graph_of(module)) == 1);
    Words expected(1000, 0);
    expected.front() = words_of({6.0F}).front();
    CHECK(run(module, {words_of({2.0F}), words_of({3.0F})}) == std::vector<Words>{expected});
}

TEST_CASE("Layers are named by the scopes of calls and of instructions in them", "[hlo][graph]") {
    HloModule module;
    HloComputation relu = module.computation("relu");
    const std::int64_t x = relu.parameter("f32[2]");
    relu.add("negate", "f32[2]", {x});
    const std::int64_t inner = relu.add("abs", "f32[2]", {relu.last().id()});
    relu.last().mutable_metadata()->set_op_name("part/abs");
    relu.add("sine", "f32[2]", {inner});
    relu.last().mutable_metadata()->set_op_name("outer/norm/part/sin");
    HloComputation entry = module.computation("main");
    const std::int64_t input = entry.parameter("f32[2]");
    const std::int64_t result = entry.add("call", "f32[2]", {input}, {relu.id()});
    entry.last().mutable_metadata()->set_op_name("jit(f)/outer/norm/call");
    entry.add("cosine", "f32[2]", {result});
    const ir::Graph graph = graph_of(module);
    REQUIRE(graph.nodes.size() == 4);
    CHECK(graph.nodes[0].name == "outer/norm");
    CHECK(graph.nodes[1].name == "outer/norm/part");
    CHECK(graph.nodes[2].name == "outer/norm/part");
    CHECK(graph.nodes[3].name == "cosine.3");
}

}  // namespace
}  // namespace systole::tests
