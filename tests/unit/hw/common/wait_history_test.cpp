// Rule 8 of docs/timing.md: the reason of each cycle of a wait, from what the other units did.
#include "hw/common/wait_history.h"

#include <catch2/catch.hpp>
#include <map>
#include <tuple>
#include <vector>

#include "hw/isa/queue.h"

using namespace systole;
using namespace systole::hw;
using Activity = UnitHistory::Activity;
using Reason = NonMatrixReason;

namespace {

constexpr auto host = static_cast<std::size_t>(isa::QueueId::Host);
constexpr auto host_write = static_cast<std::size_t>(isa::QueueId::HostWrite);
constexpr auto matrix = static_cast<std::size_t>(isa::QueueId::Matrix);
constexpr auto host_read = static_cast<std::size_t>(isa::QueueId::HostRead);
constexpr Tag own = 7;

/// Instruction `number` as its position.
isa::Position at(InstructionNumber number) {
    return static_cast<isa::Position>(number + 1);
}

/// Knows what the queues of TPU v1 are.
struct HistoryOfTpuV1 : WaitHistory {
    HistoryOfTpuV1() {
        set_role(isa::QueueId::HostRead, QueueRole::Delivers);
        set_role(isa::QueueId::HostWrite, QueueRole::Fetches);
        set_role(isa::QueueId::Activation, QueueRole::WorksOnRows);
        set_role(isa::QueueId::Host, QueueRole::Host);
    }
};

/// The same of a tensor core.
struct HistoryOfTensorCore : WaitHistory {
    HistoryOfTensorCore() {
        set_role(isa::QueueId::HostRead, QueueRole::Feeds);
        set_role(isa::QueueId::HostWrite, QueueRole::Fetches);
        set_role(isa::QueueId::DmaIn, QueueRole::Delivers);
        set_role(isa::QueueId::DmaOut, QueueRole::Fetches);
        set_role(isa::QueueId::Vector, QueueRole::WorksOnRows);
        set_role(isa::QueueId::Collective, QueueRole::Exchanges);
        set_role(isa::QueueId::Host, QueueRole::Host);
    }
};

using Part = std::tuple<Reason, Cycle, Tag>;

std::vector<Part> explain(const WaitHistory& history, const WaitHistory::Wait& wait) {
    std::vector<Part> parts;
    history.explain(wait, [&](Reason reason, Cycle cycles, Tag tag) {
        parts.push_back({reason, cycles, tag});
    });
    return parts;
}

/// A wait for cycles 100 to 199 whose instruction was issued before it.
WaitHistory::Wait wait_for(const MatrixNeeds& needs) {
    return {.begin = 100, .end = 200, .issued = 90, .tag = own, .needs = needs};
}

}  // namespace

TEST_CASE("A wait for activations is RAW from the activation's begin to its results", "[wait_history]") {
    HistoryOfTpuV1 history;
    UnitHistory& activation = history.activation();
    activation.waited(Activity::Semaphore, 120, matrix);
    activation.worked(Activity::Work, 5, 3, 130, 200);
    activation.worked(Activity::VectorWork, 6, 4, 180, 250);
    CHECK(explain(history, wait_for({.activations = at(5)})) ==
          std::vector<Part>{{Reason::Raw, 20, own}, {Reason::Raw, 80, own}});
    CHECK(explain(history, wait_for({.accumulators = at(5)})) ==
          std::vector<Part>{{Reason::Accumulators, 20, own}, {Reason::Accumulators, 80, own}});
}

