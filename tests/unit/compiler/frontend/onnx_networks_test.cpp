// ONNX networks made by other people, in float32 against the answers that PyTorch gave, in the file's own
// order of axes; as read, and after the passes that simplify.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "base/message_text.h"
#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"

using namespace systole;
namespace fs = std::filesystem;

namespace {

/// A NumPy file of floats.
struct FloatArray {
    std::vector<std::uint32_t> shape;
    std::vector<float> values;
    bool is_half = false;  ///< rounded to float16
};

/// Turns elements whose first axis runs fastest into those whose last axis does.
void reverse_axes(FloatArray& array) {
    const std::vector<float> from = array.values;
    for (std::size_t element = 0; element < from.size(); ++element) {
        std::size_t rest = element;
        std::size_t source = 0;
        std::size_t stride = from.size();
        for (std::size_t axis = array.shape.size(); axis-- > 0;) {
            stride /= array.shape[axis];
            source += rest % array.shape[axis] * stride;
            rest /= array.shape[axis];
        }
        array.values[element] = from[source];
    }
}

FloatArray read_float_array(const fs::path& path) {
    const std::string bytes = tests::text_in(path);
    constexpr std::size_t magic_bytes = 10;
    REQUIRE(bytes.starts_with("\x93NUMPY\x01"));
    const std::size_t header_bytes =
        static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
    const std::string header = bytes.substr(magic_bytes, header_bytes);
    INFO(path.string() << ": " << header);
    const bool is_fortran = header.find("'fortran_order': True") != std::string::npos;
    FloatArray array;
    std::size_t at = header.find('(') + 1;
    while (at < header.size() && header[at] != ')') {
        if (std::isdigit(static_cast<unsigned char>(header[at])) == 0) {
            ++at;
            continue;
        }
        std::size_t digits = 0;
        array.shape.push_back(static_cast<std::uint32_t>(std::stoul(header.substr(at), &digits)));
        at += digits;
    }
    const char* const contents = bytes.data() + magic_bytes + header_bytes;
    const std::size_t size = bytes.size() - magic_bytes - header_bytes;
    if (header.find("'<f4'") != std::string::npos) {
        array.values.resize(size / sizeof(float));
        std::memcpy(array.values.data(), contents, size);
    } else if (header.find("'<f2'") != std::string::npos) {
        for (std::size_t i = 0; i < size; i += 2) {
            std::uint16_t bits = 0;
            std::memcpy(&bits, contents + i, sizeof bits);
            // Numbers of images and probabilities are neither infinite nor NaN.
            const int exponent = bits >> 10 & 31;
            const int mantissa = (bits & 1023) + (exponent == 0 ? 0 : 1024);
            const float number = std::ldexp(static_cast<float>(mantissa), std::max(exponent, 1) - 25);
            array.values.push_back((bits & 0x8000) != 0 ? -number : number);
        }
    } else {
        REQUIRE(header.find("'|u1'") != std::string::npos);
        for (std::size_t i = 0; i < size; ++i) {
            array.values.push_back(static_cast<float>(static_cast<unsigned char>(contents[i])));
        }
    }
    array.is_half = header.find("'<f2'") != std::string::npos;
    if (is_fortran) reverse_axes(array);
    return array;
}

/// Calls visit(element of the file's tensor, element of the graph's) for each element.
template <typename Visit>
void for_each_file_element(const ir::Value& value, const Visit& visit) {
    const std::size_t rank = value.shape.rank();
    std::vector<std::size_t> strides(rank, 1);
    for (std::size_t axis = rank; axis-- > 1;) strides[axis - 1] = strides[axis] * value.shape[axis];
    for (std::size_t element = 0; element < value.shape.elements(); ++element) {
        std::size_t rest = element;
        std::size_t mine = 0;
        for (std::size_t i = rank; i-- > 0;) {
            const std::size_t axis = value.file_axes.empty() ? i : value.file_axes[i];
            mine += rest % value.shape[axis] * strides[axis];
            rest /= value.shape[axis];
        }
        visit(element, mine);
    }
}

/// The largest difference from the expected outputs, relative to the largest number of each.
double output_difference(const ir::Graph& graph, const FloatArray& input,
                         const std::vector<FloatArray>& expected) {
    REQUIRE(graph.inputs.size() == 1);
    const ir::Value& taken = graph.values[graph.inputs.front()];
    REQUIRE(taken.shape.elements() == input.values.size());
    std::vector<float> numbers(input.values.size());
    for_each_file_element(taken,
                          [&](std::size_t file, std::size_t mine) { numbers[mine] = input.values[file]; });
    std::vector<std::uint8_t> stored;
    std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(numbers.data()),
                                        numbers.size() * sizeof(float));
    if (taken.type != DataType::Float32) {
        // As the network's own `quantize` would store them.
        // Bytes of images have no scale.
        const ir::Quantization scale = taken.quantization.value_or(ir::Quantization{{1.0}, {0}, {}});
        for (const float real : numbers) {
            const double number = double{std::nearbyint(real / static_cast<float>(scale.scales.front()))} +
                                  scale.zero_points.front();
            const auto clamped = static_cast<std::int32_t>(
                std::clamp<double>(number, lowest_of(taken.type), highest_of(taken.type)));
            stored.push_back(static_cast<std::uint8_t>(clamped));
        }
        REQUIRE(bytes_of(taken.type) == 1);
        bytes = stored;
    }
    const auto outputs = reference::run(graph, {&bytes, 1}, 1);
    REQUIRE(outputs.size() == expected.size());
    double worst = 0.0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ir::Value& value = graph.values[graph.outputs[i]];
        REQUIRE(value.shape.elements() == expected[i].values.size());
        double largest = 0.0;
        double error = 0.0;
        for_each_file_element(value, [&](std::size_t file, std::size_t mine) {
            double got = 0.0;
            if (value.type == DataType::Float32) {
                float number = 0.0F;
                std::memcpy(&number, outputs[i].data() + mine * sizeof(float), sizeof(float));
                got = number;
            } else {
                const std::int32_t number = value.type == DataType::Int8
                                                ? static_cast<std::int8_t>(outputs[i][mine])
                                                : outputs[i][mine];
                got = value.quantization->scales.front() * (number - value.quantization->zero_points.front());
            }
            const double wanted = expected[i].values[file];
            largest = std::max(largest, std::abs(wanted));
            error = std::max(error, std::abs(got - wanted));
        });
        worst = std::max(worst, error / std::max(largest, 1e-30));
    }
    return worst;
}

