// Operators that find places by indices, against loops over their definitions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "tests/support/file_nodes.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

using Place = std::vector<std::uint32_t>;
using Extents = std::vector<std::uint32_t>;

Extents random_extents(tests::GraphParts& parts, std::uint32_t least_rank, std::uint32_t most_rank) {
    Extents extents(parts.number(least_rank, most_rank));
    for (std::uint32_t& extent : extents) extent = parts.number(1, 4);
    return extents;
}

std::size_t element_of(const ir::Shape& shape, const Place& place) {
    std::size_t element = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) element = element * shape[axis] + place[axis];
    return element;
}

/// Calls visit(place) for all places of a shape, row-major.
void for_each_place(const ir::Shape& shape, const std::function<void(const Place&)>& visit) {
    for (std::size_t element = 0; element < shape.elements(); ++element) {
        Place place(shape.rank());
        std::size_t rest = element;
        for (std::size_t axis = shape.rank(); axis-- > 0; rest /= shape[axis])
            place[axis] = static_cast<std::uint32_t>(rest % shape[axis]);
        visit(place);
    }
}

/// Indices of an axis, some of which count from the end.
std::vector<std::int32_t> random_indices(tests::GraphParts& parts, std::size_t count, std::uint32_t extent,
                                         bool from_end) {
    std::vector<std::int32_t> indices(count);
    for (std::int32_t& index : indices) {
        index = static_cast<std::int32_t>(parts.number(0, extent - 1));
        if (from_end && parts.number(0, 3) == 0) index -= static_cast<std::int32_t>(extent);
    }
    return indices;
}

std::uint32_t counted_index(std::int32_t index, std::uint32_t extent) {
    return static_cast<std::uint32_t>(index < 0 ? index + static_cast<std::int32_t>(extent) : index);
}

Tensor random_reals(tests::GraphParts& parts, const ir::Shape& shape) {
    return reals(shape, parts.values(shape.elements()));
}

/// Tuples of indices, for a tensor from its axis `first` on. In any order, each is inside of all these axes.
Tensor random_tuples(tests::GraphParts& parts, const Extents& rows, const ir::Shape& shape, std::size_t first,
                     std::uint32_t axes, bool from_end) {
    Extents extents = rows;
    extents.push_back(axes);
    const ir::Shape indices_shape(extents);
    std::uint32_t least = shape[first];
    for (std::size_t i = 1; i < axes; ++i) least = std::min(least, shape[first + i]);
    return integers(indices_shape, random_indices(parts, indices_shape.elements(), least, from_end));
}

Tensor at_times_constant(tests::GraphParts& parts, Tensor tensor) {
    tensor.is_constant = parts.number(0, 1) == 0;
    return tensor;
}

float scattered(const std::string& reduction, float there, float update) {
    if (reduction == "add") return there + update;
    if (reduction == "mul") return there * update;
    if (reduction == "max") return std::max(there, update);
    if (reduction == "min") return std::min(there, update);
    return update;
}

const std::vector<std::string> onnx_reductions{"none", "add", "mul", "max", "min"};

}  // namespace

TEST_CASE("GatherElements takes elements beside their indices", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape(random_extents(parts, 1, 4));
        const auto axis = parts.number(0, static_cast<std::uint32_t>(shape.rank()) - 1);
        Extents extents(shape.extents().begin(), shape.extents().end());
        for (std::size_t i = 0; i < extents.size(); ++i)
            extents[i] = i == axis ? parts.number(1, 5) : parts.number(1, extents[i]);
        const ir::Shape result_shape(extents);
        const Tensor x = random_reals(parts, shape);
        const Tensor indices = at_times_constant(
            parts, integers(result_shape, random_indices(parts, result_shape.elements(), shape[axis], true)));
        std::vector<float> expected;
        for_each_place(result_shape, [&](Place place) {
            const std::int32_t index = indices.integers()[element_of(result_shape, place)];
            place[axis] = counted_index(index, shape[axis]);
            expected.push_back(x.reals()[element_of(shape, place)]);
        });
        CHECK(compute(onnx("GatherElements", {{"axis", axis}}), {x, indices}) ==
              reals(result_shape, expected));
    }
    const Tensor x = counted_reals({2, 3});
    const auto read = [&](const Tensor& indices) { return read_node(onnx("GatherElements"), {x, indices}); };
    CHECK_THROWS_WITH(read(constant(integers({1, 1}, {2}))),
                      "layer \"node\": an index along axis 0 of 2x3 is 2; it must be from -2 to 1");
    CHECK_THROWS_WITH(
        read(integers({1, 4}, {0, 0, 0, 0})),
        Catch::Contains("its indices are 1x4; they must have as many axes as 2x3, and along all "
                        "but axis 0 be no larger"));
    CHECK_THROWS_WITH(read(integers({1}, {0})), Catch::Contains("they must have as many axes"));
    const Tensor beyond = integers({1, 1}, {-3});
    CHECK_THROWS_WITH(results_of(read(beyond), {x.bytes, beyond.bytes}, 1),
                      "layer \"node\": an index along axis 0 of 2x3 is -3; it must be from -2 to 1");
}