TEST_CASE("What the activation unit did before the awaited instruction is the reason", "[wait_history]") {
    HistoryOfTpuV1 history;
    UnitHistory& activation = history.activation();
    activation.worked(Activity::Work, 1, 2, 110, 115);
    activation.worked(Activity::VectorWork, 2, 3, 125, 130);
    activation.waited(Activity::NoInstruction, 135);
    activation.waited(Activity::Semaphore, 150, host_write);
    activation.waited(Activity::Semaphore, 155, host_read);
    activation.waited(Activity::OwnWrites, 160);
    activation.waited(Activity::Port, 170);
    activation.worked(Activity::Work, 9, 2, 180, 200);
    CHECK(explain(history, wait_for({.activations = at(9)})) ==
          std::vector<Part>{{Reason::Raw, 10, own},
                            {Reason::VectorWork, 15, 3},
                            {Reason::Issue, 10, own},
                            {Reason::OutputBuffer, 15, own},
                            {Reason::Input, 5, own},
                            {Reason::Raw, 5, own},
                            {Reason::Port, 10, own},
                            {Reason::Raw, 30, own}});
}

TEST_CASE("Awaited vector work counts for its own layer until its results are there", "[wait_history]") {
    HistoryOfTpuV1 history;
    history.activation().waited(Activity::NoInstruction, 100);
    history.activation().worked(Activity::VectorWork, 4, 3, 150, 170);
    CHECK(explain(history, wait_for({.activations = at(4)})) ==
          std::vector<Part>{{Reason::VectorWork, 70, 3}, {Reason::Sync, 30, own}});
}

TEST_CASE("Activations come before input, and input before accumulators", "[wait_history]") {
    HistoryOfTpuV1 history;
    history.activation().worked(Activity::Work, 2, 1, 120, 125);
    history.activation().worked(Activity::Work, 8, 1, 150, 190);
    history.inputs().waited(Activity::Semaphore, 130, matrix);
    history.inputs().worked(Activity::Work, 3, 1, 140, 160);
    const auto wait = wait_for({.activations = at(2), .inputs = at(3), .accumulators = at(8)});
    CHECK(explain(history, wait) == std::vector<Part>{{Reason::Raw, 25, own},
                                                      {Reason::InputBuffer, 5, own},
                                                      {Reason::Input, 30, own},
                                                      {Reason::Accumulators, 30, own},
                                                      {Reason::Sync, 10, own}});
    const WaitHistory::Unmet unmet = history.unmet(wait);
    CHECK(unmet.activations == 25);
    CHECK(unmet.inputs == 60);
}

TEST_CASE("An instruction that was not issued has the sequencer's reason", "[wait_history]") {
    HistoryOfTpuV1 history;
    history.not_arrived(90, 110);
    history.queue_full(115, 140, isa::QueueId::Weights);
    history.not_arrived(170, 300);
    WaitHistory::Wait wait = wait_for({});
    wait.issued = 180;
    CHECK(explain(history, wait) == std::vector<Part>{{Reason::NotArrived, 10, own},
                                                      {Reason::Issue, 5, own},
                                                      {Reason::QueueFull, 25, own},
                                                      {Reason::Issue, 30, own},
                                                      {Reason::NotArrived, 10, own},
                                                      {Reason::Sync, 20, own}});
    wait.begin = 0;
    CHECK(explain(history, wait) ==
          std::vector<Part>{{Reason::ProgramBegin, 180, own}, {Reason::Sync, 20, own}});
}

TEST_CASE("A full queue of the activation unit names the vector work that held it up", "[wait_history]") {
    HistoryOfTpuV1 history;
    history.activation().worked(Activity::Work, 1, 2, 120, 122);
    history.activation().worked(Activity::VectorWork, 2, 3, 140, 142);
    history.activation().waited(Activity::Semaphore, 150, matrix);
    history.activation().waited(Activity::Semaphore, 160, host_write);
    history.activation().worked(Activity::VectorWork, 3, 4, 190, 192);
    history.queue_full(110, 180, isa::QueueId::Activation);
    WaitHistory::Wait wait = wait_for({});
    wait.issued = 185;
    CHECK(explain(history, wait) == std::vector<Part>{{Reason::Issue, 10, own},
                                                      {Reason::QueueFull, 10, own},
                                                      {Reason::VectorWork, 20, 3},
                                                      {Reason::QueueFull, 10, own},
                                                      {Reason::OutputBuffer, 10, own},
                                                      {Reason::VectorWork, 20, 4},
                                                      {Reason::Issue, 5, own},
                                                      {Reason::Sync, 15, own}});
}

