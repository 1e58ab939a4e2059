// Every command that README.md and the pages of docs/ show is run, page after page in one folder, and prints
// what the page shows; figures in prose come from the same runs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/sanitizers.h"
#include "tests/system/input_files.h"
#include "tests/system/install.h"
#include "tests/system/page_commands.h"
#include "tests/system/progress.h"
#include "tests/system/prose_figures.h"
#include "tests/system/sim_process.h"
#include "tests/unit/base/zip/made_zip.h"
#include "tests/unit/compiler/frontend/keras_file.h"
#include "tests/unit/compiler/frontend/onnx_model.h"
#include "tests/unit/compiler/frontend/tflite_file.h"
#include "tests/unit/sim/run/input/made_png.h"

namespace systole::tests {
namespace {

namespace fs = std::filesystem;

/// In the order in which a reader comes to them.
const std::vector<std::string> pages{"README.md",
                                     "docs/tutorial.md",
                                     "docs/command_line.md",
                                     "docs/inputs_and_outputs.md",
                                     "docs/decoding.md",
                                     "docs/studies.md",
                                     "docs/python.md",
                                     "docs/configuration.md",
                                     "docs/report.md",
                                     "docs/architecture.md",
                                     "docs/edge_tpu.md",
                                     "docs/edge_tpu_validation.md",
                                     "docs/edge_tpu_choices.md",
                                     "docs/edge_tpu_parameters.md",
                                     "docs/cloud_tpu.md",
                                     "docs/cloud_tpu_validation.md",
                                     "docs/cloud_tpu_training_validation.md",
                                     "docs/hlo.md",
                                     "docs/training.md",
                                     "docs/timing.md",
                                     "docs/isa.md",
                                     "docs/micro_benchmarks.md",
                                     "docs/operators.md",
                                     "docs/graph_files.md",
                                     "docs/energy.md",
                                     "docs/area.md",
                                     "docs/baselines.md",
                                     "docs/traces.md",
                                     "docs/waves.md",
                                     "docs/validation.md",
                                     "docs/validation_choices.md",
                                     "docs/validations.md",
                                     "docs/parameters.md",
                                     "docs/performance.md",
                                     "docs/dependencies.md",
                                     "docs/jax.md",
                                     "docs/mutants.md",
                                     "models/isca17/README.md",
                                     "models/mnist_cnn/README.md",
                                     "models/wrong_machine/README.md",
                                     "CONTRIBUTING.md"};

/// Commands that are not run, by their beginnings, and why.
const std::vector<std::pair<std::string, std::string>> not_run{
    {"apt-get ", "it installs packages as root"},
    {"git clone ", "it needs the network"},
    {"make ", ".ci/run does"},
    {"cmake ", ".ci/run does"},
    {"ctest ", "it would start this test"},
    {"export PATH", "it is for the user's own shell"},
    {"source <(build/release/sim completion bash)", "completion_test.cpp does"},
    {"tests/judges/make_environment.sh", "it downloads 2.4 GB of Python packages"},
    {"cd models/mnist_cnn; python", "it needs TensorFlow"},
    {"$python ", "it needs TensorFlow"},
    {"python3 models/isca17/make.py", "isca17_test.cpp does"},
    {"sim run layer.hlo", "JAX makes its file; array_networks_test.cpp runs programs"},
    {"sim train step.hlo", "JAX makes its file; train_test.cpp trains programs"},
    {"sim train models/mnist_cnn/training/step_8x64.hlo", "it needs the images of MNIST"},
    {"sim sweep training_on_eight_cores", "it takes minutes; train_test.cpp runs its first point"},
    {"sim validate cloud_tpu_training", "it takes minutes; cloud_tpu_test.cpp makes rows of its page"},
    {"pip install .", "the test python_package does"},
    {"gtkwave ", "it opens a window"},
    {"sqlite3 ", "that program is no package of the project"},
    {"sim run --model mobilenet_v2_1.0_224_quant.tflite",
     "it is a network of others; edge_tpu_test.cpp does"},
    {"sim validate tpu_v1", "it takes a minute; validation_test.cpp and parameters_test.cpp do"},
    {"sim validate edge_tpu", "it takes half a minute; edge_tpu_test.cpp does"},
    {"sim sweep array_and_batch --out /shared/results --slurm", "it needs Slurm; make cluster-test has it"},
    {"sim sweep array_and_batch --out /shared/results --launcher 'ssh", "it needs another computer"},
};

/// Whether a command warns as its page says.
bool warns_as_described(const std::string& command, const std::string& err) {
    return command.starts_with("sim report results/* ") &&
           err.starts_with("sim: warning: left out, as no reports: ") && std::ranges::count(err, '\n') == 1;
}

/// Words in capitals stand for what the reader puts there.
bool has_placeholder(const std::string& command) {
    static const std::regex word(R"((^|[\s\[=])([A-Z][A-Z]*|\.\.\.)($|[\s\].=]))");
    return std::regex_search(command, word);
}

/// A network that takes one image of 224 x 224 x 3.
void write_keras(const fs::path& file) {
    const std::string config =
        R"({"class_name": "Sequential", "config": {"name": "net", "layers": [)"
        R"({"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 224, 224, 3]}},)"
        R"({"class_name": "Conv2D", "config": {"name": "c", "filters": 2, "kernel_size": [8, 8],)"
        R"( "strides": [8, 8], "padding": "valid", "use_bias": false}}]}})";
    KerasFile{.model_config = config,
              .layers = {{"c",
                          {{.name = "c/kernel:0",
                            .shape = {8, 8, 3, 2},
                            .values = std::vector<double>(8 * 8 * 3 * 2, 0.01)}}}}}
        .write(file);
}

