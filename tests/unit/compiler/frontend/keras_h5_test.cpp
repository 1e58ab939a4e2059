#include "compiler/frontend/keras_h5.h"

#include <catch2/catch.hpp>
#include <random>

#include "compiler/frontend/frontend.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "tests/unit/compiler/frontend/keras_file.h"

using namespace systole;
using tests::KerasFile;
using tests::TemporaryFile;
using tests::TextKind;

namespace {

KerasFile two_dense_layers() {
    KerasFile file;
    file.model_config = R"({"class_name": "Sequential", "config": {"name": "sequential", "layers": [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_input_shape": [null, 2]}},
        {"class_name": "Dense", "config": {"name": "first", "units": 3, "use_bias": false}},
        {"class_name": "Dense", "config": {"name": "second", "units": 1}}]}})";
    file.layers["first"] = {{.name = "first/kernel:0", .shape = {2, 3}, .values = {1, 2, 3, 4, 5, 6}}};
    // The bias comes first: weights are told by their names, not by their order.
    file.layers["second"] = {{.name = "second/bias:0", .shape = {1}, .values = {0.5}},
                             {.name = "second/kernel:0", .shape = {3, 1}, .values = {7, 8, 9}}};
    return file;
}

/// The constants of a layer: weights and optionally a bias.
std::vector<std::vector<float>> constants_of(const ir::Graph& graph, std::size_t layer) {
    const ir::NodeView view(graph, graph.nodes.at(layer));
    std::vector<std::vector<float>> constants;
    while (const ir::Value* const value = view.constant(constants.size())) {
        const auto floats = value->constant->values<float>();
        constants.emplace_back(floats.begin(), floats.end());
    }
    return constants;
}

std::string error_of(const std::filesystem::path& path) {
    try {
        frontend::read_network(path, operators::registry());
    } catch (const ModelError& error) {
        CHECK_THAT(error.what(), Catch::StartsWith(path.string() + ": "));
        CHECK_THAT(error.what(), !Catch::Contains("\n"));
        return std::string(error.what()).substr(path.string().size() + 2);
    }
    return "no error";
}

std::string error_of(const KerasFile& file) {
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    return error_of(temporary.path());
}

}  // namespace

TEST_CASE("A Keras file's layers get their own weights", "[compiler][frontend]") {
    KerasFile file = two_dense_layers();
    file.texts = GENERATE(TextKind::Fixed, TextKind::Variable);
    file.names_per_attribute = GENERATE(1U, 1000U);
    const TemporaryFile temporary("two_layers.h5");
    file.write(temporary.path());
    const ir::Graph graph = frontend::read_network(temporary.path(), operators::registry());
    CHECK(graph.name == "two_layers");
    REQUIRE(graph.nodes.size() == 2);
    CHECK(graph.nodes[0].name == "first");
    CHECK(constants_of(graph, 0) == std::vector<std::vector<float>>{{1, 2, 3, 4, 5, 6}});
    CHECK(constants_of(graph, 1) == std::vector<std::vector<float>>{{7, 8, 9}, {0.5}});
}

TEST_CASE("Weights are found by their role in every version of Keras", "[compiler][frontend]") {
    const std::string name =
        GENERATE("kernel", "kernel:0", "first/kernel", "sequential/first/kernel:0", "first_3/kernel_1:0");
    KerasFile file = two_dense_layers();
    file.layers["first"][0].name = name;
    INFO(name);
    CHECK(error_of(file) == "no error");
    file.layers["first"][0].name = "first/kernels:0";
    CHECK(error_of(file) == "layer \"first\": the file has no kernel for it");
}

