// The useful multiply-accumulates of a run are those that its network asks for: counted here from the files'
// shapes and attributes, without the compiler's own count.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/random_runs.h"
#include "tests/system/convolution_files.h"
#include "tests/system/sim_process.h"

using namespace systole;
using Json = nlohmann::ordered_json;
using tests::ConvolutionChain;
using tests::ConvolutionLayer;
using tests::NetworkFormat;
using tests::report_of;

namespace {

std::uint64_t counter(const Json& unit, const char* name) {
    return unit.at(name).get<std::uint64_t>();
}

/// Each byte of an activation meets each byte of a weight in a pass of its own.
void check_macs(const Json& report, const ConvolutionChain& chain, std::uint64_t passes) {
    const auto inferences = report["inferences"].get<std::uint64_t>();
    const Json& unit = report["matrix_unit"];
    CHECK(counter(unit, "useful_macs") == chain.macs() * inferences * passes);
    CHECK(counter(unit, "multiply_accumulates") == chain.macs() * inferences);
    REQUIRE(report["layers"].size() >= chain.layers().size());
    for (std::size_t i = 0; i < chain.layers().size(); ++i) {
        const Json& layer = report["layers"][i];
        CAPTURE(i, layer["name"].get<std::string>());
        CHECK(layer["macs_per_inference"] == chain.layers()[i].macs());
        CHECK(counter(layer["matrix_unit"], "useful_macs") == chain.layers()[i].macs() * inferences * passes);
    }
}

bool is_dilated(const ConvolutionLayer& layer) {
    return (layer.rows.kernel > 1 && layer.rows.dilation > 1) ||
           (layer.columns.kernel > 1 && layer.columns.dilation > 1);
}

/// A convolution over 256 channels, by its kernel and dilation.
Json wide_convolution(std::uint32_t kernel, std::uint32_t dilation, std::uint32_t channels = 256) {
    return {{"schema", "sim.graph/1"},
            {"name", "wide"},
            {"input", {{"shape", {33, 33, channels}}}},
            {"weights", {{"seed", 1}}},
            {"layers",
             {{{"name", "c"},
               {"op", "convolution"},
               {"inputs", {"input"}},
               {"filters", 256},
               {"kernel", kernel},
               {"dilation", dilation},
               {"padding", "same"}}}},
            {"output", "c"}};
}

/// Counts the multiply-accumulates of a graph file's layers; one of a number of 16 bits counts twice.
class GraphFileCount {
public:
    explicit GraphFileCount(const Json& network) : bits_(network.value("activation_bits", 8U)) {
        const std::vector<std::uint64_t> input = network["input"]["shape"];
        results_["input"] = {.height = input.size() == 1 ? 1 : input[0],
                             .width = input.size() == 1 ? 1 : input[1],
                             .channels = input.back(),
                             .bits = network["input"].value("activation_bits", bits_)};
        for (const Json& layer : network["layers"]) add(layer);
    }

    std::uint64_t byte_macs() const { return byte_macs_; }

private:
    struct Result {
        std::uint64_t height = 1, width = 1, channels = 1, bits = 8;
    };

    static std::uint64_t side(const Json& layer, const char* key, std::size_t axis, std::uint64_t absent) {
        if (!layer.contains(key)) return absent;
        return layer[key].is_number() ? layer[key].get<std::uint64_t>()
                                      : layer[key][axis].get<std::uint64_t>();
    }

    static std::uint64_t windows(const Json& layer, std::size_t axis, std::uint64_t input, bool is_pool) {
        const std::uint64_t kernel = side(layer, "kernel", axis, 1);
        const std::uint64_t stride = side(layer, "stride", axis, is_pool ? kernel : 1);
        const Json padding = layer.value("padding", Json("valid"));
        REQUIRE((padding == "same" || padding == "valid"));
        return ((padding == "same" ? input : input - kernel + 1) + stride - 1) / stride;
    }