std::string tflite_for_photographs() {
    using Type = format::TensorType;
    TfliteFile file;
    const TensorScale scale{{1.0F / 255.0F}, {-128}};
    const std::int32_t input = file.tensor("x", Type::INT8, {1, 224, 224, 3}, scale);
    const std::int32_t weights = file.constant<std::int8_t>(
        "w", Type::INT8, {2, 8, 8, 3}, std::vector<std::int8_t>(2 * 8 * 8 * 3, 3), {{0.01F}, {0}});
    const std::int32_t result = file.tensor("y", Type::INT8, {1, 28, 28, 2}, scale);
    file.node(format::BuiltinOperator::CONV_2D, {input, weights, -1}, {result},
              format::BuiltinOptions::Conv2DOptions,
              format::CreateConv2DOptions(file.builder(), format::Padding::VALID, 8, 8,
                                          format::ActivationFunctionType::NONE, 1, 1));
    const std::vector<std::uint8_t> bytes = file.finish({input}, {result});
    return {bytes.begin(), bytes.end()};
}

/// A layer of a decoder: keys of twelve heads, to which those of one token are appended.
std::string onnx_decoder() {
    OnnxModel model;
    model.input("tokens", {1, -1}, ::onnx::TensorProto::INT64).input("past.0.key", {1, 12, -1, 64});
    model.floats("table", {5, 768}, std::vector<float>(std::size_t{5} * 768, 0.5F));
    model.raw<std::int64_t>("heads", ::onnx::TensorProto::INT64, {4}, {1, -1, 12, 64});
    model.node("Gather", {"table", "tokens"}, {"rows"});
    model.node("Reshape", {"rows", "heads"}, {"by_head"});
    auto& axes =
        attribute(model.node("Transpose", {"by_head"}, {"key"}), "perm", ::onnx::AttributeProto::INTS);
    for (const int axis : {0, 2, 1, 3}) axes.add_ints(axis);
    auto& concat = model.node("Concat", {"past.0.key", "key"}, {"present.0.key"});
    attribute(concat, "axis", ::onnx::AttributeProto::INT).set_i(2);
    return model.output("present.0.key").bytes();
}

