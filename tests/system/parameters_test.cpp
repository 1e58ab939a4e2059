// docs/parameters.md is the page that sim validate writes: every parameter, its source, and what notices it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/sanitizers.h"
#include "tests/system/sim_process.h"

using namespace systole::tests;

TEST_CASE("docs/parameters.md is the page that sim validate writes", "[system][validate]") {
    if (is_instrumented) {
        WARN("SKIPPED: unit tests of the study stand for it");
        return;
    }
    const Folder folder;
    const std::string page = (folder / "parameters.md").string();
    const std::string json_file = (folder / "parameters.json").string();
    const Outcome outcome = sim("validate tpu_v1 --parameters --page " + page + " --json " + json_file);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.err.empty());
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 80);
    }
    INFO("write it again: sim validate tpu_v1 --parameters --page docs/parameters.md");
    const bool same = text_in(page) == text_in(project / "docs/parameters.md");
    CHECK(same);

    // All keys of the first machine's file are there, and of the others those that differ.
    const nlohmann::json json = nlohmann::json::parse(text_in(json_file));
    std::set<std::string> keys;
    for (const nlohmann::json& row : json.at("machines").at(0).at("parameters")) {
        keys.insert(row.at("key").get<std::string>());
    }
    const nlohmann::json file = nlohmann::json::parse(text_in(project / "configs/machines/tpu_v1.json"));
    for (const auto& [key, source] : file.at("sources").items()) {
        INFO(key);
        CHECK(keys.contains(key));
    }
    REQUIRE(json.at("machines").size() == 3);
    CHECK(json.at("machines").at(2).at("differs_from") == "tpu_v1");
}

TEST_CASE("An error in a list of parameters is one line", "[system][validate]") {
    const Folder folder;
    const auto message = [](const std::string& arguments) {
        const Outcome outcome = sim("validate " + arguments);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.out.empty());
        CHECK(std::ranges::count(outcome.err, '\n') == 1);
        return outcome.err;
    };
    nlohmann::json target = nlohmann::json::parse(text_in(project / "configs/validation/tpu_v1.json"));
    target["name"] = "tpu_v9";
    CHECK_THAT(message(folder.file("target.json", target.dump()) + " --parameters"),
               Catch::StartsWith("sim: tpu_v9: there is no such file, nor a configs/evidence/tpu_v9.json; "));
    CHECK_THAT(message("tpu_v1 --parameters --choices"), Catch::Contains("excludes"));
}