TEST_CASE("GatherND takes slices at tuples of indices, with axes of a batch", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape(random_extents(parts, 1, 4));
        const auto rank = static_cast<std::uint32_t>(shape.rank());
        const std::uint32_t batch = parts.number(0, rank - 1);
        const std::uint32_t axes = parts.number(1, rank - batch);
        Extents rows(shape.extents().begin(), shape.extents().begin() + batch);
        // A result has at most 6 axes.
        for (std::uint32_t i = parts.number(0, 2); i > 0; --i) rows.push_back(parts.number(1, 3));
        const Tensor x = random_reals(parts, shape);
        const Tensor tuples = at_times_constant(parts, random_tuples(parts, rows, shape, batch, axes, true));
        Extents extents = rows;
        extents.insert(extents.end(), shape.extents().begin() + batch + axes, shape.extents().end());
        const ir::Shape result_shape(extents);
        std::vector<float> expected;
        for_each_place(result_shape, [&](const Place& place) {
            const auto behind = place.begin() + static_cast<std::ptrdiff_t>(rows.size());
            Place from(place.begin(), place.begin() + batch);
            Place tuple(place.begin(), behind);
            tuple.push_back(0);
            for (std::uint32_t i = 0; i < axes; ++i) {
                tuple.back() = i;
                const std::int32_t index = tuples.integers()[element_of(tuples.shape, tuple)];
                from.push_back(counted_index(index, shape[batch + i]));
            }
            from.insert(from.end(), behind, place.end());
            expected.push_back(x.reals()[element_of(shape, from)]);
        });
        CHECK(compute(onnx("GatherND", {{"batch_dims", batch}}), {x, tuples}) ==
              reals(result_shape, expected));
    }
    const Tensor x = counted_reals({2, 3});
    CHECK_THROWS_WITH(read_node(onnx("GatherND", {{"batch_dims", 1}}), {x, integers({3, 1}, {0, 0, 0})}),
                      Catch::Contains("its inputs are 2x3 and 3x1; they must have the same first 1 axes"));
    CHECK_THROWS_WITH(read_node(onnx("GatherND", {{"batch_dims", 2}}), {x, integers({2, 1}, {0, 0})}),
                      Catch::Contains("it must be from 0 to 1, as its inputs are 2x3 and 2x1"));
    CHECK_THROWS_WITH(read_node(onnx("GatherND", {{"batch_dims", 1}}), {x, integers({2, 2}, {0, 0, 0, 0})}),
                      Catch::Contains("their last axis must have 1 to 1 elements"));
    CHECK_THROWS_WITH(read_node(onnx("GatherND"), {x, list({2})}),
                      "layer \"node\": an index along axis 0 of 2x3 is 2; it must be from -2 to 1");
}