TEST_CASE("A need that was met before the wait is no reason", "[wait_history]") {
    HistoryOfTpuV1 history;
    history.activation().worked(Activity::Work, 2, 1, 60, 100);
    history.activation().worked(Activity::Work, 4, 1, 70, 104);
    const auto wait = wait_for({.activations = at(2), .accumulators = at(4)});
    const std::vector<Part> expected{{Reason::Accumulators, 4, own}, {Reason::Sync, 96, own}};
    CHECK(explain(history, wait) == expected);
    history.forget(100);
    CHECK(history.activation().spans().size() == 1);
    CHECK(explain(history, wait) == expected);
    CHECK(history.unmet(wait).activations == 0);
}

TEST_CASE("A history finds the work of an instruction between waits", "[wait_history]") {
    UnitHistory history;
    for (InstructionNumber number = 0; number < 40; number += 3) {
        const Cycle begin = number * 10;
        history.waited(Activity::NoInstruction, begin + 4);
        history.waited(Activity::Port, begin + 6);
        history.worked(Activity::Work, number, 1, begin + 9, begin + 12);
    }
    for (InstructionNumber number = 0; number < 45; ++number) {
        const auto place = history.find(number);
        CHECK(place.has_value() == (number % 3 == 0 && number < 40));
        if (place) CHECK(history.spans()[*place].until == number * 10 + 9);
    }
}

TEST_CASE("Reads that wait for the host give its reason, directly and through the activation unit",
          "[wait_history]") {
    HistoryOfTpuV1 history;
    history.inputs().waited(Activity::Semaphore, 110, matrix);
    history.inputs().waited(Activity::Semaphore, 150, host);
    history.inputs().worked(Activity::Work, 3, 1, 160, 165);
    CHECK(explain(history, wait_for({.inputs = at(3)})) == std::vector<Part>{{Reason::InputBuffer, 10, own},
                                                                             {Reason::Host, 40, own},
                                                                             {Reason::Input, 15, own},
                                                                             {Reason::Sync, 35, own}});
    history.activation().waited(Activity::Semaphore, 165, host_read);
    history.activation().worked(Activity::Work, 4, 1, 170, 200);
    CHECK(explain(history, wait_for({.activations = at(4)})) == std::vector<Part>{{Reason::Input, 10, own},
                                                                                  {Reason::Host, 40, own},
                                                                                  {Reason::Input, 15, own},
                                                                                  {Reason::Raw, 35, own}});
}

TEST_CASE("Reads that wait for the host while two waits go on give its reason in both", "[wait_history]") {
    HistoryOfTpuV1 history;
    history.inputs().waited(Activity::Semaphore, 120, host);
    history.inputs().waited(Activity::Semaphore, 125, matrix);
    history.inputs().waited(Activity::Semaphore, 160, host);
    history.inputs().worked(Activity::Work, 3, 1, 165, 170);
    history.activation().waited(Activity::Semaphore, 130, host_read);
    history.activation().worked(Activity::Work, 4, 1, 140, 145);
    history.activation().waited(Activity::Semaphore, 170, host_read);
    history.activation().worked(Activity::Work, 9, 1, 180, 200);
    CHECK(explain(history, wait_for({.activations = at(9)})) == std::vector<Part>{{Reason::Host, 20, own},
                                                                                  {Reason::Input, 5, own},
                                                                                  {Reason::Host, 5, own},
                                                                                  {Reason::Raw, 10, own},
                                                                                  {Reason::Host, 20, own},
                                                                                  {Reason::Input, 10, own},
                                                                                  {Reason::Raw, 30, own}});
}

