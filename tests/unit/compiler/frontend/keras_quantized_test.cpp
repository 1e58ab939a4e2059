// Dense layers that Keras has quantized.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "compiler/frontend/keras_archive.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "tests/unit/base/zip/made_zip.h"
#include "tests/unit/compiler/frontend/keras_file.h"

using namespace systole;
using tests::StoredWeight;

namespace {

/// A Dense layer of 3 inputs and 2 units with this dtype.
std::string quantized_dense(const std::string& dtype, bool use_bias, const std::string& inputs = "3") {
    return R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, )" +
           inputs + R"(]}}, {"class_name": "Dense", "config": {"name": "d", "units": 2, "use_bias": )" +
           (use_bias ? "true" : "false") + R"(, "dtype": )" + dtype + "}}]}}";
}

std::string policy(const std::string& mode) {
    return R"({"module": "keras.dtype_policies", "class_name": "QuantizedDTypePolicy", "config": {"mode": ")" +
           mode + R"(", "source_name": "float32"}})";
}

StoredWeight variable(int number, const std::vector<hsize_t>& shape, const std::vector<double>& values,
                      hid_t type = H5T_IEEE_F32LE) {
    return {.name = "layers/dense/vars/" + std::to_string(number),
            .shape = shape,
            .values = values,
            .type = type};
}

ir::Graph read_quantized(const std::string& config, const std::vector<StoredWeight>& weights) {
    const std::string bytes =
        tests::made_zip({{.name = "config.json", .bytes = config},
                         {.name = "model.weights.h5", .bytes = tests::checkpoint(weights)}});
    return frontend::read_keras_archive(std::string_view(bytes), operators::registry());
}

std::vector<float> kernel_of(const ir::Graph& graph) {
    const auto values = ir::NodeView(graph, graph.nodes.front()).constant(0)->constant->values<float>();
    return {values.begin(), values.end()};
}

std::string quantized_error(const std::string& config, const std::vector<StoredWeight>& weights) {
    try {
        read_quantized(config, weights);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("An int8 kernel of Keras is divided by the scale of its unit", "[compiler][frontend]") {
    const std::string dtype = GENERATE(policy("int8"), std::string("\"int8_from_float32\""),
                                       std::string(R"({"config": {"name": "int8_from_mixed_bfloat16"}})"));
    const StoredWeight kernel = variable(0, {3, 2}, {-127, 1, 2, 3, 4, 127}, H5T_STD_I8LE);
    const std::vector<float> expected{-63.5F, 0.125F, 1.0F, 0.375F, 2.0F, 15.875F};
    const ir::Graph plain = read_quantized(quantized_dense(dtype, false), {kernel, variable(1, {2}, {2, 8})});
    CHECK(kernel_of(plain) == expected);
    // The bias comes before the scales.
    const ir::Graph biased = read_quantized(quantized_dense(dtype, true),
                                            {kernel, variable(1, {2}, {5, 6}), variable(2, {2}, {2, 8})});
    CHECK(kernel_of(biased) == expected);
    CHECK(ir::NodeView(biased, biased.nodes.front()).constant(1)->constant->values<float>()[1] == 6.0F);
}

TEST_CASE("An int4 kernel of Keras has two numbers in a byte", "[compiler][frontend]") {
    const std::string config = quantized_dense(policy("int4/-1"), false);
    const StoredWeight scale = variable(1, {2}, {1, 2});
    // Along the units: 0xf1 is 1 and -1, 0x72 is 2 and 7, 0x08 is -8 and 0.
    const std::vector<float> expected{1, -0.5F, 2, 3.5F, -8, 0};
    CHECK(kernel_of(read_quantized(config, {variable(0, {3, 1}, {-15, 0x72, 8}, H5T_STD_I8LE), scale})) ==
          expected);
    // Along the inputs, as Keras had it first: [1, 2], [-8, -] and [-1, 7], [0, -].
    CHECK(kernel_of(read_quantized(config, {variable(0, {2, 2}, {0x21, 0x7f, 8, 0}, H5T_STD_I8LE), scale})) ==
          expected);
}

TEST_CASE("An int4 kernel of Keras may have scales and zero points of blocks", "[compiler][frontend]") {
    const std::vector<StoredWeight> weights{
        variable(0, {3, 1}, {-15, 0x72, 8}, H5T_STD_I8LE), variable(1, {2, 2}, {2, 4, 8, 16}),
        variable(2, {2, 2}, {1, -1, 2, -2}, H5T_STD_I8LE), variable(3, {3}, {0, 0, 1})};
    const std::string config = quantized_dense(policy("int4/2"), false);
    // (1 - 1) * 2, (-1 + 1) * 4; (2 - 1) * 2, (7 + 1) * 4; (-8 - 2) * 8, (0 + 2) * 16
    CHECK(kernel_of(read_quantized(config, weights)) == std::vector<float>{0, 0, 2, 32, -80, 32});

    std::vector<StoredWeight> wrong = weights;
    wrong[3] = variable(3, {3}, {0, 0, 2});
    CHECK(quantized_error(config, wrong) == "layer \"d\": input 2 is in block 2; it has 2");
    wrong[3] = variable(3, {2}, {0, 0});
    CHECK(quantized_error(config, wrong) ==
          "layer \"d\": its g_idx is [2]; by its configuration it must be [3]");
    wrong.pop_back();
    CHECK(quantized_error(config, wrong) == "layer \"d\": the file has no g_idx for it");
    wrong[2] = variable(2, {2}, {0, 0});
    CHECK(quantized_error(config, {wrong.begin(), wrong.end()}) ==
          "layer \"d\": the file has no g_idx for it");
}

TEST_CASE("Quantized layers of Keras that are damaged or not supported say so", "[compiler][frontend]") {
    const StoredWeight kernel = variable(0, {3, 2}, {1, 2, 3, 4, 5, 6}, H5T_STD_I8LE);
    const StoredWeight scale = variable(1, {2}, {1, 1});
    CHECK(quantized_error(quantized_dense(policy("int8"), false), {kernel}) ==
          "layer \"d\": the file has no kernel_scale for it");
    CHECK(quantized_error(quantized_dense(policy("int8"), false), {kernel, variable(1, {3}, {1, 1, 1})}) ==
          "layer \"d\": its kernel_scale is [3]; by its configuration it must be [2]");
    CHECK(quantized_error(quantized_dense(policy("int8"), false), {kernel, variable(1, {2}, {1, 0})}) ==
          "layer \"d\": its scales must be above 0");
    CHECK(quantized_error(quantized_dense(policy("int8"), false),
                          {variable(0, {3, 2}, {1, 2, 3, 4, 5, 300}, H5T_STD_I16LE), scale}) ==
          "layer \"d\": its kernel must be of int8");
    CHECK(quantized_error(quantized_dense(policy("int8"), false, "4"), {kernel, scale}) ==
          "layer \"d\": its kernel is [3, 2]; by its configuration it must be [4, 2]");
    CHECK(quantized_error(quantized_dense(policy("int4/-1"), false), {kernel, scale}) ==
          "layer \"d\": its kernel is [3, 2]; by its configuration it must be [3, 1]");
    CHECK(quantized_error(quantized_dense(policy("gptq/4/128"), false), {kernel, scale}) ==
          "layer \"d\": it is quantized as \"gptq\"; only int8 and int4 are supported");
    CHECK(
        quantized_error(quantized_dense("\"float32\"", false), {kernel, scale}) ==
        "layer \"d\": its kernel in the file, \"layers/dense/vars/0\": it must be of floating-point numbers");
    const std::string convolution = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 2, 2, 1]}},
        {"class_name": "Conv2D", "config": {"name": "c", "filters": 1, "kernel_size": [1, 1], "use_bias": false,
        "dtype": "int8_from_float32"}}]}})";
    const StoredWeight other{.name = "layers/conv2d/vars/0", .shape = {1, 1, 1, 1}, .values = {1}};
    CHECK(quantized_error(convolution, {other}) ==
          "layer \"c\": it is quantized as \"int8\"; only Dense layers are read so");
}

