#include "sim/run/execute/worker.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/run/execute/process.h"
#include "sim/run/record/bytes.h"
#include "sim/run/record/record.h"
#include "sim/run/run_config.h"
#include "tests/support/files.h"
#include "tests/system/sim_process.h"

using namespace systole;
using namespace systole::tests;

namespace {

/// The message with a content that is a file.
std::string message_of(const run::Content& content) {
    const std::string bytes = text_in(content.path.text);
    const std::string header =
        run::to_bytes(run::ContentHeader{.name = content.name,
                                         .hash = content.hash,
                                         .is_folder = false,
                                         .files = {{.name = content.name, .bytes = bytes.size()}}});
    return run::content_message + run::length_text(header.size()) + header + bytes;
}

TEST_CASE("A worker answers specs on its input with records on its output", "[system]") {
    CHECK(sim("worker < /dev/null").out.empty());

    run::RunConfig config;
    config.file = project / "configs/runs/mnist_cnn.json";
    config.machine = "tpu_v1";
    config.model = "models/mnist_cnn/mnist_cnn.h5";
    config.batch = 16;
    config.limit = 32;
    config.timing_only = true;
    run::RunSpec spec = run::make_spec(config);
    const Folder folder;
    const std::string in = folder.file("in", "");
    {
        const run::Descriptor file(::open(in.c_str(), O_WRONLY | O_CLOEXEC));
        REQUIRE(file.number() >= 0);
        const auto say = [&](const std::string& message) {
            REQUIRE(run::write_message(file.number(), message));
        };
        for (const run::Content* content : run::contents_of(spec)) say(message_of(*content));
        say(run::spec_message + run::to_bytes(spec));
        spec.machine.unified_buffer.rows = 2;  // too small for it
        say(run::spec_message + run::to_bytes(spec));
    }
    const std::string out = (folder / "out").string();
    const Outcome outcome = sim("worker < " + in + " > " + out);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);

    const run::Descriptor file(::open(out.c_str(), O_RDONLY | O_CLOEXEC));
    const std::optional<std::string> first = run::read_message(file.number());
    REQUIRE(first);
    REQUIRE(first->front() == run::record_message);
    const run::RunRecord record = run::read_record(std::string_view(*first).substr(1));
    CHECK(record.program.model == "mnist_cnn");
    CHECK(record.program.inferences == 32);
    const auto report = report_of("mnist_cnn --batch 16 --limit 32 --timing-only --no-explain");
    CHECK(record.cycles == report["cycles"].get<std::uint64_t>());
    const std::optional<std::string> second = run::read_message(file.number());
    REQUIRE(second);
    CHECK(second->front() == run::error_message);
    CHECK(second->size() > 20);
    CHECK_FALSE(run::read_message(file.number()));
}

/// What `sim worker` answers requests in JSON, in their order.
std::vector<std::string> answers_to(const std::vector<std::string>& requests) {
    const Folder folder;
    const std::string in = folder.file("in", "");
    {
        const run::Descriptor file(::open(in.c_str(), O_WRONLY | O_CLOEXEC));
        REQUIRE(file.number() >= 0);
        for (const std::string& request : requests) {
            REQUIRE(run::write_message(file.number(), run::request_message + request));
        }
    }
    const std::string out = (folder / "out").string();
    const Outcome outcome = sim("worker < " + in + " > " + out);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    std::vector<std::string> answers;
    const run::Descriptor file(::open(out.c_str(), O_RDONLY | O_CLOEXEC));
    while (std::optional<std::string> answer = run::read_message(file.number())) {
        answers.push_back(*std::move(answer));
    }
    return answers;
}

std::string answer_to(const nlohmann::json& request) {
    const std::vector<std::string> answers = answers_to({request.dump()});
    REQUIRE(answers.size() == 1);
    return answers.front();
}

nlohmann::json report_in(const std::string& answer) {
    INFO(answer);
    REQUIRE(answer.front() == run::report_message);
    return nlohmann::json::parse(answer.substr(1));
}

TEST_CASE("A worker answers a request in JSON with the report of `sim run`", "[system]") {
    const Folder folder;
    const std::string arrays = (folder / "arrays").string();
    auto report = report_in(
        answer_to({{"file", "mnist_cnn"},
                   {"run", {{"limit", 20}, {"batch", 8}}},
                   {"settings", nlohmann::json::parse(R"([["machine.clock_mhz", 900], ["batch", 16]])")},
                   {"arrays", arrays}}));
    nlohmann::json expected =
        report_of("mnist_cnn --limit 20 --set machine.clock_mhz=900 --batch 16 --outputs " + arrays);
    REQUIRE(report["output_files"].size() == 1);
    const auto file = report["output_files"][0]["file"].get<std::string>();
    CHECK(report["output_files"][0]["output"] == "dense_1");
    CHECK(file == arrays + "/dense_1.npy");
    CHECK(std::filesystem::exists(file));
    report.erase("output_files");
    report.erase("simulator");
    expected.erase("simulator");
    CHECK(report == expected);
}

TEST_CASE("Keys of a run in JSON replace those of a run file, in any order", "[system]") {
    // "input" alone drops the labels of the run file; labels beside it stay, though JSON sorts them behind
    // it.
    const nlohmann::json input = "models/mnist_cnn/digits-images.idx3-ubyte.gz";
    const nlohmann::json labels = "models/mnist_cnn/digits-labels.idx1-ubyte.gz";
    const std::string no_labels =
        answer_to({{"file", "mnist_cnn"}, {"run", {{"input", input}, {"limit", 8}}}});
    CHECK(report_in(no_labels)["accuracy"].is_null());
    const std::string both =
        answer_to({{"file", "mnist_cnn"}, {"run", {{"labels", labels}, {"input", input}, {"limit", 8}}}});
    CHECK(report_in(both)["accuracy"] == 1.0);
    const std::string removed =
        answer_to({{"file", "mnist_cnn"}, {"run", {{"labels", nullptr}, {"limit", 8}}}});
    CHECK(report_in(removed)["accuracy"].is_null());
}

