#include "sim/run/run_config.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "hw/machine/config_error.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"

using namespace systole;
using run::RunConfig;
using run::Setting;

namespace {

const std::filesystem::path shipped =
    std::filesystem::path(tests::source_dir()) / "configs/runs/mnist_cnn.json";

template <class Function>
std::string error_of(Function&& function) {
    try {
        function();
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "no error";
}

RunConfig read(const std::vector<Setting>& settings) {
    return run::read_run({}, settings);
}

std::string refusal(const std::vector<Setting>& settings) {
    return error_of([&] { read(settings); });
}

const std::vector<Setting> least{{"machine", "m"}, {"model", "n.h5"}, {"input", "i.png"}};

std::vector<Setting> least_and(const Setting& setting) {
    std::vector<Setting> settings = least;
    settings.push_back(setting);
    return settings;
}

}  // namespace

TEST_CASE("The shipped run has the published network and chip, and compares with Haswell", "[run]") {
    const RunConfig config = run::read_run(shipped, {});
    CHECK(config.machine == "configs/machines/tpu_v1.json");
    CHECK(config.model == "models/mnist_cnn/mnist_cnn.h5");
    CHECK(config.batch == 256);
    CHECK(config.baselines.size() == 2);
    CHECK_FALSE(config.input_scale);
    CHECK(config.limit == 0);
    CHECK_FALSE(config.timing_only);
}

TEST_CASE("A setting is KEY=VALUE; the value is JSON if it parses as JSON", "[run]") {
    CHECK(run::parse_setting("batch=512").value == 512);
    CHECK(run::parse_setting("batch=512").key == "batch");
    CHECK(run::parse_setting("timing_only=true").value == true);
    CHECK(run::parse_setting("input_scale=0.5").value == 0.5);
    CHECK(run::parse_setting("model=a=b.h5").value == "a=b.h5");
    CHECK(run::parse_setting("model=").value == "");
    CHECK(run::parse_setting("input=[\"a\", \"b\"]").value == nlohmann::json({"a", "b"}));
    CHECK(run::parse_setting("model=" + std::string(100000, '[')).value.is_string());
    for (const char* broken : {"batch", "=3", ".a=3", "a.=3", "a..b=3", ""}) {
        INFO(broken);
        CHECK_THROWS_AS(run::parse_setting(broken), machine::ConfigError);
    }
}

TEST_CASE("Settings override the run file, and the last one wins", "[run]") {
    const std::vector<Setting> settings{{"batch", 7}, {"batch", 8}, {"machine.matrix_unit.rows", 128}};
    const RunConfig config = run::read_run(shipped, settings);
    CHECK(config.batch == 8);
    REQUIRE(config.machine_settings.size() == 1);
    CHECK(config.machine_settings[0].key == "matrix_unit.rows");
    CHECK(config.machine_settings[0].value == 128);
    CHECK(run::to_json(config)["machine_settings"]["matrix_unit.rows"] == 128);
}

TEST_CASE("A setting creates the objects on its path and rejects other values", "[run]") {
    nlohmann::json object = {{"a", 1}};
    run::apply({"b.c", 2}, object, "file");
    CHECK(object == nlohmann::json({{"a", 1}, {"b", {{"c", 2}}}}));
    CHECK(error_of([&] {
              run::apply({"a.c", 2}, object, "file");
          }) == "file: a.c cannot be set; a is not an object");
}

TEST_CASE("The value null removes a key, and its source", "[run]") {
    nlohmann::json object = {{"a", 1}, {"b", {{"c", 2}, {"d", 3}}}};
    run::apply({"b.c", nullptr}, object, "file");
    run::apply({"a", nullptr}, object, "file");
    run::apply({"x.y", nullptr}, object, "file");
    run::apply({"b.d.e", nullptr}, object, "file");
    CHECK(object == nlohmann::json({{"b", {{"d", 3}}}}));

    nlohmann::json machine = {
        {"clock_mhz", 700},
        {"power", {{"idle_watts", 1}, {"busy_watts", 2}}},
        {"sources", {{"clock_mhz", "a"}, {"power.idle_watts", "b"}, {"power.busy_watts", "c"}}}};
    const auto apply = [&](const std::vector<Setting>& settings) {
        run::apply_to_machine(settings, machine, "m.json");
    };
    apply({{"clock_mhz", nullptr}, {"power.idle_watts", nullptr}});
    CHECK(machine ==
          nlohmann::json({{"power", {{"busy_watts", 2}}}, {"sources", {{"power.busy_watts", "c"}}}}));
    apply({{"power", {{"idle_watts", 5}}}});
    CHECK(machine == nlohmann::json({{"power", {{"idle_watts", 5}}}, {"sources", nlohmann::json::object()}}));
    CHECK(error_of([&] {
              apply({{"power.busi_watts", nullptr}});
          }) == "m.json: power.busi_watts is not a known key; did you mean \"busy_watts\"?");
    CHECK(error_of([&] { apply({{"clock_mhz.x", nullptr}}); }) == "m.json: clock_mhz.x is not a known key");
}

TEST_CASE("Another model of the weight memory drops the key of the file's model", "[run]") {
    const auto memory = [](nlohmann::json before, const std::vector<Setting>& settings) {
        nlohmann::json machine = {{"weight_memory", std::move(before)}};
        run::apply_to_machine(settings, machine, "m.json");
        return machine.at("weight_memory");
    };
    const nlohmann::json bandwidth = {{"bytes", 8}, {"bandwidth_gb_per_s", 30}};
    const nlohmann::json dram = {{"bytes", 8}, {"model", "dram"}, {"dram", {{"banks", 4}}}};
    CHECK(memory(bandwidth, {{"weight_memory.model", "dram"}}) ==
          nlohmann::json({{"bytes", 8}, {"model", "dram"}}));
    CHECK(memory(dram, {{"weight_memory.model", "bandwidth"}}) ==
          nlohmann::json({{"bytes", 8}, {"model", "bandwidth"}}));
    CHECK(memory(dram, {{"weight_memory.model", "dram"}}) == dram);
    // A setting is never dropped, wherever it stands.
    CHECK(memory(bandwidth, {{"weight_memory.bandwidth_gb_per_s", 20}, {"weight_memory.model", "dram"}}) ==
          nlohmann::json({{"bytes", 8}, {"model", "dram"}, {"bandwidth_gb_per_s", 20}}));
}

TEST_CASE("A single file need not be in a list", "[run]") {
    CHECK(read(least).input == std::vector<std::string>{"i.png"});
    CHECK(read(least_and({"input", {"a.png", "b.png"}})).input == std::vector<std::string>{"a.png", "b.png"});
}

TEST_CASE("A setting also drops the keys that belonged to the replaced value", "[run]") {
    const RunConfig images = run::read_run(shipped, std::vector<Setting>{{"input", "i.png"}});
    CHECK(images.labels.empty());
    CHECK(run::read_run(shipped, std::vector<Setting>{{"input", "i.png"}, {"labels", "l"}}).labels == "l");
    const RunConfig program = run::read_run(shipped, std::vector<Setting>{{"program", "p.tpu"}});
    CHECK(program.model.empty());
    CHECK(program.batch == 0);
    CHECK_FALSE(program.labels.empty());
}

TEST_CASE("Made-up input and files of input replace each other", "[run]") {
    const RunConfig made = run::read_run(shipped, std::vector<Setting>{{"random_input", 3}});
    CHECK(made.random_input == 3);
    CHECK(made.input.empty());
    CHECK(made.labels.empty());
    const RunConfig files =
        run::read_run(shipped, std::vector<Setting>{{"random_input", 3}, {"input", "i.png"}});
    CHECK(files.random_input == 0);
    CHECK(files.input == std::vector<std::string>{"i.png"});
}

TEST_CASE("A broken run is refused with its key and the rule", "[run]") {
    CHECK(refusal(std::vector<Setting>{}) ==
          "command line: machine is missing; a run needs a machine, as in \"tpu_v1\"");
    CHECK(refusal(std::vector<Setting>{{"machine", "m"}}) ==
          "command line: model is missing; a run needs a model or a program");
    CHECK(refusal(least_and({"bacth", 3})) ==
          "command line: bacth is 3; it is not a known key; did you mean \"batch\"?");
    CHECK(refusal(least_and({"batch", 0})).find("command line: batch is 0; it must be") == 0);
    CHECK(refusal(least_and({"batch", -1})).find("command line: batch is -1; it must be") == 0);
    CHECK(refusal(least_and({"batch", 1.5})).find("command line: batch is 1.5; it must be") == 0);
    CHECK(refusal(least_and({"batch", 4294967296})).find("command line: batch is 4294967296") == 0);
    CHECK(refusal(least_and({"input_scale", 0})).find("command line: input_scale is 0; it must be") == 0);
    CHECK(refusal(least_and({"schema", "x"})).find("command line: schema is \"x\"") == 0);
    CHECK(refusal(std::vector<Setting>{{"machine", "m"}, {"program", "p"}, {"batch", 2}}) ==
          "command line: batch is 2; it goes with a model; the program has its own");
    CHECK(refusal(std::vector<Setting>{{"machine", "m"}, {"model", "n"}, {"labels", "l"}}) ==
          "command line: labels is \"l\"; they need an input");
    CHECK(error_of([] {
              run::read_run(shipped, std::vector<Setting>{{"timing_only", true}, {"float_reference", true}});
          }).find("mnist_cnn.json and command line: float_reference is true;") != std::string::npos);
    CHECK(error_of([] { run::read_run("nowhere.json", {}); }) == "nowhere.json: there is no such file");
    CHECK(refusal(least_and({"bacth", nullptr})) ==
          "command line: bacth is not a known key; did you mean \"batch\"?");
    CHECK(refusal(least_and({"machine", nullptr})) ==
          "command line: machine is missing; a run needs a machine, as in \"tpu_v1\"");
}

TEST_CASE("A size is a number, or height and width", "[run]") {
    CHECK(run::parse_size("256") == run::ImageSize{.height = 256, .width = 0});
    CHECK(run::parse_size("224x192") == run::ImageSize{.height = 224, .width = 192});
    CHECK(run::parse_size("65536x1") == run::ImageSize{.height = 65536, .width = 1});
    for (const char* wrong : {"", "0", "x", "2x", "x2", "2x0", "-2", "2.5", "2 x 2", "65537", "1x1x1", "a"}) {
        INFO(wrong);
        CHECK_FALSE(run::parse_size(wrong));
    }
    CHECK(
        refusal(least_and({"resize", "2x"})) ==
        "command line: resize is \"2x\"; it must be the shorter side, or HEIGHTxWIDTH, as in 256 or 224x192");
    CHECK(refusal(least_and({"crop", "x"}))
              .find("command line: crop is \"x\"; it must be the side of a square") == 0);
    CHECK(refusal({{"machine", "m"}, {"model", "n.h5"}, {"crop", "2"}}) ==
          "command line: crop is \"2\"; it needs images: an input, or calibration");
}

TEST_CASE("A preset stands for numbers, and takes the place of those of a run file", "[run]") {
    CHECK(read(least_and({"preset", "raw"})).preset == run::Preset::Raw);
    CHECK(
        refusal(least_and({"preset", "imagenet"})).find("command line: preset is \"imagenet\"; it must be") ==
        0);
    for (const Setting& number :
         std::vector<Setting>{{"mean", 1}, {"std", {1, 2, 3}}, {"input_scale", 1}, {"channels", "bgr"}}) {
        std::vector<Setting> settings = least_and({"preset", "imagenet-tf"});
        settings.push_back(number);
        CHECK(refusal(settings) ==
              "command line: preset is \"imagenet-tf\"; it stands for input_scale, mean, std and channels, "
              "and goes "
              "without them");
        settings = least_and(number);
        settings.push_back({"preset", "imagenet-tf"});
        const RunConfig config = read(settings);
        CHECK(config.preset == run::Preset::ImagenetTf);
        CHECK(config.mean.empty());
        CHECK_FALSE(config.input_scale);
    }
    CHECK(read(least_and({"mean", {0.5, -1}})).mean == std::vector{0.5, -1.0});
    CHECK(read(least_and({"mean", 2})).mean == std::vector{2.0});
    CHECK(
        refusal(least_and({"mean", "a"})).find("command line: mean is \"a\"; it must be a list of numbers") ==
        0);
    CHECK(refusal(least_and({"std", {1, 0}}))
              .find("command line: std is [1,0]; it must be a list of numbers") == 0);
}

TEST_CASE("The host's work is that of the run's host, else of the machine's, else of Haswell", "[run]") {
    const auto host_of = [](const std::string& machine, const std::vector<Setting>& others) {
        std::vector<Setting> settings{{"machine", machine}, {"model", "mnist_cnn"}};
        settings.insert(settings.end(), others.begin(), others.end());
        return run::make_spec(read(settings)).host.value().at("name");
    };
    CHECK(host_of("tpu_v1", {}) == "haswell_e5_2699_v3");
    CHECK(host_of("edge_tpu_pcie", {}) == "cortex_a53");
    CHECK(host_of("edge_tpu_usb", {}) == "xeon_gold_6154");
    CHECK(host_of("edge_tpu_usb", {{"host", "k80"}}) == "k80");
    CHECK(host_of("edge_tpu_usb", {{"machine.host.processor", "cortex_a53"}}) == "cortex_a53");
    CHECK_THROWS_WITH(host_of("edge_tpu_usb", {{"machine.host.processor", "cortex_a5"}}),
                      Catch::Contains("cortex_a53"));
}

TEST_CASE("Presets and their numbers are the same spec", "[run]") {
    const auto prepared = [](const std::vector<Setting>& more) {
        std::vector<Setting> settings{{"machine", "tpu_v1"}, {"model", "mnist_cnn"}, {"input", "i.png"}};
        settings.insert(settings.end(), more.begin(), more.end());
        run::RunSpec spec = run::make_spec(read(settings));
        spec.labels = {};
        return run::key_of(spec);
    };
    CHECK(prepared({{"preset", "imagenet-torch"}}) ==
          prepared({{"mean", {0.485, 0.456, 0.406}}, {"std", {0.229, 0.224, 0.225}}}));
    CHECK(prepared({{"preset", "imagenet-caffe"}}) ==
          prepared({{"input_scale", 1}, {"mean", {103.939, 116.779, 123.68}}, {"channels", "bgr"}}));
    CHECK(prepared({{"preset", "imagenet-tf"}}) == prepared({{"input_scale", 1 / 127.5}, {"mean", 1}}));
    CHECK(prepared({{"preset", "raw"}}) == prepared({{"input_scale", 1}}));
    CHECK(prepared({{"input_scale", 1 / 255.0}}) !=
          prepared({}));  // stored as they are by networks on integers
    CHECK(prepared({{"resize", "2"}}) != prepared({{"resize", "2x2"}}));
}

TEST_CASE("A run file and its written form are the same run", "[run]") {
    const RunConfig config =
        GENERATE(run::read_run(shipped, {}),
                 run::read_run(shipped, std::vector<Setting>{{"preset", "imagenet-caffe"}}),
                 run::read_run(
                     shipped, std::vector<Setting>{{"mean", {1, 2, 3}}, {"input_scale", 2}, {"crop", "20"}}));
    const std::filesystem::path copy = std::filesystem::temp_directory_path() / "systole_run_copy.json";
    std::ofstream(copy) << run::to_json(config).dump();
    // Keys without a value are written as such; a batch is only written where it was given.
    CHECK(run::to_json(run::read_run(copy, {})) == run::to_json(config));
    std::filesystem::remove(copy);
}

TEST_CASE("A host that makes the input has times, and its loops have steps", "[run]") {
    CHECK_FALSE(read(least_and({"limit", 3})).feeding.is_given());
    std::vector<Setting> settings = least_and({"feeding.example_us", 2.5});
    settings.push_back({"feeding.loop_steps", 100});
    settings.push_back({"feeding.gap_ms", 30});
    const RunConfig config = read(settings);
    CHECK(config.feeding == run::Feeding{.example_us = 2.5, .loop_steps = 100, .gap_ms = 30.0});
    CHECK(config.feeding.is_given());
    CHECK(run::to_json(config).at("feeding").at("gap_ms") == 30.0);

    CHECK(refusal(least_and({"feeding.gap_ms", 30})) ==
          "command line: feeding.gap_ms is 30; it needs the steps of a loop, feeding.loop_steps");
    CHECK(refusal(least_and({"feeding.examples", 8})) ==
          "command line: feeding.examples is 8; it needs the time of one, feeding.example_us");
    CHECK_THAT(refusal(least_and({"feeding.example_us", -1})), Catch::Contains("feeding.example_us is -1"));
    CHECK_THAT(refusal(least_and({"feeding.loop_steps", 1.5})), Catch::Contains("feeding.loop_steps is 1.5"));
    CHECK(refusal(least_and({"feeding.steps_ms", 1})) ==
          "command line: feeding.steps_ms is 1; it is not a known key; did you mean \"step_ms\"?");
}

TEST_CASE("Traces of a run need an output folder", "[run]") {
    std::vector<Setting> settings = least_and({"trace.kinds", "csv"});
    CHECK(refusal(settings) == "command line: out is missing; traces need a folder to be written to");
    settings.push_back({"out", "folder"});
    settings.push_back({"trace.layers", {"a", "b"}});
    settings.push_back({"trace.to", 7});
    const RunConfig config = read(settings);
    CHECK(config.trace.kinds == std::vector<std::string>{"csv"});
    CHECK(config.trace.layers == std::vector<std::string>{"a", "b"});
    CHECK(config.trace.from == 0);
    CHECK(config.trace.to == 7);
    const auto written = run::to_json(config).at("trace");
    CHECK(written.at("kinds").front() == "csv");
    CHECK(written.at("to") == 7);
    CHECK(refusal(least_and({"trace.form", 1})) ==
          "command line: trace.form is 1; it is not a known key; did you mean \"from\"?");
    CHECK_THAT(refusal(least_and({"trace", 1})), Catch::Contains("trace is 1; an object is needed"));
}

TEST_CASE("A shape is up to six sizes, for an input or a pattern of names", "[run]") {
    const auto shape_of = [](const std::string& text) { return run::parse_input_shape(text).value(); };
    CHECK(shape_of("1,3,224,224").extents == std::vector<std::uint32_t>{1, 3, 224, 224});
    CHECK(shape_of("past.*=1,12,0,64").input == "past.*");
    CHECK(shape_of("past.*=1,12,0,64").extents == std::vector<std::uint32_t>{1, 12, 0, 64});
    CHECK(shape_of("a=b=4294967295").input == "a=b");
    CHECK(shape_of("a=b=4294967295").extents == std::vector<std::uint32_t>{4294967295});
    for (const char* const wrong :
         {"", "x=", "1,,2", "1,2,", "-1", "1.5", "4294967296", "1,1,1,1,1,1,1", "one"}) {
        INFO(wrong);
        CHECK_FALSE(run::parse_input_shape(wrong));
        CHECK(refusal(least_and({"input_shape", nlohmann::json::array({wrong})}))
                  .find("; it must be sizes, at most 6, as in 1,3,224,224 or NAME=1,3,224,224, once for an "
                        "input") != std::string::npos);
    }
}

TEST_CASE("A cache is INPUT=OUTPUT, with a star in both or in none", "[run]") {
    const run::StatePairs pair = run::parse_cache("past.*=present.*=k").value();
    CHECK(pair.input == "past.*");
    CHECK(pair.output == "present.*=k");
    CHECK(run::parse_cache("2=0"));
    const std::string rule =
        "; it must be INPUT=OUTPUT, as in past.*=present.*, with at most one * on either side, and goes with "
        "a "
        "model";
    for (const char* const wrong :
         {"", "=", "past", "past=", "=present", "past.*=present", "past=present.*", "*.*=*.*"}) {
        INFO(wrong);
        CHECK_FALSE(run::parse_cache(wrong));
        const std::string message = refusal(least_and({"cache", nlohmann::json::array({wrong})}));
        CHECK(message.starts_with("command line: cache is "));
        CHECK(message.ends_with(rule));
    }
    const Setting cache{"cache", nlohmann::json::array({"a=b", "c.*=d.*"})};
    CHECK(read(least_and(cache)).cache == std::vector<std::string>{"a=b", "c.*=d.*"});
    CHECK(refusal({{"machine", "m"}, {"program", "p.tpu"}, cache})
              .ends_with("; it goes with a model; the program has its own"));
    // Another model has other names.
    const tests::Folder folder;
    const std::string file = folder.file(
        "run.json", R"({"schema": "sim.run/1", "machine": "m", "model": "n.onnx", "cache": ["a=b"]})");
    CHECK(run::read_run(file, {}).cache.size() == 1);
    for (const char* const key : {"model", "program"})
        CHECK(run::read_run(file, std::vector<Setting>{{key, "other"}}).cache.empty());
}
