// Movements of whole rows and columns: what is found from shapes is what the operators do, and programs for
// it have the reference's bits and few instructions.
#include "compiler/target/tensor_core/row_boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/box_tiles.h"
#include "compiler/target/tensor_core/choose.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/moves.h"
#include "compiler/target/tensor_core/network.h"
#include "hw/isa/instruction.h"
#include "hw/timing/tensor.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"

using namespace systole;
using namespace systole::tensor_core;

namespace {

using Extents = std::vector<std::int64_t>;

ir::Shape shape_of(const Extents& extents) {
    std::vector<std::uint32_t> all;
    for (const std::int64_t each : extents) all.push_back(static_cast<std::uint32_t>(each));
    return ir::Shape(std::span<const std::uint32_t>(all));
}

/// Draws nodes that move elements of tensors of up to six axes.
class RandomMovements {
public:
    explicit RandomMovements(std::mt19937& random) : random_(random) {}

    ir::Graph draw(std::size_t nodes) {
        graph_ = {};
        graph_.name = "moves";
        Extents extents{1};
        const std::uint32_t axes = 1 + below(4);
        while (extents.size() <= axes) extents.push_back(extent());
        const DataType types[] = {DataType::Float32, DataType::Float32, DataType::Int32, DataType::Bfloat16};
        type_ = types[below(4)];
        last_ = graph_.add_input("x", shape_of(extents), type_);
        while (graph_.nodes.size() < nodes) add_node();
        graph_.outputs = {last_};
        return std::move(graph_);
    }

private:
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    std::int64_t extent() { return below(4) == 0 ? 1 : 1 + below(below(3) == 0 ? 40 : 7); }
    const ir::Shape& shape() const { return graph_.values[last_].shape; }
    Extents extents() const { return {shape().extents().begin(), shape().extents().end()}; }
    ir::ValueId append(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs) {
        return graph_.append(fmt::format("{}{}", op, graph_.nodes.size()), operators::registry().at(op),
                             std::move(attributes), std::move(inputs), type_);
    }

    void add_node() {
        const bool is_large = shape().elements() > 4000;
        switch (below(7)) {
            case 0:
                return reshape();
            case 1:
            case 2:
                return transpose();
            case 3:
                return slice();
            case 4:
                if (!is_large) return pad();
                return slice();
            case 5:
                if (!is_large) return concat();
                return slice();
            default:
                if (!is_large) return expand();
                return slice();
        }
    }
    void reshape() {
        Extents made{1};
        auto left = static_cast<std::int64_t>(shape().elements());
        while (made.size() < 5) {
            std::int64_t factor = 1 + below(12);
            while (left % factor != 0) --factor;
            made.push_back(factor);
            left /= factor;
        }
        made[1 + below(4)] *= left;
        last_ = append("reshape", {{"shape", made}}, {last_});
    }
    void transpose() {
        Extents axes;
        for (std::size_t axis = 0; axis < shape().rank(); ++axis)
            axes.push_back(static_cast<std::int64_t>(axis));
        std::shuffle(axes.begin() + 1, axes.end(), random_);
        last_ = append("transpose", {{"permutation", axes}}, {last_});
    }
    void slice() {
        Extents first{0};
        Extents step{1};
        Extents count{1};
        for (std::size_t axis = 1; axis < shape().rank(); ++axis) {
            const std::int64_t size = shape()[axis];
            const std::int64_t apart = 1 + below(3) / 2;
            const bool is_backward = below(4) == 0;
            const std::int64_t begin = below(3) == 0 ? below(static_cast<std::uint32_t>(size)) : 0;
            const std::int64_t most = (size - 1 - begin) / apart + 1;
            const std::int64_t some = below(2) == 0 ? most : 1 + below(static_cast<std::uint32_t>(most));
            first.push_back(is_backward ? size - 1 - begin : begin);
            step.push_back(is_backward ? -apart : apart);
            count.push_back(some);
        }
        last_ = append("strided_slice", {{"first", first}, {"step", step}, {"count", count}}, {last_});
    }
    void pad() {
        Extents before{0};
        Extents after{0};
        for (std::size_t axis = 1; axis < shape().rank(); ++axis) {
            before.push_back(below(2) * below(4));
            after.push_back(below(2) * below(4));
        }
        last_ = append("pad",
                       {{"before", before},
                        {"after", after},
                        {"value", (type_ == DataType::Int32 ? 1.0 : 0.25) * below(3)}},
                       {last_});
    }
    void concat() {
        if (shape().rank() < 2) return;
        const std::size_t axis = 1 + below(static_cast<std::uint32_t>(shape().rank()) - 1);
        std::vector<ir::ValueId> inputs{last_, last_};
        if (type_ == DataType::Float32 && below(2) == 0) {
            Extents other = extents();
            other[axis] = extent();
            std::vector<float> numbers(shape_of(other).elements());
            for (float& number : numbers) number = static_cast<float>(below(1000));
            inputs[below(2)] =
                graph_.add_constant("c", shape_of(other), DataType::Float32, std::move(numbers));
        }
        last_ = append("concat", {{"axis", static_cast<std::int64_t>(axis)}}, std::move(inputs));
    }
    void expand() {
        Extents made = extents();
        for (std::size_t axis = 1; axis < made.size(); ++axis) {
            if (made[axis] == 1 && below(2) == 0) made[axis] = extent();
        }
        last_ = append("expand", {{"shape", made}}, {last_});
    }

