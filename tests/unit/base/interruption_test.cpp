#include "base/interruption.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <string>

using namespace systole;

namespace {

/// Forks a process that forks a process of its own; returns what this one writes before all have ended.
std::string said_by_grandchild(const std::function<void()>& child,
                               const std::function<void(pid_t child, int to)>& grandchild) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const pid_t process = ::fork();
    REQUIRE(process >= 0);
    if (process == 0) {
        const pid_t self = ::getpid();
        if (::fork() == 0) {
            grandchild(self, ends[1]);
            ::_exit(0);
        }
        child();
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string said;
    for (char letter = 0; ::read(ends[0], &letter, 1) == 1;) said += letter;
    ::close(ends[0]);
    ::waitpid(process, nullptr, 0);
    return said;
}

}  // namespace

TEST_CASE("A forked process ends with its parent", "[interruption]") {
    std::array<int, 2> ready{};
    REQUIRE(::pipe(ready.data()) == 0);
    const std::string said = said_by_grandchild(
        [&] {
            char letter = 0;
            if (::read(ready[0], &letter, 1) != 1) ::abort();
        },
        [&](pid_t parent, int to) {
            end_with_parent(parent);
            if (::write(to, "a", 1) != 1 || ::write(ready[1], "x", 1) != 1) return;
            ::sleep(3);  // killed meanwhile
            [[maybe_unused]] const ssize_t written = ::write(to, "b", 1);
        });
    ::close(ready[0]);
    ::close(ready[1]);
    CHECK(said == "a");
}

TEST_CASE("A forked process ends if its parent has ended before it could ask", "[interruption]") {
    const std::string said = said_by_grandchild([] {},
                                                [](pid_t parent, int to) {
                                                    while (::getppid() == parent) ::usleep(1000);
                                                    end_with_parent(parent);
                                                    [[maybe_unused]] const ssize_t written =
                                                        ::write(to, "x", 1);
                                                });
    CHECK(said.empty());
}