TEST_CASE("TFLite's GATHER may have indices for each index of its first axes", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape(random_extents(parts, 2, 4));
        const auto rank = static_cast<std::uint32_t>(shape.rank());
        const std::uint32_t axis = parts.number(0, rank - 1);
        const std::uint32_t batch = parts.number(0, axis);
        Extents rows(shape.extents().begin(), shape.extents().begin() + batch);
        for (std::uint32_t i = parts.number(batch == 0 ? 1 : 0, 2); i > 0; --i)
            rows.push_back(parts.number(1, 3));
        const ir::Shape indices_shape(rows);
        const Tensor x = random_reals(parts, shape);
        const Tensor indices = at_times_constant(
            parts,
            integers(indices_shape, random_indices(parts, indices_shape.elements(), shape[axis], false)));
        Extents extents(shape.extents().begin(), shape.extents().begin() + axis);
        extents.insert(extents.end(), rows.begin() + batch, rows.end());
        extents.insert(extents.end(), shape.extents().begin() + axis + 1, shape.extents().end());
        const ir::Shape result_shape(extents);
        std::vector<float> expected;
        for_each_place(result_shape, [&](const Place& place) {
            const auto own = static_cast<std::ptrdiff_t>(rows.size() - batch);
            Place index(place.begin(), place.begin() + batch);
            index.insert(index.end(), place.begin() + axis, place.begin() + axis + own);
            Place from(place.begin(), place.begin() + axis);
            from.push_back(static_cast<std::uint32_t>(indices.integers()[element_of(indices_shape, index)]));
            from.insert(from.end(), place.begin() + axis + own, place.end());
            expected.push_back(x.reals()[element_of(shape, from)]);
        });
        const bool counts = parts.number(0, 1) == 0 && batch < indices_shape.rank();
        const auto written =
            static_cast<std::int64_t>(batch) - (counts ? static_cast<std::int64_t>(indices_shape.rank()) : 0);
        CHECK(compute(tflite("GATHER", {{"axis", axis}, {"batch_dims", written}}), {x, indices}) ==
              reals(result_shape, expected));
    }
    CHECK_THROWS_WITH(
        read_node(tflite("GATHER", {{"axis", 0}, {"batch_dims", 1}}), {counted_reals({2, 3}), list({0, 1})}),
        Catch::Contains("they must have the same first 1 axes, before the axes that indices are of"));
    CHECK_THROWS_WITH(
        read_node(tflite("GATHER", {{"axis", 1}, {"batch_dims", 2}}), {counted_reals({2, 3}), list({0, 1})}),
        Catch::Contains("it must be from -1 to 1, as the indices are 2"));
}

TEST_CASE("Embeddings are rows of a table", "[compiler][operators]") {
    const Tensor table = counted_reals({3, 2});
    CHECK(compute(tflite("EMBEDDING_LOOKUP"), {integers({3}, {2, 0, 2}), constant(table)}) ==
          reals({3, 2}, {4, 5, 0, 1, 4, 5}));
    FileNode embedding = keras("Embedding", {{"input_dim", 3U}, {"output_dim", 2U}});
    embedding.weights = table.reals();
    const Tensor expected = reals({1, 2, 2}, {2, 3, 4, 5});
    CHECK(compute(embedding, {integers({1, 2}, {1, 2})}) == expected);
    // Real numbers are cut to integers.
    CHECK(compute(embedding, {reals({1, 2}, {1.0F, 2.9F})}) == expected);
    const Tensor beyond = integers({1, 2}, {1, 3});
    CHECK_THROWS_WITH(results_of(read_node(embedding, {beyond}), {beyond.bytes}, 1),
                      "layer \"node\": an index along axis 0 of 3x2 is 3; it must be from 0 to 2");
    const Tensor negative = integers({1, 2}, {-1, 2});
    CHECK_THROWS_WITH(results_of(read_node(embedding, {negative}), {negative.bytes}, 1),
                      "layer \"node\": an index along axis 0 of 3x2 is -1; it must be from 0 to 2");
}

TEST_CASE("Compress keeps what a constant condition names", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 3});
    const auto condition = [](const std::vector<std::uint8_t>& truth) {
        return constant(tensor_of({static_cast<std::uint32_t>(truth.size())}, DataType::Uint8, truth));
    };
    CHECK(compute(onnx("Compress", {{"axis", 1}}), {x, condition({0, 1, 1})}) == reals({2, 2}, {1, 2, 4, 5}));
    CHECK(compute(onnx("Compress", {{"axis", -2}}), {x, condition({0, 1})}) == reals({1, 3}, {3, 4, 5}));
    // Elements behind the condition are left out.
    CHECK(compute(onnx("Compress"), {x, condition({1, 0, 0, 1})}) == reals({2}, {0, 3}));
    CHECK_THROWS_WITH(read_node(onnx("Compress", {{"axis", 0}}), {x, condition({1, 0, 1})}),
                      Catch::Contains("its condition has 3 elements; axis 0 of 2x3 has 2"));
    CHECK_THROWS_WITH(read_node(onnx("Compress"), {x, condition({0, 0})}),
                      Catch::Contains("its condition is nowhere true"));
    CHECK_THROWS_WITH(read_node(onnx("Compress"), {x, tensor_of<std::uint8_t>({1}, DataType::Uint8, {1})}),
                      Catch::Contains("its input 1 is computed by the network; it must be a constant"));
}

