#include "hw/common/shared_link.h"

#include <catch2/catch.hpp>
#include <functional>
#include <systemc>
#include <vector>

#include "tests/support/fresh_simulation.h"

using namespace systole;
using namespace systole::hw;

namespace {

/// A link of 3 bytes in every 2 cycles.
struct LinkBench : systole::tests::FreshSimulation {
    void run(std::vector<std::function<void()>> processes) {
        for (auto& process : processes) sc_core::sc_spawn(std::move(process));
        sc_core::sc_start();
    }

    Clock clock;
    SharedLink link{Rate{3, 2}, 1, clock};

    /// Sends a message; returns when its last byte leaves.
    Cycle send_urgent(std::uint64_t bytes) {
        link.send_urgent(0, bytes);
        return link.next_urgent_end(0);
    }
};

}  // namespace

TEST_CASE("A transfer is done in the cycle in which its last byte goes", "[hw][shared_link]") {
    struct Case {
        std::uint64_t bytes;
        Cycle cycles;
    };
    const auto transfer = GENERATE(Case{1, 0}, Case{2, 1}, Case{3, 2}, Case{100, 66}, Case{150, 100});
    LinkBench bench;
    bench.run({[&] {
        bench.link.transfer(transfer.bytes);
        CHECK(bench.clock.now() == transfer.cycles);
    }});
}

TEST_CASE("Transfers follow each other without drift", "[hw][shared_link]") {
    LinkBench bench;
    bench.run({[&] {
        for (std::uint64_t i = 1; i <= 1000; ++i) {
            bench.link.transfer(100);
            CHECK(bench.clock.now() == i * 200 / 3);
        }
    }});
}

TEST_CASE("A message delays the transfer under way by its own time", "[hw][shared_link]") {
    LinkBench bench;
    bench.run({[&] {
                   bench.link.transfer(300);
                   CHECK(bench.clock.now() == 200 + 20 + 10);
               },
               [&] {
                   bench.clock.wait_until(50);
                   CHECK(bench.send_urgent(30) == 50 + 20);
                   bench.clock.wait_until(100);
                   CHECK(bench.send_urgent(15) == 100 + 10);
               }});
}

TEST_CASE("Messages sent together follow each other, and a transfer begins behind them",
          "[hw][shared_link]") {
    const bool message_first = GENERATE(true, false);
    LinkBench bench;
    const std::function<void()> messages = [&] {
        CHECK(bench.send_urgent(30) == 20);
        CHECK(bench.send_urgent(30) == 40);
    };
    const std::function<void()> transfer = [&] {
        bench.link.transfer(30);
        CHECK(bench.clock.now() == 60);
    };
    bench.run(message_first ? std::vector{messages, transfer} : std::vector{transfer, messages});
}

TEST_CASE("A message sent in the cycle of a transfer's last byte does not delay it", "[hw][shared_link]") {
    LinkBench bench;
    bench.run({[&] {
                   bench.link.transfer(302);  // 201 1/3 cycles
                   CHECK(bench.clock.now() == 201);
               },
               [&] {
                   bench.clock.wait_until(201);
                   CHECK(bench.send_urgent(3) == 203);  // from 201 1/3 to 203 1/3
               }});
}

TEST_CASE("Messages of several cores go by cycle, and in one cycle by the number of the core",
          "[hw][shared_link]") {
    const bool core_1_first = GENERATE(true, false);
    LinkBench bench;
    SharedLink link(Rate{3, 2}, 2, bench.clock);
    const auto sends = [&](std::size_t core, Cycle first, Cycle second, Cycle third) {
        return [&, core, first, second, third] {
            link.send_urgent(core, 30);  // 20 cycles
            link.send_urgent(core, 30);
            CHECK(link.next_urgent_end(core) == first);
            CHECK(bench.clock.now() == 1);  // the cycle of the messages was over
            CHECK(link.next_urgent_end(core) == second);
            bench.clock.wait_until(50 - core);
            link.send_urgent(core, 30);
            CHECK(link.next_urgent_end(core) == third);
        };
    };
    std::vector<std::function<void()>> processes{sends(0, 20, 40, 120), sends(1, 60, 80, 100)};
    if (core_1_first) std::swap(processes[0], processes[1]);
    bench.run(processes);
}

TEST_CASE("A message of the first cycle of a transfer goes before it, of several cores as of one",
          "[hw][shared_link]") {
    LinkBench bench;
    SharedLink link(Rate{3, 2}, 2, bench.clock);
    bench.run({[&] {
                   link.transfer(300);
                   CHECK(bench.clock.now() == 20 + 200 + 10);
               },
               [&] {
                   link.send_urgent(1, 30);
                   CHECK(link.next_urgent_end(1) == 20);
                   bench.clock.wait_until(100);
                   link.send_urgent(1, 15);
                   CHECK(link.next_urgent_end(1) == 110);
               }});
}