TEST_CASE("A full queue behind the host's work is the host's", "[wait_history]") {
    HistoryOfTpuV1 history;
    history.inputs().waited(Activity::Semaphore, 150, host);
    history.activation().waited(Activity::Semaphore, 170, host_read);
    auto wait = wait_for({});
    wait.issued = 200;
    history.queue_full(110, 120, isa::QueueId::HostRead);
    history.queue_full(120, 140, isa::QueueId::Host);
    history.queue_full(140, 180, isa::QueueId::Activation);
    CHECK(explain(history, wait) == std::vector<Part>{{Reason::Issue, 10, own},
                                                      {Reason::Host, 10, own},
                                                      {Reason::Host, 20, own},
                                                      {Reason::Host, 10, own},
                                                      {Reason::QueueFull, 20, own},
                                                      {Reason::QueueFull, 10, own},
                                                      {Reason::Issue, 20, own}});
}

TEST_CASE("At the end, cycles in which the host works are the host's", "[wait_history]") {
    HistoryOfTpuV1 history;
    history.host().waited(Activity::Semaphore, 120, host_write);
    history.host().worked(Activity::Work, 5, 3, 140, 150);
    history.host().worked(Activity::Work, 6, 4, 160, 170);
    std::vector<Part> parts;
    history.explain_end(100, 200, own, [&](Reason reason, Cycle cycles, Tag tag) {
        parts.push_back({reason, cycles, tag});
    });
    CHECK(parts == std::vector<Part>{{Reason::ProgramEnd, 20, own},
                                     {Reason::Host, 30, own},
                                     {Reason::Host, 20, own},
                                     {Reason::ProgramEnd, 30, own}});
}

TEST_CASE("In a tensor core, rows come from HBM, which gets them from the host", "[wait_history]") {
    HistoryOfTensorCore history;
    history.inputs().waited(Activity::Semaphore, 120, static_cast<std::size_t>(isa::QueueId::HostRead));
    history.inputs().waited(Activity::Semaphore, 130, static_cast<std::size_t>(isa::QueueId::Vector));
    history.inputs().worked(Activity::Work, 3, 1, 140, 150);
    CHECK(explain(history, wait_for({.inputs = at(3)})) == std::vector<Part>{{Reason::Input, 20, own},
                                                                             {Reason::InputBuffer, 10, own},
                                                                             {Reason::Input, 20, own},
                                                                             {Reason::Sync, 50, own}});
    // The vector unit waits for such rows, and for HBM to take results.
    history.activation().waited(Activity::Semaphore, 115, static_cast<std::size_t>(isa::QueueId::DmaIn));
    history.activation().waited(Activity::Semaphore, 125, static_cast<std::size_t>(isa::QueueId::DmaOut));
    history.activation().worked(Activity::Work, 4, 1, 150, 160);
    CHECK(explain(history, wait_for({.activations = at(4)})) ==
          std::vector<Part>{{Reason::Input, 15, own},
                            {Reason::OutputBuffer, 10, own},
                            {Reason::Raw, 35, own},
                            {Reason::Sync, 40, own}});
}

TEST_CASE("A product waits for the unit between lanes, for products before it, and for HBM",
          "[wait_history]") {
    HistoryOfTensorCore history;
    history.cross_lane().worked(Activity::Work, 2, 1, 105, 120);
    history.outputs().worked(Activity::Work, 3, 1, 160, 170);
    const auto wait = wait_for({.cross_lane = at(2), .outputs = at(3), .own_writes = 140});
    CHECK(explain(history, wait) == std::vector<Part>{{Reason::Raw, 20, own},
                                                      {Reason::Raw, 20, own},
                                                      {Reason::OutputBuffer, 30, own},
                                                      {Reason::Sync, 30, own}});
    CHECK(history.unmet(wait).activations == 40);
    history.forget(200);
    CHECK(history.cross_lane().spans().empty());
    CHECK(history.outputs().spans().empty());
}

