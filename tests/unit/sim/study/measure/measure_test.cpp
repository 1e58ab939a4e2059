#include "sim/study/measure/measure.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "sim/study/array_fill/array_fill.h"
#include "sim/study/measure/computer.h"
#include "sim/study/measure/timing.h"
#include "tests/support/files.h"
#include "tests/support/graphs.h"

using namespace systole;
namespace fs = std::filesystem;
using tests::Folder;

namespace {

measure::Options hasty() {
    return {.minimum_seconds = 0.0, .peak_size = 64, .least_read_bytes = 1 << 20, .powercap = "/nowhere"};
}

void check_width(const std::string& text, std::size_t columns = 80) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= columns);
    }
}

}  // namespace

TEST_CASE("A timing is the median, and the distance between the quartiles over it", "[measure]") {
    const measure::Timing timing = measure::summarize({5, 1, 4, 2, 3});
    CHECK(timing.median == 3);
    CHECK(timing.spread == Approx((4.0 - 2.0) / 3.0));
    CHECK(timing.repetitions == 5);
    CHECK(measure::summarize({7}).spread == 0);
    CHECK_THROWS_AS(measure::summarize({}), std::logic_error);
}

TEST_CASE("Measurements are repeated three times at least", "[measure]") {
    const measure::Repetitions no_time(0.0);
    CHECK_FALSE(no_time.enough(2));
    CHECK(no_time.enough(3));
    const measure::Repetitions long_time(1e6);
    CHECK_FALSE(long_time.enough(1000));
}

