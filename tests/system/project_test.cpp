// Lists that could drift apart from the files they speak of.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace systole::tests {
namespace {

namespace fs = std::filesystem;

const fs::path root = SYSTOLE_SOURCE_DIR;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    INFO(path);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_CASE("Every test and every fuzz target belongs to a program", "[project]") {
    std::set<fs::path> built;
    std::istringstream lines(text_of(SYSTOLE_TEST_SOURCES));
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

TEST_CASE("docs/dependencies.md explains every package that is installed", "[project]") {
    const std::string explained = text_of(root / "docs/dependencies.md");
    int packages = 0;
    for (const char* const list : {"scripts/packages_build.txt", "scripts/packages_test.txt"}) {
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

}  // namespace
}  // namespace systole::tests
