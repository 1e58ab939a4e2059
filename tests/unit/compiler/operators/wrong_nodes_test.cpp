// Nodes of network files whose inputs nobody expects: each is read or refused, and nothing else happens.
#include <catch2/catch.hpp>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "tests/support/file_nodes.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

/// Reads a node of each kind of a format with these inputs, and returns how many are refused. Errors of other
/// types than ModelError, and of several lines, are named.
std::size_t refusals(ir::Format format, const std::vector<Tensor>& inputs) {
    std::size_t refused = 0;
    for (const std::string& name : operators::registry().layer_names(format)) {
        FileNode node{.format = format, .name = name};
        if (format == ir::Format::Tflite) node.declared = {{}};
        INFO(name);
        try {
            read_node(node, inputs);
        } catch (const ModelError& error) {
            CHECK_THAT(error.what(), !Catch::Contains("\n"));
            ++refused;
        } catch (const std::exception& error) {
            FAIL_CHECK(error.what());
        }
    }
    return refused;
}

/// Numbers with a scale of their own for each index of the first axis.
Tensor by_channel(const ir::Shape& shape) {
    Tensor tensor = quantized(shape, 0.5, 0, std::vector<std::int8_t>(shape.elements(), 3));
    const std::size_t channels = shape[0];
    tensor.quantization =
        ir::Quantization{std::vector<double>(channels, 0.5), std::vector<std::int32_t>(channels, 0), 0U};
    return tensor;
}

const std::vector<ir::Shape> shapes{{},          {1}, {3}, {1, 2}, {1, 2, 3}, {1, 2, 2, 3}, {1, 1, 2, 2, 1},
                                    {2, 2, 2, 2}};

}  // namespace

TEST_CASE("Nodes with inputs left out are refused", "[compiler][operators]") {
    const ir::Format format = GENERATE(ir::Format::Onnx, ir::Format::Tflite);
    for (std::size_t count = 0; count <= 6; ++count) {
        INFO(count);
        CHECK(refusals(format, std::vector<Tensor>(count, absent())) > 0);
        for (std::size_t given = 0; given < count; ++given) {
            for (const bool is_constant : {true, false}) {
                std::vector<Tensor> inputs(count, absent());
                inputs[given] = counted_reals({1, 2, 2, 3});
                inputs[given].is_constant = is_constant;
                refusals(format, inputs);
            }
        }
    }
}

TEST_CASE("Nodes with inputs of any rank are read or refused", "[compiler][operators]") {
    const ir::Format format = GENERATE(ir::Format::Onnx, ir::Format::Tflite);
    for (std::size_t count = 1; count <= 3; ++count) {
        for (const ir::Shape& shape : shapes) {
            for (const bool is_constant : {true, false}) {
                INFO(to_text(shape) << " " << count << " " << is_constant);
                std::vector<Tensor> reals_in(count, counted_reals(shape));
                std::vector<Tensor> integers_in(
                    count, integers(shape, std::vector<std::int32_t>(shape.elements(), 1)));
                std::vector<Tensor> bytes_in(
                    count, quantized(shape, 0.5, 3, std::vector<std::int8_t>(shape.elements(), -2)));
                for (std::vector<Tensor>* const inputs : {&reals_in, &integers_in, &bytes_in}) {
                    for (Tensor& input : *inputs) input.is_constant = is_constant;
                    refusals(format, *inputs);
                    inputs->front().is_constant = false;
                    refusals(format, *inputs);
                }
            }
        }
    }
}

TEST_CASE("Nodes whose inputs have no elements are read or refused", "[compiler][operators]") {
    for (std::size_t count = 1; count <= 4; ++count) {
        for (std::size_t empty = 0; empty < count; ++empty) {
            for (const ir::Shape& shape :
                 {ir::Shape{1, 2, 0, 3}, ir::Shape{1, 0, 2, 3}, ir::Shape{1, 2, 2, 0}, ir::Shape{1, 0}}) {
                for (const bool is_constant : {true, false}) {
                    INFO(to_text(shape) << " " << count << " " << empty << " " << is_constant);
                    std::vector<Tensor> reals_in(count, counted_reals({1, 2, 2, 3}));
                    std::vector<Tensor> integers_in(count, integers({4}, {1, 2, 2, 3}));
                    for (std::vector<Tensor>* const inputs : {&reals_in, &integers_in}) {
                        for (Tensor& input : *inputs) input.is_constant = is_constant;
                        inputs->at(empty) = counted_reals(shape);
                        inputs->at(empty).is_constant = false;
                        refusals(ir::Format::Onnx, *inputs);
                    }
                }
            }
        }
    }
}

TEST_CASE("Nodes read numbers with a scale for each channel, or refuse them", "[compiler][operators]") {
    const ir::Format format = GENERATE(ir::Format::Onnx, ir::Format::Tflite);
    for (std::size_t count = 1; count <= 4; ++count) {
        for (const ir::Shape& shape : shapes) {
            if (shape.rank() == 0) continue;
            for (const bool is_constant : {true, false}) {
                INFO(to_text(shape) << " " << count << " " << is_constant);
                std::vector<Tensor> inputs(count, by_channel(shape));
                for (Tensor& input : inputs) input.is_constant = is_constant;
                refusals(format, inputs);
            }
        }
    }
}
