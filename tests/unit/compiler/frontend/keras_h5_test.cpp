#include "compiler/frontend/keras_h5.h"

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "tests/unit/compiler/frontend/keras_file.h"

using namespace systole;
using tests::KerasFile;
using tests::StoredWeight;
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
        frontend::read_network(path);
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
    const ir::Graph graph = frontend::read_network(temporary.path());
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

TEST_CASE("Functions of a .h5 file are those of the version that wrote it", "[compiler][frontend]") {
    KerasFile file;
    file.model_config = R"({"class_name": "Sequential", "config": {"name": "sequential", "layers": [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_input_shape": [null, 2]}},
        {"class_name": "Activation", "config": {"name": "a", "activation": "hard_sigmoid"}}]}})";
    const auto slope = [&] {
        const TemporaryFile temporary("net.h5");
        file.write(temporary.path());
        return frontend::read_network(temporary.path()).nodes.front().real("alpha");
    };
    CHECK(slope() == Approx(0.2));
    file.about["keras_version"] = "2.2.4-tf";
    CHECK(slope() == Approx(0.2));
    file.about["keras_version"] = "3.4.1";
    CHECK(slope() == Approx(1.0 / 6.0));
    file.about["keras_version"] = "new";
    CHECK(error_of(file) == "its keras_version is \"new\"; it must be a version like \"2.15.0\"");
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

TEST_CASE("Weights of Keras 1 have the layer's name in theirs", "[compiler][frontend]") {
    KerasFile file;
    file.about = GENERATE(std::map<std::string, std::string>{},
                          std::map<std::string, std::string>{{"keras_version", "1.2.2"}});
    file.model_config = R"({"class_name": "Sequential", "config": [
        {"class_name": "Convolution1D", "config": {"name": "convolution1d_1", "batch_input_shape": [null, 4, 2],
            "nb_filter": 4, "filter_length": 3, "border_mode": "valid", "subsample_length": 1, "bias": true}},
        {"class_name": "BatchNormalization", "config": {"name": "batchnormalization_1", "mode": 0, "axis": -1,
            "epsilon": 0.5}}]})";
    const bool is_first_version = GENERATE(false, true);
    // The kernel that Keras 2 would have, [length][input][filter], is 0, 1, 2, ...
    StoredWeight kernel{.name = "convolution1d_1_W", .shape = {3, 1, 2, 4}, .values = {}};
    if (is_first_version) kernel.shape = {4, 2, 3, 1};
    for (int i = 0; i < 24; ++i) {
        const int filter = i / 6;
        const int channel = i / 3 % 2;
        const int position = i % 3;
        kernel.values.push_back(is_first_version ? (position * 2 + channel) * 4 + filter : i);
    }
    file.layers["convolution1d_1"] = {kernel,
                                      {.name = "convolution1d_1_b:0", .shape = {4}, .values = {7, 8, 9, 1}}};
    file.layers["batchnormalization_1"] = {
        {.name = "batchnormalization_1_gamma:0", .shape = {4}, .values = {1, 2, 3, 1}},
        {.name = "batchnormalization_1_beta:0", .shape = {4}, .values = {4, 5, 6, 2}},
        {.name = "batchnormalization_1_running_mean:0", .shape = {4}, .values = {7, 8, 9, 3}},
        {.name = "batchnormalization_1_running_std:0", .shape = {4}, .values = {10, 11, 12, 4}}};
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    const ir::Graph graph = frontend::read_network(temporary.path());
    REQUIRE(graph.nodes.size() == 3);
    CHECK(graph.output().shape == ir::Shape{1, 2, 4});
    std::vector<float> counted(24);
    std::iota(counted.begin(), counted.end(), 0.0F);
    CHECK(constants_of(graph, 0) == std::vector<std::vector<float>>{counted, {7, 8, 9, 1}});
    CHECK(constants_of(graph, 2) ==
          std::vector<std::vector<float>>{{1, 2, 3, 1}, {4, 5, 6, 2}, {7, 8, 9, 3}, {10, 11, 12, 4}});
}