TEST_CASE("Weights of any width, packed or not, are read", "[compiler][frontend]") {
    KerasFile file = two_dense_layers();
    const bool wide = GENERATE(false, true);
    file.layers["first"][0].type = wide ? H5T_IEEE_F64BE : H5T_IEEE_F32LE;
    file.layers["first"][0].packed = GENERATE(false, true);
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    const ir::Graph graph = frontend::read_keras_h5(temporary.path(), operators::registry());
    CHECK(constants_of(graph, 0).front() == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("Weights that do not fit the configuration are refused", "[compiler][frontend]") {
    KerasFile file = two_dense_layers();
    SECTION("another shape") {
        file.layers["first"][0].shape = {3, 2};
        CHECK(error_of(file) ==
              "layer \"first\": its kernel is [3, 2]; by its configuration it must be [2, 3]");
    }
    SECTION("no weights") {
        file.layers.erase("second");
        CHECK(error_of(file) == "layer \"second\": the file has no weights for it");
    }
    SECTION("not a number") {
        file.layers["first"][0].values[3] = std::numeric_limits<double>::quiet_NaN();
        CHECK(error_of(file) ==
              "\"model_weights/first/first/kernel:0\": it has values that are not finite numbers");
    }
    SECTION("integers") {
        file.layers["first"][0].type = H5T_STD_I32LE;
        CHECK(error_of(file) ==
              "\"model_weights/first/first/kernel:0\": it must be of floating-point numbers");
    }
    SECTION("more than the file holds") {
        file.layers["first"][0] = {.name = "first/kernel:0", .shape = {1 << 20, 1 << 20}, .values = {}};
        CHECK_THAT(error_of(file),
                   Catch::Contains("it claims 4398046511104 bytes of values; the file has 0 for them"));
    }
    SECTION("more than fits 64 bits") {
        constexpr hsize_t large = hsize_t{1} << 31;
        file.layers["first"][0] = {
            .name = "first/kernel:0", .shape = {large, large, 2}, .values = {}, .packed = true};
        CHECK(error_of(file) == "\"model_weights/first/first/kernel:0\": its dimensions are too large");
    }
}

TEST_CASE("A file without a model is refused", "[compiler][frontend]") {
    KerasFile file = two_dense_layers();
    SECTION("weights alone") {
        file.model_config.clear();
        CHECK(error_of(file) == "it has no model_config; it must hold the whole model, not weights alone");
    }
    SECTION("not JSON") {
        file.model_config = R"({"class_name": )";
        CHECK(error_of(file).starts_with("model_config is not JSON: parse error at line 1, column 16"));
    }
    SECTION("a class of layers nobody knows") {
        file.model_config.replace(file.model_config.find("Dense"), 5, "Lambda");
        CHECK(error_of(file) ==
              "layer \"first\": class_name is \"Lambda\"; this class of layers is not supported: "
              "docs/operators.md lists "
              "those that are");
    }
}

TEST_CASE("A file of another kind is refused in one line", "[compiler][frontend]") {
    const TemporaryFile temporary("net.onnx");
    CHECK(error_of(temporary.path()) == "there is no such file");
    temporary.write("");
    CHECK(error_of(temporary.path()) == "it is empty");
    temporary.write("PK\x03\x04");
    CHECK(error_of(temporary.path()) ==
          "its format is not known; networks are read from Keras HDF5 (.h5), "
          "graph file (JSON), the text of a graph (.txt)");
    temporary.write("\x89HDF\r\n\x1a\n and nothing more");
    CHECK(error_of(temporary.path()) == "it is not an HDF5 file, or it is damaged");
    CHECK(error_of(temporary.path().parent_path()) == "is a directory; it must be a regular file");
}

TEST_CASE("A truncated file is refused and never read past its end", "[compiler][frontend]") {
    KerasFile file = two_dense_layers();
    file.texts = TextKind::Variable;
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    const std::string whole = temporary.bytes();
    REQUIRE(error_of(temporary.path()) == "no error");
    for (std::size_t length = 0; length < whole.size(); length += 97) {
        INFO(length << " of " << whole.size() << " bytes");
        temporary.write(whole.substr(0, length));
        CHECK(error_of(temporary.path()) != "no error");
    }
}

TEST_CASE("A damaged file never takes the program down", "[compiler][frontend]") {
    const TemporaryFile temporary("net.h5");
    two_dense_layers().write(temporary.path());
    const std::string whole = temporary.bytes();
    constexpr std::uint32_t seed = 11;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
        std::string damaged = whole;
        for (std::size_t j = 0; j < 8; ++j) damaged[random() % damaged.size()] = static_cast<char>(random());
        temporary.write(damaged);
        refused += error_of(temporary.path()) == "no error" ? 0 : 1;
    }
    CHECK(refused > 0);
}
