// What a system tells a trace before and after the events of a run.
#include "hw/common/trace.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/queue.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/mixing_host.h"

using namespace systole;

namespace {

/// The kinds of events in their order, each once in a row, and the queues.
struct EventOrder final : hw::TraceSink {
    void begun(const hw::TracedCore& core) override {
        queues = core.queues;
        note("begun");
    }
    void instruction(const hw::InstructionTimes& /*times*/) override { note("event"); }
    void issued(const hw::IssueTimes& /*times*/) override { note("event"); }
    void queued(const hw::QueueTimes& /*times*/) override { note("event"); }
    void stalled(const hw::StallTimes& /*times*/) override { note("event"); }
    void tile_fetched(const hw::TileTimes& /*times*/) override { note("event"); }
    void tile(const hw::TileTimes& /*times*/) override { note("event"); }
    void matrix_idle(const hw::MatrixIdleTimes& /*times*/) override { note("event"); }
    void stream(const hw::StreamTimes& /*times*/) override { note("event"); }
    void ended(Cycle /*end*/, hw::Tag /*tag*/) override { note("ended"); }
    void failed(const hw::FailureTimes& /*where*/) override { note("failed"); }

    void note(const std::string& kind) {
        if (kind != "event" || kinds.empty() || kinds.back() != kind) kinds.push_back(kind);
    }

    std::vector<hw::TracedQueue> queues;
    std::vector<std::string> kinds;
};

EventOrder events_of(const std::string& text) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = machine.matrix_unit.columns = 8;
    const isa::Program program = isa::assemble(text, "test");
    EventOrder events;
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program,
                      {.trace = &events, .host = &tests::mixing_host(), .test_delta_delay = {}});
    try {
        system.run();
    } catch (const isa::ProgramError&) {  // `failed` tells it
    }
    return events;
}

hw::TracedQueue queue(isa::QueueId id, const hw::QueueTraces& traces) {
    return {static_cast<std::size_t>(id), isa::name(id), traces};
}

/// The queues of a program that does not use the host.
const std::vector<hw::TracedQueue> chip_queues{
    queue(isa::QueueId::HostRead,
          {.track = "host_read", .signals = "host_interface.read_", .bytes = "host read"}),
    queue(isa::QueueId::Weights,
          {.track = "weights",
           .signals = "weight_fifo.",
           .tiles = hw::TileTracks{"weight memory", "weight shift", "weight FIFO", "weight memory read",
                                   "weight_fetch", "weight_shift"}}),
    queue(isa::QueueId::Matrix, {.track = "matrix unit",
                                 .signals = "systolic_data_setup.",
                                 .is_main = true,
                                 .computes = true,
                                 .tells_idle = true}),
    queue(isa::QueueId::Activation, {.track = "activation", .signals = "activation_unit.", .computes = true}),
    queue(isa::QueueId::HostWrite,
          {.track = "host_write", .signals = "host_interface.write_", .bytes = "host write"})};

}  // namespace

TEST_CASE("A trace hears of the queues before all else, in the order of the data path", "[trace]") {
    const EventOrder events =
        events_of(".array 8 8\n.tile 8 8 fill 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=4\nhalt\n");
    CHECK(events.kinds == std::vector<std::string>{"begun", "event", "ended"});
    CHECK(events.queues == chip_queues);
}

TEST_CASE("A program that uses the host has the host's queue behind those of the chip", "[trace]") {
    const EventOrder events = events_of(
        ".array 8 8\n.buffer scores exchange 0 56\n.buffer shares exchange 0x100 56\n"
        ".host_segment first\n.reads scores 7\n.writes shares 7\nhost_work segment=0 first=0 "
        "images=8\nhalt\n");
    CHECK(events.kinds == std::vector<std::string>{"begun", "event", "ended"});
    std::vector<hw::TracedQueue> queues = chip_queues;
    queues.push_back(queue(isa::QueueId::Host, {.track = "host", .signals = "host.", .works = "work"}));
    CHECK(events.queues == queues);
}

TEST_CASE("A trace hears of the queues of a program that fails, too", "[trace]") {
    const EventOrder events = events_of(".array 8 8\nsync.wait matrix sem=0\nhalt\n");
    CHECK(events.kinds == std::vector<std::string>{"begun", "event", "failed"});
    CHECK(events.queues == chip_queues);
}