TEST_CASE("ScatterElements writes updates beside their indices", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape(random_extents(parts, 1, 4));
        const auto axis = parts.number(0, static_cast<std::uint32_t>(shape.rank()) - 1);
        Extents extents(shape.extents().begin(), shape.extents().end());
        for (std::size_t i = 0; i < extents.size(); ++i)
            extents[i] = i == axis ? parts.number(1, 5) : parts.number(1, extents[i]);
        const ir::Shape updated(extents);
        const std::string reduction = onnx_reductions[parts.number(0, 4)];
        const Tensor x = random_reals(parts, shape);
        const Tensor indices = at_times_constant(
            parts, integers(updated, random_indices(parts, updated.elements(), shape[axis], true)));
        const Tensor updates = random_reals(parts, updated);
        std::vector<float> expected = x.reals();
        for_each_place(updated, [&](Place place) {
            const std::size_t update = element_of(updated, place);
            place[axis] = counted_index(indices.integers()[update], shape[axis]);
            float& there = expected[element_of(shape, place)];
            there = scattered(reduction, there, updates.reals()[update]);
        });
        const FileNode node = onnx("ScatterElements", {{"axis", axis}, {"reduction", reduction}});
        CHECK(compute(node, {x, indices, updates}) == reals(shape, expected));
    }
    const Tensor x = integers({1, 3}, {1, 2, 3});
    const std::vector<Tensor> inputs{x, integers({1, 2}, {0, 2}), integers({1, 2}, {7, 8})};
    CHECK(compute(onnx("Scatter", {{"axis", 1}}), inputs) == integers({1, 3}, {7, 2, 8}));
    CHECK_THROWS_WITH(read_node(onnx("ScatterElements", {{"axis", 1}, {"reduction", "mean"}}), inputs),
                      Catch::Contains("it must be none, add, mul, max or min"));
    CHECK_THROWS_WITH(read_node(onnx("ScatterElements", {{"axis", 1}}), {x, inputs[1], x}),
                      Catch::Contains("its indices are 1x2 and its updates 1x3; both must have one shape"));
    const Tensor stored = quantized({1, 3}, 0.5, 0, {1, 2, 3});
    const ir::Graph graph = read_node(onnx("ScatterElements", {{"axis", 1}, {"reduction", "add"}}),
                                      {stored, inputs[1], quantized({1, 2}, 0.5, 0, {1, 2})});
    CHECK_THAT(ir::find_fault(graph).value_or(""),
               Catch::Contains("its tensor is int8 with a scale; with a reduction, it must be float32 or "
                               "integers without a scale"));
}

TEST_CASE("ScatterND writes slices at tuples of indices", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape(random_extents(parts, 1, 4));
        const std::uint32_t axes = parts.number(1, static_cast<std::uint32_t>(shape.rank()));
        Extents rows;
        for (std::uint32_t i = parts.number(1, 2); i > 0; --i) rows.push_back(parts.number(1, 4));
        const std::string reduction = onnx_reductions[parts.number(0, 4)];
        const Tensor x = random_reals(parts, shape);
        const Tensor tuples = at_times_constant(parts, random_tuples(parts, rows, shape, 0, axes, true));
        Extents extents = rows;
        extents.insert(extents.end(), shape.extents().begin() + axes, shape.extents().end());
        const ir::Shape updated(extents);
        const Tensor updates = random_reals(parts, updated);
        std::vector<float> expected = x.reals();
        for_each_place(updated, [&](const Place& place) {
            const auto behind = place.begin() + static_cast<std::ptrdiff_t>(rows.size());
            Place tuple(place.begin(), behind);
            tuple.push_back(0);
            Place to;
            for (std::uint32_t i = 0; i < axes; ++i) {
                tuple.back() = i;
                to.push_back(counted_index(tuples.integers()[element_of(tuples.shape, tuple)], shape[i]));
            }
            to.insert(to.end(), behind, place.end());
            float& there = expected[element_of(shape, to)];
            there = scattered(reduction, there, updates.reals()[element_of(updated, place)]);
        });
        CHECK(compute(onnx("ScatterND", {{"reduction", reduction}}), {x, tuples, updates}) ==
              reals(shape, expected));
    }
    const Tensor x = counted_reals({2, 3});
    CHECK_THROWS_WITH(read_node(onnx("ScatterND"), {x, list({2}), counted_reals({3})}),
                      "layer \"node\": an index along axis 0 of 2x3 is 2; it must be from -2 to 1");
    CHECK_THROWS_WITH(read_node(onnx("ScatterND"), {x, list({1}), counted_reals({2})}),
                      Catch::Contains("its updates are 2; by its indices and its tensor, they must be 3"));
    CHECK_THROWS_WITH(read_node(onnx("ScatterND"), {x, list({0, 0, 0}), counted_reals({1})}),
                      Catch::Contains("their last axis must have 1 to 2 elements, the axes of 2x3"));
}