    std::mt19937& random_;
    ir::Graph graph_;
    ir::ValueId last_ = 0;
    DataType type_ = DataType::Float32;
};

/// The origin of each element of a result, by its boxes or its transposition. Fails if an element has none
/// or two.
OriginMap origins_of_movement(const Movement& movement, const ir::NodeView& node) {
    const auto columns_of = [](const ir::Shape& shape) { return shape[shape.rank() - 1]; };
    const std::uint64_t columns = columns_of(node.output().shape);
    OriginMap origins(node.output().shape.elements());
    std::vector<int> found(origins.size());
    const auto set = [&](std::uint64_t row, std::uint64_t column, const Origin& origin) {
        REQUIRE(row * columns + column < origins.size());
        origins[row * columns + column] = origin;
        ++found[row * columns + column];
    };
    const auto for_each = [](const std::vector<std::uint64_t>& extents, const auto& visit) {
        std::uint64_t all = 1;
        for (const std::uint64_t extent : extents) all *= extent;
        for (std::uint64_t i = 0; i < all; ++i) {
            std::vector<std::uint64_t> index(extents.size());
            std::uint64_t rest = i;
            for (std::size_t axis = extents.size(); axis-- > 0; rest /= extents[axis])
                index[axis] = rest % extents[axis];
            visit(index);
        }
    };
    for (const RowBox& box : movement.boxes) {
        for_each(box.extents, [&](const std::vector<std::uint64_t>& index) {
            std::uint64_t row = box.row;
            for (std::size_t axis = 0; axis < index.size(); ++axis) row += index[axis] * box.apart[axis];
            for (const BoxColumns& part : box.columns) {
                auto from = static_cast<std::int64_t>(part.row);
                for (std::size_t axis = 0; axis < part.apart.size(); ++axis)
                    from += static_cast<std::int64_t>(index[axis]) * part.apart[axis];
                for (std::uint64_t i = 0; i < part.count; ++i) {
                    if (part.source == Origin::none) {
                        set(row, part.to + i, {.source = Origin::none, .element = part.from});
                        continue;
                    }
                    const std::uint64_t width = columns_of(node.input(part.source).shape);
                    const std::uint64_t column = part.from + (part.repeats ? 0 : i);
                    set(row, part.to + i,
                        {.source = part.source,
                         .element = static_cast<std::uint64_t>(from) * width + column});
                }
            }
        });
    }
    if (movement.transposition) {
        const Transposition& moved = *movement.transposition;
        std::vector<std::uint64_t> extents;
        for (const Transposition::Axis& axis : moved.outer) extents.push_back(axis.extent);
        const std::uint64_t width = columns_of(node.input().shape);
        for_each(extents, [&](const std::vector<std::uint64_t>& index) {
            std::uint64_t from = 0;
            std::uint64_t to = 0;
            for (std::size_t axis = 0; axis < index.size(); ++axis) {
                from += index[axis] * moved.outer[axis].from;
                to += index[axis] * moved.outer[axis].to;
            }
            for (std::uint64_t y = 0; y < moved.rows; ++y) {
                for (std::uint64_t z = 0; z < moved.columns; ++z) {
                    set(to + z * moved.columns_apart, y,
                        {.source = 0, .element = (from + y * moved.rows_apart) * width + z});
                }
            }
        });
    }
    CHECK(std::ranges::all_of(found, [](int times) { return times == 1; }));
    return origins;
}

/// A network of one movement of a whole tensor.
ir::Graph single(const Extents& shape, const std::string& op, std::vector<ir::NamedAttribute> attributes) {
    ir::Graph graph;
    graph.name = "single";
    const ir::ValueId input = graph.add_input("x", shape_of(shape), DataType::Float32);
    graph.outputs = {
        graph.append(op, operators::registry().at(op), std::move(attributes), {input}, DataType::Float32)};
    return graph;
}

machine::MachineConfig tpu_v2_core() {
    machine::MachineConfig machine;
    machine.name = "core";
    machine.family = machine::Family::TensorCore;
    machine.clock_mhz = 700;
    machine.matrix_unit.formats = machine::float_array_formats();
    machine.matrix_unit.rows = machine.matrix_unit.columns = machine.vector_unit.lanes = 128;
    machine.vector_unit.sublanes = 8;
    machine.vector_memory.rows = 32768;
    machine.hbm.bytes = std::uint64_t{1} << 33U;
    machine.hbm.bandwidth_gb_per_s = 300;
    machine.cross_lane_unit.latency_cycles = 128;
    return machine;
}

struct Cost {
    std::uint64_t instructions = 0;
    Cycle cycles = 0;
    std::map<std::string, std::uint64_t> kinds = {};
};

/// Of the movement alone.
Cost cost_of(const ir::Graph& graph, const machine::MachineConfig& machine) {
    Network network = make_network(graph, machine, 1);
    const MappedProgram mapped = map_program(network, machine, {.images = 1}, {.batch = 1, .inferences = 1});
    Cost cost{.cycles = mapped.by_run.at(0)};
    for (const isa::Instruction& instruction : mapped.program.instructions) {
        ++cost.instructions;
        std::visit([&](const auto& each) { ++cost.kinds[std::string(each.mnemonic)]; }, instruction);
    }
    return cost;
}

std::string refusal_of_movement(const ir::Graph& graph) {
    try {
        static_cast<void>(make_network(graph, tpu_v2_core(), 1));
    } catch (const ModelError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("What is found from shapes moves the elements that the operator moves", "[tensor_core][boxes]") {
    std::map<std::string, int> met;
    for (std::uint32_t seed = 1; seed <= tests::random_runs(400); ++seed) {
        std::mt19937 random(seed);
        const ir::Graph graph = RandomMovements(random).draw(5);
        const std::uint64_t lanes = 1U << (random() % 5);
        for (const ir::Node& each : graph.nodes) {
            const ir::NodeView node(graph, each);
            const auto movement = movement_of(node, lanes);
            INFO("seed " << seed << ", " << each.name << "\n" << ir::to_text(graph));
            REQUIRE(movement.has_value());
            std::vector<std::size_t> sources;
            for (std::size_t i = 0; i < each.inputs.size(); ++i) sources.push_back(i);
            CHECK(origins_of_movement(*movement, node) == origins_of(node, sources).at(0));
            ++met[std::string(each.op->name())];
            met["transpositions"] += movement->transposition ? 1 : 0;
        }
    }
    for (const char* const what :
         {"reshape", "transpose", "strided_slice", "pad", "concat", "expand", "transpositions"}) {
        INFO(what);
        CHECK(met[what] >= static_cast<int>(tests::random_runs(100)));
    }
}

TEST_CASE("Tiles of a box have whole last axes where there is room", "[tensor_core][boxes]") {
    const auto rows_of = [](const std::vector<BoxTile>& tiles) {
        std::vector<std::uint64_t> rows;
        for (const BoxTile& tile : tiles) rows.push_back(tile.rows());
        return rows;
    };
    CHECK(rows_of(box_tiles({5, 10}, 39)) == std::vector<std::uint64_t>{30, 20});
    CHECK(rows_of(box_tiles({2, 10}, 9)) == std::vector<std::uint64_t>{5, 5, 5, 5});
    CHECK(rows_of(box_tiles({}, 1)) == std::vector<std::uint64_t>{1});
    const std::vector<BoxTile> tiles = box_tiles({5, 10}, 39);
    CHECK(tiles[1].first == std::vector<std::uint64_t>{3, 0});
    CHECK(tiles[1].count == std::vector<std::uint64_t>{2, 10});
}

TEST_CASE("A transfer takes the rows of two axes, upwards only", "[tensor_core][boxes]") {
    // Lines of 10 pixels that follow each other, in images that do not.
    const std::vector<TransferAxis> images = joined_axes({{.extent = 4, .hbm = 100, .memory = 30},
                                                          {.extent = 3, .hbm = 10, .memory = 10},
                                                          {.extent = 10, .hbm = 1, .memory = 1}});
    REQUIRE(images.size() == 2);
    const TransferChoice all = choose_transfer(images);
    CHECK(all.rows == 30);
    CHECK(all.blocks == 4);
    const TransferChoice upwards =
        choose_transfer({{.extent = 50, .hbm = -1, .memory = 1}, {.extent = 7, .hbm = 60, .memory = 50}});
    CHECK(upwards.rows == 1);
    CHECK(upwards.blocks == 7);
    CHECK(upwards.blocks_axis == 1);
}

TEST_CASE("Movements give the reference's bits on a tensor core", "[tensor_core][boxes]") {
    std::map<std::string, int> met;
    int compiled = 0;
    const int count = static_cast<int>(tests::random_runs(250));
    for (int seed = 1; seed <= count; ++seed) {
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        const machine::MachineConfig machine = tests::random_core(random);
        const ir::Graph graph = RandomMovements(random).draw(1 + random() % 5);
        mapping::Batches batches;
        batches.batch = static_cast<std::uint32_t>(1 + random() % 3);
        batches.inferences = batches.batch + random() % 2;
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\n" << ir::to_text(graph));
        isa::Program program;
        try {
            program = tests::random_program(random, graph, machine, batches).program;
        } catch (const ModelError& error) {
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        ++compiled;
        for (const isa::Instruction& instruction : program.instructions)
            std::visit([&](const auto& each) { ++met[std::string(each.mnemonic)]; }, instruction);
        const tests::WordTensors inputs = tests::random_inputs(random, graph, batches.inferences);
        tests::check_bits(program, machine, inputs, tests::expected_outputs(graph, batches, inputs),
                          program.instructions.size() < 10000);
    }
    CHECK(compiled * 10 >= count * 9);
    for (const char* const what : {"transpose", "move_lanes", "chain"}) {
        INFO(what);
        CHECK(met[what] >= count);
    }
}

TEST_CASE("A transposition costs what its rows and its blocks cost", "[tensor_core][boxes]") {
    const machine::MachineConfig machine = tpu_v2_core();
    const std::uint64_t rows = 4096;
    const std::uint64_t columns = 2304;
    const Cost cost =
        cost_of(single({1, 4096, 2304}, "transpose", {{"permutation", Extents{0, 2, 1}}}), machine);
    CHECK(cost.kinds.at("transpose") == rows / 128 * columns / 128);
    CHECK(cost.instructions < 4000);
    // All rows come in and go out.
    const Cycle of_rows = timing::hbm_cycles(2 * rows * columns * sizeof(float), machine);
    const Cycle of_blocks = rows / 128 * columns / 128 * 16;
    CHECK(cost.cycles >= of_rows);
    CHECK(cost.cycles < of_rows + of_rows / 10 + of_blocks);
}

TEST_CASE("Movements of large tensors take few instructions", "[tensor_core][boxes]") {
    const machine::MachineConfig machine = tpu_v2_core();
    const auto of = [&](const Extents& shape, const std::string& op,
                        std::vector<ir::NamedAttribute> attributes) {
        return cost_of(single(shape, op, std::move(attributes)), machine).instructions;
    };
    const Extents images{1, 128, 56, 56, 64};
    CHECK(of({1, 512, 5, 5, 64}, "reshape", {{"shape", Extents{1, 512, 1600}}}) < 400);
    CHECK(of({1, 512, 1600}, "reshape", {{"shape", Extents{1, 512, 5, 5, 64}}}) < 400);
    CHECK(of(images, "pad",
             {{"before", Extents{0, 0, 1, 1, 0}}, {"after", Extents{0, 0, 1, 1, 0}}, {"value", 0.0}}) < 3000);
    CHECK(of(images, "strided_slice",
             {{"first", Extents{0, 0, 0, 0, 0}},
              {"step", Extents{1, 1, 2, 2, 1}},
              {"count", Extents{1, 128, 28, 28, 64}}}) < 6000);
    CHECK(of(images, "transpose", {{"permutation", Extents{0, 2, 3, 1, 4}}}) < 6000);
    // 7168 lines of 56 pixels become columns.
    CHECK(of(images, "transpose", {{"permutation", Extents{0, 1, 4, 2, 3}}}) < 45000);
    CHECK(of({1, 1, 1, 1, 64}, "expand", {{"shape", images}}) < 1500);
    CHECK(of({1, 1024, 1}, "expand", {{"shape", Extents{1, 1024, 1000}}}) < 1000);
}

TEST_CASE("A large movement of single elements is refused in one line", "[tensor_core][boxes]") {
    const ir::Graph graph = single({1, 512, 512, 16}, "resize", {{"shape", Extents{1, 1024, 1024, 16}}});
    CHECK(refusal_of_movement(graph) ==
          "single: layer resize: resize has 16777216 elements, which resize moves one by one; there may be "
          "4194304");
}
