// Random programs on random machines with a tensor core: both engines give the same times, counters and
// values, in every order of the kernel's processes, and the values are those of sim/functional.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "hw/isa/assembly.h"
#include "hw/isa/encoding.h"
#include "tests/support/random_runs.h"
#include "tests/support/random_tensor/random_tensor.h"

using namespace systole;

namespace {

void check_cores(std::uint64_t first_seed) {
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(60); ++seed) {
        tests::Choices choices(seed);
        const tests::TensorCase random = tests::random_tensor(choices);
        const auto failure = tests::judge(random);
        if (!failure) continue;
        FAIL("seed " << seed << ": " << *failure << "\n"
                     << machine::to_json(random.machine).dump() << "\n"
                     << isa::disassemble(random.program));
    }
    SUCCEED("all alike");
}

}  // namespace

TEST_CASE("Engines of tensor cores, process orders and sim/functional agree on random programs, part 1",
          "[equality]") {
    check_cores(1000);
}
TEST_CASE("Engines of tensor cores, process orders and sim/functional agree on random programs, part 2",
          "[equality]") {
    check_cores(20000);
}

TEST_CASE("Random programs for tensor cores meet every instruction in all its forms", "[equality]") {
    std::map<std::string, int> met;
    for (std::uint64_t seed = 1000; seed < 1400; ++seed) {
        tests::Choices choices(seed);
        const tests::TensorCase random = tests::random_tensor(choices);
        const machine::SystemConfig& system = random.machine.system;
        if (random.machine.matrix_unit.arrays > 1) ++met["several arrays"];
        if (system.all_cores() > 1) ++met[system.chips > 1 ? "several chips" : "several cores"];
        for (const isa::ResidentTensor& resident : random.program.residents) {
            const bool is_input = resident.side == isa::ResidentSide::Input;
            ++met[is_input ? "inputs that are there" : "outputs that stay"];
            if (system.all_cores() > 1) ++met["tensors that stay in several cores"];
            if (resident.columns > random.machine.vector_unit.lanes) ++met["panels that stay"];
            if (resident.axes.size() > 1 && resident.inferences > 1) ++met["axes of several inferences"];
        }
        bool is_ahead = false;
        const isa::Product* last = nullptr;
        for (const isa::Instruction& instruction : random.program.instructions) {
            ++met[std::string(isa::mnemonic(instruction))];
            if (const auto* const load = std::get_if<isa::LoadWeights>(&instruction)) {
                if (is_ahead) ++met["weights loaded ahead"];
                is_ahead = true;
                if (load->transposed) ++met["transposed weights"];
                if (load->packed) ++met["packed weights"];
                ++met[fmt::format("part {} of weights", load->part)];
            } else if (const auto* const product = std::get_if<isa::Product>(&instruction)) {
                is_ahead = false;
                if (product->accumulate && last != nullptr && last->result == product->result) {
                    ++met["sums added to those on their way"];
                }
                last = product;
                if (product->windows) ++met["windows"];
                if (product->windows && product->packed) ++met["packed windows"];
                if (product->accumulate) ++met["sums that are added"];
                if (product->keep_weights) ++met["weights that stay"];
                ++met[fmt::format("part {} of rows", product->part)];
            } else if (const auto* const run = std::get_if<isa::RunChain>(&instruction)) {
                const isa::Chain& chain = random.program.chains.at(run->chain);
                for (std::size_t i = 0; i < chain.sources.size(); ++i) {
                    ++met[fmt::format("spread {}", static_cast<int>(chain.sources[i].spread))];
                    if (chain.sources[i].packed) ++met["packed sources"];
                    if (run->sources.at(i) == run->results[0]) ++met["chains in place"];
                }
                if (chain.results[0].packed) ++met["packed results"];
                if (chain.results.size() > 1) ++met["two results"];
                for (const isa::ChainStep& step : chain.steps) {
                    ++met[fmt::format("operation {}", static_cast<int>(step.operation))];
                }
            } else if (const auto* const rows = std::get_if<isa::ReduceRows>(&instruction)) {
                ++met[fmt::format("reduction {} of rows", static_cast<int>(rows->reduction))];
                if (rows->rows > random.machine.vector_unit.lanes) ++met["several blocks"];
            } else if (const auto* const lanes = std::get_if<isa::ReduceLanes>(&instruction)) {
                ++met[fmt::format("reduction {} of lanes", static_cast<int>(lanes->reduction))];
            } else if (const auto* const dma = std::get_if<isa::DmaIn>(&instruction)) {
                if (dma->blocks > 1) ++met["blocks"];
            } else if (const auto* const set = std::get_if<isa::SetConfig>(&instruction)) {
                if (set->reg == isa::Register::WalkColumns && set->value > 0) ++met["walks"];
            }
        }
    }
    const auto often = [&](const std::string& what, int least) {
        INFO(what << ": " << met[what]);
        CHECK(met[what] >= least);
    };
    for (const char* const name :
         {"infeed", "outfeed", "dma_in", "dma_out", "gather_rows", "load_weights", "product", "chain",
          "reduce_rows", "reduce_lanes", "transpose", "move_lanes", "collective", "interrupt", "tag"}) {
        often(name, 30);
    }
    for (const char* const what : {"weights loaded ahead",
                                   "transposed weights",
                                   "packed weights",
                                   "windows",
                                   "packed windows",
                                   "sums that are added",
                                   "sums added to those on their way",
                                   "weights that stay",
                                   "packed sources",
                                   "packed results",
                                   "two results",
                                   "several chips",
                                   "several cores",
                                   "several arrays",
                                   "chains in place",
                                   "several blocks",
                                   "blocks",
                                   "walks",
                                   "inputs that are there",
                                   "outputs that stay",
                                   "tensors that stay in several cores",
                                   "panels that stay",
                                   "axes of several inferences"}) {
        often(what, 20);
    }
    for (const int part : {0, 1, 2}) {
        often(fmt::format("part {} of weights", part), 10);
        often(fmt::format("part {} of rows", part), 10);
    }
    for (const int spread : {0, 1, 2, 3}) often(fmt::format("spread {}", spread), 20);
    for (int operation = 0; operation < static_cast<int>(word_operation_count); ++operation) {
        often(fmt::format("operation {}", operation), 3);
    }
    for (int reduction = 0; reduction < static_cast<int>(reduction_count); ++reduction) {
        often(fmt::format("reduction {} of rows", reduction), 5);
        often(fmt::format("reduction {} of lanes", reduction), 5);
    }
}