TEST_CASE("TFLite scatters and sums segments on zeros", "[compiler][operators]") {
    const FileNode scatter = tflite("SCATTER_ND");
    const Tensor updates = reals({3, 2}, {1, 2, 3, 4, 5, 6});
    // Of a place that is named twice, both are added.
    CHECK(compute(scatter, {integers({3, 1}, {2, 0, 2}), updates, list({4, 2})}) ==
          reals({4, 2}, {3, 4, 0, 0, 6, 8, 0, 0}));
    CHECK(compute(tflite("SCATTER_ND", {}, {{DataType::Int32, {}}}),
                  {constant(integers({2, 2}, {0, 1, 1, 0})), integers({2}, {7, 8}), list({2, 2})}) ==
          integers({2, 2}, {0, 7, 8, 0}));
    CHECK_THROWS_WITH(read_node(scatter, {constant(integers({3, 1}, {2, 0, -1})), updates, list({4, 2})}),
                      "layer \"node\": an index along axis 0 of 4x2 is -1; it must be from 0 to 3");
    CHECK_THROWS_WITH(read_node(scatter, {integers({3, 1}, {2, 0, 1}), updates, integers({2}, {4, 2})}),
                      Catch::Contains("its input 2 is computed by the network; it must be a constant"));
    CHECK_THROWS_WITH(read_node(scatter, {integers({1, 1}, {0}), quantized({1}, 0.5, 1, {3}), list({2})}),
                      Catch::Contains("its updates are int8 with a scale; they must be float32 or integers "
                                      "without a scale"));
    CHECK_THROWS_WITH(
        read_node(scatter, {integers({1, 1}, {0}), reals({1, 2}, {3, 4}), list({100000000, 2})}),
        Catch::Contains("such a sum has at most 67108864 elements"));
    CHECK(compute(tflite("SEGMENT_SUM"), {updates, list({0, 0, 2})}) == reals({3, 2}, {4, 6, 0, 0, 5, 6}));
    CHECK_THROWS_WITH(read_node(tflite("SEGMENT_SUM"), {updates, list({1, 0, 2})}),
                      Catch::Contains("its segment numbers must be 0 or more, in ascending order"));
    CHECK_THROWS_WITH(read_node(tflite("SEGMENT_SUM"), {updates, list({0, 1})}),
                      Catch::Contains("it has 2 segment numbers; its input is 3x2"));
}