TEST_CASE("Kernels on channels first are turned, if they are Keras 1's", "[compiler][frontend]") {
    const bool is_keras_1 = GENERATE(false, true);
    KerasFile file;
    file.about = {{"keras_version", is_keras_1 ? "1.1.0" : "2.0.0"}};
    file.model_config = R"({"class_name": "Sequential", "config": [
        {"class_name": "Convolution2D", "config": {"name": "c", "batch_input_shape": [null, 2, 4, 4],
            "nb_filter": 3, "nb_row": 1, "nb_col": 2, "dim_ordering": "th", "bias": false}}]})";
    // The kernel that Keras 2 would have, [row][column][input][filter], is 0, 1, 2, ...
    StoredWeight kernel{.name = "c_W:0", .shape = {1, 2, 2, 3}, .values = {}};
    if (is_keras_1) kernel.shape = {3, 2, 1, 2};
    for (int i = 0; i < 12; ++i) {
        kernel.values.push_back(is_keras_1 ? (i % 2 * 2 + i / 2 % 2) * 3 + i / 4 : i);
    }
    file.layers["c"] = {kernel};
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    const ir::Graph graph = frontend::read_network(temporary.path());
    REQUIRE(graph.nodes.size() == 3);
    CHECK(constants_of(graph, 1).front() == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(graph.output().shape == ir::Shape{1, 3, 4, 3});
}

TEST_CASE("Kernels that Theano turned are turned back", "[compiler][frontend]") {
    KerasFile file;
    const std::string backend = GENERATE("tensorflow", "theano");
    file.about = {{"keras_version", "2.1.0"}, {"backend", backend}};
    file.model_config = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "Conv2D", "config": {"name": "c", "batch_input_shape": [null, 4, 4, 1], "filters": 2,
            "kernel_size": [2, 2], "use_bias": false}}]}})";
    file.layers["c"] = {{.name = "c/kernel:0", .shape = {2, 2, 1, 2}, .values = {0, 1, 2, 3, 4, 5, 6, 7}}};
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    const ir::Graph graph = frontend::read_network(temporary.path());
    CHECK(constants_of(graph, 0).front() == (backend == "theano"
                                                 ? std::vector<float>{6, 7, 4, 5, 2, 3, 0, 1}
                                                 : std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_CASE("A nested model's layers find their weights in its group", "[compiler][frontend]") {
    KerasFile file;
    // Two models with layers of the same names, one of which has a line in its name.
    file.model_config = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_input_shape": [null, 2]}},
        {"class_name": "Sequential", "config": {"name": "outer", "layers": [
            {"class_name": "Dense", "config": {"name": "d", "units": 2, "use_bias": false}},
            {"class_name": "Sequential", "config": {"name": "inner", "layers": [
                {"class_name": "Dense", "config": {"name": "d", "units": 2, "use_bias": false}},
                {"class_name": "Dense", "config": {"name": "e/d", "units": 2, "use_bias": false}}]}}]}}]}})";
    const auto weight = [](const std::string& name, double value) {
        return StoredWeight{.name = name, .shape = {2, 2}, .values = {value, value, value, value}};
    };
    file.layers["outer"] = {weight("e/d/kernel:0", 3), weight("d/kernel:0", 1),
                            weight("inner/d/kernel:0", 2)};
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    const ir::Graph graph = frontend::read_network(temporary.path());
    REQUIRE(graph.nodes.size() == 3);
    CHECK(graph.nodes[1].name == "outer/inner/d");
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(constants_of(graph, i).front() == std::vector<float>(4, static_cast<float>(i + 1)));
    }

    file.layers["outer"][2].name = "other/d/kernel:0";
    file.layers["outer"][1].name = "another/d/kernel:0";
    CHECK(error_of(file) == "layer \"outer/d\": the file has several weights that may be its kernel");
    file.layers["outer"].resize(1);
    file.layers["outer"][0].name = "f/kernel:0";
    CHECK(error_of(file) == "layer \"outer/d\": the file has no kernel for it");
}

