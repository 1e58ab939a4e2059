#include "sim/study/advise/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/assembly.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/json.h"
#include "sim/study/advise/advice_page.h"
#include "sim/study/sweep/study.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_runs.h"
#include "tests/support/run_keys.h"
#include "tests/support/source_dir.h"
#include "tests/unit/hw/machine/machine_files.h"

using namespace systole;
using namespace systole::advise;

namespace {

Point point(std::uint32_t size, std::uint32_t batch, double rate, double peak, std::optional<double> speedup,
            std::string limit = "array") {
    return {.size = size,
            .batch = batch,
            .error = {},
            .latency_seconds = batch / rate,
            .interval_seconds = batch / rate,
            .inferences_per_second = rate,
            .peak_share = peak,
            .limit = std::move(limit),
            .speedup = speedup};
}

std::vector<std::string> sentences(const std::vector<Point>& points) {
    return sentences_for("chip", "net", "cpu", points);
}

/// The limit that an advice names of a run of its only point.
std::string limit_of(run::RunRecord record) {
    const Question question{.config = {}, .batches = {1}, .sizes = {1}, .cpu = "cpu"};
    std::vector<run::RunOutcome> outcomes(1);
    outcomes.front().record = std::move(record);
    return advise::advise(question, outcomes).points.at(0).limit;
}

/// The record of a program, of a machine with these settings.
run::RunRecord record_of(const std::string& text, std::vector<run::Setting> settings = {}) {
    for (run::Setting& setting : settings) setting.key = "machine." + setting.key;
    const run::RunConfig config = tests::run_with(settings);
    run::RunSpec spec;
    spec.machine = run::read_machine(config, run::PathFinder(config.file));
    spec.program.emplace();
    spec.timing_only = true;
    run::Prepared prepared;
    prepared.program = isa::assemble(text, "test");
    const tests::FreshSimulation simulation;
    return run::simulate(spec, prepared);
}

const std::vector<std::string> parts{"array", "data setup", "weight memory", "host link", "activation unit"};

/// A record of three layers whose work, by part and layer, and cycles are given.
run::RunRecord record_with(const std::vector<std::pair<std::string, std::array<Cycle, 3>>>& work,
                           Cycle cycles) {
    static const run::RunRecord three_layers = record_of(
        ".array 256 256\n.tile 256 256 fill 1\n.layer one \"dense\"\n.layer two \"dense\"\n.layer three "
        "\"dense\"\n"
        "read_weights tile=0\ntag 1\nmatmul ub=0 acc=0 rows=10\n"
        "tag 2\nmatmul ub=0 acc=0 rows=10 keep\ntag 3\nmatmul ub=0 acc=0 rows=10 keep\nhalt\n");
    run::RunRecord record = three_layers;
    record.cycles = cycles;
    for (machine::Bound& bound : record.bounds) bound.by_tag.assign(4, 0);
    for (const auto& [part, by_layer] : work) {
        const auto found = std::ranges::find(record.bounds, part, &machine::Bound::part);
        REQUIRE(found != record.bounds.end());
        std::ranges::copy(by_layer, found->by_tag.begin() + 1);
    }
    return record;
}

}  // namespace

TEST_CASE("The limit is the part that is the busiest of most layers, by cycles", "[study][advise]") {
    for (const std::string& part : parts) {
        CAPTURE(part);
        CHECK(limit_of(record_with({{part, {100, 0, 0}}}, 100)) == part);
        for (const std::string& other : parts) {
            if (other == part) continue;
            CAPTURE(other);
            // In one layer, one cycle decides which part counts.
            CHECK(limit_of(record_with({{part, {101, 0, 0}}, {other, {100, 0, 0}}}, 101)) == part);
            CHECK(limit_of(record_with({{part, {99, 0, 0}}, {other, {100, 0, 0}}}, 100)) == other);
            // Of all layers, one cycle decides between two layers of one part and a layer of the other.
            CHECK(limit_of(record_with({{part, {51, 0, 50}}, {other, {0, 100, 0}}}, 201)) == part);
            CHECK(limit_of(record_with({{part, {49, 0, 50}}, {other, {0, 100, 0}}}, 199)) == other);
            // The work of the part that is not the busiest of its layer does not count.
            CHECK(limit_of(record_with({{part, {90, 90, 90}}, {other, {91, 91, 0}}}, 272)) == other);
        }
    }
}

