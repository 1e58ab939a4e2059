#include "compiler/frontend/keras_archive.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "tests/unit/base/zip/made_zip.h"
#include "tests/unit/compiler/frontend/keras_file.h"

using namespace systole;
using tests::MadeEntry;
using tests::StoredWeight;
using tests::TemporaryFile;

namespace {

/// A weight of one number.
StoredWeight weight(const std::string& name, double value) {
    return {.name = name, .shape = {1, 1}, .values = {value}};
}

/// A chain of Dense layers of one unit, with names that say nothing, and a nested chain between them.
const std::string nested_chain = R"({"module": "keras", "class_name": "Sequential", "config": {"name": "s",
    "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}}, "layers": [
    {"module": "keras.layers", "class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 1]}},
    {"module": "keras.layers", "class_name": "Dense", "config": {"name": "z", "units": 1, "use_bias": false}},
    {"module": "keras.models", "class_name": "Sequential", "config": {"name": "n", "layers": [
        {"class_name": "ReLU", "config": {"name": "r"}},
        {"class_name": "Dense", "config": {"name": "y", "units": 1, "use_bias": false}},
        {"class_name": "Dense", "config": {"name": "x", "units": 1, "use_bias": false}}]}},
    {"class_name": "Dense", "config": {"name": "a", "units": 1, "use_bias": false}}]},
    "registered_name": null, "build_config": {"input_shape": [null, 1]}})";

/// Its weights: 1, 2, 3, 4 in the order of the layers.
std::vector<StoredWeight> weights_of_chain(const std::string& list, const std::string& number) {
    return {weight(list + "/dense/vars/0", 1), weight(list + "/sequential/" + list + "/dense/vars/0", 2),
            weight(list + "/sequential/" + list + "/dense" + number + "/vars/0", 3),
            weight(list + "/dense" + number + "/vars/0", 4)};
}

std::vector<MadeEntry> entries_of(const std::string& config, const std::vector<StoredWeight>& weights) {
    return {{.name = "metadata.json", .bytes = R"({"keras_version": "3.3.3"})"},
            {.name = "config.json", .bytes = config},
            {.name = "model.weights.h5", .bytes = tests::checkpoint(weights)}};
}

std::string archive_error(const std::string& bytes) {
    const TemporaryFile temporary("net.keras");
    temporary.write(bytes);
    try {
        frontend::read_network(temporary.path());
    } catch (const ModelError& error) {
        CHECK_THAT(error.what(), Catch::StartsWith(temporary.path().string() + ": "));
        CHECK_THAT(error.what(), !Catch::Contains("\n"));
        return std::string(error.what()).substr(temporary.path().string().size() + 2);
    }
    return "no error";
}

std::string archive_error(const std::vector<MadeEntry>& entries) {
    return archive_error(tests::made_zip(entries));
}

}  // namespace

TEST_CASE("Layers of a .keras file find their weights by class and order", "[compiler][frontend]") {
    // Some versions of Keras name the lists differently and count each layer with weights twice.
    const auto [list, number] =
        GENERATE(table<std::string, std::string>({{"layers", "_1"},
                                                  {"_layer_checkpoint_dependencies", "_1"},
                                                  {"_layer_checkpoint_dependencies", "_2"}}));
    const TemporaryFile temporary("chain.zip");
    temporary.write(tests::made_zip(entries_of(nested_chain, weights_of_chain(list, number))));
    const ir::Graph graph = frontend::read_network(temporary.path());
    CHECK(graph.name == "chain");
    std::string text;
    for (const ir::Node& node : graph.nodes) {
        const ir::Value* const kernel = ir::NodeView(graph, node).constant(0);
        text += node.name +
                (kernel == nullptr
                     ? ""
                     : "=" + std::to_string(static_cast<int>(kernel->constant->values<float>()[0]))) +
                " ";
    }
    CHECK(text == "z=1 n/r n/y=2 n/x=3 a=4 ");
}

