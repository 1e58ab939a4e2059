#include "compiler/target/tpu_v1/family.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/cycle.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/compile.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/lowering/lowerings.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/isa/program_error.h"

namespace systole::tpu_v1 {
namespace {

ChipAbilities abilities_of(const machine::MachineConfig& machine) {
    // What subtracts a zero point from the streamed rows takes blocks of two pixels.
    return {.writes_weights = machine.weight_memory.writable.has_value() && machine.matrix_unit.columns > 1,
            .row_sums = machine.matrix_unit.row_sums};
}

/// What a way to compute the products takes.
struct WayOfProducts {
    std::optional<Cycle> cycles;  ///< of all inferences, from a few batches of them
    std::string reason = {};      ///< why it is not possible, without cycles
};

WayOfProducts way_with(const ChipAbilities& chip, const ir::Graph& prepared,
                       const machine::MachineConfig& machine, const mapping::Options& options) {
    constexpr std::uint64_t batches = 3;
    mapping::Options some = options;
    some.explain = some.schedule_text = false;
    some.batches.inferences =
        std::min(options.batches.inferences, batches * std::uint64_t{options.batches.batch});
    try {
        const mapping::Compiled compiled = compile(lower(prepared, chip), machine, some);
        return {.cycles = options.simulate(compiled.program, options.batches.inferences)};
    } catch (const ModelError& error) {
        return {.cycles = std::nullopt, .reason = error.what()};
    } catch (const isa::ProgramError& error) {
        return {.cycles = std::nullopt, .reason = error.what()};
    }
}

mapping::Choice choice_of(const WayOfProducts& array, const WayOfProducts& host, bool takes_array) {
    mapping::Choice choice{.of = "products of two computed matrices, by where they are computed"};
    const auto add = [&](const WayOfProducts& way, const std::string& where, bool chosen) {
        if (way.cycles) {
            choice.alternatives.push_back({.cycles = *way.cycles, .detail = " " + where, .chosen = chosen});
        } else {
            choice.of += "; not " + where + ": " + way.reason;
        }
    };
    add(array, "the array, which meets weights that the program writes", takes_array);
    add(host, "the host", !takes_array);
    return choice;
}

mapping::Compiled compile_graph(const ir::Graph& prepared, const machine::MachineConfig& machine,
                                const mapping::Options& options) {
    const ChipAbilities chip = abilities_of(machine);
    if (!writes_weights(prepared, chip)) return compile(lower(prepared), machine, options);
    if (!options.simulate) {
        try {
            return compile(lower(prepared, chip), machine, options);
        } catch (const ModelError&) {
            // The array has no room for a product that the host computes.
            return compile(lower(prepared), machine, options);
        }
    }
    const WayOfProducts array = way_with(chip, prepared, machine, options);
    const WayOfProducts host = way_with({}, prepared, machine, options);
    const bool takes_array = array.cycles && (!host.cycles || *array.cycles <= *host.cycles);
    mapping::Compiled compiled =
        compile(takes_array ? lower(prepared, chip) : lower(prepared), machine, options);
    if (options.explain) compiled.choices.push_back(choice_of(array, host, takes_array));
    return compiled;
}

}  // namespace

const target::Family family{.computes_on_integers = true,
                            .compile = compile_graph,
                            .machine_key =
                                [](const machine::MachineConfig& machine, const machine::Mapping& mapping) {
                                    std::string key = key_of(target_of(machine, mapping));
                                    // By their costs, products are computed by the array or by the host.
                                    if (machine.weight_memory.writable) key += to_json(machine).dump();
                                    return key;
                                },
                            .place_of = place_of};

}  // namespace systole::tpu_v1
