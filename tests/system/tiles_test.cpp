// A program for a machine with tiles, as a user runs it: its answers, its report in all forms, its traces,
// what would make it faster, and the options that belong to machines with an array.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/timeline.h"
#include "tests/support/vcd.h"
#include "tests/system/sim_process.h"

using namespace systole::tests;
using Json = nlohmann::ordered_json;

namespace {

const std::string tile_run =
    "tests/support/tiles/three_layers.asm --machine tests/support/tiles/machine.json ";

std::string tile_mistake(const std::string& options) {
    const Outcome outcome = sim("run " + tile_run + options);
    INFO(options);
    CHECK(outcome.exit_code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    return outcome.err;
}

std::uint64_t ones(const ReadVcd& waves, const std::string& name) {
    const auto values = waves.by_cycle(name);
    return static_cast<std::uint64_t>(std::count(values.begin(), values.end(), ReadVcd::Value(1)));
}

}  // namespace

TEST_CASE("A program for tiles takes the same cycles with values and without, and from its file",
          "[system][tiles]") {
    const Folder folder;
    const Json first = report_of(tile_run + "--random-input 3 --print out");
    const std::string file = (folder / "three.tpu").string();
    REQUIRE(sim("asm tests/support/tiles/three_layers.asm -o " + file).exit_code == 0);
    const Json timed = report_of(tile_run + "--timing-only");
    const Json from_file =
        report_of(file + " --machine tests/support/tiles/machine.json --random-input 3 --print out");
    for (const char* const key : {"units", "layers", "bounds", "traffic", "cycles"}) {
        INFO(key);
        CHECK(timed.at(key) == first.at(key));
        CHECK(from_file.at(key) == first.at(key));
    }
    CHECK(from_file.at("buffers") == first.at("buffers"));
    CHECK(first.at("predictions").size() == 1);
    CHECK(timed.at("predictions").empty());
    const Json lanes =
        report_of(tile_run + "--random-input 3 --print out --set machine.tile_array.engine=lane");
    CHECK(lanes.at("buffers") == first.at("buffers"));
    CHECK(lanes.at("units") == first.at("units"));
    // Scores that differ: the program computes something.
    const auto scores = first.at("buffers").at(0).at("values").get<std::vector<int>>();
    CHECK(std::set<int>(scores.begin(), scores.end()).size() > 3);
}

TEST_CASE("A program for tiles leaves a report, its page and all traces, which agree", "[system][tiles]") {
    const Folder folder;
    const std::string out = (folder / "").string();
    const Outcome outcome =
        sim("run " + tile_run + "--random-input 3 --quiet --trace timeline,waves,csv,text --out " + out);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json report = Json::parse(text_in(folder / "report.json"));
    const Json& tiles = report.at("tile_array");
    const std::uint64_t cycles = report.at("cycles");

    const ReadTimeline timeline = read_timeline(folder / "timeline.json.gz");
    std::set<std::string> tracks;
    for (const auto& [name, slices] : timeline.tracks) tracks.insert(name);
    for (const char* const track :
         {"layers", "sequencer", "host_read", "ring", "mesh", "tiles", "host_write"}) {
        INFO(track);
        CHECK(tracks.contains(track));
    }
    for (const char* const track : {"matrix unit", "weight memory", "weights", "activation"}) {
        CHECK_FALSE(tracks.contains(track));
    }
    for (const Json& layer : report.at("layers")) {
        CHECK(timeline.cycles("layers", layer.at("name")) == layer.at("cycles"));
    }
    // Waits in the middle of instructions are slices inside theirs.
    CHECK(tiles.at("ring_stall_cycles") > 0);
    CHECK(timeline.cycles("tiles", "ring_stall") == tiles.at("ring_stall_cycles"));
    CHECK(timeline.cycles("ring", "buffer_stall") == report.at("units").at("ring").at("buffer_stall_cycles"));
    CHECK(timeline.last("host read bytes") ==
          report.at("traffic").at("host_read_bytes").get<std::int64_t>() +
              report.at("traffic").at("parameter_bytes").get<std::int64_t>());
    CHECK(timeline.last("host write bytes") == report.at("traffic").at("host_write_bytes"));

    const ReadVcd waves = read_vcd(text_in(folder / "waves.vcd"));
    CHECK(waves.end_cycle() == cycles);
    for (const auto& [name, signal] : waves.signals) {
        INFO(name);
        for (const char* const unit :
             {"matrix_unit", "unified_buffer", "accumulators", "weight", "activation"}) {
            CHECK(name.find(unit) == std::string::npos);
        }
    }
    CHECK(ones(waves, "ring.busy") > 0);
    CHECK(ones(waves, "mesh.busy") == report.at("units").at("mesh").at("busy_cycles"));
    // Under an instruction, the tiles also wait for the ring.
    CHECK(ones(waves, "tile_array.busy") ==
          tiles.at("busy_cycles").get<std::uint64_t>() + tiles.at("ring_stall_cycles").get<std::uint64_t>());
    CHECK(ones(waves, "tile_array.ring_stall") == tiles.at("ring_stall_cycles"));
    // A wait that the run does not have has no signal.
    REQUIRE(report.at("units").at("ring").at("buffer_stall_cycles") == 0);
    CHECK_FALSE(waves.signals.contains("tpu.ring.buffer_stall"));
    CHECK_FALSE(waves.signals.contains("tpu.host_interface.read_staging_full"));  // nothing is streamed

    CHECK(report.at("explanation").at("text").get<std::string>().starts_with("Host-bound: "));
    const std::string page = (folder / "again.html").string();
    CHECK(sim("report " + out + " --out " + page).exit_code == 0);
    CHECK(text_in(page).find("\"tile_array\"") != std::string::npos);
}

TEST_CASE("Bytes of a tile's narrow memory are printed", "[system][tiles]") {
    // A tile has 2 x 2 pixels of 4 channels and a margin of one pixel: its first pixel begins at byte 20.
    const Json report = report_of(tile_run + "--random-input 3 --print image --print tile1:20+8");
    const auto image = report.at("buffers").at(0).at("values").get<std::vector<int>>();
    const auto tile = report.at("buffers").at(1).at("values").get<std::vector<int>>();
    CHECK(report.at("buffers").at(1).at("name") == "tile1:20+8");
    CHECK(std::set<int>(tile.begin(), tile.end()).size() > 1);
    CHECK(tile == std::vector<int>(image.begin() + 8, image.begin() + 16));
}

TEST_CASE("Power over time of tiles sums to the energy of the run, and is where the units work",
          "[system][tiles][energy]") {
    const Json report =
        report_of("mnist_cnn --machine edge_tpu_usb --limit 2 --timing-only --power-windows 50");
    const Json& energy = report.at("energy");
    const Json& power = energy.at("power_over_time");
    const double seconds = power.at("window_cycles").get<double>() / 500e6;
    const auto watts = [&](const std::string& consumer) {
        return power.at("watts").at(consumer).get<std::vector<double>>();
    };
    const auto cycles = report.at("cycles").get<double>();
    for (const char* const consumer : {"tile_array", "ring", "host_interface", "host_processor", "board"}) {
        const std::vector<double> windows = watts(consumer);
        REQUIRE(windows.size() == 50);
        double joules = 0;
        for (std::size_t i = 0; i < windows.size(); ++i) {
            const double last = cycles / 500e6 - static_cast<double>(i) * seconds;
            joules += windows[i] * std::min(seconds, last);
        }
        INFO(consumer);
        CHECK(joules == Approx(energy.at("by_unit").at(consumer).get<double>()));
    }
    // Until the first parameters have come, the tiles wait; the board takes its watt all the time.
    const std::vector<double> tiles = watts("tile_array");
    CHECK(tiles.front() == 0.0);
    CHECK(watts("board").front() == Approx(watts("board").back()));
    CHECK(*std::ranges::max_element(tiles) > 0.0);
}

TEST_CASE("Reports of tiles are compared side by side", "[system][tiles]") {
    const Folder folder;
    const std::string a = (folder / "a").string();
    const std::string b = (folder / "b").string();
    REQUIRE(sim("run " + tile_run + "--timing-only --no-explain --quiet --out " + a).exit_code == 0);
    REQUIRE(sim("run " + tile_run +
                "--timing-only --no-explain --quiet --set machine.ring.bytes_per_cycle=2 --out " + b)
                .exit_code == 0);
    const Outcome text = sim("report " + a + " " + b + " --text");
    CHECK(text.exit_code == 0);
    CHECK(text.out.find("ring stall") != std::string::npos);
    CHECK(text.out.find("parameter bytes") != std::string::npos);
    CHECK(text.out.find("array active") == std::string::npos);
    CHECK(text.out.find("weight stall") == std::string::npos);
    CHECK(sim("report " + a + " " + b + " --csv").out.find("cycles of conv") != std::string::npos);
}

TEST_CASE("What-ifs of a program for tiles change the unit that makes it wait", "[system][tiles]") {
    // A fast link and a slow ring.
    const std::string slow_ring =
        "--set machine.host_interface.read_gb_per_s=500 --set machine.host_interface.latency_cycles=0 "
        "--set machine.ring.bytes_per_cycle=0.5 --set machine.sequencer.issue_cycles=0";
    const Outcome outcome = sim("explain " + tile_run + slow_ring);
    REQUIRE(outcome.exit_code == 0);
    const std::string text = in_one_line(outcome.out);
    CHECK(text.find("conv (") != std::string::npos);
    CHECK(text.find("Ring-bound: in ") != std::string::npos);
    CHECK(text.find("the tiles wait for weights from the ring; 2x the ring's bandwidth would run it at ") !=
          std::string::npos);
    CHECK(text.find("2x the weight buffers") != std::string::npos);
}

TEST_CASE("Options of machines with an array are refused for tiles in one line", "[system][tiles]") {
    const std::string family = "the machine is of the family edge_tpu, which has no array of cells\n";
    CHECK(tile_mistake("--random-input 3 --registers all") == "sim: registers: " + family);
    CHECK(tile_mistake("--random-input 3 --show registers") == "sim: registers: " + family);
    const Folder folder;
    const std::string cells =
        tile_mistake("--random-input 3 --trace waves --trace-pe 0,0 --out " + (folder / "").string());
    CHECK(cells.find(family) != std::string::npos);
    CHECK(tile_mistake("--random-input 3 --print ub:0")
              .find("there is no host buffer \"ub\"; there are: image, kernels") != std::string::npos);
    CHECK(tile_mistake("--random-input 3 --print tile99:0").find("tile15:BYTE+BYTES show bytes of a tile") !=
          std::string::npos);
    CHECK(tile_mistake("--timing-only --set machine.matrix_unit.rows=4").find("matrix_unit") !=
          std::string::npos);
    const auto only = [](const std::string& section) {
        return sim("run " + tile_run + "--timing-only --show " + section).out;
    };
    CHECK(only("area") == "no area: it is not known for the units of tiles\n");
    CHECK(only("claim") == "no claim: the run names no baseline; give --baseline\n");
    CHECK(only("matrix_unit") == "no matrix_unit: the main unit of tiles is tile_array\n");
    CHECK(sim("run mnist_cnn --limit 4 --batch 4 --show tile_array").out ==
          "no tile_array: the main unit of tpu_v1 is matrix_unit\n");
}

TEST_CASE("sim compile counts the operators that are mapped, and says why others are not",
          "[system][tiles]") {
    const std::string log =
        "  convolution    3  mapped to the tiles\n"
        "  dense          2  mapped to the tiles\n"
        "  softmax        1  runs on the host: its shares are real numbers; tiles compute\n"
        "                    softmax of 8 bits to 8 bits\n";
    const std::string compile = "compile mnist_cnn --limit 1 --machine edge_tpu_usb ";
    CHECK(sim(compile).out == log);
    CHECK(sim(compile + "--quiet").out.empty());
    const Folder folder;
    const std::string summary = sim(compile + "-o " + (folder / "digits.tpu").string()).out;
    CHECK(summary.ends_with(" 0 weight tiles, 1 inferences in batches of 1\n" + log));
    const Json json = Json::parse(sim(compile + "--json").out);
    CHECK(json.at("placed_operators").at(2).at("reason") ==
          "its shares are real numbers; tiles compute softmax of 8 bits to 8 bits");
    // On TPU v1, nothing would be printed.
    CHECK(sim("compile mnist_cnn --limit 1 --machine tpu_v1").exit_code == 2);
}
