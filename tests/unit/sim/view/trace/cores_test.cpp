// Traces of a machine with several cores have all of them.
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "sim/view/trace/tracer.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"
#include "tests/support/timeline.h"
#include "tests/support/vcd.h"
#include "tests/unit/sim/view/trace/traced_run.h"

using namespace systole;

namespace {

/// Products in each core, and sums over all, which the second core of a chip begins later: its rows come from
/// the chip's memory behind those of the first.
const char* const sums_of_all_cores =
    ".tensor_core 128 128\n.layer \"product\" dense; .layer \"sum\" all_reduce\n"
    "tag 1; dma_in hbm=0 at=512 rows=64; sync.signal dma_in sem=1\n"
    "load_weights src=0 depth=128 columns=128; sync.wait matrix sem=1\n"
    "product dst=1024 src=512 rows=64 depth=128 columns=128; sync.signal matrix sem=2\n"
    "tag 2; sync.wait collective sem=2\ncollective all_reduce cores=8 dst=2048 src=1024 rows=64\n"
    "tag 0; halt\n";

struct TracedCores {
    TracedCores()
        : program(isa::assemble(sums_of_all_cores, "test")),
          machine(machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                        "configs/machines/tpu_v2_8.json")),
          tracer({.kinds = {"timeline", "csv", "text", "waves"}}, program, machine, folder.path()),
          system("system", machine, program, options()) {
        system.run();
        tracer.finish(system.cycles(), {.power = {}, .memories = memories()});
    }

    hw::SystemOptions options() {
        hw::SystemOptions all{
            .values = hw::Values::TimingOnly, .trace = tracer.sink(), .test_delta_delay = {}};
        for (std::size_t core = 1; core < machine.cores(); ++core) {
            all.other_cores.push_back({.trace = tracer.sink(core)});
        }
        return all;
    }
    /// As many rows as the core's number, and one.
    std::vector<std::vector<trace::OccupiedTrack>> memories() const {
        std::vector<std::vector<trace::OccupiedTrack>> cores;
        for (std::uint32_t core = 0; core < machine.cores(); ++core) {
            cores.push_back({{.track = "vector memory", .places = "rows", .changes = {{10, core + 1}}}});
        }
        return cores;
    }

    tests::FreshSimulation simulation;
    tests::Folder folder;
    isa::Program program;
    machine::MachineConfig machine;
    trace::Tracer tracer;
    hw::System system;
};

}  // namespace

TEST_CASE("Traces of several cores have all of them", "[trace][waves]") {
    TracedCores run;
    const auto waves = tests::read_vcd(tests::text_in(run.folder / trace::waves_file));
    std::map<std::string, std::size_t> lines;
    {
        std::istringstream csv(tests::text_in(run.folder / trace::csv_file));
        std::string line;
        std::getline(csv, line);
        CHECK(line.starts_with("number,repetition,layer,core,unit,instruction,"));
        while (std::getline(csv, line)) {
            std::istringstream fields(line);
            std::string field;
            for (int i = 0; i < 4; ++i) std::getline(fields, field, ',');
            ++lines[field];
        }
    }
    const auto timeline = tests::read_timeline(run.folder / trace::timeline_file);
    std::map<int, int> rows;
    for (const auto& event : timeline.whole.at("traceEvents")) {
        if (event.at("name") == "vector memory") rows[event.at("pid")] = event.at("args").at("rows");
    }
    REQUIRE(lines.size() == run.machine.cores());
    const std::string text = tests::text_in(run.folder / trace::text_file);
    bool has_peers = false;
    for (std::uint32_t core = 0; core < run.machine.cores(); ++core) {
        const std::string name = run.machine.core_name(core) + ".";
        CAPTURE(name);
        CHECK(lines.at(run.machine.core_name(core)) == tests::instructions_run(run.program));
        CHECK(text.find(" " + run.machine.core_name(core) + " ") != std::string::npos);
        CHECK(rows.at(static_cast<int>(core) + 1) == static_cast<int>(core) + 1);
        for (const std::string state : {"active", "weight_stall", "weight_shift", "non_matrix"}) {
            CAPTURE(state);
            CHECK(waves.count(name + "matrix_unit." + state) ==
                  run.system.counter(name + "matrix_unit." + state + "_cycles").value());
        }
        const std::uint64_t peers = run.system.counter(name + "collective_unit.peer_cycles").value();
        has_peers = has_peers || peers > 0;
        CHECK(waves.count(name + "collective_unit.busy") ==
              run.system.counter(name + "collective_unit.busy_cycles").value() + peers);
    }
    CHECK(has_peers);
}
