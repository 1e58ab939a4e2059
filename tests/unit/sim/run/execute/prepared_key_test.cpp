// Which runs share what was prepared for one of them.
#include <catch2/catch.hpp>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/run/execute/run.h"
#include "sim/run/run_config.h"
#include "tests/support/run_keys.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

std::string prepared_key_of(const std::vector<run::Setting>& settings) {
    return run::prepared_key(run::make_spec(tests::run_with(settings)));
}

}  // namespace

TEST_CASE("Runs share what is prepared if they differ only in what is made of it", "[run]") {
    // Reports, comparisons, and parts of the record.
    const std::set<std::string> shared{"baselines",     "host_time", "out",   "outputs", "instructions",
                                       "power_windows", "registers", "print", "explain", "trace"};
    const std::string plain = prepared_key_of({});
    std::size_t sharing = 0;
    for (const tests::RunKey& row : tests::run_key_values()) {
        INFO(row.key);
        CHECK((prepared_key_of(row.settings) == plain) == shared.contains(row.key));
        sharing += shared.contains(row.key);
    }
    CHECK(sharing == shared.size());
}

TEST_CASE("Runs share what is prepared where the compiler does not read what differs in the machine",
          "[run]") {
    const auto key_of_plain = [](const std::vector<run::Setting>& more) {
        std::vector<run::Setting> settings{{"mapping", "plain"}};
        settings.insert(settings.end(), more.begin(), more.end());
        return prepared_key_of(settings);
    };
    const std::string plain = key_of_plain({});
    CHECK(key_of_plain({{"machine.host_interface.read_gb_per_s", 5}}) == plain);
    CHECK(key_of_plain({{"machine.weight_memory.bandwidth_gb_per_s", 5}}) == plain);
    CHECK(key_of_plain({{"machine.matrix_unit.engine", "pe"}}) == plain);
    CHECK(key_of_plain({{"machine.matrix_unit.rows", 128}}) != plain);
    CHECK(key_of_plain({{"machine.matrix_unit.columns", 128}}) != plain);
    CHECK(key_of_plain({{"machine.accumulators.rows", 128}}) != plain);
    CHECK(key_of_plain({{"machine.unified_buffer.rows", 4096}}) != plain);
    CHECK(key_of_plain({{"machine.weight_memory.bytes", 1'000'000'000}}) != plain);
    CHECK(key_of_plain({{"machine.weight_memory.spill", true}}) != plain);
    // The costs by which this mapping chooses are those of the whole machine.
    CHECK(prepared_key_of({{"machine.weight_memory.bandwidth_gb_per_s", 5}}) != prepared_key_of({}));
}

TEST_CASE("What a quantized network has no float network for is refused when it is prepared", "[run]") {
    const run::Setting quantized{"model",
                                 std::string(tests::source_dir()) + "/models/mnist_cnn/mnist_cnn.tflite"};
    const run::Setting input{"random_input", 1};
    for (const char* const key : {"float_outputs", "accuracy_by_layer", "float_reference"}) {
        INFO(key);
        const bool is_folder = std::string(key) == "float_outputs";
        const run::Setting refused{key, is_folder ? nlohmann::json("folder") : nlohmann::json(true)};
        const run::RunSpec spec = run::make_spec(tests::run_with({quantized, input, refused}));
        CHECK_THROWS_AS(run::prepare(spec), machine::ConfigError);
        // So a run that was prepared without it is not taken for this one.
        CHECK(run::prepared_key(spec) != prepared_key_of({quantized, input}));
    }
}
