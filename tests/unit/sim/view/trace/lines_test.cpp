#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "hw/isa/assembly.h"
#include "hw/machine/config_error.h"
#include "sim/run/record/trace_config.h"
#include "sim/view/trace/chrome_events.h"
#include "sim/view/trace/line_writers.h"
#include "sim/view/trace/window.h"
#include "tests/support/csv.h"
#include "tests/support/files.h"

using namespace systole;
using tests::Folder;
using trace::TraceConfig;

namespace {

const isa::Program example = isa::assemble(
    ".array 8 8\n.layer \"a, \\\"b\\\"\" dense\n.buffer in input 0x100 64\n"
    "read_host in+8 ub=3 block=16 count=2\nmatmul ub=4 acc=2 rows=4 accumulate\nhalt\n",
    "test");

const trace::InstructionLine product{.number = 1,
                                     .repetition = 0,
                                     .tag = 1,
                                     .unit = "matrix",
                                     .issued = 10,
                                     .begun = 30,
                                     .released = 35,
                                     .complete = 50,
                                     .waited = 19,
                                     .matrix = trace::MatrixCycles{.active = 4,
                                                                   .weight_stall = 7,
                                                                   .weight_shift = 5,
                                                                   .non_matrix = 3,
                                                                   .raw_stall = 2,
                                                                   .input_stall = 0,
                                                                   .setup_stall = 1,
                                                                   .port_stall = 0}};

template <class Lines>
std::string written(const trace::InstructionLine& line) {
    const Folder folder;
    trace::OutputFile file(folder / "lines");
    Lines lines(file, example);
    lines.line(line, example.instructions[line.number]);
    lines.finish();
    file.close();
    return tests::text_in(folder / "lines");
}

}  // namespace

TEST_CASE("A line of CSV holds an instruction, quoted where it must be", "[trace]") {
    const std::string text = written<trace::CsvLines>(product);
    CHECK(text.substr(text.find('\n') + 1) ==
          "1,0,\"a, \"\"b\"\"\",matrix,matmul ub=4 acc=2 rows=4 accumulate,10,30,35,50,19,4,7,5,3,2,0,1,0\n");
    const auto line = tests::read_csv(text).lines.at(0);
    CHECK(line.at("layer") == "a, \"b\"");
    CHECK(line.at("weight_stall") == "7");
    CHECK(line.at("setup_stall") == "1");

    trace::InstructionLine read{.number = 0, .tag = 9, .unit = "host_read", .complete = 5, .matrix = {}};
    const auto other = tests::read_csv(written<trace::CsvLines>(read)).lines.at(0);
    CHECK(other.at("layer") == "tag 9");
    CHECK(other.at("instruction") == "read_host in+8 ub=3 block=16 count=2");
    CHECK(other.at("active").empty());
    CHECK(other.at("port_stall").empty());
}

TEST_CASE("A line of text has the reasons of an instruction's wait, or the number of a repetition",
          "[trace]") {
    const std::string text = written<trace::TextLines>(product);
    CHECK_THAT(text, Catch::Contains(
                         "matmul ub=4 acc=2 rows=4 accumulate  (active 4, weight_stall 7, weight_shift 5, "
                         "non_matrix 3, raw_stall 2, setup_stall 1)\n"));
    trace::InstructionLine again = product;
    again.repetition = 2;
    again.matrix = trace::MatrixCycles{.active = 4};
    CHECK_THAT(written<trace::TextLines>(again), Catch::EndsWith("  repetition 2  (active 4)\n"));
}

TEST_CASE("A layer's name is written on one line with any characters", "[trace]") {
    const isa::Program program = isa::assemble(".array 8 8\n.layer \"x\\x0ay\\x7f\" dense\nhalt\n", "test");
    const Folder folder;
    trace::OutputFile file(folder / "lines");
    trace::TextLines lines(file, program);
    lines.line({.number = 0, .tag = 1, .unit = "sequencer", .matrix = {}}, program.instructions[0]);
    lines.finish();
    file.close();
    const std::string text = tests::text_in(folder / "lines");
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    CHECK_THAT(text, Catch::Contains("x\\x0ay\\x7f"));
}