TEST_CASE("A layer that is called twice has its weights once in memory", "[compiler][frontend]") {
    KerasFile file;
    file.model_config = R"({"class_name": "Functional", "config": {"name": "f", "layers": [
        {"class_name": "InputLayer", "name": "in", "config": {"name": "in", "batch_input_shape": [null, 2]},
         "inbound_nodes": []},
        {"class_name": "Dense", "name": "d", "config": {"name": "d", "units": 2},
         "inbound_nodes": [[["in", 0, 0, {}]], [["d", 0, 0, {}]]]}],
        "input_layers": [["in", 0, 0]], "output_layers": [["d", 1, 0]]}})";
    file.layers["d"] = {{.name = "d/kernel:0", .shape = {2, 2}, .values = {1, 2, 3, 4}},
                        {.name = "d/bias:0", .shape = {2}, .values = {5, 6}}};
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    const ir::Graph graph = frontend::read_network(temporary.path());
    REQUIRE(graph.nodes.size() == 2);
    CHECK(graph.nodes[0].name == "d");
    CHECK(graph.nodes[1].name == "d (call 2)");
    const auto kernel = [&](std::size_t node) {
        return ir::NodeView(graph, graph.nodes[node]).constant(0)->constant->values<float>().data();
    };
    CHECK(kernel(0) == kernel(1));
}

TEST_CASE("A model may have several inputs", "[compiler][frontend]") {
    KerasFile file = two_dense_layers();
    file.model_config = R"({"class_name": "Functional", "config": {"name": "f", "layers": [
        {"class_name": "InputLayer", "name": "in", "config": {"name": "in", "batch_input_shape": [null, 2]},
         "inbound_nodes": []},
        {"class_name": "InputLayer", "name": "in2", "config": {"name": "in2", "batch_input_shape": [null, 2]},
         "inbound_nodes": []},
        {"class_name": "Add", "name": "a", "config": {"name": "a"},
         "inbound_nodes": [[["in", 0, 0, {}], ["in2", 0, 0, {}]]]}],
        "input_layers": [["in", 0, 0], ["in2", 0, 0]], "output_layers": [["a", 0, 0]]}})";
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    const ir::Graph graph = frontend::read_network(temporary.path());
    REQUIRE(graph.inputs.size() == 2);
    CHECK(graph.values[graph.inputs[0]].name == "in");
    CHECK(graph.values[graph.inputs[1]].name == "in2");
}

