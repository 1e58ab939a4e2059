// docs/configuration.md and docs/operators.md are the pages that the program writes.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/system/sim_process.h"

using namespace systole;
using tests::Outcome;
using tests::sim;

TEST_CASE("docs/configuration.md is the page that sim schema writes", "[system]") {
    const tests::Folder folder;
    const std::string page = (folder / "configuration.md").string();
    REQUIRE(sim("schema --page " + page).exit_code == 0);
    INFO("write it again: sim schema --page docs/configuration.md");
    const bool same = tests::text_in(page) == tests::text_in(tests::project / "docs/configuration.md");
    CHECK(same);
}

TEST_CASE("docs/operators.md is the page that sim schema writes", "[system]") {
    const tests::Folder folder;
    const std::string page = (folder / "operators.md").string();
    const std::string committed = tests::text_in(tests::project / "docs/operators.md");
    REQUIRE(sim("schema --operators " + page).exit_code == 0);
    const std::string written = tests::text_in(page);
    INFO("write it again: sim schema --operators docs/operators.md");
    const bool is_its_beginning = committed.compare(0, written.size(), written) == 0;
    CHECK(is_its_beginning);
    // The results of ONNX's node tests, which other programs measure, follow and stay.
    CHECK(committed.find("\n## ONNX's own node tests\n") == written.size());
    std::filesystem::copy_file(tests::project / "docs/operators.md", page,
                               std::filesystem::copy_options::overwrite_existing);
    REQUIRE(sim("schema --operators " + page).exit_code == 0);
    const bool stays = tests::text_in(page) == committed;
    CHECK(stays);
}

TEST_CASE("sim schema lists the keys of a kind of file", "[system]") {
    const Outcome text = sim("schema machine");
    CHECK(text.exit_code == 0);
    CHECK_THAT(text.out,
               Catch::Contains("matrix_unit.rows") && Catch::Contains("1 to 4096 cells; default 256"));
    CHECK(sim("schema run --json").json()["properties"].contains("batch"));
    CHECK(sim("schema").exit_code == 2);
    CHECK(sim("schema sweep").exit_code == 2);
    CHECK(sim("schema --json").exit_code == 2);
}
