// docs/timing.md, "Several tensor cores": cycles of the matrix unit that wait for a collective count for the
// layer of the collective.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "hw/common/trace.h"
#include "hw/isa/assembly.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

/// The first core's collectives, products, chains and reads of HBM, in the order of their ends.
struct Listener final : hw::TraceListener {
    explicit Listener(const isa::Program& of) : program(of) {}
    void instruction(const hw::InstructionTimes& times) override {
        const isa::Instruction& instruction = program.instructions[times.number];
        if (std::holds_alternative<isa::Collective>(instruction)) collectives.push_back(times);
        if (std::holds_alternative<isa::Product>(instruction)) products.push_back(times);
        if (std::holds_alternative<isa::RunChain>(instruction)) chains.push_back(times);
        if (std::holds_alternative<isa::DmaIn>(instruction)) reads.push_back(times);
    }

    const isa::Program& program;
    std::vector<hw::InstructionTimes> collectives;
    std::vector<hw::InstructionTimes> products;
    std::vector<hw::InstructionTimes> chains;
    std::vector<hw::InstructionTimes> reads;
};

struct EightCores {
    explicit EightCores(const std::string& text)
        : program(
              isa::assemble(".tensor_core 128 128\n.chain copy; .source rows; .step maximum 0 0; .result 1\n"
                            ".layer \"product\" dense; .layer \"sum\" all_reduce\n" +
                                text,
                            "test")),
          system("system",
                 machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                       "configs/machines/tpu_v2_8.json"),
                 program, {.values = hw::Values::TimingOnly, .trace = &listener, .test_delta_delay = {}}) {
        system.run();
    }

    const hw::Counter& reason(const std::string& name) const {
        return system.counter("chip0.core0.matrix_unit.non_matrix_reasons." + name + "_cycles");
    }
    /// Cycles of the first core's matrix unit under a tag.
    Cycle cycles_of(hw::Tag tag) const {
        Cycle cycles = 0;
        for (const char* const name : {"active", "weight_stall", "weight_shift", "non_matrix"}) {
            cycles += system.counter(std::string("chip0.core0.matrix_unit.") + name + "_cycles").value(tag);
        }
        return cycles;
    }

    tests::FreshSimulation simulation;
    isa::Program program;
    Listener listener{program};
    hw::System system;
};

const std::string first_product =
    "tag 1; load_weights src=0 depth=128 columns=128\n"
    "product dst=1024 src=512 rows=64 depth=128 columns=128; sync.signal matrix sem=1\n";

}  // namespace

TEST_CASE("A collective at the end of a program has its cycles in its layer", "[hw][collective]") {
    const EightCores cores(first_product +
                           "tag 2; sync.wait collective sem=1\n"
                           "collective all_reduce cores=8 dst=2048 src=1024 rows=64\ntag 0; halt\n");
    REQUIRE(cores.listener.collectives.size() == 1);
    const hw::InstructionTimes& sum = cores.listener.collectives.front();
    const hw::InstructionTimes& product = cores.listener.products.front();
    REQUIRE(sum.begun > product.released);
    CHECK(cores.reason("collective").value() == sum.complete - sum.begun);
    CHECK(cores.reason("collective").value(2) == sum.complete - sum.begun);
    CHECK(cores.cycles_of(2) == sum.complete - sum.begun);
    // Outside layers are the cycles until the sums are there, and those until the last core ends.
    CHECK(cores.reason("program_end").value() ==
          sum.begun - product.released + cores.system.cycles() - sum.complete);
}

TEST_CASE("A product that waits for a collective has these cycles in the layer of the collective",
          "[hw][collective]") {
    const EightCores cores(first_product +
                           "tag 2; sync.wait collective sem=1\n"
                           "collective all_reduce cores=8 dst=2048 src=1024 rows=64\n"
                           "sync.signal collective sem=2\n"
                           "tag 1; sync.wait matrix sem=2\n"
                           "product dst=4096 src=2048 rows=64 depth=128 columns=128 keep\ntag 0; halt\n");
    const hw::InstructionTimes& sum = cores.listener.collectives.front();
    REQUIRE(cores.listener.products.size() == 2);
    CHECK(cores.listener.products[1].begun == sum.complete);
    CHECK(cores.reason("collective").value(2) == sum.complete - sum.begun);
    CHECK(cores.reason("collective").value() == sum.complete - sum.begun);
    CHECK(cores.reason("sync").value() == 0);
    CHECK(cores.cycles_of(2) == sum.complete - sum.begun);
}

