// Holds the faults of `make mutants` against the sources, those that no test can find as well, and
// docs/mutants.md against the faults and the rates.
#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_dir.h"

namespace systole::tests {
namespace {

namespace fs = std::filesystem;

const fs::path project_root = source_dir();

std::string contents(const fs::path& path) {
    std::ifstream file(project_root / path);
    INFO(path);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

std::vector<nlohmann::json> entries(const fs::path& path) {
    return nlohmann::json::parse(contents(path)).get<std::vector<nlohmann::json>>();
}

std::vector<nlohmann::json> faults() {
    return entries("tests/mutants/faults.json");
}

/// The lines of a file without the space around them.
std::set<std::string> trimmed_lines(const fs::path& path) {
    std::istringstream text(contents(path));
    std::set<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        const auto begin = line.find_first_not_of(' ');
        if (begin != std::string::npos)
            lines.insert(line.substr(begin, line.find_last_not_of(' ') + 1 - begin));
    }
    return lines;
}

/// The text of all test sources, where a name that is cut into several literals is one.
std::string test_sources() {
    std::string text;
    for (const auto& entry : fs::recursive_directory_iterator(project_root / "tests")) {
        if (entry.path().extension() == ".cpp") text += contents(entry.path());
    }
    return std::regex_replace(text, std::regex(R"("\s*\n\s*")"), "");
}

}  // namespace

TEST_CASE("The text of every fault occurs once in its file", "[project][mutants]") {
    std::set<std::string> names;
    for (const nlohmann::json& fault : faults()) {
        const auto text = fault.at("text").get<std::string>();
        INFO("tests/mutants/faults.json: " << fault.at("name"));
        CHECK(names.insert(fault.at("name")).second);
        CHECK(fault.at("becomes") != text);
        CHECK(occurrences(contents(fault.at("file").get<std::string>()), text) == 1);
    }
    CHECK(names.size() >= 44);
}

TEST_CASE("docs/mutants.md has every fault, and a test that finds it", "[project][mutants]") {
    const std::string page = contents("docs/mutants.md");
    const std::string sources = test_sources();
    std::string rows;
    for (const nlohmann::json& fault : faults()) {
        const auto file = fault.at("file").get<std::string>();
        const std::string row = "| `" + fault.at("name").get<std::string>() + "` | [" + file + "](../" +
                                file + ") | " + fault.at("wrong").get<std::string>() + " | ";
        INFO("make mutants writes the page again; it lacks: " << row);
        const auto at = page.find(row);
        REQUIRE(at != std::string::npos);
        const std::string found_by = page.substr(at + row.size(), page.find('\n', at) - at - row.size());
        std::smatch match;
        REQUIRE(std::regex_match(found_by, match,
                                 std::regex(R"((unit/[a-z0-9_/]+|system):(.*?)( \(hangs\))? \|)")));
        INFO("the test is no longer there: " << match[2]);
        const std::string in_source = std::regex_replace(match[2].str(), std::regex("\""), R"(\")");
        CHECK(sources.find('"' + in_source + '"') != std::string::npos);
    }
    CHECK(occurrences(page, "\n| `") == faults().size());
}

TEST_CASE("Every drawn fault that no test can find is still in its file, and has a reason",
          "[project][mutants]") {
    constexpr std::size_t shortest_reason = 20;
    std::set<std::string> places;
    for (const nlohmann::json& fault : entries("tests/mutants/equivalent.json")) {
        INFO("tests/mutants/equivalent.json: " << fault.dump());
        const auto line = fault.at("line").get<std::string>();
        CHECK(trimmed_lines(fault.at("file").get<std::string>()).contains(line));
        const auto column = fault.at("column").get<std::size_t>();
        CHECK(column >= 1);
        CHECK(column <= line.size());
        // The switch that turns the fault on.
        CHECK(fault.at("becomes").get<std::string>().find('@') != std::string::npos);
        CHECK(fault.at("reason").get<std::string>().size() >= shortest_reason);
        CHECK(places
                  .insert(fault.at("file").dump() + fault.at("line").dump() + fault.at("column").dump() +
                          fault.at("becomes").dump())
                  .second);
    }
}

TEST_CASE("docs/mutants.md has the rates of every run with drawn faults", "[project][mutants]") {
    const std::string page = contents("docs/mutants.md");
    const auto rates = entries("tests/mutants/rates.json");
    CHECK_FALSE(rates.empty());
    for (const nlohmann::json& run : rates) {
        const std::string row =
            "\n| " + run.at("seed").dump() + " | " + run.at("when").get<std::string>() + " | ";
        INFO("scripts/mutants.py writes the page again; it lacks: " << row);
        const auto at = page.find(row);
        REQUIRE(at != std::string::npos);
        const std::string cells = page.substr(at + row.size(), page.find('\n', at + 1) - at - row.size());
        for (const auto& [folder, found] : run.at("folders").items()) {
            INFO(folder);
            CHECK(found.at(0).get<int>() <= found.at(1).get<int>());
            CHECK(cells.find(found.at(0).dump() + " of " + found.at(1).dump() + ", ") != std::string::npos);
        }
    }
}

}  // namespace systole::tests
