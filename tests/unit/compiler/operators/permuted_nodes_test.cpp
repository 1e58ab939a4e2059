// Operators on inputs with their axes in another order.
#include <catch2/catch.hpp>
#include <numeric>

#include "tests/support/file_nodes.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

using Axes = std::vector<std::uint32_t>;

/// A tensor with its axes in another order: axis i is axis axes[i] of the given one.
Tensor transposed(const Tensor& tensor, const Axes& axes) {
    const std::vector<std::int64_t> permutation(axes.begin(), axes.end());
    return compute(onnx("Transpose", {{"perm", permutation}}), {tensor});
}

Axes inverse(const Axes& axes) {
    Axes result(axes.size());
    for (std::uint32_t i = 0; i < axes.size(); ++i) result[axes[i]] = i;
    return result;
}

/// Checks that a node of a file has the same results if its inputs are transposed and its results turned
/// back.
void check_permuted(const FileNode& file_node, const std::vector<Tensor>& inputs, const Axes& axes) {
    INFO(file_node.name);
    ir::Graph graph = read_node(file_node, inputs);
    REQUIRE(graph.nodes.size() == 1);
    const ir::NodeView view(graph, graph.nodes[0]);
    const auto permuted = operators::operator_of(graph.nodes[0]).permuted(view, axes);
    REQUIRE(permuted.has_value());
    std::vector<std::vector<std::uint8_t>> plain;
    std::vector<std::vector<std::uint8_t>> moved;
    std::vector<ir::Shape> shapes;
    for (const ir::ValueId input : graph.nodes[0].inputs) {
        ir::Value& value = graph.values[input];
        if (value.shape.elements() == 1) continue;
        Tensor tensor{.shape = value.shape, .type = value.type};
        if (value.constant) {
            tensor.bytes.assign(value.constant->bytes().begin(), value.constant->bytes().end());
            std::vector<std::uint32_t> extents(axes.size() - value.shape.rank(), 1);
            extents.insert(extents.end(), value.shape.extents().begin(), value.shape.extents().end());
            tensor.shape = ir::Shape(extents);
        } else {
            plain.push_back(inputs.at(plain.size()).bytes);
            tensor.bytes = plain.back();
        }
        const Tensor turned = transposed(tensor, axes);
        shapes.push_back(turned.shape);
        if (!value.constant) moved.push_back(turned.bytes);
    }
    const Tensor expected = results_of(graph, plain, 1).at(0);
    std::size_t next = 0;
    for (const ir::ValueId input : graph.nodes[0].inputs) {
        ir::Value& value = graph.values[input];
        if (value.shape.elements() == 1) continue;
        if (value.constant) {
            Tensor tensor{.shape = value.shape, .type = value.type};
            tensor.bytes.assign(value.constant->bytes().begin(), value.constant->bytes().end());
            std::vector<std::uint32_t> extents(axes.size() - value.shape.rank(), 1);
            extents.insert(extents.end(), value.shape.extents().begin(), value.shape.extents().end());
            tensor.shape = ir::Shape(extents);
            value.constant = ir::Constant::of(transposed(tensor, axes).bytes);
        }
        value.shape = shapes.at(next++);
    }
    graph.nodes[0].attributes = permuted->attributes;
    ir::infer_shapes(graph);
    REQUIRE(ir::find_fault(graph) == std::nullopt);
    const Tensor result = results_of(graph, moved, 1).at(0);
    CHECK(transposed(result, inverse(permuted->result_axes)) == expected);
}

}  // namespace