TEST_CASE("TopK sorts lines, of equal elements the first one first", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        Extents extents = random_extents(parts, 1, 4);
        const auto axis = parts.number(0, static_cast<std::uint32_t>(extents.size()) - 1);
        extents[axis] = parts.number(1, 9);
        const ir::Shape shape(extents);
        const std::uint32_t k = parts.number(1, extents[axis]);
        const bool largest = parts.number(0, 1) == 0;
        // Of few numbers, many are equal.
        std::vector<float> numbers = parts.values(shape.elements());
        for (float& number : numbers) number = std::round(number * 3.0F);
        const Tensor x = reals(shape, numbers);
        extents[axis] = k;
        const ir::Shape result_shape(extents);
        std::vector<float> values;
        std::vector<std::int32_t> indices;
        for_each_place(result_shape, [&](Place place) {
            const std::uint32_t wanted = place[axis];
            std::vector<std::pair<float, std::int32_t>> line;
            for (std::uint32_t i = 0; i < shape[axis]; ++i) {
                place[axis] = i;
                const float number = numbers[element_of(shape, place)];
                line.emplace_back(largest ? -number : number, static_cast<std::int32_t>(i));
            }
            std::ranges::sort(line);
            indices.push_back(line[wanted].second);
            place[axis] = static_cast<std::uint32_t>(line[wanted].second);
            values.push_back(numbers[element_of(shape, place)]);
        });
        const std::vector<Tensor> inputs{x, list({static_cast<std::int32_t>(k)})};
        const auto results =
            compute_all(onnx("TopK", {{"axis", axis}, {"largest", largest ? 1 : 0}, {"sorted", 1}}), inputs);
        CHECK(results.at(0) == reals(result_shape, values));
        CHECK(results.at(1) == integers(result_shape, indices));
    }
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor line = reals({1, 4}, {1.0F, nan, 3.0F, 2.0F});
    CHECK(compute_all(onnx("TopK", {{"k", 2}}), {line}).at(1) == integers({1, 2}, {1, 2}));
    CHECK(compute_all(onnx("TopK", {{"largest", 0}}), {line, list({4})}).at(1) ==
          integers({1, 4}, {0, 3, 2, 1}));
    CHECK_THROWS_WITH(read_node(onnx("TopK"), {line, list({5})}),
                      Catch::Contains("its K is 5; it must be from 1 to 4, the extent of axis 1"));
    CHECK_THROWS_WITH(read_node(onnx("TopK"), {line, integers({1}, {2})}),
                      Catch::Contains("its input 1 is computed by the network; it must be a constant"));
    const Tensor stored = quantized({1, 3}, 0.5, 1, {-3, 5, 4});
    const auto results = compute_all(tflite("TOPK_V2", {}, {int8_type(0.5, 1), {DataType::Int32, {}}}),
                                     {stored, constant(integers({}, {2}))});
    CHECK(results.at(0) == tensor_of<std::int8_t>({1, 2}, DataType::Int8, {5, 4}));
    CHECK(results.at(1) == integers({1, 2}, {1, 2}));
}

TEST_CASE("Trilu keeps a triangle of each matrix", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(100); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape(random_extents(parts, 2, 4));
        const auto k = static_cast<std::int32_t>(parts.number(0, 6)) - 3;
        const bool upper = parts.number(0, 1) == 0;
        const Tensor x = random_reals(parts, shape);
        std::vector<float> expected;
        for_each_place(shape, [&](const Place& place) {
            const auto row = static_cast<std::int32_t>(place[shape.rank() - 2]);
            const auto column = static_cast<std::int32_t>(place.back());
            const bool is_inside = upper ? column >= row + k : column <= row + k;
            expected.push_back(is_inside ? x.reals()[element_of(shape, place)] : 0.0F);
        });
        CHECK(compute(onnx("Trilu", {{"upper", upper ? 1 : 0}}), {x, constant(integers({}, {k}))}) ==
              reals(shape, expected));
    }
    CHECK(compute(onnx("Trilu"), {integers({2, 2}, {1, 2, 3, 4})}) == integers({2, 2}, {1, 2, 0, 4}));
    CHECK_THROWS_AS(read_node(onnx("Trilu"), {counted_reals({3})}), ModelError);
    CHECK_THROWS_WITH(read_node(onnx("Trilu"), {counted_reals({2, 2}), integers({1}, {1})}),
                      Catch::Contains("its input 1 is computed by the network; it must be a constant"));
}

TEST_CASE("Sequences are reversed up to their lengths", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape shape(random_extents(parts, 2, 4));
        const auto rank = static_cast<std::uint32_t>(shape.rank());
        const bool is_onnx = parts.number(0, 1) == 0;
        const std::uint32_t time = parts.number(0, is_onnx ? 1 : rank - 1);
        const std::uint32_t batch = is_onnx ? 1 - time : (time + parts.number(1, rank - 1)) % rank;
        std::vector<std::int32_t> lengths(shape[batch]);
        for (std::int32_t& length : lengths) length = static_cast<std::int32_t>(parts.number(0, shape[time]));
        const Tensor x = random_reals(parts, shape);
        std::vector<float> expected;
        for_each_place(shape, [&](Place place) {
            const auto length = static_cast<std::uint32_t>(lengths[place[batch]]);
            if (place[time] < length) place[time] = length - 1 - place[time];
            expected.push_back(x.reals()[element_of(shape, place)]);
        });
        const Tensor given = at_times_constant(parts, integers({shape[batch]}, lengths));
        const FileNode node = is_onnx ? onnx("ReverseSequence", {{"batch_axis", batch}, {"time_axis", time}})
                                      : tflite("REVERSE_SEQUENCE", {{"batch_dim", batch}, {"seq_dim", time}});
        CHECK(compute(node, {x, given}) == reals(shape, expected));
    }
    const Tensor x = counted_reals({2, 3});
    CHECK_THROWS_WITH(read_node(onnx("ReverseSequence"), {x, list({0, 1, 3})}),
                      "layer \"node\": the length of sequence 2 is 3; it must be from 0 to 2");
    CHECK_THROWS_WITH(read_node(onnx("ReverseSequence"), {x, list({1, 1})}),
                      Catch::Contains("its lengths are 2; they must be 3, the extent of axis 1 of 2x3"));
    CHECK_THROWS_WITH(read_node(tflite("REVERSE_SEQUENCE"), {x, list({1, 1})}),
                      Catch::Contains("they must be two of its axes"));
    const Tensor beyond = integers({3}, {0, 1, -1});
    CHECK_THROWS_WITH(results_of(read_node(onnx("ReverseSequence"), {x, beyond}), {x.bytes, beyond.bytes}, 1),
                      "layer \"node\": the length of sequence 2 is -1; it must be from 0 to 2");
}

