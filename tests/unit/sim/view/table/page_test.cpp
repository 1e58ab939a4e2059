#include "sim/view/table/page.h"

#include <catch2/catch.hpp>

#include "hw/machine/config_error.h"

namespace systole::tables {
namespace {

TEST_CASE("Placeholders are replaced by their tables", "[sim][table]") {
    CHECK(filled_page("a {{x}} b {{y}}.", {{"x", "1"}, {"y", "2"}}, "t.md") == "a 1 b 2.");
    // A table brings its last line's end.
    CHECK(filled_page("{{x}}\n\nend\n", {{"x", "| a |\n"}}, "t.md") == "| a |\n\nend\n");
}

TEST_CASE("An error in a template is one line", "[sim][table]") {
    CHECK_THROWS_WITH(filled_page("{{z}}", {}, "t.md"),
                      "t.md: {{z}} is no placeholder that anything stands for");
    CHECK_THROWS_WITH(filled_page("a {{x\nb", {{"x", "1"}}, "t.md"),
                      "t.md: a placeholder is not closed: {{x");
    CHECK_THROWS_WITH(filled_page("a", {{"x", "1"}}, "t.md"), "t.md: {{x}} is nowhere in it");
    CHECK_THROWS_AS(filled_page("{{z}}", {}, "t.md"), machine::ConfigError);
}

}  // namespace
}  // namespace systole::tables