TEST_CASE("A worker runs a machine that is in no file, and gives machines in JSON", "[system]") {
    auto machine = report_in(answer_to({{"machine", "tpu_v1"}}));
    CHECK(machine["matrix_unit"]["rows"] == 256);
    const nlohmann::json run{{"model", "mnist_cnn"}, {"timing_only", true}, {"batch", 4}};
    const auto same = report_in(answer_to({{"machine", machine}, {"run", run}}));
    const nlohmann::json expected = report_of("--machine tpu_v1 --model mnist_cnn --timing-only --batch 4");
    CHECK(same["cycles"] == expected["cycles"]);
    CHECK(same["energy"] == expected["energy"]);
    machine["name"] = "half";
    machine["clock_mhz"] = 350;
    const auto half = report_in(answer_to({{"machine", machine}, {"run", run}}));
    CHECK(half["machine"] == "half");
    CHECK(half["configuration"]["run"]["machine"] == "half");
    CHECK(half["configuration"]["machine"]["clock_mhz"] == 350);
    machine.erase("name");
    CHECK(report_in(answer_to({{"machine", machine}, {"run", run}}))["machine"] == "machine");
    const auto set = report_in(
        answer_to({{"machine", "tpu_v1"},
                   {"settings", nlohmann::json::parse(R"([["machine.weight_fifo.depth_tiles", 8]])")}}));
    CHECK(set["weight_fifo"]["depth_tiles"] == 8);
}

TEST_CASE("A wrong request in JSON is an error of one line, and the worker goes on", "[system]") {
    const std::string good = R"({"run": {"machine": "tpu_v1", "model": "mnist_cnn", "timing_only": true}})";
    const std::string wanted = R"("run": {"model": "mnist_cnn", "timing_only": true})";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"{", "request: "},
        {"[]", "request: "},
        {R"({"rum": {}})",
         "request: rum is {}; it is not a known key; there are file, run, machine, settings, "
         "arrays"},
        {"{}", "request: machine is null; a request needs a run, or a machine: a name, a file or an object"},
        {R"({"run": 3})", "request: run is 3; an object with keys of a run file is needed"},
        {R"({"run": {}})", "run: machine is missing; a run needs a machine, as in \"tpu_v1\""},
        {R"({"file": 3})", "request: file is 3; a run file, or its name in configs/runs, is needed"},
        {R"({"run": {"machine": "tpu_v1", "model": "mnist_cnn", "bach": 3}})",
         "run: bach is 3; it is not a known key; did you mean \"batch\"?"},
        {R"({"machine": {"schema": "sim.machine/1", "clock": 3}, )" + wanted + "}",
         "machine: clock is 3; it is not a known key"},
        {R"({"machine": "tpu_v1", )" + wanted + "}",
         "request: machine is \"tpu_v1\"; an object is needed; run.machine names a file"},
        {R"({"machine": {"schema": "sim.machine/1"}, "settings": [["machine", "tpu_v1"]], )" + wanted + "}",
         "request: settings is \"tpu_v1\"; the request has a machine of its own"},
        {R"({"machine": {"schema": "sim.machine/1"}, "run": {"machine": "tpu_v1"}})",
         "request: run.machine is \"tpu_v1\"; the request has a machine of its own"},
        {R"({"machine": "tpu_v1", "settings": [["batch", 3]]})",
         "request: settings is \"batch\"; without a run, keys begin with \"machine.\""},
        {R"({"machine": "tpu_v1", "settings": {"batch": 3}})",
         "request: settings is {\"batch\":3}; a list of [KEY, VALUE] is needed"},
        {R"({"machine": "tpu_v1", "settings": [["batch"]]})",
         "request: settings is [\"batch\"]; each must be [KEY, VALUE]"},
        {R"({"machine": "tpu_v1", "settings": [["a..b", 3]]})",
         "request: settings is [\"a..b\",3]; the key must be as in machine.clock_mhz"},
        {R"({"machine": "tpu_v1", "settings": [["machine.clock_mhz", -1]]})",
         "configs/machines/tpu_v1.json and settings: clock_mhz is -1; it must be a number from 0.001 to "
         "1000000 MHz"},
        {R"({"arrays": 1, "run": {"machine": "tpu_v1", "model": "mnist_cnn"}})",
         "request: arrays is 1; a folder is needed"},
        {R"({"run": {"machine": "tpu_v1", "model": "mnist_cnn", "out": "x"}})",
         "request: out is \"x\"; the answer is the report, and `outputs` may name a folder for arrays"},
        {R"({"run": {"machine": "tpu_v1", "model": "nothing"}})", "nothing: there is no such file"},
    };
    std::vector<std::string> requests;
    for (const auto& [request, message] : cases) requests.push_back(request);
    requests.push_back(good);
    const std::vector<std::string> answers = answers_to(requests);
    REQUIRE(answers.size() == cases.size() + 1);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        INFO(cases[i].first);
        INFO(answers[i]);
        CHECK(answers[i].starts_with(run::error_message + cases[i].second));
        CHECK(answers[i].find('\n') == std::string::npos);
    }
    CHECK(report_in(answers.back())["cycles"] > 0);
}

}  // namespace