TEST_CASE("The sizes that a Keras file leaves open are given", "[compiler][frontend]") {
    const std::string config = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"name": "x", "batch_shape": [null, null, null, 3]}},
        {"class_name": "MaxPooling2D", "config": {"name": "m", "pool_size": [2, 2]}}]}})";
    const std::string bytes =
        tests::made_zip({{.name = "config.json", .bytes = config},
                         {.name = "model.weights.h5", .bytes = tests::checkpoint({variable(0, {1}, {1})})}});
    const auto shape_of = [&](const frontend::NamedShapes& given) {
        return frontend::read_keras_archive(std::string_view(bytes), operators::registry(), {.given = given})
            .output()
            .shape;
    };
    const auto refused = [&](const frontend::NamedShapes& given) -> std::string {
        try {
            shape_of(given);
        } catch (const ModelError& error) {
            return error.what();
        }
        return "no error";
    };
    CHECK(shape_of({{"", {1, 8, 6, 3}}}) == ir::Shape{1, 4, 3, 3});
    CHECK(shape_of({{"x", {1, 2, 5, 3}}}) == ir::Shape{1, 1, 2, 3});
    CHECK(refused({}) ==
          "input \"x\": its dimension 1 is open in ?x?x?x3; the input's shape must be given with "
          "--input-shape");
    CHECK(refused({{"", {1, 8, 6, 4}}}) == "input \"x\": its dimension 3 is given as 4; in the file it is 3");
    CHECK(refused({{"", {8, 6, 3}}}) ==
          "input \"x\": its shape is given as 8x6x3; in the file it is ?x?x?x3");
    CHECK(refused({{"", {2, 8, 6, 3}}}) ==
          "input \"x\": its batch is given as 2; it must be 1: --batch says how many images go through the "
          "network together");
    CHECK(refused({{"y", {1, 8, 6, 3}}}) == "the shape of \"y\" is given, but it has no input of this name");
}