TEST_CASE("The computer is described from the files of the operating system", "[measure]") {
    const Folder folder;
    const fs::path cpuinfo =
        folder.file("cpuinfo",
                    "processor\t: 0\nmodel name\t: Fast Processor 9000\ncpu MHz\t\t: 2596.1\n"
                    "processor\t: 1\nmodel name\t: Another\ncpu MHz\t\t: 1000\n");
    folder.file("cpu/cpu0/cache/index0/size", "48K\n");
    folder.file("cpu/cpu0/cache/index3/size", "32M\n");
    folder.file("cpu/cpu0/cache/index2/size", "1024K\n");
    measure::Computer computer = measure::read_computer(cpuinfo, folder.path() / "cpu");
    CHECK(computer.name == "Fast Processor 9000");
    CHECK(computer.clock_mhz == Approx(2596.1));
    CHECK(computer.clock_source.find("/proc/cpuinfo") != std::string::npos);
    CHECK(computer.cache_bytes == 32U << 20U);
    CHECK(computer.cores >= 1);

    folder.file("cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
    computer = measure::read_computer(cpuinfo, folder.path() / "cpu");
    CHECK(computer.clock_mhz == 3700);

    computer = measure::read_computer("/nowhere", "/nowhere");
    CHECK(computer.name == "unknown processor");
    CHECK(computer.clock_mhz == 0);
    CHECK(computer.cache_bytes == 0);
}

TEST_CASE("Package energy sums the packages, and counters wrap around", "[measure]") {
    const Folder folder;
    const auto package = [&](const std::string& zone, const std::string& name, const std::string& energy) {
        folder.file(zone + "/name", name + "\n");
        folder.file(zone + "/max_energy_range_uj", "1000000000\n");
        folder.file(zone + "/energy_uj", energy + "\n");
    };
    package("intel-rapl:0", "package-0", "999000000");
    package("intel-rapl:1", "package-1", "5000000");
    package("intel-rapl:0:0", "core", "77");  // part of a package: counted in it
    package("intel-rapl:2", "psys", "77");    // more than the packages
    folder.file("intel-rapl/enabled", "1");
    measure::PackageEnergy energy(folder.path());
    REQUIRE(energy.readable());
    CHECK(energy.packages() == 2);
    CHECK(energy.joules() == 0);
    package("intel-rapl:0", "package-0", "2000000");  // 1 J to the end, 2 J from there
    package("intel-rapl:1", "package-1", "9500000");
    CHECK(energy.joules() == Approx(3.0 + 4.5));
    CHECK(energy.joules() == 0);
}

TEST_CASE("Without counters there is no energy, but a reason", "[measure]") {
    const Folder folder;
    measure::PackageEnergy none("/nowhere");
    CHECK_FALSE(none.readable());
    CHECK(none.why_not() == "/nowhere has no energy counter of a package");
    CHECK_THROWS_AS(none.joules(), std::logic_error);

    folder.file("intel-rapl:0/name", "package-0\n");  // and no counter that could be read
    const measure::PackageEnergy unreadable(folder.path());
    CHECK_FALSE(unreadable.readable());
    CHECK(unreadable.why_not().find("energy_uj cannot be read") != std::string::npos);
}

TEST_CASE("Reading twice as much memory is measured, whatever its size", "[measure]") {
    for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{100'003}}) {
        const measure::Timing timing = measure::time_memory_read(bytes, 0.0);
        CHECK(timing.repetitions >= 3);
        CHECK(timing.median > 0.0);
    }
}

TEST_CASE("This computer becomes a baseline that reads back, with a source for each number", "[measure]") {
    const measure::Measurement measurement = measure::measure(studies::article_cnn({}), 2, hasty());
    CHECK(measurement.fp32.each.size() == 5);
    CHECK(measurement.int8.each.size() == 5);
    CHECK_FALSE(measurement.watts);
    CHECK(measurement.core_share > 0.0);
    CHECK(measurement.core_share <= 1.0);
    const baselines::Baseline made = measure::to_baseline(measurement);
    const nlohmann::ordered_json json = baselines::to_json(made);
    const baselines::Baseline read = baselines::read_baseline(json, "here.json");
    CHECK(baselines::to_json(read) == json);
    CHECK_FALSE(json.contains("power"));  // never a made-up watt
    CHECK_FALSE(json.contains("server"));
    CHECK(read.peak_fp32_gflops == Approx(2.0 * 64 * 64 * 64 / measurement.fp32_peak.median / 1e9));
    CHECK(read.measured.batch == 2);
    CHECK(read.measured.model == measurement.model);
    CHECK(read.measured.fp32_inferences_per_second == Approx(2 / measurement.fp32.pass.median));
    CHECK(read.efficiency.layer_microseconds > 0.0);
    const std::function<void(const nlohmann::ordered_json&, const std::string&)> check =
        [&](const nlohmann::ordered_json& object, const std::string& path) {
            for (const auto& [key, value] : object.items()) {
                if (key == "sources") continue;
                INFO(path << key);
                if (value.is_object()) check(value, path + key + ".");
                if (value.is_number()) CHECK(read.sources.count(path + key) == 1);
            }
        };
    check(json, "");
    const std::string text = measure::to_text(measurement);
    check_width(text);
    CHECK_THAT(text, Catch::Contains("rows x columns x depth"));
    for (const std::size_t columns : {60U, 80U, 100U, 140U}) {
        check_width(measure::to_text(measurement, {.columns = columns}), columns);
    }
    CHECK_THAT(measure::to_text(measurement, {.columns = 60}), !Catch::Contains("rows x columns x depth"));
    CHECK(measure::to_text(measurement, {.columns = 80}) == text);
    CHECK(text.find("energy is not measured: /nowhere has no energy counter") != std::string::npos);
}

TEST_CASE("Watts are measured where counters can be read", "[measure]") {
    const Folder folder;
    folder.file("intel-rapl:0/name", "package-0\n");
    folder.file("intel-rapl:0/max_energy_range_uj", "1000000000\n");
    folder.file("intel-rapl:0/energy_uj", "5\n");  // stands still: 0 W, which no file gives
    measure::Options options = hasty();
    options.powercap = folder.path();
    const measure::Measurement measurement = measure::measure(studies::article_cnn({}), 1, options);
    REQUIRE(measurement.watts);
    CHECK(measurement.watts->busy == 0.0);
    measure::Measurement made_up = measurement;
    made_up.watts = measure::Watts{.idle = 12.5, .busy = 88.0};
    const nlohmann::ordered_json json = baselines::to_json(measure::to_baseline(made_up));
    CHECK(json["power"]["idle_watts"] == 12.5);
    CHECK(json["power"]["busy_watts"] == 88.0);
    CHECK_FALSE(json["power"].contains("tdp_watts"));
    check_width(measure::to_text(made_up));
}

TEST_CASE("The figures of a measurement are those of its times", "[measure]") {
    measure::Measurement made;
    made.computer = {.name = "Two Cores",
                     .cores = 2,
                     .clock_mhz = 2345.0,
                     .clock_source = "somewhere",
                     .cache_bytes = 3 << 20};
    made.model = "layers";
    made.batch = 6;
    made.products.products = {{.layer = "first", .m = 10, .n = 20, .k = 30},
                              {.layer = "second", .m = 7, .n = 100, .k = 1000}};
    made.products.left_out = {"third"};
    made.fp32 = {.each = {{.median = 1e-6, .spread = 0.02}, {.median = 2e-5, .spread = 0.04}},
                 .pass = {.median = 3e-5, .spread = 0.06}};
    made.int8 = {.each = {{.median = 5e-7, .spread = 0.08}, {.median = 8e-6, .spread = 0.1}},
                 .pass = {.median = 1e-5, .spread = 0.12}};
    made.peak_size = 50;
    made.fp32_peak = {.median = 1e-5, .spread = 0.14};
    made.core_share = 0.91;
    made.int8_peak = {.median = 4e-6, .spread = 0.16};
    made.call = {.median = 3.5e-7, .spread = 0.0};
    made.read_bytes = std::uint64_t{5} << 20;
    made.read = {.median = 1e-3, .spread = 0.18};
    made.watts = measure::Watts{.idle = 12.5, .busy = 88.0};

    const baselines::Baseline baseline = measure::to_baseline(made);
    CHECK(baseline.description == "Two Cores, 2 cores");
    CHECK(baseline.cores == 2);
    CHECK(baseline.clock_mhz == 2345.0);
    CHECK(baseline.peak_fp32_gflops == Approx(25.0));  // 2 * 50^3 operations in 10 us
    CHECK(baseline.peak_int8_gops == Approx(62.5));
    CHECK(baseline.memory_gb_per_s == Approx(5.24288));
    CHECK(baseline.on_chip_mib == 3.0);
    CHECK(baseline.power.idle_watts == 12.5);
    CHECK(baseline.power.busy_watts == 88.0);
    CHECK(baseline.efficiency.peak_share == 1.0);
    CHECK(baseline.efficiency.memory_share == 1.0);
    CHECK(baseline.efficiency.layer_microseconds == Approx(0.35));
    CHECK(baseline.measured.batch == 6);
    CHECK(baseline.measured.fp32_inferences_per_second == Approx(200'000.0));
    CHECK(baseline.measured.int8_inferences_per_second == Approx(600'000.0));

    CHECK(measure::to_text(made) == R"(Two Cores, 2 cores

  clock                     2345 MHz   somewhere
  cores had                     91 %   of their time for the peak in fp32
  peak fp32              25.0 GFLOPS   a product of 50 x 50 x 50; +-7 %
  peak int8                62.5 GOPS   a product of 50 x 50 x 50; +-8 %
  memory                    5.2 GB/s   5 MiB read; +-9 %
  a call                     0.35 us   a product of one element
  idle                        12.5 W   all packages
  busy                        88.0 W   all packages, the products below in fp32

Matrix products of layers, batch 6
  layer            rows x columns x depth    GFLOPS     fp32      GOPS     int8
  first            10 x 20 x 30                12.0    +-1 %      24.0    +-4 %
  second           7 x 100 x 1000              70.0    +-2 %     175.0    +-5 %
  all                                          47.1    +-3 %     141.2    +-6 %
  third            left out: it is no matrix product
  throughput fp32       200000 inf/s   the products alone: an upper bound
  throughput int8       600000 inf/s
  (medians of 0 and 0 passes; +-: half the distance between the quartiles)
)");
}

TEST_CASE("Each product is timed by itself, and the pass lasts as long as all of them", "[measure]") {
    constexpr std::array sizes{std::uint64_t{8}, std::uint64_t{256}, std::uint64_t{8}};
    std::vector<measure::Product> products;
    for (const std::uint64_t size : sizes)
        products.push_back({.layer = "cube", .m = size, .n = size, .k = size});
    for (const auto precision : {baselines::Precision::Fp32, baselines::Precision::Int8}) {
        const measure::ProductTimings timings = measure::time_products(products, precision, 0.01);
        REQUIRE(timings.each.size() == sizes.size());
        for (const measure::Timing& timing : timings.each)
            CHECK(timing.repetitions == timings.pass.repetitions);
        // 32,768 times as many multiply-accumulates.
        CHECK(timings.each[1].median > 2.0 * timings.each[0].median);
        CHECK(timings.each[1].median > 2.0 * timings.each[2].median);
        CHECK(timings.pass.median >= 0.9 * timings.each[1].median);
    }
}

TEST_CASE("A network without a matrix product cannot be measured", "[measure]") {
    CHECK_THROWS_AS(measure::measure(tests::graph_of({2, 2, 1}), 1, hasty()), ModelError);
}