TEST_CASE("So has one that waits for a chain on what a collective gives", "[hw][collective]") {
    const EightCores cores(first_product +
                           "tag 2; sync.wait collective sem=1\n"
                           "collective all_reduce cores=8 dst=2048 src=1024 rows=64\n"
                           "sync.signal collective sem=2\n"
                           "tag 1; sync.wait vector sem=2; chain 0 rows=64 columns=128 dst=3072 a=2048\n"
                           "sync.signal vector sem=3; sync.wait matrix sem=3\n"
                           "product dst=4096 src=3072 rows=64 depth=128 columns=128 keep\ntag 0; halt\n");
    const hw::InstructionTimes& sum = cores.listener.collectives.front();
    REQUIRE(cores.listener.products.size() == 2);
    CHECK(cores.listener.products[1].begun > sum.complete);
    CHECK(cores.reason("collective").value(2) == sum.complete - sum.begun);
    CHECK(cores.reason("collective").value() == sum.complete - sum.begun);
    CHECK(cores.reason("vector_work").value() == cores.listener.products[1].begun - sum.complete);
}

TEST_CASE("So has one that waits for rows from HBM whose place a collective still reads",
          "[hw][collective]") {
    const EightCores cores(first_product +
                           "tag 2; sync.wait collective sem=1\n"
                           "collective all_reduce cores=8 dst=2048 src=1024 rows=64\n"
                           "sync.signal collective sem=2\n"
                           "tag 1; sync.wait dma_in sem=2; dma_in hbm=0 at=6144 rows=64\n"
                           "sync.signal dma_in sem=3; sync.wait matrix sem=3\n"
                           "product dst=4096 src=6144 rows=64 depth=128 columns=128 keep\ntag 0; halt\n");
    const hw::InstructionTimes& sum = cores.listener.collectives.front();
    const hw::InstructionTimes& before = cores.listener.products.front();
    REQUIRE(cores.listener.products.size() == 2);
    REQUIRE(cores.listener.reads.front().begun == sum.complete);
    CHECK(cores.reason("input_buffer").value() == sum.begun - before.released);
    CHECK(cores.reason("collective").value(2) == sum.complete - sum.begun);
    CHECK(cores.reason("input").value() == cores.listener.products[1].begun - sum.complete);
}

TEST_CASE("At the end of a program, vector work beside a collective is vector work", "[hw][collective]") {
    const EightCores cores(first_product +
                           "sync.signal matrix sem=2\n"
                           "tag 2; sync.wait collective sem=1\n"
                           "collective all_reduce cores=8 dst=2048 src=1024 rows=64\n"
                           "tag 1; sync.wait vector sem=2; chain 0 rows=8 columns=128 dst=3072 a=1024\n"
                           "chain 0 rows=64 columns=128 dst=4096 a=1024\ntag 0; halt\n");
    const hw::InstructionTimes& sum = cores.listener.collectives.front();
    REQUIRE(cores.listener.chains.size() == 2);
    const hw::InstructionTimes& first = cores.listener.chains.front();
    const hw::InstructionTimes& last = cores.listener.chains.back();
    // The second begins behind the first and ends within the collective.
    REQUIRE(first.begun == sum.begun);
    REQUIRE(last.begun <= first.complete);
    REQUIRE(last.complete < sum.complete);
    CHECK(cores.reason("vector_work").value() == last.complete - first.begun);
    CHECK(cores.reason("collective").value() == sum.complete - last.complete);
}

TEST_CASE("A program without collectives has no cycles of them", "[hw][collective]") {
    const EightCores cores(first_product + "tag 0; halt\n");
    CHECK_THROWS(cores.reason("collective"));
    CHECK_NOTHROW(cores.reason("sync"));
}

TEST_CASE("A machine with one core has no cycles of collectives", "[hw][collective]") {
    const tests::FreshSimulation simulation;
    const isa::Program program = isa::assemble(
        ".tensor_core 128 128\ncollective all_reduce cores=1 dst=8 src=0 rows=8\nhalt\n", "test");
    hw::System system("system",
                      machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                            "configs/machines/tpu_v2_1core.json"),
                      program, {.values = hw::Values::TimingOnly, .test_delta_delay = {}});
    system.run();
    CHECK_THROWS(system.counter("matrix_unit.non_matrix_reasons.collective_cycles"));
    CHECK_NOTHROW(system.counter("matrix_unit.non_matrix_reasons.sync_cycles"));
}
