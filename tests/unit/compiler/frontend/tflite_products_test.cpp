// Functions of int8, products with constants, and slices by several indices, against numbers computed by
// hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "compiler/frontend/tflite.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "tests/unit/compiler/frontend/tflite_file.h"

using namespace systole;
using tests::TfliteFile;
namespace format = frontend::tflite;
using Op = format::BuiltinOperator;
using Type = format::TensorType;
using Scale = TfliteFile::Scale;
using Floats = std::vector<float>;
using SmallNumbers = std::vector<std::int8_t>;

namespace {

ir::Graph product_graph(const std::vector<std::uint8_t>& file) {
    return frontend::build_tflite_graph(file, operators::registry());
}

std::string product_error(const std::vector<std::uint8_t>& file) {
    try {
        product_graph(file);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

template <typename To, typename From>
std::vector<To> run_product(const std::vector<std::uint8_t>& file, const std::vector<From>& input) {
    const ir::Graph graph = product_graph(file);
    reference::TensorBytes bytes(input.size() * sizeof(From));
    std::memcpy(bytes.data(), input.data(), bytes.size());
    const std::span<const std::uint8_t> view = bytes;
    const reference::TensorBytes output = reference::run(graph, {&view, 1}, 1).front();
    std::vector<To> numbers(output.size() / sizeof(To));
    std::memcpy(numbers.data(), output.data(), output.size());
    return numbers;
}

std::string run_error(const std::vector<std::uint8_t>& file, const std::vector<std::int32_t>& input) {
    try {
        static_cast<void>(run_product<float>(file, input));
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

std::vector<std::uint8_t> function_file(Op op, const Scale& from, const Scale& to, std::int32_t elements) {
    TfliteFile file;
    const auto x = file.tensor("x", Type::INT8, {1, elements}, from);
    const auto y = file.tensor("y", Type::INT8, {1, elements}, to);
    file.node(op, {x}, {y});
    return file.finish({x}, {y});
}

/// A product with a constant of 2x3, or of 3x2 if it is exchanged: 1 to 6 by rows of 2x3.
std::vector<std::uint8_t> matrix_file(bool is_left, bool exchanges_x, bool exchanges_constant,
                                      const std::vector<std::int32_t>& x_shape,
                                      const std::vector<std::int32_t>& result) {
    TfliteFile file;
    const auto x = file.tensor("x", Type::FLOAT32, x_shape);
    const Floats numbers = exchanges_constant ? Floats{1, 4, 2, 5, 3, 6} : Floats{1, 2, 3, 4, 5, 6};
    const std::vector<std::int32_t> shape =
        exchanges_constant ? std::vector<std::int32_t>{3, 2} : std::vector<std::int32_t>{2, 3};
    const auto w = file.constant("w", Type::FLOAT32, shape, numbers);
    const auto y = file.tensor("y", Type::FLOAT32, result);
    const std::vector<std::int32_t> inputs =
        is_left ? std::vector<std::int32_t>{w, x} : std::vector<std::int32_t>{x, w};
    file.node(Op::BATCH_MATMUL, inputs, {y}, format::BuiltinOptions::BatchMatMulOptions,
              format::CreateBatchMatMulOptions(file.builder(), is_left ? exchanges_constant : exchanges_x,
                                               is_left ? exchanges_x : exchanges_constant));
    return file.finish({x}, {y});
}

/// A product with two matrices of 2x1.
std::vector<std::uint8_t> several_matrices(const std::vector<std::int32_t>& x) {
    TfliteFile file;
    const auto a = file.tensor("a", Type::FLOAT32, x);
    const auto b = file.constant("b", Type::FLOAT32, {2, 2, 1}, Floats{1, 10, 100, -1});
    const auto c = file.tensor("c", Type::FLOAT32, {2, 2, 1});
    file.node(Op::BATCH_MATMUL, {a, b}, {c}, format::BuiltinOptions::BatchMatMulOptions,
              format::CreateBatchMatMulOptions(file.builder()));
    return file.finish({a}, {c});
}

/// An SVDF of 2 inputs, 1 unit of 2 filters, and 3 calls.
std::vector<std::uint8_t> svdf_file(bool is_integer, bool has_state = true, std::int32_t rank = 2) {
    TfliteFile file;
    const Scale half{{0.5F}, {0}};
    std::vector<std::int32_t> inputs;
    if (is_integer) {
        inputs = {
            file.tensor("x", Type::INT8, {1, 2}, {{1.0F}, {1}}),
            file.constant("features", Type::INT8, {2, 2}, SmallNumbers{1, 2, 3, -4}, half),
            file.constant("times", Type::INT16, {2, 3}, std::vector<std::int16_t>{9, 9, 5, 9, 9, -3}, half),
            file.constant("bias", Type::INT32, {1}, std::vector<std::int32_t>{6})};
    } else {
        inputs = {file.tensor("x", Type::FLOAT32, {1, 2}),
                  file.constant("features", Type::FLOAT32, {2, 2}, Floats{1, 2, 3, -4}),
                  file.constant("times", Type::FLOAT32, {2, 3}, Floats{9, 9, 5, 9, 9, -3}),
                  file.constant("bias", Type::FLOAT32, {1}, Floats{6})};
    }
    const Type type = is_integer ? Type::INT8 : Type::FLOAT32;
    const Type state_type = is_integer ? Type::INT16 : Type::FLOAT32;
    const Scale state_scale = is_integer ? half : Scale{};
    inputs.push_back(has_state ? file.variable("state", state_type, {1, 6}, state_scale)
                               : file.tensor("state", state_type, {1, 6}, state_scale));
    const auto y = file.tensor("y", type, {1, 1}, is_integer ? Scale{{0.5F}, {-2}} : Scale{});
    file.node(Op::SVDF, inputs, {y}, format::BuiltinOptions::SVDFOptions,
              format::CreateSVDFOptions(file.builder(), rank, format::ActivationFunctionType::RELU));
    return file.finish({inputs.front()}, {y});
}

}  // namespace

TEST_CASE("EXP, LOG and RSQRT of int8 are tables of the runtime's results", "[compiler][frontend][tflite]") {
    const Scale from{{0.5F}, {-4}};
    const Scale to{{0.25F}, {-100}};
    // 4 * exp((x + 4) / 2) - 100; the largest is cut off.
    CHECK(run_product<std::int8_t>(function_file(Op::EXP, from, to, 4), SmallNumbers{-128, -4, 0, 127}) ==
          SmallNumbers{-100, -96, -70, 127});
    // 4 * log((x + 4) / 2) - 100; up to 0, the lowest number.
    CHECK(run_product<std::int8_t>(function_file(Op::LOG, from, to, 5), SmallNumbers{-128, -4, -3, 0, 127}) ==
          SmallNumbers{-128, -128, -103, -97, -83});
    // 4 / sqrt((x + 4) / 2) - 100; of 0, the largest number.
    CHECK(run_product<std::int8_t>(function_file(Op::RSQRT, from, to, 4), SmallNumbers{-4, -3, 4, 127}) ==
          SmallNumbers{127, -94, -98, -100});
    CHECK(product_graph(function_file(Op::RSQRT, from, to, 4)).nodes.front().is("lookup"));
}

TEST_CASE("BATCH_MATMUL takes a constant on either side", "[compiler][frontend][tflite]") {
    const bool exchanges_constant = GENERATE(false, true);
    INFO("exchanged: " << exchanges_constant);
    // [1 -1; 2 0] times the constant, whatever the order in the file.
    CHECK(run_product<float>(matrix_file(false, false, exchanges_constant, {1, 2, 2}, {1, 2, 3}),
                             Floats{1, -1, 2, 0}) == Floats{-3, -3, -3, 2, 4, 6});
    CHECK(run_product<float>(matrix_file(false, true, exchanges_constant, {1, 2, 2}, {1, 2, 3}),
                             Floats{1, 2, -1, 0}) == Floats{-3, -3, -3, 2, 4, 6});
    // The constant times [1 0; 0 1; 1 -1].
    CHECK(run_product<float>(matrix_file(true, false, exchanges_constant, {1, 3, 2}, {1, 2, 2}),
                             Floats{1, 0, 0, 1, 1, -1}) == Floats{4, -1, 10, -1});
    CHECK(run_product<float>(matrix_file(true, true, exchanges_constant, {1, 2, 3}, {1, 2, 2}),
                             Floats{1, 0, 1, 0, 1, -1}) == Floats{4, -1, 10, -1});
}

TEST_CASE("BATCH_MATMUL takes a constant of several matrices", "[compiler][frontend][tflite]") {
    // [1 2; 3 4] times (1, 10), and [5 6; 7 8] times (100, -1).
    CHECK(run_product<float>(several_matrices({2, 2, 2}), Floats{1, 2, 3, 4, 5, 6, 7, 8}) ==
          Floats{21, 43, 494, 692});
}

TEST_CASE("BATCH_MATMUL of int8 rounds twice, as a fully connected operator of 2.19",
          "[compiler][frontend][tflite]") {
    TfliteFile file;
    const auto x = file.tensor("x", Type::INT8, {1, 1}, {{1.0F}, {0}});
    const auto w = file.constant<std::int8_t>("w", Type::INT8, {1, 1}, {3}, {{1.0F / 7.0F}, {0}});
    const auto y = file.tensor("y", Type::INT8, {1, 1}, {{1.0F}, {0}});
    file.node(Op::BATCH_MATMUL, {x, w}, {y}, format::BuiltinOptions::BatchMatMulOptions,
              format::CreateBatchMatMulOptions(file.builder()));
    CHECK(run_product<std::int8_t>(file.finish({x}, {y}), SmallNumbers{1}) == SmallNumbers{1});
}

namespace {

/// BATCH_MATMUL of two inputs, the second one transposed.
std::vector<std::uint8_t> product_of_inputs(Type type) {
    TfliteFile file;
    const auto x = file.tensor("x", type, {1, 2, 2});
    const auto z = file.tensor("z", type, {1, 2, 2});
    const auto y = file.tensor("y", type, {1, 2, 2});
    file.node(Op::BATCH_MATMUL, {x, z}, {y}, format::BuiltinOptions::BatchMatMulOptions,
              format::CreateBatchMatMulOptions(file.builder(), false, true));
    return file.finish({x, z}, {y});
}

}  // namespace

TEST_CASE("BATCH_MATMUL multiplies two inputs", "[compiler][frontend][tflite]") {
    const ir::Graph graph = product_graph(product_of_inputs(Type::FLOAT32));
    const Floats x{1, 2, 3, 4};
    const Floats z{1, 10, 100, 1000};
    const std::vector<std::span<const float>> inputs{x, z};
    CHECK(reference::execute(graph, inputs, 1).front() == Floats{21, 2100, 43, 4300});
    CHECK(product_error(product_of_inputs(Type::INT16)) ==
          "layer \"y\": it turns int16 into int16; both must be float32 or int8, others are not supported "
          "(operator BATCH_MATMUL)");
}

TEST_CASE("BATCH_MATMUL of matrices that do not fit is refused", "[compiler][frontend][tflite]") {
    CHECK(product_error(several_matrices({1, 2, 2})) ==
          "layer \"c\": it multiplies the matrices of 1x2x2 and 2x2x1; they must be as many, along the same "
          "axes "
          "(operator BATCH_MATMUL)");
    CHECK(product_error(matrix_file(false, false, false, {1, 2, 3}, {1, 2, 3})) ==
          "layer \"y\": it multiplies 1x2x3 and 2x3; they do not fit (operator BATCH_MATMUL)");
}

TEST_CASE("SVDF is one call, from a state of 0", "[compiler][frontend][tflite]") {
    // The filters give 1 + 2 * 2 = 5 and 3 - 8 = -5, the newest weights 5 * 5 + 3 * 5, and the bias 6.
    CHECK(run_product<float>(svdf_file(false), Floats{1, 2}) == Floats{46});
    CHECK(run_product<float>(svdf_file(false), Floats{-9, 0}) == Floats{42});
    // RELU is a part of it.
    CHECK(run_product<float>(svdf_file(false), Floats{-9, -9}) == Floats{0});
    // x is 1, 2; the state has 5 and -5 at a scale of 0.5, whose sums 40 + 6 become 46 * 0.5 - 2.
    CHECK(run_product<std::int8_t>(svdf_file(true), SmallNumbers{2, 3}) == SmallNumbers{21});
    // Of integers, it is not.
    CHECK(run_product<std::int8_t>(svdf_file(true), SmallNumbers{-8, -8}) == SmallNumbers{-80});
    CHECK(product_error(svdf_file(true, false)) ==
          "layer \"y\": it has no state; its input 4 must be a variable (operator SVDF)");
    CHECK(product_error(svdf_file(false, true, 3)) ==
          "layer \"y\": its input is 1x2, its weights are 2x2 and 2x3, its rank is 3 and its bias 1; they do "
          "not "
          "fit (operator SVDF)");
}

TEST_CASE("GATHER_ND takes slices by the indices of several axes", "[compiler][frontend][tflite]") {
    const Floats numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const auto file_with = [](const std::vector<std::int32_t>& shape,
                              const std::vector<std::int32_t>& indices,
                              const std::vector<std::int32_t>& result) {
        TfliteFile file;
        const auto x = file.tensor("x", Type::FLOAT32, {2, 3, 2});
        const auto i = file.constant("i", Type::INT32, shape, indices);
        const auto y = file.tensor("y", Type::FLOAT32, result);
        file.node(Op::GATHER_ND, {x, i}, {y});
        return file.finish({x}, {y});
    };
    CHECK(run_product<float>(file_with({2, 2}, {1, 2, 0, 1}, {2, 2}), numbers) == Floats{10, 11, 2, 3});
    CHECK(run_product<float>(file_with({1, 3}, {1, 0, 1}, {1}), numbers) == Floats{7});
    CHECK(run_product<float>(file_with({2, 1}, {1, 0}, {2, 3, 2}), numbers) ==
          Floats{6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5});
    CHECK(product_error(file_with({2, 2}, {1, 3, 0, 1}, {2, 2})) ==
          "layer \"y\": an index along axis 1 of 2x3x2 is 3; it must be from 0 to 2 (operator GATHER_ND)");
    CHECK(product_error(file_with({1, 2}, {-1, 0}, {1, 2})) ==
          "layer \"y\": an index along axis 0 of 2x3x2 is -1; it must be from 0 to 1 (operator GATHER_ND)");
    CHECK(product_error(file_with({1, 4}, {0, 0, 0, 0}, {1})) ==
          "layer \"y\": its indices are 1x4; their last axis must have 1 to 3 elements, the axes of 2x3x2 "
          "(operator GATHER_ND)");
}

TEST_CASE("GATHER_ND takes indices that are computed", "[compiler][frontend][tflite]") {
    TfliteFile file;
    const auto table = file.constant("table", Type::FLOAT32, {2, 3, 1}, Floats{0, 1, 2, 3, 4, 5});
    const auto i = file.tensor("i", Type::INT32, {2, 2});
    const auto y = file.tensor("y", Type::FLOAT32, {2, 1});
    file.node(Op::GATHER_ND, {table, i}, {y});
    const std::vector<std::uint8_t> bytes = file.finish({i}, {y});
    const auto error = [&](const std::vector<std::int32_t>& indices) { return run_error(bytes, indices); };
    CHECK(run_product<float>(bytes, std::vector<std::int32_t>{1, 2, 0, 1}) == Floats{5, 1});
    // The place of (0, 3) in the whole table is that of (1, 0).
    CHECK(error({1, 2, 0, 3}) == "layer \"y\": an index along axis 1 of 2x3x1 is 3; it must be from 0 to 2");
    CHECK(error({1, -1, 0, 0}) ==
          "layer \"y\": an index along axis 1 of 2x3x1 is -1; it must be from 0 to 2");
    CHECK(error({2, 0, 0, 0}) == "layer \"y\": an index along axis 0 of 2x3x1 is 2; it must be from 0 to 1");
}

TEST_CASE("GATHER refuses an index below 0, in the file or computed", "[compiler][frontend][tflite]") {
    const Floats numbers{0, 1, 2};
    TfliteFile file;
    const auto table = file.constant("table", Type::FLOAT32, {3, 1}, numbers);
    const auto i = file.tensor("i", Type::INT32, {2});
    const auto y = file.tensor("y", Type::FLOAT32, {2, 1});
    file.node(Op::GATHER, {table, i}, {y});
    const std::vector<std::uint8_t> bytes = file.finish({i}, {y});
    CHECK(run_product<float>(bytes, std::vector<std::int32_t>{2, 0}) == Floats{2, 0});
    CHECK(run_error(bytes, {0, -1}) ==
          "layer \"y\": an index along axis 0 of 3x1 is -1; it must be from 0 to 2");

    TfliteFile constant;
    const auto x = constant.tensor("x", Type::FLOAT32, {3, 1});
    const auto last = constant.constant("i", Type::INT32, {1}, std::vector<std::int32_t>{-1});
    const auto z = constant.tensor("z", Type::FLOAT32, {1, 1});
    constant.node(Op::GATHER, {x, last}, {z});
    CHECK(product_error(constant.finish({x}, {z})) ==
          "layer \"z\": an index along axis 0 of 3x1 is -1; it must be from 0 to 2 (operator GATHER)");
}

TEST_CASE("ONE_HOT has no place for indices that are negative", "[compiler][frontend][tflite]") {
    const auto file_with = [](std::int32_t axis, const std::vector<std::int32_t>& result,
                              std::int32_t depth) {
        TfliteFile file;
        const auto i = file.tensor("i", Type::INT32, {1, 3});
        const auto d = file.constant("d", Type::INT32, {}, std::vector<std::int32_t>{depth});
        const auto there = file.constant("there", Type::FLOAT32, {}, Floats{5});
        const auto elsewhere = file.constant("elsewhere", Type::FLOAT32, {}, Floats{-1});
        const auto y = file.tensor("y", Type::FLOAT32, result);
        file.node(Op::ONE_HOT, {i, d, there, elsewhere}, {y}, format::BuiltinOptions::OneHotOptions,
                  format::CreateOneHotOptions(file.builder(), axis));
        return file.finish({i}, {y});
    };
    const std::vector<std::int32_t> indices{1, -1, 2};
    CHECK(run_product<float>(file_with(-1, {1, 3, 2}, 2), indices) == Floats{-1, 5, -1, -1, -1, -1});
    CHECK(run_product<float>(file_with(1, {1, 2, 3}, 2), indices) == Floats{-1, -1, -1, 5, -1, -1});
    CHECK(product_error(file_with(-1, {1, 3, 2}, 0)) ==
          "layer \"y\": its depth must be one number, of at least 1 (operator ONE_HOT)");
    CHECK(product_error(file_with(4, {1, 3, 2}, 2)) ==
          "layer \"y\": its axis is 4; it must be from -3 to 2 (operator ONE_HOT)");
}

TEST_CASE("CUMSUM adds up to each element, or from each one on", "[compiler][frontend][tflite]") {
    const auto file_with = [](std::int32_t axis, bool exclusive, bool reverse) {
        TfliteFile file;
        const auto x = file.tensor("x", Type::FLOAT32, {2, 3});
        const auto a = file.constant("a", Type::INT32, {1}, std::vector<std::int32_t>{axis});
        const auto y = file.tensor("y", Type::FLOAT32, {2, 3});
        file.node(Op::CUMSUM, {x, a}, {y}, format::BuiltinOptions::CumsumOptions,
                  format::CreateCumsumOptions(file.builder(), exclusive, reverse));
        return file.finish({x}, {y});
    };
    const Floats numbers{1, 2, 3, 4, 5, 6};
    CHECK(run_product<float>(file_with(-1, false, false), numbers) == Floats{1, 3, 6, 4, 9, 15});
    CHECK(run_product<float>(file_with(1, true, false), numbers) == Floats{0, 1, 3, 0, 4, 9});
    CHECK(run_product<float>(file_with(0, false, true), numbers) == Floats{5, 7, 9, 4, 5, 6});
    CHECK(run_product<float>(file_with(1, true, true), numbers) == Floats{5, 3, 0, 11, 6, 0});
    CHECK(product_error(file_with(2, false, false)) ==
          "layer \"y\": its axis is 2; it must be from -2 to 1 (operator CUMSUM)");
}

TEST_CASE("A fully connected operator on a constant becomes a constant", "[compiler][frontend][tflite]") {
    TfliteFile file;
    const auto x = file.tensor("x", Type::FLOAT32, {1, 2});
    // The input of the product is computed by a node that folds.
    const auto c = file.constant("c", Type::FLOAT32, {1, 2}, Floats{-1, 2});
    const auto a = file.tensor("a", Type::FLOAT32, {1, 2});
    const auto w = file.constant("w", Type::FLOAT32, {2, 2}, Floats{1, 2, 3, 4});
    const auto p = file.tensor("p", Type::FLOAT32, {1, 2});
    const auto y = file.tensor("y", Type::FLOAT32, {1, 2});
    file.node(Op::ABS, {c}, {a});
    file.node(Op::FULLY_CONNECTED, {a, w, -1}, {p}, format::BuiltinOptions::FullyConnectedOptions,
              format::CreateFullyConnectedOptions(file.builder()));
    file.node(Op::ADD, {x, p}, {y}, format::BuiltinOptions::AddOptions,
              format::CreateAddOptions(file.builder(), format::ActivationFunctionType::NONE, false));
    CHECK(run_product<float>(file.finish({x}, {y}), Floats{0.5F, 0.25F}) == Floats{5.5F, 11.25F});
}

TEST_CASE("The result's shape of TRANSPOSE_CONV may be computed by nodes that fold",
          "[compiler][frontend][tflite]") {
    TfliteFile file;
    const auto x = file.tensor("x", Type::FLOAT32, {1, 2, 2, 1});
    const auto shape = file.tensor("shape", Type::INT32, {4});
    const auto doubled = file.tensor("doubled", Type::INT32, {4});
    const auto two = file.constant("two", Type::INT32, {4}, std::vector<std::int32_t>{1, 2, 2, 1});
    const auto w = file.constant("w", Type::FLOAT32, {1, 1, 1, 1}, Floats{3});
    // Converters write 1 where they do not know, some without saying so.
    const bool says_so = GENERATE(false, true);
    const auto y = says_so ? file.open_tensor("y", Type::FLOAT32, {1, 1, 1, 1}, {1, -1, -1, 1})
                           : file.tensor("y", Type::FLOAT32, {1, 1, 1, 1});
    file.node(Op::SHAPE, {x}, {shape}, format::BuiltinOptions::ShapeOptions,
              format::CreateShapeOptions(file.builder(), Type::INT32));
    file.node(Op::MUL, {shape, two}, {doubled}, format::BuiltinOptions::MulOptions,
              format::CreateMulOptions(file.builder()));
    file.node(Op::TRANSPOSE_CONV, {doubled, w, x}, {y}, format::BuiltinOptions::TransposeConvOptions,
              format::CreateTransposeConvOptions(file.builder(), format::Padding::SAME, 2, 2));
    const std::vector<std::uint8_t> bytes = file.finish({x}, {y});
    CHECK(product_graph(bytes).output().shape == ir::Shape{1, 4, 4, 1});
    CHECK(run_product<float>(bytes, Floats{1, 2, 3, 4}) ==
          Floats{3, 0, 6, 0, 0, 0, 0, 0, 9, 0, 12, 0, 0, 0, 0, 0});
}
