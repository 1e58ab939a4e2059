// Tracks and signals follow the queues that the core lists.
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/common/trace.h"
#include "hw/isa/assembly.h"
#include "hw/isa/queue.h"
#include "hw/system/system.h"
#include "sim/view/trace/tracer.h"
#include "tests/support/files.h"
#include "tests/support/timeline.h"
#include "tests/support/vcd.h"
#include "tests/unit/sim/view/trace/traced_run.h"

using namespace systole;
using tests::Folder;
using tests::ReadTimeline;
using tests::ReadVcd;

namespace {

using Slices = std::vector<ReadTimeline::Slice>;

machine::MachineConfig eight_by_eight() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = machine.matrix_unit.columns = 8;
    return machine;
}

/// The names of the tracks in the order of display.
std::vector<std::string> track_names(const ReadTimeline& timeline) {
    std::vector<std::string> names;
    for (const auto& event : timeline.whole.at("traceEvents")) {
        if (event.at("name") != "thread_name") continue;
        names.push_back(event.at("args").at("name"));
        CHECK(event.at("tid") == names.size());
    }
    return names;
}

/// A queue and a unit that no code knows.
constexpr std::size_t unknown = isa::queue_count + 3;
const hw::TracedCore with_unknown{
    .queues = {
        {.unit = unknown, .name = "gather", .traces = {.track = "gather unit", .signals = "gather_unit."}},
        {.unit = static_cast<std::size_t>(isa::QueueId::Matrix),
         .name = "matrix",
         .traces = {.track = "matrix unit",
                    .signals = "systolic_data_setup.",
                    .is_main = true,
                    .tells_idle = true}}}};

hw::QueueTimes left_queue(hw::InstructionNumber number, Cycle issued, Cycle first, Cycle taken) {
    return {.unit = unknown, .number = number, .issued = issued, .first = first, .taken = taken};
}

hw::InstructionTimes executed(hw::InstructionNumber number, Cycle begun, Cycle released) {
    return {.unit = unknown,
            .number = number,
            .issued = 1,
            .begun = begun,
            .released = released,
            .complete = released + 3};
}

const isa::Program& three_instructions() {
    static const isa::Program program =
        isa::assemble(".array 8 8\nnop\nsync.wait activation sem=0\nnop\nhalt\n", "test");
    return program;
}

/// Instruction 0, which waits for its operands; then a `sync`, and instruction 2, which waits for nothing.
void use_unknown_queue(hw::TraceSink& sink) {
    sink.begun(with_unknown);
    sink.queued(left_queue(0, 2, 3, 5));
    sink.instruction(executed(0, 6, 8));
    sink.queued(left_queue(1, 3, 5, 9));
    sink.queued(left_queue(2, 4, 9, 9));
}

struct Drawn {
    std::string name;
    Cycle begin = 0;
    Cycle end = 0;

    bool operator==(const Drawn&) const = default;
};

std::vector<Drawn> drawn(const Slices& slices) {
    std::vector<Drawn> all;
    for (const auto& slice : slices) all.push_back({slice.name, slice.begin, slice.end});
    return all;
}

}  // namespace

TEST_CASE("The tracks follow the data path; the host's come last, if the program uses it", "[trace]") {
    std::vector<std::string> tracks{"layers",           "sequencer",   "host_read queue",  "host_read",
                                    "weights queue",    "weights",     "weight memory",    "weight shift",
                                    "matrix queue",     "matrix unit", "activation queue", "activation",
                                    "host_write queue", "host_write"};
    const auto tracks_of = [](const std::string& text) {
        const Folder folder;
        tests::run_traced(isa::assemble(text, "test"), eight_by_eight(),
                          {{{.kinds = {"timeline"}}, folder.path()}}, [](const hw::System&) {});
        return track_names(tests::read_timeline(folder / trace::timeline_file));
    };
    CHECK(tracks_of(".array 8 8\nhalt\n") == tracks);
    tracks.insert(tracks.end(), {"host queue", "host"});
    CHECK(tracks_of(".array 8 8\n.buffer scores exchange 0 56\n.buffer shares exchange 0x100 56\n"
                    ".host_segment first\n.reads scores 7\n.writes shares 7\n"
                    "host_work segment=0 first=0 images=8\nhalt\n") == tracks);
}

TEST_CASE("A queue that no trace knows has its tracks and signals", "[trace][waves]") {
    const Folder folder;
    trace::Tracer tracer({.kinds = {"timeline", "waves"}}, three_instructions(), eight_by_eight(),
                         folder.path());
    use_unknown_queue(*tracer.sink());
    tracer.sink()->instruction(executed(2, 9, 12));
    tracer.sink()->ended(15, 0);
    tracer.finish(15, {});

    const ReadTimeline timeline = tests::read_timeline(folder / trace::timeline_file);
    CHECK(track_names(timeline) == std::vector<std::string>{"layers", "sequencer", "gather queue",
                                                            "gather unit", "matrix queue", "matrix unit"});
    CHECK(drawn(timeline.tracks.at("gather queue")) ==
          std::vector<Drawn>{{"nop", 3, 5}, {"sync.wait", 5, 9}});
    const Slices& unit = timeline.tracks.at("gather unit");
    CHECK(drawn(unit) == std::vector<Drawn>{{"stall", 5, 6}, {"nop", 6, 8}, {"nop", 9, 12}});
    CHECK(unit.back().args.at("complete") == 15);

    const ReadVcd waves = tests::read_vcd(tests::text_in(folder / trace::waves_file));
    const auto text_of = [&](const std::string& name) {
        std::string text;
        for (const ReadVcd::Value value : waves.by_cycle(name)) text += value ? std::to_string(*value) : ".";
        return text;
    };
    CHECK(text_of("gather_unit.queue") == "001232222000000");
    CHECK(text_of("gather_unit.busy") == "000000110111000");
    CHECK(text_of("gather_unit.instruction") == "......00.222...");
}

TEST_CASE("A run that fails shows the unfinished work of a queue that no trace knows", "[trace]") {
    const Folder folder;
    {
        trace::Tracer tracer({.kinds = {"timeline"}}, three_instructions(), eight_by_eight(), folder.path());
        use_unknown_queue(*tracer.sink());
        tracer.sink()->failed({.at = 13, .issue = {}, .queues = {left_queue(1, 10, 11, 13)}});
    }
    const ReadTimeline timeline = tests::read_timeline(folder / trace::timeline_file);
    const auto& waits = timeline.tracks.at("gather queue").back();
    CHECK(drawn({waits}) == std::vector<Drawn>{{"sync.wait", 11, 13}});
    CHECK(waits.args.at("unfinished") == true);
    const auto& works = timeline.tracks.at("gather unit").back();
    CHECK(drawn({works}) == std::vector<Drawn>{{"nop", 9, 13}});
    CHECK(works.args.at("unfinished") == true);
}