TEST_CASE("Diagonals and places of what is not 0 are constants", "[compiler][operators]") {
    CHECK(compute(onnx("EyeLike"), {counted_reals({2, 3})}) == reals({2, 3}, {1, 0, 0, 0, 1, 0}));
    CHECK(compute(onnx("EyeLike", {{"k", 1}, {"dtype", 7}}), {counted_reals({2, 3})}) ==
          integers({2, 3}, {0, 1, 0, 0, 0, 1}));
    CHECK(compute(onnx("EyeLike", {{"k", -2}}), {integers({3, 1}, {7, 7, 7})}) ==
          integers({3, 1}, {0, 0, 1}));
    CHECK_THROWS_WITH(read_node(onnx("EyeLike"), {counted_reals({2})}),
                      Catch::Contains("its input is 2; it must be a matrix"));
    CHECK_THROWS_WITH(read_node(onnx("EyeLike", {{"dtype", 8}}), {counted_reals({2, 2})}),
                      Catch::Contains("it must be a type of numbers"));
    const Tensor numbers = constant(reals({2, 3}, {0, 1, 0, -2, 0, 3}));
    CHECK(compute(onnx("NonZero"), {numbers}) == integers({2, 3}, {0, 1, 1, 1, 0, 2}));
    CHECK(compute(tflite("WHERE", {}, {{DataType::Int32, {}}}), {numbers}) ==
          integers({3, 2}, {0, 1, 1, 0, 1, 2}));
    CHECK_THROWS_WITH(read_node(onnx("NonZero"), {counted_reals({2, 3})}),
                      Catch::Contains("its input 0 is computed by the network; it must be a constant"));
    CHECK_THROWS_WITH(read_node(onnx("NonZero"), {constant(reals({}, {1}))}),
                      Catch::Contains("its input is one number; it must have an axis"));
}

TEST_CASE("Numbers that are infinite or none are found", "[compiler][operators]") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const Tensor x = reals({1, 4}, {std::nanf(""), infinity, -infinity, 1.0F});
    const auto truth = [&](const FileNode& node) { return compute(node, {x}).bytes; };
    using Truth = std::vector<std::uint8_t>;
    CHECK(truth(onnx("IsNaN")) == Truth{1, 0, 0, 0});
    CHECK(truth(onnx("IsInf")) == Truth{0, 1, 1, 0});
    CHECK(truth(onnx("IsInf", {{"detect_negative", 0}})) == Truth{0, 1, 0, 0});
    CHECK(truth(onnx("IsInf", {{"detect_positive", 0}})) == Truth{0, 0, 1, 0});
    CHECK(truth(onnx("IsInf", {{"detect_positive", 0}, {"detect_negative", 0}})) == Truth{0, 0, 0, 0});
    CHECK_THROWS_WITH(read_node(onnx("IsInf"), {integers({1}, {1})}),
                      Catch::Contains("its input is int32; it must be float32"));
}