TEST_CASE("Operators work on tensors with their axes in another order", "[compiler][operators]") {
    const Tensor x = counted_reals({1, 4, 2, 6}, 0.5F);
    for (const Axes& axes : {Axes{0, 2, 3, 1}, Axes{0, 3, 1, 2}, Axes{0, 1, 3, 2}}) {
        check_permuted(onnx("Add"), {x, counted_reals({1, 1, 2, 1})}, axes);
        check_permuted(onnx("Sub"), {x, constant(counted_reals({4, 1, 1}))}, axes);
        check_permuted(onnx("Pow"), {x, constant(reals({}, {2}))}, axes);
        check_permuted(onnx("PRelu"), {x, constant(counted_reals({4, 1, 1}))}, axes);
        check_permuted(onnx("Equal"), {x, counted_reals({1, 4, 2, 6})}, axes);
        check_permuted(onnx("Exp"), {x}, axes);
        check_permuted(onnx("Cast", {{"to", 6}}), {x}, axes);
        check_permuted(onnx("Concat", {{"axis", 1}}), {x, counted_reals({1, 1, 2, 6})}, axes);
        check_permuted(onnx("Concat", {{"axis", -1}}), {x, constant(counted_reals({1, 4, 2, 1}))}, axes);
        check_permuted(onnx("Pad", {{"mode", "reflect"}}), {x, list({0, 1, 1, 2, 0, 0, 1, 3})}, axes);
        check_permuted(onnx("Slice"), {x, list({3, 1}), list({0, 5}), list({1, 3}), list({-2, 2})}, axes);
        check_permuted(onnx("Expand"), {counted_reals({1, 4, 1, 6}), list({1, 1, 3, 1})}, axes);
        check_permuted(onnx("Tile"), {x, list({1, 2, 3, 1})}, axes);
        check_permuted(onnx("DepthToSpace", {{"blocksize", 2}}), {x}, axes);
        check_permuted(onnx("DepthToSpace", {{"blocksize", 2}, {"mode", "CRD"}}), {x}, axes);
        check_permuted(onnx("SpaceToDepth", {{"blocksize", 2}}), {x}, axes);
        check_permuted(onnx("ReduceMax", {{"axes", {1, 3}}}), {x}, axes);
        check_permuted(onnx("ReduceMax", {{"axes", {1}}, {"keepdims", 0}}), {x}, axes);
        check_permuted(onnx("ReduceMean", {{"axes", {2, 3}}, {"keepdims", 0}}), {x}, axes);
        check_permuted(onnx("ArgMax", {{"axis", 1}}), {x}, axes);
        check_permuted(onnx("ArgMin", {{"axis", 2}, {"keepdims", 0}}), {x}, axes);
        check_permuted(onnx("Softmax", {{"axis", 1}}), {x}, axes);
        check_permuted(onnx("LogSoftmax", {{"axis", 3}}), {x}, axes);
        check_permuted(onnx("LRN", {{"size", 3}}), {x}, axes);
        check_permuted(onnx("LpNormalization", {{"axis", 2}}), {x}, axes);
        check_permuted(onnx("Resize"), {x, absent(), absent(), list({1, 4, 3, 7})}, axes);
        check_permuted(
            onnx("Where"),
            {tensor_of<std::uint8_t>({1, 1, 2, 1}, DataType::Uint8, {0, 1}), x, constant(reals({}, {9}))},
            axes);
    }
}

TEST_CASE("Instances are normalized with their channels last", "[compiler][operators]") {
    const Tensor x = reals({1, 2, 1, 2}, {1, 3, 10, 20});
    check_permuted(onnx("InstanceNormalization"),
                   {x, constant(reals({2}, {1, 2})), constant(reals({2}, {0, 7}))}, {0, 2, 3, 1});
}

TEST_CASE("Groups of channels are normalized with their channels last", "[compiler][operators]") {
    const Tensor x = counted_reals({1, 4, 2, 6}, 0.5F);
    const Tensor each = constant(reals({4}, {1, 2, 3, 4}));
    for (const Axes& axes : {Axes{0, 2, 3, 1}, Axes{0, 3, 1, 2}}) {
        check_permuted(onnx("GroupNormalization", {{"num_groups", 2}, {"opset", 21}}), {x, each, each}, axes);
    }
}

TEST_CASE("Axes that are normalized together stay the last ones in any order", "[compiler][operators]") {
    const Tensor x = counted_reals({1, 4, 2, 6}, 0.5F);
    const Tensor rows = constant(counted_reals({2, 6}));
    const nlohmann::json rows_of_columns{{"axis", 2}};
    check_permuted(onnx("LayerNormalization", rows_of_columns), {x, rows, constant(reals({2, 1}, {3, 4}))},
                   {0, 1, 3, 2});
    check_permuted(onnx("LayerNormalization"), {x, constant(counted_reals({6}))}, {0, 2, 1, 3});
    check_permuted(onnx("RMSNormalization", {{"axis", 1}}), {x, constant(counted_reals({4, 2, 6}))},
                   {0, 2, 3, 1});
    const ir::Graph graph = read_node(onnx("LayerNormalization", rows_of_columns), {x, rows});
    const Axes axes{0, 2, 3, 1};
    CHECK_FALSE(operators::operator_of(graph.nodes[0]).permuted({graph, graph.nodes[0]}, axes).has_value());
}
