#include "compiler/target/edge_tpu/strips.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "compiler/target/edge_tpu/channels.h"
#include "compiler/target/edge_tpu/instructions.h"
#include "compiler/target/edge_tpu/memory.h"
#include "compiler/target/edge_tpu/order.h"
#include "hw/isa/tile_layout.h"
#include "hw/timing/tiles.h"

namespace systole::edge_tpu {
namespace {

/// Longer runs compute more and more pixels twice.
constexpr std::size_t longest_run = 12;

/// Steps that are repeated, both included.
struct Run {
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    std::uint32_t steps() const { return last - first + 1; }
};

/// The tensors that the steps compute, but the last result.
std::set<TensorId> between(const Network& network, const Run& run) {
    std::set<TensorId> tensors;
    for (std::uint32_t i = run.first; i < run.last; ++i) tensors.insert(network.steps[i].result.tensor);
    return tensors;
}

bool is_image(const Network& network, const Part& part) {
    return network.tensors[part.tensor].form == Form::Image;
}

/// Whether each pixel comes from the channels of the same one.
bool is_by_pixel(const Step& step) {
    return step.kind == StepKind::Vector && step.operation == isa::TileOperation::Normalize;
}

/// Whether all that the run computes, but its last result, is read by the run alone.
bool can_be_cut(const Network& network, const Run& run) {
    const TensorId result = network.steps[run.last].result.tensor;
    for (std::uint32_t i = run.first; i <= run.last; ++i) {
        const Step& step = network.steps[i];
        const bool has_strips =
            step.kind == StepKind::Multiply || step.window || step.is_element_wise() || is_by_pixel(step);
        if (!has_strips || step.with_margins || step.result.lines) return false;
        if (!is_image(network, step.source) || !is_image(network, step.result)) return false;
        if (i == run.last) break;
        if (step.result.tensor == result) return false;
        const Tensor& tensor = network.tensors[step.result.tensor];
        if (tensor.first < run.first || tensor.last > run.last || tensor.last <= i) return false;
    }
    return true;
}

isa::TileArea hull(const isa::TileArea& a, const isa::TileArea& b) {
    const std::int64_t line = std::min(a.first_line, b.first_line);
    const std::int64_t column = std::min(a.first_column, b.first_column);
    return {
        .first_line = line,
        .lines = static_cast<std::uint64_t>(std::max(a.line(a.lines), b.line(b.lines)) - line),
        .first_column = column,
        .columns = static_cast<std::uint64_t>(std::max(a.column(a.columns), b.column(b.columns)) - column)};
}

/// An area with at least one pixel of the patch: a tile cannot keep margins alone.
isa::TileArea with_patch(const isa::TileArea& area, const isa::TileLayout& layout) {
    const auto lines = static_cast<std::int64_t>(layout.own_lines());
    const auto columns = static_cast<std::int64_t>(layout.own_columns());
    const isa::TileArea pixel{.first_line = std::clamp<std::int64_t>(area.first_line, 0, lines - 1),
                              .lines = 1,
                              .first_column = std::clamp<std::int64_t>(area.first_column, 0, columns - 1),
                              .columns = 1};
    return hull(area, pixel);
}

using Areas = std::map<TensorId, isa::TileArea>;

/// What a strip of the run's last result needs of each tensor. None if it needs no pixel of one of them.
std::optional<Areas> areas_of_strip(const Network& network, const Run& run, const PatchLines& lines) {
    Areas needed;
    const auto need = [&](const Part& part, const isa::TileArea& area) {
        const auto [place, is_new] = needed.try_emplace(part.tensor, area);
        if (!is_new) place->second = hull(place->second, area);
    };
    for (std::uint32_t i = run.last + 1; i-- > run.first;) {
        const Step& step = network.steps[i];
        const isa::TileLayout result = layout_of(network, step.result);
        isa::TileArea area{.first_line = static_cast<std::int64_t>(lines.first),
                           .lines = lines.count,
                           .first_column = 0,
                           .columns = result.own_columns()};
        if (i != run.last) {
            area = with_patch(needed.at(step.result.tensor), result);
            needed[step.result.tensor] = area;
        }
        if (step.window) {
            area =
                isa::windows_under(layout_of(network, step.source), result, area, tile_window(*step.window));
            if (area.pixels() == 0) return std::nullopt;
        }
        need(step.source, area);
        if (step.other) need(*step.other, area);
    }
    return needed;
}

/// Makes the tensor's tiles store an area: a strip exactly it, others at least it.
void store(Tensor& tensor, const isa::TileLayout& layout, const isa::TileArea& area, bool is_strip) {
    const auto behind_lines =
        static_cast<std::int32_t>(area.line(area.lines) - static_cast<std::int64_t>(layout.own_lines()));
    const auto behind_columns = static_cast<std::int32_t>(area.column(area.columns) -
                                                          static_cast<std::int64_t>(layout.own_columns()));
    const auto before_lines = static_cast<std::int32_t>(-area.first_line);
    const auto before_columns = static_cast<std::int32_t>(-area.first_column);
    if (is_strip) {
        tensor.top = before_lines;
        tensor.bottom = behind_lines;
        tensor.left = before_columns;
        tensor.right = behind_columns;
        tensor.reaches_out = false;
        return;
    }
    tensor.top = std::max(tensor.top, before_lines);
    tensor.bottom = std::max(tensor.bottom, behind_lines);
    tensor.left = std::max(tensor.left, before_columns);
    tensor.right = std::max(tensor.right, behind_columns);
    tensor.reaches_out =
        tensor.reaches_out || std::max({tensor.top, tensor.bottom, tensor.left, tensor.right}) > 0;
}

/// The network with the run repeated for strips of so many lines. None if that is not possible.
std::optional<Network> cut(const Network& network, const Run& run, std::uint64_t lines) {
    Network made = network;
    const std::uint64_t own = layout_of(network, network.steps[run.last].result).own_lines();
    const auto strips = static_cast<std::uint32_t>(divide_up(own, lines));
    const std::uint32_t more = (strips - 1) * run.steps();
    for (Tensor& tensor : made.tensors) {
        if (tensor.first > run.last) tensor.first += more;
        if (tensor.last >= run.first) {
            tensor.last = tensor.last > run.last ? tensor.last + more : run.last + more;
        }
    }
    const std::set<TensorId> strip_tensors = between(network, run);
    made.steps.clear();
    const auto begin = network.steps.begin();
    made.steps.assign(begin, begin + run.first);
    for (std::uint32_t strip = 0; strip < strips; ++strip) {
        const PatchLines part{.first = strip * lines, .count = std::min(lines, own - strip * lines)};
        const auto areas = areas_of_strip(network, run, part);
        if (!areas) return std::nullopt;
        std::map<TensorId, TensorId> ids;
        for (const auto& [id, area] : *areas) {
            const Tensor& tensor = network.tensors[id];
            const isa::TileLayout layout =
                layout_of(network, Part{.tensor = id, .first_channel = 0, .shape = tensor.shape});
            const bool is_strip = strip_tensors.contains(id);
            TensorId to = id;
            if (is_strip && strip > 0) {
                to = static_cast<TensorId>(made.tensors.size());
                made.tensors.push_back(tensor);
            }
            if (is_strip) {
                made.tensors[to].first = tensor.first + strip * run.steps();
                made.tensors[to].last = tensor.last + strip * run.steps();
            }
            ids.emplace(id, to);
            store(made.tensors[to], layout, area, is_strip);
        }
        for (std::uint32_t i = run.first; i <= run.last; ++i) {
            Step& step = made.steps.emplace_back(network.steps[i]);
            step.source.tensor = ids.at(step.source.tensor);
            if (step.other) step.other->tensor = ids.at(step.other->tensor);
            if (i == run.last) {
                step.result.lines = part;
                if (step.kind == StepKind::Vector && !step.window) {
                    step.source.lines = part;
                    if (step.other) step.other->lines = part;
                }
            } else {
                step.with_margins = true;
                step.result.tensor = ids.at(step.result.tensor);
            }
        }
    }
    made.steps.insert(made.steps.end(), begin + run.last + 1, network.steps.end());
    return made;
}

/// Cycles of the tiles and of the ring.
Cycle work_of(const Network& network, const machine::MachineConfig& machine) {
    Cycle cycles = 0;
    const auto registers_of = [](const RegisterValues& values) {
        isa::Registers registers;
        for (const RegisterValue& each : values) registers.set(each.reg, each.value);
        return registers;
    };
    for (const Step& step : network.steps) {
        if (step.kind == StepKind::Multiply) {
            const ProductInstruction made = product_of(network, step);
            const timing::ProductCost cost =
                timing::product_cost(made.multiply, registers_of(made.registers), machine);
            cycles +=
                cost.cycles() +
                cost.repeats() * timing::ring_cycles(made.blocks.groups * made.blocks.block_bytes(), machine);
        } else if (step.kind == StepKind::Vector) {
            const VectorInstruction made = vector_of(network, step);
            cycles += timing::vector_cycles(made.vector, registers_of(made.registers), machine);
        }
    }
    return cycles;
}

bool is_read(const Step& step) {
    return step.kind == StepKind::Read;
}

/// The network with the run's constant operands read in front of the run: once, for all that is repeated.
Network with_reads_first(Network network, Run& run) {
    for (std::uint32_t i = run.first; i <= run.last; ++i) {
        if (is_read(network.steps[i])) move_step_up(network, i, run.first++);
    }
    return network;
}

/// How far the compiler goes to make tensors fit.
enum class Effort : std::uint8_t {
    Strips,  ///< strips of lines
    All,     ///< strips or channels, with tensors placed by their sizes and steps in another order
};

std::optional<Shortage> place(Network& network, Effort effort, const machine::MachineConfig& machine) {
    return effort == Effort::All ? place_tensors_by_size(network, machine) : place_tensors(network, machine);
}

/// Cuts the run into the fewest strips with which the steps up to its end fit. None if there are none.
std::optional<Network> cut_to_fit(const Network& network, const Run& run, Effort effort,
                                  const machine::MachineConfig& machine) {
    const std::uint64_t own = layout_of(network, network.steps[run.last].result).own_lines();
    std::uint64_t lines = own;
    while (lines > 1) {
        lines = std::min(lines - 1, divide_up(own, divide_up(own, lines) + 1));
        std::optional<Network> made = cut(network, run, lines);
        if (!made) return std::nullopt;
        const auto shortage = place(*made, effort, machine);
        const auto end = run.first + divide_up(own, lines) * run.steps();
        if (!shortage || shortage->step >= end) return made;
    }
    return std::nullopt;
}

/// Cuts the run into the fewest parts of channels with which the steps up to its end fit. Each has whole
/// groups of lanes.
std::optional<Network> cut_channels_to_fit(const Network& network, const Run& run, Effort effort,
                                           const machine::MachineConfig& machine) {
    const std::uint64_t groups = divide_up(network.steps[run.last].result.shape.channels, network.grid.lanes);
    std::uint64_t of_part = groups;
    while (of_part > 1) {
        of_part = std::min(of_part - 1, divide_up(groups, divide_up(groups, of_part) + 1));
        Network made = cut_channels(network, run.first, run.last,
                                    static_cast<std::uint32_t>(of_part * network.grid.lanes));
        const auto shortage = place(made, effort, machine);
        const auto end = run.first + divide_up(groups, of_part) * run.steps();
        if (!shortage || shortage->step >= end) return made;
    }
    return std::nullopt;
}

/// The best way to come past a step. None if there is no way.
std::optional<Network> cut_around(const Network& network, std::uint32_t step, Effort effort,
                                  const machine::MachineConfig& machine) {
    std::optional<Network> best;
    Cycle least = 0;
    const auto consider = [&](std::optional<Network> made) {
        if (!made) return;
        const Cycle work = work_of(*made, machine);
        if (best && work >= least) return;
        best = std::move(made);
        least = work;
    };
    const auto consider_run = [&](const Network& of, const Run& run) {
        if (can_be_cut(of, run)) consider(cut_to_fit(of, run, effort, machine));
        if (effort == Effort::All && has_channels_to_cut(of, run.first, run.last)) {
            consider(cut_channels_to_fit(of, run, effort, machine));
        }
    };
    const auto steps = static_cast<std::uint32_t>(network.steps.size());
    const auto begin = network.steps.begin();
    for (std::uint32_t length = 2; length <= longest_run; ++length) {
        for (std::uint32_t first = step + 1 > length ? step + 1 - length : 0;
             first <= step && first + length <= steps; ++first) {
            Run run{.first = first, .last = first + length - 1};
            if (std::none_of(begin + first, begin + first + length, is_read)) {
                consider_run(network, run);
                continue;
            }
            const Network moved = with_reads_first(network, run);
            if (run.first < run.last) consider_run(moved, run);
        }
    }
    return best;
}

/// Cuts the network until all of it fits. The shortage for which there is no way, if there is one.
std::optional<Shortage> cut_all(Network& network, Effort effort, const machine::MachineConfig& machine) {
    while (const auto shortage = place(network, effort, machine)) {
        std::optional<Network> made = cut_around(network, shortage->step, effort, machine);
        if (!made) return shortage;
        network = std::move(*made);
    }
    return std::nullopt;
}

}  // namespace

std::optional<NarrowShortage> fit_into_narrow_memory(Network& network,
                                                     const machine::MachineConfig& machine) {
    Network ordered = network;
    widen_what_can_be_replaced(network);
    const auto shortage = cut_all(network, Effort::Strips, machine);
    if (!shortage) return std::nullopt;
    move_last_readers_up(ordered);
    // A result in the place of its operand spares room; the margins that both then have take some.
    for (const bool widens : {true, false}) {
        Network made = ordered;
        if (widens) widen_what_can_be_replaced(made);
        if (cut_all(made, Effort::All, machine)) continue;
        network = std::move(made);
        return std::nullopt;
    }
    const std::string layer = shortage->step < network.steps.size()
                                  ? in_quotes(network.layers[network.steps[shortage->step].layer].name)
                                  : "behind the last";
    return NarrowShortage{
        .step = shortage->step,
        .message = fmt::format("layer {}: its tensors take {} bytes of a tile's narrow memory, which has {}; "
                               "neither strips of lines nor parts of the channels make them small enough",
                               layer, shortage->bytes, machine.narrow_memory.bytes)};
}

}  // namespace systole::edge_tpu
