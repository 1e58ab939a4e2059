// Files with several networks, and inputs whose sizes a file leaves open.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/frontend/tflite.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "tests/unit/compiler/frontend/tflite_file.h"

using namespace systole;
using tests::TfliteFile;
namespace format = frontend::tflite;
using Op = format::BuiltinOperator;
using Type = format::TensorType;

namespace {

ir::Graph signature_graph(const std::vector<std::uint8_t>& file, const frontend::TfliteOptions& options) {
    return frontend::build_tflite_graph(file, operators::registry(), options);
}

std::string signature_error(const std::vector<std::uint8_t>& file, const frontend::TfliteOptions& options) {
    try {
        signature_graph(file, options);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

/// One node on a vector, which is the network or the first of several.
struct Unary {
    std::int32_t from;
    std::int32_t to;
};
Unary add_unary(TfliteFile& file, Op op, const std::string& input, const std::string& output,
                std::int32_t elements = 4) {
    const auto x = file.tensor(input, Type::FLOAT32, {1, elements});
    const auto y = file.tensor(output, Type::FLOAT32, {1, elements});
    file.node(op, {x}, {y});
    return {x, y};
}

/// Two networks, tanh and abs, as a file with signatures has them.
std::vector<std::uint8_t> two_signatures() {
    TfliteFile file;
    const Unary first = add_unary(file, Op::TANH, "decode_z:0", "call:0");
    file.next_network({first.from}, {first.to}, "decode");
    const Unary second = add_unary(file, Op::ABS, "encode_x:0", "call_1:0", 7);
    file.signature("decode", 0, "z", 0, "y", 1);
    file.signature("encode", 1, "x", 0, "z", 1);
    return file.finish({second.from}, {second.to});
}

}  // namespace

TEST_CASE("A signature of a TFLite file is chosen by its name", "[compiler][frontend][tflite]") {
    const std::vector<std::uint8_t> file = two_signatures();
    const ir::Graph encode = signature_graph(file, {.signature = "encode"});
    CHECK(encode.nodes.front().is("abs"));
    CHECK(encode.input().name == "x");
    CHECK(encode.output().name == "z");
    CHECK(encode.input().shape == ir::Shape{1, 7});
    const ir::Graph decode = signature_graph(file, {.signature = "decode"});
    CHECK(decode.nodes.front().is("tanh"));
    CHECK(decode.input().name == "z");
    CHECK(decode.output().name == "y");
}

TEST_CASE("Several networks of a TFLite file need a choice", "[compiler][frontend][tflite]") {
    CHECK(signature_error(two_signatures(), {}) ==
          "it has 2 networks; --signature must name one of them: \"decode\", \"encode\"");
    CHECK(signature_error(two_signatures(), {.signature = "code"}) ==
          "signature is \"code\"; the file has \"decode\", \"encode\"");

    TfliteFile one;
    const Unary only = add_unary(one, Op::TANH, "x", "y");
    one.signature("serve", 0, "in", 0, "out", 1);
    const std::vector<std::uint8_t> single = one.finish({only.from}, {only.to});
    // Without a name, the names are those of the tensors.
    CHECK(signature_graph(single, {}).input().name == "x");
    CHECK(signature_graph(single, {.signature = "serve"}).input().name == "in");
    CHECK(signature_error(single, {.signature = "main"}) == "signature is \"main\"; the file has \"serve\"");

    TfliteFile wrong;
    const Unary outside = add_unary(wrong, Op::TANH, "x", "y");
    wrong.signature("serve", 3, "in", 0, "out", 1);
    CHECK(signature_error(wrong.finish({outside.from}, {outside.to}), {}) ==
          "signature \"serve\": its subgraph is number 3; the file has 1");
}

TEST_CASE("Subgraphs without a signature are networks unless a node calls them",
          "[compiler][frontend][tflite]") {
    const auto file_with = [](bool has_loop, const std::string& name) {
        TfliteFile file;
        const Unary first = add_unary(file, Op::TANH, "a", "b");
        if (has_loop) file.node(Op::WHILE, {first.to}, {file.tensor("c", Type::FLOAT32, {1, 4})});
        file.next_network({first.from}, {first.to}, name);
        const Unary second = add_unary(file, Op::ABS, "x", "y");
        return file.finish({second.from}, {second.to});
    };
    CHECK(signature_error(file_with(false, "first"), {}) ==
          "it has 2 networks; --signature must name one of them: \"first\", \"main\"");
    CHECK(signature_graph(file_with(false, "first"), {.signature = "main"}).nodes.front().is("abs"));
    // Names that are missing or taken.
    CHECK(signature_error(file_with(false, ""), {.signature = "x"}) ==
          "signature is \"x\"; the file has \"subgraph 0\", \"main\"");
    CHECK(signature_error(file_with(false, "main"), {.signature = "x"}) ==
          "signature is \"x\"; the file has \"main\", \"subgraph 1\"");
    CHECK(signature_graph(file_with(false, "main"), {.signature = "subgraph 1"}).nodes.front().is("abs"));
    // A loop has its condition and its body in subgraphs.
    CHECK(signature_error(file_with(true, "first"), {}) ==
          "layer \"c\": this operator is not supported: docs/operators.md lists those that are (operator "
          "WHILE)");
}

TEST_CASE("The sizes that a TFLite file leaves open are given", "[compiler][frontend][tflite]") {
    TfliteFile file;
    const auto x = file.open_tensor("x", Type::FLOAT32, {1, 1, 1, 3}, {-1, -1, -1, 3});
    const auto w = file.constant("w", Type::FLOAT32, {2, 3, 3, 3}, std::vector<float>(54, 0.5F));
    // Its shape belongs to the example of the input, although it does not say so.
    const auto y = file.tensor("y", Type::FLOAT32, {1, 1, 1, 2});
    file.node(Op::CONV_2D, {x, w, -1}, {y}, format::BuiltinOptions::Conv2DOptions,
              format::CreateConv2DOptions(file.builder(), format::Padding::VALID, 1, 1));
    const std::vector<std::uint8_t> bytes = file.finish({x}, {y});
    CHECK(signature_error(bytes, {}) ==
          "tensor \"x\": its dimension 1 is open in ?x?x?x3; the input's shape must be given with "
          "--input-shape");
    CHECK(signature_graph(bytes, {.shapes = {.given = {{"", {1, 9, 7, 3}}}}}).output().shape ==
          ir::Shape{1, 7, 5, 2});
    CHECK(signature_graph(bytes, {.shapes = {.given = {{"x", {1, 3, 4, 3}}}}}).output().shape ==
          ir::Shape{1, 1, 2, 2});
    CHECK(signature_error(bytes, {.shapes = {.given = {{"", {1, 9, 7, 4}}}}}) ==
          "tensor \"x\": its dimension 3 is given as 4; in the file it is 3");
    CHECK(signature_error(bytes, {.shapes = {.given = {{"", {9, 7, 3}}}}}) ==
          "tensor \"x\": its shape is given as 9x7x3; in the file it is ?x?x?x3");
    CHECK(signature_error(bytes, {.shapes = {.given = {{"z", {1, 9, 7, 3}}}}}) ==
          "the shape of \"z\" is given, but it has no input of this name");
}

TEST_CASE("An example of an open size counts, and so does the batch", "[compiler][frontend][tflite]") {
    TfliteFile file;
    const auto x = file.open_tensor("x", Type::FLOAT32, {1, 5}, {-1, -1});
    const auto y = file.open_tensor("y", Type::FLOAT32, {1, 5}, {-1, -1});
    file.node(Op::TANH, {x}, {y});
    CHECK(signature_graph(file.finish({x}, {y}), {}).input().shape == ir::Shape{1, 5});
}

TEST_CASE("A node without a result is named by its number and operator", "[compiler][frontend][tflite]") {
    TfliteFile file;
    const Unary first = add_unary(file, Op::TANH, "x", "y");
    file.node(Op::ABS, {first.to}, {});
    CHECK(signature_error(file.finish({first.from}, {first.to}), {}) ==
          "node 1: it has no result; it must have at least 1 (operator ABS)");
}
