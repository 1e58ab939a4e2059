// Compares all tables of a validation with tests/golden/validation_tables.txt. The cycles are made up from
// those of one machine, so that no simulation of hundreds of machines is waited for: "The validation is the
// committed page" has the true ones. After an intended change, SYSTOLE_WRITE_GOLDEN=1 writes the file again.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/machine/config_reader.h"
#include "hw/machine/machine_config.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/json.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"
#include "sim/study/array_fill/array_fill.h"
#include "sim/study/validate/output.h"
#include "sim/study/validate/setup.h"
#include "sim/study/validate/tables.h"
#include "sim/study/validate/validate.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

const std::filesystem::path golden = project / "tests/golden/validation_tables.txt";

/// A number from 1 to 1.5 that any difference between two texts changes.
double factor_of(std::string_view text) {
    constexpr std::uint32_t steps = 500;
    std::uint32_t hash = 2166136261;
    for (const char letter : text) hash = (hash ^ static_cast<std::uint8_t>(letter)) * 16777619;
    return 1.0 + hash % steps / 1000.0;
}

/// Each network and batch is simulated on one machine; other machines and mappings take so many times its
/// cycles, which depends on all that a run is told.
class MadeUp {
public:
    std::vector<run::RunRecord> operator()(std::span<const run::RunSpec> specs) {
        std::vector<run::RunRecord> records;
        for (const run::RunSpec& spec : specs) records.push_back(record_of(spec));
        return records;
    }

private:
    run::RunRecord record_of(const run::RunSpec& spec) {
        const std::string network = spec.network.value().hash + ' ' + std::to_string(spec.compiler.batch);
        const std::string images = network + ' ' + std::to_string(spec.compiler.limit);
        auto known = simulated_.find(images);
        if (known == simulated_.end()) {
            const tests::FreshSimulation simulation;
            // Not on the machine that happens to be the first: that is the file's order.
            run::RunSpec first = spec;
            first.machine = machine::read_machine(project / "configs/machines/tpu_v1_published.json");
            first.compiler.mapping = machine::mapping_named(machine::MappingName::AsPublished);
            known = simulated_.emplace(images, run::run(first)).first;
        }
        run::RunRecord record = known->second;
        record.spec = spec;
        const double factor =
            factor_of(machine::to_json(spec.machine).dump() + network + std::to_string(spec.compiler.batch) +
                      run::to_json(spec.compiler.mapping).dump());
        const auto scale = [factor](std::uint64_t& number) {
            number = static_cast<std::uint64_t>(std::llround(static_cast<double>(number) * factor));
        };
        scale(record.cycles);
        for (run::Counter& counter : record.counters.all) scale(counter.total);
        scale(record.phases.value().head);
        scale(record.phases.value().last_result);
        scale(record.latency.value().sum);
        return record;
    }

    std::map<std::string, run::RunRecord> simulated_;
};

/// Rows of the article's CNN as they might be, one of which does not fit.
std::vector<studies::FillRow> made_up_fill() {
    std::vector<studies::FillRow> rows;
    for (const studies::FillPoint& point : studies::fill_points()) {
        const auto number = static_cast<double>(rows.size() + 1);
        rows.push_back({.point = point,
                        .macs = 1000 * (rows.size() + 3),
                        .cycles = 5000 * (rows.size() + 7),
                        .useful = 0.011 * number,
                        .active = 0.013 * number,
                        .weight_stall = 0.007 * number,
                        .weight_shift = 0.003 * number,
                        .non_matrix = 0.005 * number,
                        .inferences_per_second = 1e6 / number,
                        .error = {}});
    }
    rows.at(3) = {.point = rows.at(3).point, .error = "it does not fit"};
    return rows;
}

Results made_up_results() {
    nlohmann::json target = machine::read_json_object(project / "configs/validation/tpu_v1.json");
    for (auto& axis : target["fit"]["parameters"]) axis["steps"] = 3;
    target["fit"]["refinements"] = 1;
    const tests::Folder folder;
    const Setup setup = read_setup(folder.file("target.json", target.dump()), run::PathFinder({}));
    Results results = validate(setup, MadeUp());
    results.array_fill = made_up_fill();
    return results;
}

}  // namespace

TEST_CASE("All tables of a validation are the committed ones for made-up cycles", "[sim][validate][golden]") {
    Results results = made_up_results();
    std::string text = to_text(results);
    for (const tables::Table& table : all_tables(results)) {
        if (table.id == "figures") text += "\n\n" + tables::to_markdown(table);
    }
    nlohmann::ordered_json json = to_json(results);
    json.erase("tables");
    text += "\n\n" + json.dump(1) + "\n";
    if (std::getenv("SYSTOLE_WRITE_GOLDEN") != nullptr) {
        std::ofstream(golden) << text;
        return;
    }
    std::istringstream expected(tests::text_in(golden));
    std::istringstream lines(text);
    std::string wanted;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        wanted.clear();
        std::getline(expected, wanted);
        INFO("line " << ++number
                     << "; if the change is intended: SYSTOLE_WRITE_GOLDEN=1 "
                        "build/dev/unit_sim_study_validate \"[golden]\"");
        REQUIRE(line == wanted);
    }
    CHECK_FALSE(std::getline(expected, wanted));
}

}  // namespace systole::validate
