#include "sim/run/execute/process.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>
#include <string>

using namespace systole;

TEST_CASE("Copies of this process work side by side, and each gives its own answer", "[run][process]") {
    run::ChildProcess first;
    run::ChildProcess second;
    const std::string long_answer(1 << 20, 'a');  // more than a pipe holds
    first.start([&] { return long_answer; });
    second.start([] { return "b"; });
    CHECK(second.answer().bytes == "b");
    CHECK(first.answer().bytes == long_answer);
    CHECK(first.run([] { return "c"; }).bytes == "c");
}

TEST_CASE("A copy whose answer nobody wants is ended, whatever it does", "[run][process]") {
    std::optional<run::ChildProcess> child;
    SECTION("works") {
        child.emplace().start([]() -> std::string {
            while (true) ::pause();
        });
    }
    SECTION("waits for a reader") {
        child.emplace().start([] { return std::string(1 << 20, 'a'); });
    }
    SECTION("is followed by another") {
        child.emplace().start([]() -> std::string {
            while (true) ::pause();
        });
        CHECK(child->run([] { return "b"; }).bytes == "b");
    }
    child.reset();
}