TEST_CASE("Names of a .keras file may have the separator of Windows", "[compiler][frontend]") {
    // Keras on Windows has written names of groups with "\\" in them, some of them below groups.
    const std::string list = "_layer_checkpoint_dependencies";
    const std::vector<std::string> names = GENERATE_COPY(values<std::vector<std::string>>(
        {{list + "\\dense/vars/0", list + "\\sequential\\layers\\dense/vars/0",
          list + "\\sequential\\layers\\dense_1/vars/0", list + "\\dense_1/vars/0"},
         {"layers\\dense\\vars/0", "layers\\sequential/layers\\dense\\vars\\0",
          "layers\\sequential/layers/dense_1/vars\\0", "layers\\dense_1\\vars\\0"},
         {"layers/dense/vars/0", "layers/sequential\\layers\\dense/vars/0",
          "layers/sequential\\layers/dense_1\\vars/0", "layers\\dense_1/vars\\0"}}));
    std::vector<StoredWeight> weights;
    for (std::size_t i = 0; i < names.size(); ++i)
        weights.push_back(weight(names[i], 1.0 + static_cast<double>(i)));
    std::vector<MadeEntry> entries = entries_of(nested_chain, weights);
    const std::string folder = GENERATE("", "./", ".\\");
    for (MadeEntry& entry : entries) entry.name = folder + entry.name;
    const std::string bytes = tests::made_zip(entries);
    const ir::Graph graph = frontend::read_keras_archive(std::string_view(bytes), operators::registry());
    std::vector<float> kernels;
    for (const ir::Node& node : graph.nodes) {
        const ir::Value* const kernel = ir::NodeView(graph, node).constant(0);
        if (kernel != nullptr) kernels.push_back(kernel->constant->values<float>()[0]);
    }
    CHECK(kernels == std::vector<float>{1.0F, 2.0F, 3.0F, 4.0F});
    entries.pop_back();
    CHECK(archive_error(entries) ==
          "it is a zip file without config.json and model.weights.h5, which a .keras file has");
    weights.erase(weights.begin());
    CHECK_THAT(archive_error(entries_of(nested_chain, weights)),
               Catch::Contains("the file has no weights for it"));
}

TEST_CASE("The weights of a layer are numbered", "[compiler][frontend]") {
    const std::string config = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 1]}},
        {"class_name": "BatchNormalization", "config": {"name": "b", "axis": -1, "scale": false}}]}})";
    std::vector<StoredWeight> weights;
    for (int i = 0; i < 3; ++i) {
        weights.push_back({.name = "layers/batch_normalization/vars/" + std::to_string(i),
                           .shape = {1},
                           .values = {i + 1.0}});
    }
    const std::string bytes = tests::made_zip(entries_of(config, weights));
    const ir::Graph graph = frontend::read_keras_archive(std::string_view(bytes), operators::registry());
    const ir::NodeView view(graph, graph.nodes[0]);
    CHECK(view.constant(0)->constant->values<float>()[0] == 1.0F);  // gamma, which the file does not have
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(view.constant(i + 1)->constant->values<float>()[0] == static_cast<float>(i + 1));
    }
    weights.pop_back();
    CHECK(archive_error(entries_of(config, weights)) ==
          "layer \"b\": the file has no moving_variance for it");
    weights[1].shape = {1, 1};
    CHECK(archive_error(entries_of(config, weights)) ==
          "layer \"b\": its moving_mean is [1, 1]; by its configuration it must be [1]");
    weights[0].name = "layers/dense/vars/0";
    weights.pop_back();
    CHECK(archive_error(entries_of(config, weights)) == "layer \"b\": the file has no weights for it");
}

TEST_CASE("Functions of a .keras file are those of the version that wrote it", "[compiler][frontend]") {
    const std::string config = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 1]}},
        {"class_name": "Activation", "config": {"name": "a", "activation": "hard_sigmoid"}}]}})";
    std::vector<MadeEntry> entries = entries_of(config, {});
    const auto slope = [&] {
        const std::string bytes = tests::made_zip(entries);
        return frontend::read_keras_archive(std::string_view(bytes), operators::registry())
            .nodes.front()
            .real("alpha");
    };
    CHECK(slope() == Approx(1.0 / 6.0));
    entries[0] = {.name = "metadata.json", .bytes = R"({"keras_version": "2.15.0"})"};
    CHECK(slope() == Approx(0.2));
    entries[0] = {.name = "metadata.json", .bytes = R"({"keras_version": 3})"};
    CHECK(archive_error(entries) == "metadata.json: keras_version is 3; it must be a version like \"3.0.0\"");
    entries[0] = {.name = "metadata.json", .bytes = "[]"};
    CHECK(archive_error(entries) ==
          "metadata.json: keras_version is null; it must be a version like \"3.0.0\"");
    entries[0] = {.name = "metadata.json", .bytes = "{"};
    CHECK_THAT(archive_error(entries), Catch::StartsWith("metadata.json "));
    entries.erase(entries.begin());
    CHECK(slope() == Approx(1.0 / 6.0));
}

