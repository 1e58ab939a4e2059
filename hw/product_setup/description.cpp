// What the unit says of itself.
#include <fmt/format.h>

#include <variant>

#include "hw/isa/instruction.h"
#include "hw/product_setup/product_setup.h"

namespace systole::hw {

void ProductSetup::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const std::uint32_t fetches = machine.vector_unit.sublanes;
    unit.box = {.title = "Product setup",
                .column = 2,
                .row = 1,
                .lines = {{fmt::format("{} rows a cycle", fetches)}},
                .busy_counter = "product_setup.busy_cycles"};
    unit.paths = {{.from = "vector_memory",
                   .to = "product_setup",
                   .counters = {"product_setup.fetches"},
                   .unit = "rows",
                   .most = {fetches, 1},
                   .shift_x = 75,  // beside the figures of the paths to high-bandwidth memory
                   .shift_y = -45}};
}

std::vector<UnitBound> ProductSetup::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "vector_memory",
             .part = "vector memory",
             .meaning = "rows of vector memory are read",
             .place = 2,
             .cycles = [this](const Amounts& amounts) { return amounts.of(line_counters_.fetch_cycles); }}};
}

std::optional<AwaitedWork> ProductSetup::awaited(isa::QueueId queue) const {
    if (queue != isa::QueueId::Matrix) return std::nullopt;
    const auto loads = [](const isa::Instruction& instruction) {
        return std::holds_alternative<isa::LoadWeights>(instruction);
    };
    return AwaitedWork{.from = isa::QueueId::Weights,
                       .gives = loads,
                       .words = "for weights, which {} loads",
                       .nobody = "no load_weights"};
}

}  // namespace systole::hw
