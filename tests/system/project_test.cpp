// Compares lists with the files that they name.
#include <catch2/catch.hpp>
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
#include "tests/system/paths.h"

namespace systole::tests {
namespace {

namespace fs = std::filesystem;

const fs::path root = source_dir();

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    INFO(path);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_CASE("Every test and every fuzz target belongs to a program", "[project]") {
    std::set<fs::path> built;
    std::istringstream lines(text_of(list_of_test_sources()));
    for (std::string line; std::getline(lines, line);) built.insert(fs::path(line).lexically_normal());
    CHECK(built.count((root / "tests/system/project_test.cpp").lexically_normal()) == 1);

    for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with("_test.cpp") && !name.ends_with("_fuzz.cpp")) continue;
        if (built.count(entry.path().lexically_normal()) == 0) {
            FAIL_CHECK(fs::relative(entry.path(), root).string() << " is part of no program and never runs");
        }
    }
}

TEST_CASE("No header has a using directive", "[project]") {
    int headers = 0;
    for (const char* const folder : {"base", "hw", "compiler", "sim", "tests"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (entry.path().extension() != ".h") continue;
            ++headers;
            if (("\n" + text_of(entry.path())).find("\nusing namespace ") != std::string::npos) {
                FAIL_CHECK(fs::relative(entry.path(), root).string() << ": using namespace");
            }
        }
    }
    CHECK(headers > 100);
}

TEST_CASE("Every link of a page leads to a file of the project", "[project]") {
    std::vector<fs::path> pages{root / "README.md", root / "CONTRIBUTING.md"};
    for (const auto& entry : fs::directory_iterator(root / "docs")) {
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    }
    const std::regex link(R"(\]\(([^)#:{]+)[)#])");  // neither the web's nor a template's
    int links = 0;
    for (const fs::path& page : pages) {
        const std::string text = text_of(page);
        for (auto match = std::sregex_iterator(text.begin(), text.end(), link);
             match != std::sregex_iterator(); ++match) {
            ++links;
            INFO(page.string() << ": " << (*match)[1]);
            CHECK(fs::exists(page.parent_path() / (*match)[1].str()));
        }
    }
    CHECK(links > 50);
}

TEST_CASE("CONTRIBUTING.md names files and folders that exist", "[project]") {
    const std::string text = text_of(root / "CONTRIBUTING.md");
    const std::regex path(
        R"(`((?:\.ci|cmake|compiler|configs|docs|hw|models|scripts|sim|tests)/[a-z0-9_./-]+)`)");
    int paths = 0;
    for (auto match = std::sregex_iterator(text.begin(), text.end(), path); match != std::sregex_iterator();
         ++match) {
        ++paths;
        INFO((*match)[1]);
        CHECK(fs::exists(root / (*match)[1].str()));
    }
    CHECK(paths > 30);
}

TEST_CASE("README.md quotes the errors that docs/validation.md measures", "[project]") {
    const std::string measured = text_of(root / "docs/validation.md");
    const auto cell = [&](const std::string& row_and_cells_before) {
        std::smatch match;
        REQUIRE(std::regex_search(measured, match, std::regex(row_and_cells_before + R"( ([0-9.]+) \|)")));
        return match[1].str();
    };
    const auto cycles = [&](const std::string& what) { return cell(R"(\| cycles, )" + what + R"([^|]*\|)"); };
    // The mean stands behind six workloads.
    const auto mean = [&](const std::string& row) { return cell(row + R"( \|(?:[^|]*\|){6})"); };
    // A line break of the page may stand between any two words.
    const std::string page = std::regex_replace(text_of(root / "README.md"), std::regex(R"(\s+)"), " ");
    const auto says = [&](const std::string& words) {
        INFO(words);
        CHECK(page.find(words) != std::string::npos);
    };
    says("is " + cycles("no fit, 34 GB/s") + " % off on average with published parameters alone");
    says("(" + mean(R"(\|     34 GB/s \(Table 2\))") + " % in the default mapping)");
    says(cycles("no fit, 30 GiB/s") + " % with its other bandwidth");
    says(cycles("fitted: ") + " % with three parameters fitted");
    says("a roofline times one constant is " + mean(R"(\| roofline x constant)") + " % off");
    const std::string simulated = R"(\| simulated \|)";
    says("Of " + cell(simulated) + " published figures that we simulate, " +
         cell(simulated + R"((?:[^|]*\|){3})") + " are within 20 %");
}

TEST_CASE("docs/dependencies.md explains every package that is installed", "[project]") {
    const std::string explained = text_of(root / "docs/dependencies.md");
    int packages = 0;
    for (const char* const list :
         {"scripts/packages_build.txt", "scripts/packages_test.txt", "scripts/packages_cluster.txt",
          "tests/mutants/packages.txt", "scripts/packages_judge.txt"}) {
        std::istringstream lines(text_of(root / list));
        for (std::string line; std::getline(lines, line);) {
            if (line.empty() || line.starts_with('#')) continue;
            ++packages;
            if (explained.find("`" + line + "`") == std::string::npos) {
                FAIL_CHECK(list << ": " << line << " has no line in docs/dependencies.md");
            }
        }
    }
    CHECK(packages > 10);
}

TEST_CASE("docs/dependencies.md explains every npm package that package.json names", "[project]") {
    const std::string explained = text_of(root / "docs/dependencies.md");
    int packages = 0;
    for (const char* const folder : {"sim/view/page/web", "tests/page"}) {
        const auto asked = nlohmann::json::parse(text_of(root / folder / "package.json"));
        for (const char* const kind : {"dependencies", "devDependencies"}) {
            const auto of_kind = asked.value(kind, nlohmann::json::object());
            for (const auto& [name, version] : of_kind.items()) {
                ++packages;
                INFO(folder << ": " << name);
                CHECK(explained.find("`" + name + "`") != std::string::npos);
                CHECK(version.get<std::string>().find_first_not_of("0123456789.") ==
                      std::string::npos);  // one
            }
        }
    }
    CHECK(packages >= 4);
}

TEST_CASE("Lock files name no registry, and all their licences allow copies", "[project]") {
    const std::set<std::string> permissive{"MIT", "Apache-2.0", "BSD-3-Clause", "0BSD"};
    for (const char* const folder : {"sim/view/page/web", "tests/page"}) {
        const std::string text = text_of(root / folder / "package-lock.json");
        INFO(folder);
        CHECK(text.find("\"resolved\"") == std::string::npos);
        CHECK(text.find("://") == std::string::npos);
        int packages = 0;
        const auto lock = nlohmann::json::parse(text);
        for (const auto& [place, package] : lock["packages"].items()) {
            if (place.empty()) continue;  // the project itself
            INFO(place);
            CHECK(package.contains("integrity"));
            CHECK(permissive.count(package.value("license", "none")) == 1);
            ++packages;
        }
        CHECK(packages >= 1);
    }
}

}  // namespace
}  // namespace systole::tests