TEST_CASE("Bits of integers are combined and moved", "[compiler][operators]") {
    const Tensor a = integers({4}, {0b1100, -1, 0, 7});
    const Tensor b = integers({4}, {0b1010, 0x7fffffff, -8, 7});
    CHECK(compute(onnx("BitwiseAnd"), {a, b}) == integers({4}, {0b1000, 0x7fffffff, 0, 7}));
    CHECK(compute(onnx("BitwiseOr"), {a, b}) == integers({4}, {0b1110, -1, -8, 7}));
    CHECK(compute(onnx("BitwiseXor"), {a, b}) ==
          integers({4}, {0b0110, std::numeric_limits<std::int32_t>::min(), -8, 0}));
    CHECK(compute(onnx("BitwiseNot"), {a}) == integers({4}, {-13, 0, -1, -8}));
    CHECK(compute(onnx("BitwiseNot"), {tensor_of<std::uint8_t>({2}, DataType::Uint8, {0, 0xf0})}).bytes ==
          std::vector<std::uint8_t>{0xff, 0x0f});
    CHECK(compute(tflite("BITWISE_XOR", {}, {{DataType::Int32, {}}}), {a, b}) ==
          compute(onnx("BitwiseXor"), {a, b}));
    const Tensor bytes = tensor_of<std::uint8_t>({3}, DataType::Uint8, {0x81, 3, 255});
    const Tensor places = tensor_of<std::uint8_t>({3}, DataType::Uint8, {1, 4, 9});
    CHECK(compute(onnx("BitShift", {{"direction", "LEFT"}}), {bytes, places}).bytes ==
          std::vector<std::uint8_t>{2, 48, 0});
    CHECK(compute(onnx("BitShift", {{"direction", "RIGHT"}}), {bytes, places}).bytes ==
          std::vector<std::uint8_t>{0x40, 0, 0});
    CHECK_THROWS_WITH(read_node(onnx("BitShift", {{"direction", "UP"}}), {bytes, places}),
                      Catch::Contains("it must be LEFT or RIGHT"));
    CHECK(compute(tflite("RIGHT_SHIFT", {}, {{DataType::Int32, {}}}),
                  {integers({4}, {-8, 9, -1, 5}), integers({4}, {1, 2, 40, -3})}) ==
          integers({4}, {-4, 2, -1, 5}));
    const ir::Graph graph = read_node(onnx("BitwiseAnd"), {reals({1}, {1}), reals({1}, {1})});
    CHECK_THAT(ir::find_fault(graph).value_or(""),
               Catch::Contains("bitwise_and of float32 is not supported"));
}

TEST_CASE("Hardmax marks the first of the largest elements", "[compiler][operators]") {
    const Tensor x = reals({2, 3}, {1, 5, 5, 7, 2, 7});
    CHECK(compute(onnx("Hardmax"), {x}) == reals({2, 3}, {0, 1, 0, 1, 0, 0}));
    CHECK(compute(onnx("Hardmax", {{"axis", 0}}), {x}) == reals({2, 3}, {0, 1, 0, 1, 0, 1}));
    // Before operator set 13, all axes from the axis on are one line.
    CHECK(compute(onnx("Hardmax", {{"axis", 0}, {"opset", 11}}), {x}) == reals({2, 3}, {0, 0, 0, 1, 0, 0}));
}

TEST_CASE("Functions of ONNX have the values of their definitions", "[compiler][operators]") {
    const std::vector<float> small{-0.9F, -0.25F, 0.0F, 1e-4F, 0.5F, 0.99F};
    const std::vector<float> large{1.0F, 1.0001F, 2.0F, 5.0F, 30.0F, 1e6F};
    const std::map<std::string, std::pair<std::vector<float>, double (*)(double)>> functions{
        {"Tan", {small, std::tan}},     {"Asin", {small, std::asin}},   {"Acos", {small, std::acos}},
        {"Atan", {large, std::atan}},   {"Sinh", {small, std::sinh}},   {"Cosh", {small, std::cosh}},
        {"Asinh", {large, std::asinh}}, {"Acosh", {large, std::acosh}}, {"Atanh", {small, std::atanh}}};
    for (const auto& [name, function] : functions) {
        INFO(name);
        std::vector<float> expected;
        for (const float x : function.first) expected.push_back(static_cast<float>(function.second(x)));
        CHECK(are_close(compute(onnx(name), {reals({1, 6}, function.first)}).reals(), expected));
    }
    CHECK(compute(onnx("Shrink", {{"lambd", 1.0}, {"bias", 0.5}}), {reals({5}, {-2, -1, 0.5F, 1, 3})}) ==
          reals({5}, {-1.5F, 0, 0, 0, 2.5F}));
    CHECK(compute(onnx("Shrink"), {reals({3}, {-2, 0.5F, 1})}) == reals({3}, {-2, 0, 1}));
}
