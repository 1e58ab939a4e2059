// Networks on a machine with a tensor core: the predicted cycles of each mapping that was considered, those
// of the simulator, and what the chosen one loses to the best.
//
//     build/release/tensor_mapping_bench [MACHINE BATCH NETWORK...]
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/frontend/door/read_network.h"
#include "compiler/target/tensor_core/choose.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"

namespace {

using namespace systole;

double ratio(Cycle a, Cycle b) {
    return static_cast<double>(a) / static_cast<double>(b);
}

Cycle simulated(const isa::Program& program, const machine::MachineConfig& machine) {
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {.values = hw::Values::TimingOnly, .test_delta_delay = {}});
    system.run();
    return system.cycles();
}

void compare(const std::string& file, const machine::MachineConfig& machine, std::uint32_t batch) {
    const ir::Graph graph = compiler::ready_for_run(frontend::read_network(file), {.timing_only = true});
    const ir::Graph prepared = compiler::prepare(graph, {}, machine);
    const mapping::Batches batches{.batch = batch, .inferences = batch};
    tensor_core::Network network = tensor_core::make_network(prepared, machine, batch / machine.cores());
    const tensor_core::ChosenMapping chosen = tensor_core::choose_mapping(network, machine, batches);
    Cycle best = 0;
    Cycle of_chosen = 0;
    std::vector<double> ratios;
    for (const auto& [mapping, predicted] : chosen.alternatives) {
        const tensor_core::MappedProgram made = tensor_core::map_program(network, machine, mapping, batches);
        const Cycle measured = simulated(made.program, machine);
        const bool is_chosen = mapping == chosen.mapping;
        if (is_chosen) of_chosen = measured;
        if (best == 0 || measured < best) best = measured;
        ratios.push_back(ratio(predicted, measured));
        fmt::print("  {} {} images, {}: {} predicted, {} simulated, {:.3f}\n", is_chosen ? "*" : " ",
                   mapping.images, tensor_core::to_text(mapping, network), predicted, measured,
                   ratios.back());
    }
    std::ranges::sort(ratios);
    fmt::print("{}: predicted over simulated {:.3f} to {:.3f}; the chosen one over the best {:.3f}\n",
               prepared.name, ratios.front(), ratios.back(), ratio(of_chosen, best));
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.empty()) {
        arguments = {"tpu_v2_1core", "8", "models/coral/resnet50_v1.json", "models/coral/densenet121.json"};
    }
    if (arguments.size() < 3) {
        fmt::print("usage: tensor_mapping_bench [MACHINE BATCH NETWORK...]\n");
        return 2;
    }
    try {
        const machine::MachineConfig machine = machine::read_machine(arguments[0]);
        const auto batch = static_cast<std::uint32_t>(std::stoul(arguments[1]));
        for (std::size_t i = 2; i < arguments.size(); ++i) compare(arguments[i], machine, batch);
    } catch (const std::exception& error) {
        fmt::print("tensor_mapping_bench: {}\n", error.what());
        return 1;
    }
    return 0;
}
