#include "hw/machine/source.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "hw/machine/config_error.h"
#include "hw/machine/machine_config.h"
#include "tests/support/source_dir.h"

using namespace systole::machine;

TEST_CASE("A source begins with its kind", "[machine]") {
    const Source fitted = read_source("clock_mhz", "fitted: to Table 3: all rows", "test.json");
    CHECK(fitted.kind == SourceKind::Fitted);
    CHECK(fitted.text == "to Table 3: all rows");
    CHECK(read_source("a", "published: there", "test.json").kind == SourceKind::Published);
    CHECK(read_source("a", "derived: so", "test.json").kind == SourceKind::Derived);
    CHECK(read_source("a", "choice: 1", "test.json").kind == SourceKind::Choice);
}

TEST_CASE("A source without a kind is an error in one line", "[machine]") {
    const std::string text = GENERATE("Table 2", "Published: Table 2", "fitted by us",
                                      "choice:", "choice: ", "calibrated: Table 2", "");
    CHECK_THROWS_MATCHES(read_source("clock_mhz", text, "test.json"), ConfigError,
                         Catch::Message("test.json: sources.clock_mhz is \"" + text +
                                        "\"; it must begin with a kind and a colon, and say more: published, "
                                        "derived, fitted, choice"));
}

TEST_CASE("Every source of a shipped machine has a kind", "[machine]") {
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(systole::tests::source_dir()) +
                                                                 "/configs/machines")) {
        const MachineConfig machine = read_machine(entry.path());
        for (const auto& [key, text] : machine.sources) {
            CHECK_NOTHROW(read_source(key, text, entry.path().string()));
            ++seen;
        }
    }
    CHECK(seen > 100);
}