/// The reader's own files that a page speaks of.
void add_readers_files(const std::string& page, const Folder& folder) {
    const auto put = [&](const std::string& name, const fs::path& file) {
        fs::create_directories((folder / name).parent_path());
        fs::copy_file(project / file, folder / name, fs::copy_options::overwrite_existing);
    };
    const fs::path digits = "models/mnist_cnn";
    if (page == "README.md" || page == "docs/command_line.md" || page == "docs/tutorial.md") {
        put("net.h5", digits / "mnist_cnn.h5");
        put("images.idx3-ubyte.gz", digits / "digits-images.idx3-ubyte.gz");
        put("labels.idx1-ubyte.gz", digits / "digits-labels.idx1-ubyte.gz");
    }
    if (page == "docs/tutorial.md") {
        for (const char* const picture : {"images/a.png", "images/b.png"}) {
            const auto bytes = input::tests::bytes_of(input::tests::Png{
                .width = 28, .height = 28, .rows = std::vector<std::uint8_t>(std::size_t{28} * 29)});
            folder.file(picture, {bytes.begin(), bytes.end()});
        }
        folder.file("labels.idx1-ubyte", std::string("\0\0\x08\x01\0\0\0\x02\x07\x01", 10));
    } else if (page == "README.md") {
        folder.file("net.tflite", tflite_for_photographs());
        put("photograph.jpg", "tests/fuzz/seeds/jpeg/rgb420.jpg");
    } else if (page == "docs/inputs_and_outputs.md") {
        write_keras(folder / "net.h5");
        put("cat.jpg", "tests/fuzz/seeds/jpeg/rgb420.jpg");
        OnnxModel model;
        model.input("x", {1, 4}).floats("w", {4, 2}, std::vector<float>(8, 0.5F));
        model.node("MatMul", {"x", "w"}, {"logits"});
        folder.file("net.onnx", model.output("logits").bytes());
        folder.file("decoder.onnx", onnx_decoder());
        folder.file("inputs.npz",
                    made_zip({{.name = "x.npy", .bytes = npy("<f4", "(3, 4)", repeated(0.25F, 12))}}));
        folder.file("training.txt",
                    "graph \"training\"\ninputs %0, %1\noutputs %2\nstate %1 -> %2\n%0 float32 1x2 \"x\"\n"
                    "%1 float32 1x2 \"sum\"\n%2 float32 1x2 \"sum\"\n%2 = add(%0, %1) \"sum\"\n");
        folder.file("images.npy", npy("<f4", "(3, 2)", repeated(0.25F, 6)));
        folder.file("state.npz",
                    made_zip({{.name = "sum.npy", .bytes = npy("<f4", "(2,)", repeated(0.25F, 2))}}));
        folder.file("step.txt",
                    "graph \"step\"\ninputs %0, %1\noutputs %2\n%0 float32 1x2x2 \"state['kernel']\"\n"
                    "%1 int32 1x1x2 \"labels\" file bool\n%2 float32 1x2x2 \"state['kernel']\"\n"
                    "%2 = word_chain(%0, %1) \"step\" {steps [\"negate 0\", \"select 1 2 0\"]}\n");
        const std::string kernel = npy("<f4", "(2, 2)", repeated(0.25F, 4));
        const std::string labels = npy("|b1", "(1, 2)", std::string("\0\1", 2));
        folder.file("kernel.npy", kernel);
        folder.file("labels.npy", labels);
        folder.file("arrays.npz", made_zip({{.name = "state['kernel'].npy", .bytes = kernel},
                                            {.name = "1.npy", .bytes = labels}}));
    } else if (page == "docs/decoding.md") {
        const auto tokens = [&](const char* name, const std::string& shape, std::size_t count) {
            folder.file(name, npy("<i4", shape, repeated(std::int32_t{1}, count)));
        };
        tokens("prompts.npy", "(2, 5)", 10);
        tokens("ids.npy", "(1, 1)", 1);
        tokens("mask.npy", "(1, 6)", 6);
        tokens("positions.npy", "(1, 1)", 1);
        for (const char* const name : {"k0.npy", "v0.npy", "k1.npy", "v1.npy"})
            folder.file(name, npy("<f4", "(1, 2, 5, 32)", repeated(0.25F, 2 * 5 * 32)));
    } else if (page == "docs/isa.md") {
        folder.file("ten.asm", ".buffer out output 0 256\nwrite_host out ub=0 block=256\nhalt\n");
    } else if (page == "docs/architecture.md") {
        folder.file("graph.txt", sim("compile mnist_cnn --dump-after quantize").out);
    } else if (page == "docs/graph_files.md") {
        put("net.json", "models/isca17/mlp0.json");
    } else if (page == "docs/waves.md") {
        put("scripts/draw_waves.py", "scripts/draw_waves.py");
    }
}

}  // namespace