/// Reads a network whose input has this shape if the file leaves it open.
ir::Graph read_with_shape(const fs::path& path, const std::vector<std::uint32_t>& shape) {
    try {
        return frontend::read_network(path);
    } catch (const ModelError& error) {
        const std::string message = error.what();
        if (message.find("the input's shape must be given") == std::string::npos) throw;
        const std::string start = path.string() + ": input \"";
        const std::string name = message.substr(start.size(), message.find('"', start.size()) - start.size());
        return frontend::read_network(path, frontend::WeightValues::Read,
                                      {.shapes = {.given = {{name, ir::Shape(shape)}}}});
    }
}

}  // namespace

TEST_CASE("ONNX networks of other people give the answers that another program gave",
          "[compiler][frontend]") {
    const fs::path folder = fs::path(tests::source_dir()) / "../shared/data/onnx";
    if (!fs::exists(folder)) {
        WARN("SKIPPED: " << folder.string() << " is not there");
        return;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".onnx") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    REQUIRE(!files.empty());
    for (const fs::path& path : files) {
        const std::string name = path.stem().string();
        INFO(name);
        const FloatArray input = read_float_array(folder / (name + ".input.npy"));
        std::vector<FloatArray> expected;
        for (int i = 0;; ++i) {
            const fs::path output =
                folder / (name + (i == 0 ? ".output.npy" : fmt::format(".output{}.npy", i)));
            if (!fs::exists(output)) break;
            expected.push_back(read_float_array(output));
        }
        // Of a network on integers the rounding of each layer passes on to the next: another runtime's own
        // outputs of this one (onnxruntime's) differ from the expected ones by 0.24.
        constexpr double exact = 1e-4;
        constexpr double half = 4e-3;
        constexpr double on_integers = 0.5;
        const double tolerance = name.starts_with("qdq_") ? on_integers : input.is_half ? half : exact;
        try {
            const ir::Graph graph = read_with_shape(path, input.shape);
            const double as_read = output_difference(graph, input, expected);
            const ir::Graph simple = passes::simplify(graph);
            const double simplified = output_difference(simple, input, expected);
            const auto moved = std::ranges::count_if(
                simple.nodes, [](const ir::Node& node) { return node.is("transpose"); });
            fmt::print("{:28} {:.1e} as read, {:.1e} simplified; {} nodes, {} of them transpose\n", name,
                       as_read, simplified, simple.nodes.size(), moved);
            CHECK(as_read < tolerance);
            CHECK(simplified < tolerance);
        } catch (const ModelError& error) {
            FAIL_CHECK(error.what());
        }
    }
}