TEST_CASE("After the last product, a tensor core's vector work counts for its own layer", "[wait_history]") {
    HistoryOfTensorCore history;
    history.activation().waited(Activity::NoInstruction, 110);
    history.activation().worked(Activity::VectorWork, 2, 3, 130, 135);
    history.cross_lane().waited(Activity::NoInstruction, 120);
    history.cross_lane().worked(Activity::VectorWork, 3, 4, 140, 160);
    std::vector<Part> parts;
    history.explain_end(100, 170, own, [&](Reason reason, Cycle cycles, Tag tag) {
        parts.emplace_back(reason, cycles, tag);
    });
    CHECK(parts == std::vector<Part>{{Reason::ProgramEnd, 10, own},
                                     {Reason::VectorWork, 25, 3},
                                     {Reason::VectorWork, 25, 4},
                                     {Reason::ProgramEnd, 10, own}});
}

TEST_CASE("A wait for rows from HBM that waits for a collective is input_buffer around the collective",
          "[wait_history]") {
    HistoryOfTensorCore history;
    history.exchanges().waited(Activity::NoInstruction, 120);
    history.exchanges().worked(Activity::Work, 2, 5, 150, 160);
    history.inputs().waited(Activity::Semaphore, 170, static_cast<std::size_t>(isa::QueueId::Collective));
    history.inputs().worked(Activity::Work, 3, 1, 180, 190);
    CHECK(explain(history, wait_for({.inputs = at(3)})) == std::vector<Part>{{Reason::InputBuffer, 20, own},
                                                                             {Reason::Collective, 40, 5},
                                                                             {Reason::InputBuffer, 10, own},
                                                                             {Reason::Input, 20, own},
                                                                             {Reason::Sync, 10, own}});
}

TEST_CASE("A full queue of collectives is theirs while one is under way", "[wait_history]") {
    HistoryOfTensorCore history;
    history.exchanges().waited(Activity::NoInstruction, 120);
    history.exchanges().worked(Activity::Work, 2, 5, 150, 150);
    history.queue_full(110, 170, isa::QueueId::Collective);
    auto wait = wait_for({});
    wait.issued = 180;
    CHECK(explain(history, wait) == std::vector<Part>{{Reason::Issue, 10, own},
                                                      {Reason::QueueFull, 10, own},
                                                      {Reason::Collective, 30, 5},
                                                      {Reason::QueueFull, 20, own},
                                                      {Reason::Issue, 10, own},
                                                      {Reason::Sync, 20, own}});
}

TEST_CASE("After the last product, vector work comes before a collective that goes on beside it",
          "[wait_history]") {
    HistoryOfTensorCore history;
    history.exchanges().waited(Activity::NoInstruction, 110);
    history.exchanges().worked(Activity::Work, 2, 5, 180, 180);
    history.activation().waited(Activity::NoInstruction, 130);
    history.activation().worked(Activity::VectorWork, 3, 3, 150, 155);
    history.cross_lane().waited(Activity::NoInstruction, 170);
    history.cross_lane().worked(Activity::VectorWork, 4, 4, 185, 190);
    std::vector<Part> parts;
    history.explain_end(100, 200, own, [&](Reason reason, Cycle cycles, Tag tag) {
        parts.emplace_back(reason, cycles, tag);
    });
    CHECK(parts == std::vector<Part>{{Reason::ProgramEnd, 10, own},
                                     {Reason::Collective, 20, 5},
                                     {Reason::VectorWork, 25, 3},
                                     {Reason::Collective, 15, 5},
                                     {Reason::VectorWork, 20, 4},
                                     {Reason::ProgramEnd, 10, own}});
}

TEST_CASE("A wait for the signal of a unit without a role has the reason of the wait for its results",
          "[wait_history]") {
    HistoryOfTpuV1 history;
    history.activation().waited(Activity::Semaphore, 120, static_cast<std::size_t>(isa::QueueId::CrossLane));
    history.activation().worked(Activity::Work, 5, 3, 130, 200);
    CHECK(explain(history, wait_for({.activations = at(5)})) ==
          std::vector<Part>{{Reason::Raw, 20, own}, {Reason::Raw, 80, own}});
    history.queue_full(90, 110, isa::QueueId::CrossLane);
    auto wait = wait_for({});
    wait.issued = 110;
    CHECK(explain(history, wait) == std::vector<Part>{{Reason::QueueFull, 10, own}, {Reason::Sync, 90, own}});
}