TEST_CASE("Every command of README.md and docs runs, in one folder, and prints what its page shows",
          "[system]") {
    if (is_instrumented) {
        WARN("SKIPPED: takes many minutes under sanitizers");
        return;
    }
    const Folder folder;
    const fs::path prefix = install("simulator", folder);
    const Folder work;
    fs::create_directory(work / "docs");  // into which some write pages
    std::set<std::string> reasons_used;
    std::set<std::string> seen;
    std::size_t ran = 0;
    std::size_t compared = 0;
    for (const std::string& name : pages) {
        const Page page(project / name);
        add_readers_files(name, work);
        for (const PageCommand& command : page.commands()) {
            INFO(name << ": " << command.text);
            const auto reason = std::ranges::find_if(
                not_run, [&](const auto& row) { return command.text.starts_with(row.first); });
            if (reason != not_run.end()) {
                reasons_used.insert(reason->first);
                continue;
            }
            static const std::regex remark(R"( +# .*)");
            const std::string without_remark = std::regex_replace(command.text, remark, "");
            if (has_placeholder(without_remark)) continue;
            const bool is_new = seen.insert(without_remark).second;
            if (!is_new && !command.output) continue;
            const Outcome outcome = bash(command.text, work.path(), prefix / "bin");
            INFO(outcome.err);
            CHECK(outcome.exit_code == 0);
            const std::string err = without_progress(outcome.err);
            CHECK((err.empty() || warns_as_described(command.text, err)));
            ++ran;
            if (!command.output) continue;
            CHECK(outcome.out == *command.output);
            ++compared;
        }
        if (name == "README.md" || name == "docs/tutorial.md" || name == "docs/micro_benchmarks.md") {
            INFO(name);
            ProseFigures(page, work / "results");
        }
    }
    CHECK(ran >= 60);
    CHECK(compared >= 23);
    for (const auto& [beginning, reason] : not_run) {
        INFO("no page has: " << beginning << " (" << reason << ")");
        CHECK(reasons_used.contains(beginning));
    }
}

TEST_CASE("No page of docs is left out where commands are run, and none hides commands from it", "[system]") {
    for (const fs::directory_entry& entry : fs::directory_iterator(project / "docs")) {
        const std::string name = "docs/" + entry.path().filename().string();
        if (!name.ends_with(".md") || name.ends_with(".template.md")) continue;
        INFO(name);
        CHECK(std::ranges::find(pages, name) != pages.end());
    }
    for (const std::string& name : pages) {
        INFO(name << ": commands stand in blocks of ```console, or are indented by four spaces");
        const std::string text = text_in(project / name);
        for (const char* const fence : {"```sh", "```bash", "```shell", "```text"}) {
            CHECK(text.find(fence) == std::string::npos);
        }
    }
}

TEST_CASE("The commands of a page and its prose are told apart", "[system]") {
    const Folder folder;
    const std::string file = folder.file("page.md",
                                         "# 7 things\n\nUse `sim run mnist_cnn --batch 4`, not `sim run`,\n"
                                         "on 12 [machines](a/9.md).\n\n    sim a \\\n        b   # 3\n"
                                         "    x = 5\n    python3 - <<'END'\n    sim\n    END\n\n"
                                         "```console\n$ sim c \\\n  d\nout 8\n$ scripts/e f\n```\n"
                                         "<!-- figures\ngiven \"12 machines\"\n-->\nEnd 65,536.\n");
    const Page page(file);
    std::vector<std::string> texts;
    for (const PageCommand& command : page.commands()) texts.push_back(command.text);
    CHECK(texts == std::vector<std::string>{"sim run mnist_cnn --batch 4", "sim a \\\n    b   # 3",
                                            "python3 - <<'END'\nsim\nEND", "sim c \\\n  d", "scripts/e f"});
    CHECK_FALSE(page.commands()[1].output);
    CHECK(page.commands()[3].output == "out 8\n");
    CHECK(page.prose().find("on 12 [machines]") != std::string::npos);
    CHECK(numbers_of(page.prose()) == std::vector<std::string>{"12", "65536"});
}

}  // namespace systole::tests