TEST_CASE("Nothing outside a file is read", "[compiler][frontend]") {
    const TemporaryFile other("other.h5");
    two_dense_layers().write(other.path());
    KerasFile file = two_dense_layers();
    file.layers["first"].clear();
    const TemporaryFile temporary("net.h5");
    file.write(temporary.path());
    {
        const frontend::SilencedHdf5 silenced;
        const frontend::Hdf5Handle handle(H5Fopen(temporary.path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
                                          H5Fclose);
        H5Ldelete(handle.get(), "model_weights/first", H5P_DEFAULT);
        H5Lcreate_external(other.path().c_str(), "model_weights/first", handle.get(), "model_weights/first",
                           H5P_DEFAULT, H5P_DEFAULT);
    }
    CHECK(error_of(temporary.path()) != "no error");
    CHECK(error_of(other.path()) == "no error");
}

TEST_CASE("Values that a file keeps in another one are refused by their place", "[compiler][frontend]") {
    const TemporaryFile values("values.raw");
    values.write(std::string(24, '\0'));
    const TemporaryFile temporary("net.h5");
    two_dense_layers().write(temporary.path());
    const std::string place = "model_weights/first/first/kernel:0";
    {
        const frontend::SilencedHdf5 silenced;
        const frontend::Hdf5Handle file(H5Fopen(temporary.path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
                                        H5Fclose);
        H5Ldelete(file.get(), place.c_str(), H5P_DEFAULT);
        const frontend::Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_external(creation.get(), values.path().c_str(), 0, 24);
        const std::array<hsize_t, 2> extents{2, 3};
        const frontend::Hdf5Handle space(H5Screate_simple(2, extents.data(), nullptr), H5Sclose);
        const frontend::Hdf5Handle dataset(H5Dcreate2(file.get(), place.c_str(), H5T_IEEE_F32LE, space.get(),
                                                      H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                                           H5Dclose);
        REQUIRE(dataset.valid());
    }
    CHECK(error_of(temporary.path()) == "layer \"first\": its kernel in the file, \"" + place +
                                            "\": its values are in another file; they must be in this one");
}

TEST_CASE("An attribute that is missing is named with its group", "[compiler][frontend]") {
    const TemporaryFile temporary("net.h5");
    two_dense_layers().write(temporary.path());
    const frontend::Hdf5File file(temporary.path());
    CHECK_THROWS_WITH(file.text_list_attribute("model_weights", "none"),
                      Catch::Contains("\"model_weights@none\": there is no such attribute"));
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
              "layer \"first\": its kernel in the file, \"model_weights/first/first/kernel:0\": it has "
              "values that are not finite numbers");
    }
    SECTION("integers") {
        file.layers["first"][0].type = H5T_STD_I32LE;
        CHECK(error_of(file) ==
              "layer \"first\": its kernel in the file, \"model_weights/first/first/kernel:0\": it must be "
              "of floating-point numbers");
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
        CHECK(error_of(file) ==
              "layer \"first\": its kernel in the file, \"model_weights/first/first/kernel:0\": its "
              "dimensions are too large");
    }
}

TEST_CASE("A file without a model is refused", "[compiler][frontend]") {
    KerasFile file = two_dense_layers();
    SECTION("weights alone") {
        file.model_config.clear();
        CHECK(error_of(file) == "it has no model_config; it must hold the whole model, not weights alone");
    }
    SECTION("a model without outputs") {
        file.model_config = R"({"class_name": "Functional", "config": {"name": "f", "layers": [
            {"class_name": "InputLayer", "name": "in", "inbound_nodes": [],
             "config": {"name": "in", "batch_input_shape": [null, 2]}}],
            "input_layers": [["in", 0, 0]], "output_layers": []}})";
        CHECK_THAT(error_of(file), Catch::Contains("output"));
    }
    SECTION("not JSON") {
        file.model_config = R"({"class_name": )";
        CHECK(error_of(file).starts_with("model_config is not JSON: parse error at line 1, column 16"));
    }
    SECTION("a layer of code") {
        file.model_config.replace(file.model_config.find("Dense"), 5, "Lambda");
        CHECK(error_of(file) ==
              "layer \"first\": class_name is \"Lambda\"; it is Python code, and code in a network's file is "
              "never run");
    }
    SECTION("a class of layers that nobody knows") {
        file.model_config.replace(file.model_config.find("Dense"), 5, "Dance");
        CHECK(error_of(file) ==
              "layer \"first\": class_name is \"Dance\"; this class of layers is not supported: "
              "docs/operators.md lists those that are");
    }
}

TEST_CASE("A file of another kind is refused in one line", "[compiler][frontend]") {
    const TemporaryFile temporary("net.onnx");
    CHECK(error_of(temporary.path()) == "there is no such file");
    temporary.write("");
    CHECK(error_of(temporary.path()) == "it is empty");
    temporary.write("PK\x05\x06");
    CHECK(error_of(temporary.path()) ==
          "its format is not known; networks are read from Keras HDF5 (.h5), Keras archive (.keras), "
          "graph file (JSON), HLO module (.hlo, .hlo.gz), ONNX (.onnx), the text of a graph (.txt), TFLite "
          "(.tflite)");
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