TEST_CASE("A run waits where its layers' busiest parts take less than two thirds of it", "[study][advise]") {
    for (const std::string& part : parts) {
        CAPTURE(part);
        CHECK(limit_of(record_with({{part, {200, 0, 0}}}, 300)) == part);
        CHECK(limit_of(record_with({{part, {200, 0, 0}}}, 301)) == "waiting");
        CHECK(limit_of(record_with({{part, {66, 0, 134}}}, 300)) == part);
        CHECK(limit_of(record_with({{part, {65, 0, 134}}}, 300)) == "waiting");
    }
    // All layers count, whichever part is the busiest of each.
    CHECK(limit_of(record_with({{"array", {40, 0, 0}}, {"host link", {0, 160, 0}}}, 300)) == "host link");
    CHECK(limit_of(record_with({{"array", {39, 0, 0}}, {"host link", {0, 160, 0}}}, 300)) == "waiting");
    CHECK(limit_of(record_with({}, 300)) == "waiting");
}

TEST_CASE("Each limit is that of a run in which one part is slow", "[study][advise]") {
    const std::vector<run::Setting> quick{{"machine.weight_memory.bandwidth_gb_per_s", 3000},
                                          {"machine.host_interface.read_gb_per_s", 1000},
                                          {"machine.host_interface.write_gb_per_s", 1000},
                                          {"machine.systolic_data_setup.fetches_per_cycle", 16},
                                          {"machine.activation_unit.latency_ns", 0}};
    const auto limit_with = [&](const std::vector<run::Setting>& slow, std::uint32_t batch) {
        std::vector<run::Setting> settings{
            {"model", std::string(tests::source_dir()) + "/models/mnist_cnn/mnist_cnn.h5"}};
        settings.insert(settings.end(), quick.begin(), quick.end());
        settings.insert(settings.end(), slow.begin(), slow.end());
        const Question question{.config = tests::run_with(settings),
                                .batches = {batch},
                                .sizes = {1},
                                .cpu = tests::a_baseline()};
        const sweep::Study study(advise::study_of(question));
        const tests::FreshSimulation simulation;
        std::vector<run::RunOutcome> outcomes(1);
        outcomes.front().record = run::run(study.spec_of(study.points().at(0)));
        return advise::advise(question, outcomes).points.at(0).limit;
    };
    CHECK(limit_with({}, 64) == "array");
    CHECK(limit_with({{"machine.systolic_data_setup.fetches_per_cycle", 1}}, 64) == "data setup");
    CHECK(limit_with({{"machine.weight_memory.bandwidth_gb_per_s", 0.1}}, 64) == "weight memory");
    CHECK(limit_with({{"machine.host_interface.read_gb_per_s", 0.05}}, 64) == "host link");
    CHECK(limit_with({{"machine.host_interface.write_gb_per_s", 0.001}}, 64) == "host link");
    CHECK(limit_with({{"machine.activation_unit.latency_cycles", 100'000}}, 1) == "waiting");

    // Ten activations of each row of sums.
    std::string activations;
    for (int i = 0; i < 10; ++i) activations += "activate ub=2000 acc=0 rows=1000 load\n";
    CHECK(limit_of(record_of(
              ".array 256 256\n.tile 256 256 fill 1\nset activation.columns 256; set activation.pixel_bytes "
              "256\n"
              "set activation.outputs_per_image 1000\nread_weights tile=0\ntag 1\n"
              "matmul ub=0 acc=0 rows=1000\nsync.signal matrix sem=0\nsync.wait activation sem=0\n" +
                  activations + "halt\n",
              {{"weight_memory.bandwidth_gb_per_s", 3000}})) == "activation unit");
}

TEST_CASE("The study of a question has the run's machine, network, mapping and host, and no input",
          "[study][advise]") {
    using Json = nlohmann::ordered_json;
    const auto spec_of = [](const run::RunConfig& config) {
        const Question question{.config = config, .batches = {2}, .sizes = {1}, .cpu = tests::a_baseline()};
        const sweep::Study study(advise::study_of(question));
        const run::RunSpec spec = study.spec_of(study.points().at(0));
        return run::fields::write<run::fields::Extent::Compared>(spec).flatten();
    };
    const auto spec_of_run = [](const run::RunConfig& config) {
        return run::fields::write<run::fields::Extent::Compared>(run::make_spec(config)).flatten();
    };
    const run::RunConfig plain = tests::run_with({});
    const Json asked = spec_of(plain), run = spec_of_run(plain);
    CHECK(asked.at("/compiler/batch") == 2);
    CHECK(asked.at("/compiler/limit") == 8);
    CHECK(asked.at("/timing_only") == true);
    std::vector<tests::RunKey> rows = tests::run_key_values();
    rows.push_back({"machine_settings", tests::KeyUse::Cycles, {{"machine.clock_mhz", 500}}});
    for (const tests::RunKey& row : rows) {
        if (row.key == "program" || row.key == "batch" || row.key == "limit" ||
            row.key == "size_multiplier") {
            continue;  // the study's own, or refused
        }
        INFO(row.key);
        const run::RunConfig config = tests::run_with(row.settings);
        const Json asked_of_it = spec_of(config);
        // The layout is that of input, and so of no consequence.
        if (row.use != tests::KeyUse::Cycles && row.key != "layout") {
            CHECK(asked_of_it == asked);
            continue;
        }
        CHECK(Json::diff(asked, asked_of_it) == Json::diff(run, spec_of_run(config)));
    }
}

TEST_CASE("The filling batch is the smallest near the highest rate of its size", "[study][advise]") {
    const std::vector<Point> points{point(1, 1, 100, 0.1, {}), point(1, 8, 900, 0.3, {}),
                                    point(1, 64, 990, 0.31, {}), point(2, 1, 5000, 0.9, {})};
    CHECK(filling_point(points, 1)->batch == 8);
    CHECK(filling_point(points, 1, 1.0)->batch == 64);
    CHECK(filling_point(points, 2)->batch == 1);
    CHECK(filling_point(points, 3) == nullptr);
    Point failed = point(1, 1, 100, 0.1, {});
    failed.error = "it does not fit";
    CHECK(filling_point(std::vector<Point>{failed}, 1) == nullptr);
}

TEST_CASE("The sentences answer what fills, what limits, when the CPU is quicker, and the rule",
          "[study][advise]") {
    const std::vector<std::string> said =
        sentences({point(1, 1, 100, 0.02, 0.5, "weight memory"), point(1, 8, 900, 0.2, 4.0, "weight memory"),
                   point(1, 64, 950, 0.21, 9.0), point(2, 8, 300, 0.5, 12.0)});
    REQUIRE(said.size() == 5);
    CHECK(said[0] ==
          "From batch 8 on, net does at least 90 % of its most on chip: 900 inferences a second, 20.0 % of "
          "the array's peak. Batch 64 does most: 950 inferences a second, 21.0 % of the array's peak (+5.6 "
          "%).");
    CHECK(said[1] == "At batch 8, the weight memory is the limit.");
    CHECK(said[2] == "Images 2 times as wide and high fill it best, with 50.0 % of the peak at batch 8.");
    CHECK(said[3] ==
          "Up to batch 1, a die of cpu is expected to be the better choice; at batch 8, chip is "
          "quicker 4.0 times.");
    CHECK(said[4] ==
          "So the rule for this network is batch = 8 x cores. chip has one core; the rule of the "
          "article on Colab's TPU with eight is 64 x cores.");

    const std::vector<std::string> growing =
        sentences({point(1, 1, 100, 0.02, 0.5, "weight memory"), point(1, 8, 900, 0.2, 0.9)});
    REQUIRE(growing.size() == 4);
    CHECK(growing[0] ==
          "net gains from larger batches up to the largest that was tried, 8: 900 inferences a "
          "second, 20.0 % of the array's peak.");
    CHECK(growing[1] == "At batch 1, the weight memory is the limit; at batch 8, the array is the limit.");
    CHECK(growing[2] == "A die of cpu is expected to be the better choice at every batch here.");
    CHECK(growing[3].find("batch = at least 8 x cores") != std::string::npos);

    // The CPU's speed is not known.
    CHECK(sentences({point(1, 4, 100, 0.02, {})}).size() == 3);
    CHECK(sentences({}).empty());
}

TEST_CASE("Sentences about batches are true of the points, whatever they are", "[study][advise]") {
    for (std::uint32_t seed = 1; seed <= tests::random_runs(300); ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto number = [&](double least, double most) {
            return std::uniform_real_distribution<double>(least, most)(random);
        };
        std::vector<Point> points;
        for (std::uint32_t batch = 1; batch <= 16; batch *= 2) {
            points.push_back(point(1, batch, number(800, 1000), number(0.1, 0.2), number(0.5, 2.0)));
        }
        const std::string said = sentences(points).front();
        CAPTURE(said);
        double most = 0.0;
        for (const Point& each : points) most = std::max(most, each.inferences_per_second);
        std::uint32_t batch = 0;
        const bool holds_on = std::sscanf(said.c_str(), "From batch %u on,", &batch) == 1;
        if (!holds_on && std::sscanf(said.c_str(), "At batch %u,", &batch) != 1) {
            CHECK(said.starts_with("net gains from larger batches"));
            CHECK(points.back().inferences_per_second == most);
            continue;
        }
        for (const Point& each : points) {
            if (each.batch < batch) CHECK(each.inferences_per_second < 0.9 * most);
            if (each.batch == batch || (each.batch > batch && holds_on)) {
                CHECK(each.inferences_per_second >= 0.9 * most);
            }
            const bool does_most =
                said.find(fmt::format(" Batch {} does most", each.batch)) != std::string::npos;
            CHECK(does_most == (each.inferences_per_second == most && each.batch != batch));
        }
        // The CPU is the better choice exactly where the chip is slower.
        const std::string cpu = sentences(points).at(2);
        CAPTURE(cpu);
        const auto slower = [](const Point& each) { return *each.speedup < 1.0; };
        CHECK((cpu.find("slower at every batch") != std::string::npos) ==
              std::ranges::none_of(points, slower));
        CHECK((cpu.find("better choice at every") != std::string::npos) ==
              std::ranges::all_of(points, slower));
        std::uint32_t last = 0;
        if (std::sscanf(cpu.c_str(), "Up to batch %u,", &last) == 1) {
            for (const Point& each : points) CHECK(slower(each) == (each.batch <= last));
        }
        double times = 0.0;
        const std::size_t at = cpu.find("; at batch ");
        std::array<char, 8> machine{};
        if (at != std::string::npos &&
            std::sscanf(cpu.c_str() + at, "; at batch %u, %7s is quicker %lf times", &last, machine.data(),
                        &times) == 3) {
            CHECK(times >= 1.0);
        }
    }
}

TEST_CASE("Larger images fill the array better from a tenth more of the peak on", "[study][advise]") {
    const auto said = [](double peak) {
        return sentences({point(1, 8, 900, 0.2, {}), point(2, 4, 300, peak, {}), point(3, 4, 90, 0.1, {})})
            .at(2);
    };
    CHECK(said(0.2) == "Larger images fill the array no better: at most 20.0 % of the peak.");
    CHECK(said(0.219) ==
          "Larger images fill the array hardly better: at most 21.9 % of the peak, instead of 20.0 %.");
    CHECK(said(0.221) == "Images 2 times as wide and high fill it best, with 22.1 % of the peak at batch 4.");
}

TEST_CASE("The times of a point are the mean latency of its batches, and its run's time over them",
          "[study][advise]") {
    run::RunRecord record = record_with({{"array", {600, 0, 0}}}, 600);
    record.program.batch = 2;
    record.program.inferences = 8;
    record.latency = run::BatchLatency{
        .sum = 1000, .largest = 400, .first = 170, .intervals = 3, .between = 330, .alone = 160};
    const double clock = static_cast<double>(record.spec.machine.clock_hz());
    const Question question{.config = {}, .batches = {2}, .sizes = {1}, .cpu = "cpu"};
    std::vector<run::RunOutcome> outcomes(1);
    outcomes.front().record = record;
    const Point point = advise::advise(question, outcomes).points.at(0);
    CHECK(point.latency_seconds == Approx(250 / clock));
    CHECK(point.interval_seconds == Approx(150 / clock));
    CHECK(point.inferences_per_second == Approx(8 / (600 / clock)));
}

TEST_CASE("The page of an advice has a line for each size, and escapes names", "[study][advise]") {
    const Advice advice{
        .machine = "chip",
        .model = "a<b",
        .cpu = "cpu",
        .points = {point(1, 1, 100, 0.1, 2.0), point(1, 4, 300, 0.3, 3.0), point(2, 1, 100, 0.4, {})},
        .sentences = {"x & y"}};
    const std::string page = to_html(advice);
    CHECK(page.find("<h1>a&lt;b on chip</h1>") != std::string::npos);
    CHECK(page.find("<p>x &amp; y</p>") != std::string::npos);
    CHECK(page.find("images x 1</text>") != std::string::npos);
    CHECK(page.find("images x 2</text>") != std::string::npos);
    std::size_t lines = 0;
    for (std::size_t at = page.find("<path"); at != std::string::npos; at = page.find("<path", at + 1))
        ++lines;
    CHECK(lines == 2);
}

TEST_CASE("The page of an advice shows any number of sizes", "[study][advise]") {
    Advice advice{.machine = "chip", .model = "net", .cpu = "cpu", .points = {}, .sentences = {}};
    for (std::uint32_t size = 1; size <= 20; ++size) {
        advice.points.push_back(point(size, 1, 100, 0.01 * size, {}));
        const std::string page = to_html(advice);
        for (std::uint32_t shown = 1; shown <= size; ++shown) {
            CAPTURE(size, shown);
            CHECK(page.find("images x " + std::to_string(shown) + "</text>") != std::string::npos);
        }
    }
}

TEST_CASE("The page of tensor cores shows which part binds, and the article's batch", "[study][advise]") {
    Advice advice{.machine = "chip", .model = "net", .cpu = "cpu", .cores = 8, .points = {}, .sentences = {}};
    const auto count = [&](const std::string& text) {
        const std::string page = to_html(advice);
        std::size_t found = 0;
        for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++found;
        return found;
    };
    advice.points.push_back(point(1, 64, 100, 0.1, 2.0));
    CHECK(count("Speed over the batch") == 0);  // of other machines nothing is known
    CHECK(count("<th>limit</th>") == 1);
    advice.points.clear();
    constexpr std::array<const char*, 6> parts{"array", "hbm", "infeed", "vector", "link", "cross_lane"};
    std::uint32_t batch = 64;
    for (const char* const part : parts) {
        advice.points.push_back(point(1, batch, batch, 0.1, 2.0));
        advice.points.back().images_of_core = batch / 8;
        advice.points.back().shares = {{part, std::string("work of ") + part, 0.6}};
        batch *= 2;
    }
    for (const char* const part : parts) {
        CAPTURE(part);
        CHECK(count(fmt::format("work of {} in 60.0 % of the cycles</title>", part)) == 1);
        CHECK(count(fmt::format(">{}</text>", part == std::string("hbm") ? "HBM-bound"
                                              : part == std::string("cross_lane")
                                                  ? "cross-lane-bound"
                                                  : std::string(part) + "-bound")) == 1);
        CHECK(count(fmt::format("<td>{}</td><td>60.0 %</td>", part)) == 1);
    }
    CHECK(count("64 x cores</text>") == 1);
    CHECK(count("<td>64</td>") == 2);  // a batch, and the images a core of batch 512
    CHECK(count("<th>limit</th>") == 0);
    advice.points.erase(advice.points.begin() + 3, advice.points.end());  // batches up to 256
    CHECK(count("64 x cores</text>") == 0);
}

TEST_CASE("The best size is that with the largest share, wherever it is in the list", "[study][advise]") {
    for (std::uint32_t best = 2; best <= 5; ++best) {
        CAPTURE(best);
        std::vector<Point> points{point(1, 8, 900, 0.2, {})};
        for (std::uint32_t size = 2; size <= 5; ++size) {
            points.push_back(point(size, size + 1, 300, size == best ? 0.5 : 0.3, {}));
        }
        CHECK(sentences(points).at(2) ==
              "Images " + std::to_string(best) +
                  " times as wide and high fill it best, with 50.0 % of the peak at batch " +
                  std::to_string(best + 1) + ".");
    }
}

namespace {

/// A question about the digits' network on the Edge TPU.
Question of_tiles(const std::vector<run::Setting>& machine = {}) {
    const std::string root(tests::source_dir());
    std::vector<run::Setting> settings{{"machine", root + "/configs/machines/edge_tpu_usb.json"},
                                       {"model", root + "/models/mnist_cnn/mnist_cnn.h5"}};
    for (const run::Setting& setting : machine) settings.push_back({"machine." + setting.key, setting.value});
    return {.config = tests::run_with(settings),
            .batches = {4, 64},
            .sizes = {1},
            .cpu = tests::a_baseline(),
            .has_tiles = true};
}

}  // namespace

TEST_CASE("Of tiles, 256 calls of one image are asked for, whatever the batches", "[study][advise][tiles]") {
    const sweep::Study study(advise::study_of(of_tiles()));
    REQUIRE(study.points().size() == 1);
    const run::RunSpec spec = study.spec_of(study.points().at(0));
    CHECK(spec.compiler.batch == 1);
    CHECK(spec.compiler.limit == 256);
    CHECK(spec.timing_only);
}

TEST_CASE("The limit of tiles is the part that is slow", "[study][advise][tiles]") {
    const std::vector<run::Setting> quick{
        {"host_interface.read_gb_per_s", 1000}, {"host_interface.write_gb_per_s", 1000},
        {"host_interface.latency_cycles", 0},   {"host.call_us", 0},
        {"ring.bytes_per_cycle", 64},           {"program.bytes", 1}};
    const auto advice_with = [&](const std::vector<run::Setting>& slow) {
        std::vector<run::Setting> settings = quick;
        settings.insert(settings.end(), slow.begin(), slow.end());
        const Question question = of_tiles(settings);
        const sweep::Study study(advise::study_of(question));
        const tests::FreshSimulation simulation;
        std::vector<run::RunOutcome> outcomes(1);
        outcomes.front().record = run::run(study.spec_of(study.points().at(0)));
        return advise::advise(question, outcomes);
    };
    const auto limit_with = [&](const std::vector<run::Setting>& slow) {
        return advice_with(slow).points.at(0).limit;
    };
    CHECK(limit_with({{"tile_array.vector_bytes_per_cycle", 1}, {"tile_array.pooling_bytes_per_cycle", 1}}) ==
          "tiles");
    CHECK(limit_with({{"ring.bytes_per_cycle", 0.5}}) == "ring");
    CHECK(limit_with({{"mesh.bytes_per_cycle", 0.01}}) == "mesh");
    CHECK(limit_with({{"host_interface.read_gb_per_s", 0.001}}) == "host link");
    CHECK(limit_with({{"host.call_us", 900}}) == "host link");
    const Advice advice = advice_with({{"ring.bytes_per_cycle", 0.5}});
    REQUIRE(advice.points.size() == 1);
    CHECK(advice.points.front().batch == 1);
    CHECK(advice.machine == "edge_tpu_usb");
    const auto says = [&](const std::string& sentence) {
        return std::ranges::count(advice.sentences, sentence) == 1;
    };
    CHECK(says("The ring is the limit."));
    for (const std::string& sentence : advice.sentences) {
        INFO(sentence);
        CHECK(sentence.find("x cores") == std::string::npos);  // there is no batch to choose
    }
}

TEST_CASE("The sentences of tiles say how long an image takes, what limits, and the CPU's speed",
          "[study][advise][tiles]") {
    const auto said = [](const std::vector<Point>& points) {
        return sentences_for("chip", "net", "cpu", points, true);
    };
    CHECK(said({point(1, 1, 400, 0.02, 0.5, "ring"), point(2, 1, 200, 0.05, 0.7, "tiles")}) ==
          std::vector<std::string>{
              "chip takes one image at a time, so that there is no batch to choose. Once it has the "
              "parameters, net does 400 inferences a second, 2.0 % of the peak: one takes 2.500 ms.",
              "The ring is the limit.",
              "Images 2 times as wide and high fill it better, with 5.0 % of the peak.",
              "A die of cpu is expected to be 2.0 times as quick."});
    CHECK(said({point(1, 1, 400, 0.05, 4.0, "waiting"), point(2, 1, 200, 0.02, {})}) ==
          std::vector<std::string>{
              "chip takes one image at a time, so that there is no batch to choose. Once it has the "
              "parameters, net does 400 inferences a second, 5.0 % of the peak: one takes 2.500 ms.",
              "Work mostly waits for other work.",
              "Larger images fill it no better: at most 2.0 % of the peak.",
              "It is expected to be 4.0 times as quick as a die of cpu."});
    CHECK(said({}).empty());
}

namespace {

/// A question about programs whose shapes have their batch.
Question of_programs(const std::vector<std::string>& programs) {
    const std::string root(tests::source_dir());
    return {.config = tests::run_with({{"machine", root + "/configs/machines/tpu_v2_1core.json"},
                                       {"model", root + "/models/wrong_machine/product.hlo.gz"}}),
            .batches = {1, 2, 4},
            .sizes = {1, 2},
            .cpu = tests::a_baseline(),
            .programs = programs};
}

const std::string product = std::string(tests::source_dir()) + "/models/wrong_machine/product.hlo.gz";
const std::string other = std::string(tests::source_dir()) + "/models/wrong_machine/element_wise.hlo.gz";

/// The record of the product, simulated once.
const run::RunRecord& product_record() {
    static const run::RunRecord record = [] {
        const sweep::Study study(advise::study_of(of_programs({product})));
        const tests::FreshSimulation simulation;
        return run::run(study.spec_of(study.points().at(0)));
    }();
    return record;
}

}  // namespace

TEST_CASE("Of programs, the study runs four calls of each on every core", "[study][advise]") {
    const sweep::Study study(advise::study_of(of_programs({product, other, product})));
    REQUIRE(study.points().size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        const run::RunSpec spec = study.spec_of(study.points()[i]);
        CHECK(spec.network->path.text == (i == 0 ? product : other));
        CHECK(spec.compiler.batch == 1);
        CHECK(spec.compiler.limit == 4);
        CHECK(spec.timing_only);
    }
    Question eight = of_programs({product});
    eight.config.machine = std::string(tests::source_dir()) + "/configs/machines/tpu_v2_8.json";
    eight.cores = 8;
    const sweep::Study of_eight(advise::study_of(eight));
    const run::RunSpec spec = of_eight.spec_of(of_eight.points().at(0));
    CHECK(spec.compiler.batch == 8);
    CHECK(spec.compiler.limit == 32);
}

TEST_CASE("An advice on one program says that its batch is fixed, and what binds", "[study][advise]") {
    std::vector<run::RunOutcome> outcomes(1);
    outcomes.front().record = product_record();
    const Advice advice = advise::advise(of_programs({product}), outcomes);
    REQUIRE(advice.points.size() == 1);
    const Point& point = advice.points.front();
    CHECK(point.error.empty());
    CHECK(point.shares.front().name == "array");
    CHECK(point.shares.front().share > 0.8);
    CHECK(point.passes == 1.0);
    CHECK(point.images_of_core == 0);
    CHECK(advice.sentences.at(0) ==
          "The batch of jit_product is fixed by the program, whose shapes have it: here are calls of it.");
    for (const std::string& sentence : advice.sentences) {
        INFO(sentence);
        CHECK(sentence.find("wrong machine") == std::string::npos);
        CHECK(sentence.find("rule") == std::string::npos);  // one batch says nothing of others
    }
    const auto json = to_json(advice);
    CHECK(json.at("points").at(0).at("bound_by") == "array");
    CHECK(json.at("points").at(0).at("images_of_core").is_null());
    CHECK(json.at("points").at(0).at("shares").at("array").get<double>() == point.shares.front().share);
    CHECK(json.at("points").at(0).at("passes") == 1.0);
}

TEST_CASE("Several programs are batches of their examples, with the time of a further step",
          "[study][advise]") {
    const auto outcome = [](std::uint64_t examples, Cycle cycles, Cycle macs, Cycle hbm) {
        run::RunOutcome made;
        made.record = product_record();
        made.record->program.examples = examples;
        made.record->program.examples_of_core = examples / 2;
        made.record->step = run::FurtherStep{
            .cycles = cycles,
            .bounds = {{.name = "macs", .part = "", .meaning = "", .run = macs, .by_tag = {}},
                       {.name = "hbm", .part = "", .meaning = "rows move", .run = hbm, .by_tag = {}}}};
        return made;
    };
    const std::vector<run::RunOutcome> outcomes{outcome(128, 4000, 1000, 3000), outcome(16, 1000, 100, 200)};
    const Advice advice = advise::advise(of_programs({product, other}), outcomes);
    REQUIRE(advice.points.size() == 2);
    CHECK(advice.points[0].batch == 16);  // by batch, not in the order of the programs
    CHECK(advice.points[1].batch == 128);
    CHECK(advice.points[1].images_of_core == 64);
    const double clock = static_cast<double>(product_record().spec.machine.clock_hz());
    CHECK(advice.points[1].interval_seconds == Approx(4000 / clock));
    CHECK(advice.points[1].inferences_per_second == Approx(128 / (4000 / clock)));
    CHECK(advice.points[1].peak_share == Approx(0.25));
    CHECK(advice.points[1].shares == std::vector<Share>{{"hbm", "rows move", 0.75}});
    CHECK(std::ranges::count_if(advice.sentences, [](const std::string& sentence) {
              return sentence.find("fixed by the program") != std::string::npos;
          }) == 0);
    CHECK(std::ranges::count_if(advice.sentences, [](const std::string& sentence) {
              return sentence.find(
                         "The article's rule, batch = 64 x cores, is batch 128 here: the best speed") !=
                     std::string::npos;
          }) == 1);
}