TEST_CASE("An instruction's fields become JSON, without optional fields that are unset", "[trace]") {
    const Folder folder;
    trace::OutputFile file(folder / "fields");
    trace::TextBuffer text(file);
    const isa::HostLabels labels(example.buffers);
    for (const isa::Instruction& instruction : example.instructions) {
        trace::append_fields(instruction, labels, text);
        text << '\n';
    }
    text.flush();
    file.close();
    CHECK(tests::text_in(folder / "fields") ==
          ",\"host_address\":\"in+8\",\"ub\":3,\"block\":16,\"count\":2\n"
          ",\"accumulate\":true,\"ub\":4,\"acc\":2,\"rows\":4\n\n");
}

TEST_CASE("A window includes events that overlap either border", "[trace]") {
    const trace::Window window({.kinds = {"csv"}, .from = 10, .to = 20}, example);
    CHECK_FALSE(window.takes(0, 5, 10));
    CHECK(window.takes(0, 5, 11));
    CHECK(window.takes(0, 19, 30));
    CHECK_FALSE(window.takes(0, 20, 30));
    CHECK(window.takes(0, 0, 100));
    // What takes no time is in it like a cycle.
    CHECK_FALSE(window.takes(0, 9, 9));
    CHECK(window.takes(0, 10, 10));
    CHECK(window.takes(0, 19, 19));
    CHECK_FALSE(window.takes(0, 20, 20));
    const trace::Window layer({.kinds = {"csv"}, .layers = {"a, \"b\""}}, example);
    CHECK(layer.takes(1, 5, 10));
    CHECK_FALSE(layer.takes(0, 5, 10));
    CHECK_FALSE(layer.takes(2, 5, 10));
}

TEST_CASE("A counter in a window begins with its value at the window's begin", "[trace]") {
    const Folder folder;
    trace::OutputFile file(folder / "events");
    trace::ChromeEvents events(file, 1'000'000'000);
    const trace::Window window({.kinds = {"timeline"}, .from = 10, .to = 20}, example);
    trace::CounterTrack counter(events, window, "name", "series");
    for (const Cycle at : {1U, 5U, 12U, 19U, 20U}) counter.add(at, at == 12 ? -1 : 1, 0);
    counter.finish();
    trace::CounterTrack quiet(events, window, "quiet", "series");
    quiet.add(3, 7, 0);
    quiet.finish();
    events.finish();
    file.close();
    std::vector<std::string> samples;
    const auto read = nlohmann::json::parse(tests::text_in(folder / "events"));
    for (const auto& event : read.at("traceEvents")) {
        samples.push_back(fmt::format("{} {} {}", event.at("name").get<std::string>(),
                                      event.at("ts").get<double>(),
                                      event.at("args").at("series").get<int>()));
    }
    CHECK(samples ==
          std::vector<std::string>{"name 0.0055 2", "name 0.0125 1", "name 0.0195 2", "quiet 0.0035 7"});
}

TEST_CASE("Errors in trace settings name key, value and rule", "[trace]") {
    const auto error = [](const TraceConfig& config) -> std::string {
        try {
            config.validate("run.json");
        } catch (const machine::ConfigError& wrong) {
            return wrong.what();
        }
        return {};
    };
    CHECK(error({}).empty());
    CHECK(error({.kinds = {"text", "csv", "timeline"}, .from = 9, .to = 10, .layers = {"a"}}).empty());
    CHECK(error({.kinds = {"csv", "timelime"}}) ==
          "run.json: trace.kinds is \"timelime\"; there is no such trace; did you mean \"timeline\"?");
    CHECK(error({.kinds = {"qqqqqqqqqqqq"}}) ==
          "run.json: trace.kinds is \"qqqqqqqqqqqq\"; there is no such trace; there are timeline, csv, text, "
          "waves");
    CHECK(error({.kinds = {"csv"}, .from = 10, .to = 10}) ==
          "run.json: trace.to is 10; the window is empty: it must be above trace.from, 10");
    CHECK_THAT(error({.kinds = {"csv"}, .from = 11, .to = 10}), Catch::Contains("trace.to is 10"));
    CHECK_THAT(error({.from = 1}),
               Catch::Contains("trace.from is 1; it needs a trace: give trace.kinds, too"));
    CHECK_THAT(error({.to = 1}), Catch::Contains("trace.to is 1"));
    CHECK_THAT(error({.layers = {"a"}}), Catch::Contains("trace.layers is \"a\""));
}
