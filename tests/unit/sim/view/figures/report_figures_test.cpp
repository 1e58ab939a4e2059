// Every figure of report.json is computed a second time, from the counters and outputs of a record and from
// the files of its run, by what the documents say that it is. A figure without a row fails, and so does a row
// without a figure.
#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/files.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sim/view/figures/answers.h"
#include "tests/unit/sim/view/figures/area.h"
#include "tests/unit/sim/view/figures/baselines.h"
#include "tests/unit/sim/view/figures/cases.h"
#include "tests/unit/sim/view/figures/cycles.h"
#include "tests/unit/sim/view/figures/energy.h"
#include "tests/unit/sim/view/figures/explanations.h"
#include "tests/unit/sim/view/figures/feeding.h"
#include "tests/unit/sim/view/figures/memory.h"
#include "tests/unit/sim/view/figures/requests.h"
#include "tests/unit/sim/view/figures/rows.h"
#include "tests/unit/sim/view/figures/runs.h"
#include "tests/unit/sim/view/figures/tiles.h"

using namespace systole;

namespace {

figures::Rows all_rows() {
    figures::Rows rows;
    for (figures::Rows (*of_topic)() :
         {figures::rows_of_runs, figures::rows_of_cycles, figures::rows_of_memory, figures::rows_of_energy,
          figures::rows_of_area, figures::rows_of_baselines, figures::rows_of_requests,
          figures::rows_of_feeding, figures::rows_of_answers, figures::rows_of_explanations}) {
        for (figures::Row& row : of_topic()) rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

TEST_CASE("Every figure of report.json is what the documents say", "[figures]") {
    figures::Table table(all_rows());
    for (const auto& [each, finished] : figures::finished_cases()) {
        INFO(each.name);
        table.check(finished.facts());
    }
    for (const std::string& pattern : table.unused()) FAIL_CHECK("no report has the figure " << pattern);
    // So many leaves are held against rows: a change of the cases that loses half of them is noticed.
    CAPTURE(table.leaves(), table.rows());
    CHECK(table.leaves() > 10'000);
}

namespace {

/// The keys of a report, each once; the names of counters and units, and the configuration, have pages of
/// their own.
void add_keys(const figures::Json& value, std::set<std::string>& keys) {
    if (value.is_array()) {
        for (const figures::Json& each : value) add_keys(each, keys);
    }
    if (!value.is_object()) return;
    for (const auto& [key, each] : value.items()) {
        if (key == "configuration" || key == "units" || key == "by_unit" || key == "matrix_unit") continue;
        keys.insert(key);
        const bool has_units_as_keys = key == "watts" && each.is_object();
        if (!has_units_as_keys) add_keys(each, keys);
    }
}

}  // namespace

TEST_CASE("The documents say what each key of report.json is", "[figures]") {
    std::string pages;
    for (const char* const name : {"report", "energy", "area", "baselines", "studies", "timing", "traces"}) {
        pages +=
            tests::text_in(std::filesystem::path(tests::source_dir()) / "docs" / (std::string(name) + ".md"));
    }
    // What stands between backticks.
    std::string code;
    std::istringstream lines(pages);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream parts(line);
        bool is_code = false;
        for (std::string part; std::getline(parts, part, '`'); is_code = !is_code) {
            if (is_code) code += " " + part + " ";
        }
    }
    std::set<std::string> keys;
    for (const auto& [each, finished] : figures::finished_cases()) add_keys(finished.facts().report(), keys);
    for (const auto& [each, finished] : figures::finished_tiles()) add_keys(finished.facts().report(), keys);
    CHECK(keys.size() > 150);
    for (const std::string& key : keys) {
        if (!std::regex_search(code, std::regex("\\b" + key + "\\b")))
            FAIL_CHECK("no document says what " << key << " is");
    }
}