    void add(const Json& layer) {
        const auto op = layer["op"].get<std::string>();
        const Result& first = results_.at(layer["inputs"][0].get<std::string>());
        Result result = first;
        if (op == "dense") {
            std::uint64_t inputs = 0;
            for (const Json& each : layer["inputs"]) {
                const Result& from = results_.at(each.get<std::string>());
                inputs += from.height * from.width * from.channels;
            }
            result = {.channels = layer["units"]};
            byte_macs_ += inputs * result.channels * first.bits / 8;
        } else if (op == "convolution" || op == "max_pool" || op == "average_pool") {
            const bool is_pool = op != "convolution";
            result.height = windows(layer, 0, first.height, is_pool);
            result.width = windows(layer, 1, first.width, is_pool);
            if (!is_pool) {
                result.channels = layer["filters"];
                byte_macs_ += result.height * result.width * result.channels * first.channels *
                              side(layer, "kernel", 0, 1) * side(layer, "kernel", 1, 1) * first.bits / 8;
            }
        } else if (op == "global_average_pool") {
            result = {.channels = first.channels};
        } else if (op == "slice") {
            result = {.channels = layer["count"]};
        } else if (op == "concat") {
            result.channels = 0;
            for (const Json& each : layer["inputs"]) {
                result.channels += results_.at(each.get<std::string>()).channels;
            }
        } else {
            REQUIRE((op == "add" || op == "multiply" || op == "tanh"));
        }
        result.bits = layer.value("activation_bits", bits_);
        results_[layer["name"].get<std::string>()] = result;
    }

    std::uint64_t bits_;
    std::map<std::string, Result> results_;
    std::uint64_t byte_macs_ = 0;
};

}  // namespace

TEST_CASE("The useful multiply-accumulates of random convolutions are those of their files",
          "[system][macs]") {
    struct Case {
        NetworkFormat format;
        const char* name;
    };
    const Case format =
        GENERATE(Case{NetworkFormat::GraphJson, "graph JSON"}, Case{NetworkFormat::Onnx, "ONNX"},
                 Case{NetworkFormat::Keras, "Keras"}, Case{NetworkFormat::Tflite, "TFLite"});
    std::uint32_t dilated = 0;
    constexpr std::uint32_t first_seed = 4100;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(20); ++seed) {
        CAPTURE(format.name, seed);
        ConvolutionChain chain(format.format, seed);
        const tests::Folder folder;
        const std::string model = chain.write(folder.path()).string();
        std::mt19937 random(seed);
        const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
        std::string run = "--machine tpu_v1 --timing-only --model " + model + " --batch " +
                          std::to_string(below(3) + 1) + " --limit " + std::to_string(below(4) + 1);
        if (below(2) == 0) {
            run += " --set machine.matrix_unit.rows=" + std::to_string(16 << below(3)) +
                   " --set machine.matrix_unit.columns=" + std::to_string(below(60) + 4) +
                   " --set machine.unified_buffer.rows=65536";
        }
        if (below(3) == 0) run += " --mapping as_published";
        CAPTURE(run);
        check_macs(report_of(run), chain, 1);
        dilated += std::ranges::any_of(chain.layers(), is_dilated);
    }
    CHECK(dilated >= tests::random_share(8));
}

TEST_CASE("Activations of 16 bits count once for each pass", "[system][macs]") {
    constexpr std::uint32_t first_seed = 4200;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(5); ++seed) {
        CAPTURE(seed);
        ConvolutionChain chain(NetworkFormat::GraphJson, seed);
        const tests::Folder folder;
        const std::filesystem::path model = chain.write(folder.path());
        Json network = Json::parse(tests::text_in(model));
        network["activation_bits"] = 16;
        check_macs(report_of("--machine tpu_v1 --timing-only --batch 2 --limit 3 --model " +
                             folder.file("wide.json", network.dump())),
                   chain, 2);
    }
}

TEST_CASE("A dilated kernel takes the passes of its own elements", "[system][macs]") {
    const tests::Folder folder;
    const auto run = [&](std::uint32_t dilation) {
        return report_of("--machine tpu_v1 --timing-only --batch 1 --model " +
                         folder.file("net.json", wide_convolution(3, dilation).dump()));
    };
    const Json plain = run(1);
    for (const std::uint32_t dilation : {2U, 6U, 12U}) {
        CAPTURE(dilation);
        const Json dilated = run(dilation);
        for (const char* const key : {"active_cycles", "useful_macs", "unused_macs", "tiles"}) {
            CAPTURE(key);
            CHECK(dilated["matrix_unit"][key] == plain["matrix_unit"][key]);
        }
        CHECK(dilated["traffic"]["weight_bytes"] == plain["traffic"]["weight_bytes"]);
        CHECK(dilated["bounds"]["macs"] == plain["bounds"]["macs"]);
        CHECK(dilated["bounds"]["array"] == plain["bounds"]["array"]);
        CHECK(dilated["bounds"]["weight_memory"] == plain["bounds"]["weight_memory"]);
    }
    // 33 x 33 pixels in each of nine passes.
    CHECK(counter(plain["matrix_unit"], "active_cycles") == 9 * 33 * 33);
}

