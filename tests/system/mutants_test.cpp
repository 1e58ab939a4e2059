// Holds the faults of `make mutants` against the sources, and docs/mutants.md against the faults.
#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace systole::tests {
namespace {

namespace fs = std::filesystem;

const fs::path project_root = SYSTOLE_SOURCE_DIR;

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

std::vector<nlohmann::json> faults() {
    return nlohmann::json::parse(contents("tests/mutants/faults.json")).get<std::vector<nlohmann::json>>();
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
        REQUIRE(
            std::regex_match(found_by, match, std::regex(R"((unit/[a-z_/]+|system):(.*?)( \(hangs\))? \|)")));
        INFO("the test is no longer there: " << match[2]);
        CHECK(sources.find('"' + match[2].str() + '"') != std::string::npos);
    }
    CHECK(occurrences(page, "\n| `") == faults().size());
}

}  // namespace systole::tests