TEST_CASE("Classes have the names of groups that Keras gives them", "[compiler][frontend]") {
    const auto [class_name, group, keys] = GENERATE(table<std::string, std::string, std::string>(
        {{"Conv2D", "conv2d", R"("filters": 1, "kernel_size": [1, 1], "use_bias": false)"},
         {"DepthwiseConv2D", "depthwise_conv2d", R"("kernel_size": [1, 1], "use_bias": false)"}}));
    const std::string config =
        R"({"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "InputLayer",
            "config": {"name": "in", "batch_shape": [null, 1, 1, 1]}}, {"class_name": ")" +
        class_name + R"(", "config": {"name": "c", )" + keys + "}}]}}";
    const StoredWeight kernel{.name = "layers/" + group + "/vars/0", .shape = {1, 1, 1, 1}, .values = {5}};
    CHECK(archive_error(entries_of(config, {kernel})) == "no error");
}

TEST_CASE("A zip file that is no Keras model is refused", "[compiler][frontend]") {
    const std::vector<MadeEntry> right = entries_of(nested_chain, weights_of_chain("layers", "_1"));
    REQUIRE(archive_error(right) == "no error");
    std::vector<MadeEntry> wrong = right;
    SECTION("another zip file") {
        wrong[1].name = "word/document.xml";
        CHECK(archive_error(wrong) ==
              "it is a zip file without config.json and model.weights.h5, which a .keras file has");
    }
    SECTION("entries of one name") {
        wrong.push_back(wrong[1]);
        CHECK(archive_error(wrong) == "it has two entries of one name");
    }
    SECTION("a bomb") {
        wrong[2].method = 8;
        wrong[2].claimed_bytes = 0xfffffff0;
        CHECK_THAT(archive_error(wrong),
                   Catch::StartsWith("entry \"model.weights.h5\": it claims 4294967280 bytes; "
                                     "the file has "));
        wrong = right;
        wrong[1].claimed_bytes = 1U << 30U;
        CHECK(archive_error(wrong) ==
              "entry \"config.json\": it has 1073741824 bytes; it may have at most 67108864");
    }
    SECTION("encrypted") {
        wrong[1].flags = 1;
        CHECK(archive_error(wrong) == "entry \"config.json\": it is encrypted");
    }
    SECTION("packed in an unknown way") {
        wrong[1].method = 12;
        CHECK(archive_error(wrong) ==
              "entry \"config.json\": it is packed by method 12; only 0 (stored) and 8 (deflate) are read");
    }
    SECTION("another sum") {
        wrong[2].crc_error = 1;
        CHECK(archive_error(wrong) == "entry \"model.weights.h5\": it is damaged: CRC error");
    }
    SECTION("no HDF5") {
        wrong[2].bytes = "weights";
        wrong[2].claimed_bytes = 7;
        CHECK(archive_error(wrong) == "it is not an HDF5 file, or it is damaged");
        wrong[2].bytes.clear();
        wrong[2].claimed_bytes = 0;
        CHECK(archive_error(wrong) == "it is not an HDF5 file, or it is damaged");
    }
    SECTION("no JSON") {
        wrong[1].bytes = "{";
        wrong[1].claimed_bytes = 1;
        CHECK_THAT(archive_error(wrong), Catch::StartsWith("model_config is not JSON"));
    }
    SECTION("truncated") {
        const std::string whole = tests::made_zip(right);
        for (std::size_t length = 4; length < whole.size(); length += 211) {
            CHECK(archive_error(whole.substr(0, length)) != "no error");
        }
    }
}

TEST_CASE("A damaged .keras file never takes the program down", "[compiler][frontend]") {
    const std::vector<MadeEntry> whole = entries_of(nested_chain, weights_of_chain("layers", "_1"));
    constexpr std::uint32_t seed = 12;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    int refused = 0;
    for (int i = 0; i < 200; ++i) {
        // The sum of an entry would tell most damage; so what is in it is damaged before it is packed.
        std::vector<MadeEntry> entries = whole;
        std::string& bytes = entries[2].bytes;
        for (std::size_t j = 0; j < 8; ++j) bytes[random() % bytes.size()] = static_cast<char>(random());
        refused += archive_error(entries) == "no error" ? 0 : 1;
    }
    CHECK(refused > 0);
}