TEST_CASE("Values take as many cycles as a timing-only run of a dilated network", "[system][macs]") {
    // Also where a weight happens to be 0: which tiles there are follows from the shapes.
    const tests::Folder folder;
    const std::string model = folder.file("net.json", wide_convolution(3, 3, 64).dump());
    const Json computed = report_of("--machine tpu_v1 --random-input 1 --batch 1 --limit 1 --model " + model);
    const Json timed = report_of("--machine tpu_v1 --timing-only --batch 1 --limit 1 --model " + model);
    for (const char* const key : {"cycles", "units", "layers"}) {
        CAPTURE(key);
        CHECK(computed[key] == timed[key]);
    }
}

TEST_CASE("The useful multiply-accumulates of the shipped networks are those of their files",
          "[system][macs]") {
    // The layers of models/mnist_cnn, by its README.
    const Json mnist = report_of("mnist_cnn --timing-only");
    CHECK(counter(mnist["matrix_unit"], "useful_macs") ==
          mnist["inferences"].get<std::uint64_t>() * (84'672 + 2'032'128 + 2'709'504 + 627'200 + 2'000));
    for (const std::string name : {"mlp0", "mlp1", "lstm0", "lstm1", "cnn0", "cnn1"}) {
        CAPTURE(name);
        const std::string file = "models/isca17/" + name + ".json";
        const std::uint64_t macs =
            GraphFileCount(Json::parse(tests::text_in(tests::project / file))).byte_macs();
        const Json report = report_of("--machine tpu_v1 --timing-only --batch 4 --limit 4 --model " + file);
        CHECK(counter(report["matrix_unit"], "useful_macs") == 4 * macs);
    }
}

TEST_CASE("Strips leave out lines between them that no window reads", "[system][macs]") {
    // Every third line of the first convolution is read. Without strips, all are computed.
    constexpr std::uint64_t lines = 40;
    constexpr std::uint64_t width = 24;
    constexpr std::uint64_t channels = 40;
    constexpr std::uint64_t read = (lines + 2) / 3;
    constexpr std::uint64_t macs_a_line = width * 16 * channels;
    const tests::Folder folder;
    const Json network{
        {"schema", "sim.graph/1"},
        {"name", "net"},
        {"input", {{"shape", {lines, width, channels}}}},
        {"weights", {{"seed", 1}}},
        {"layers",
         {{{"name", "a"}, {"op", "convolution"}, {"inputs", {"input"}}, {"filters", 16}, {"kernel", 1}},
          {{"name", "b"},
           {"op", "convolution"},
           {"inputs", {"a"}},
           {"filters", 8},
           {"kernel", 1},
           {"stride", 3}}}},
        {"output", "b"}};
    const std::string model = folder.file("net.json", network.dump());
    const auto of_layer = [&](std::uint64_t rows, const char* name) {
        const Json report = report_of("--machine tpu_v1 --timing-only --batch 1 --limit 1 --model " + model +
                                      " --set machine.unified_buffer.rows=" + std::to_string(rows));
        CHECK(report["memory"].contains("cut_images") == (rows < 1000));
        for (const Json& layer : report["layers"]) {
            if (layer["name"] == name) return counter(layer["matrix_unit"], "useful_macs");
        }
        throw std::runtime_error("no such layer");
    };
    constexpr std::uint64_t whole_rows = 10'000;
    CHECK(of_layer(whole_rows, "a") == lines * macs_a_line);
    bool left_out = false;
    for (const std::uint64_t rows : {60U, 100U, 140U}) {
        CAPTURE(rows);
        const std::uint64_t computed = of_layer(rows, "a");
        CHECK(computed % macs_a_line == 0);
        CHECK(computed <= lines * macs_a_line);
        CHECK(computed >= read * macs_a_line);
        left_out = left_out || computed < lines * macs_a_line;
        CHECK(of_layer(rows, "b") == of_layer(whole_rows, "b"));
    }
    CHECK(left_out);
}
