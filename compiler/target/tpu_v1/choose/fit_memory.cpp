#include "compiler/target/tpu_v1/choose/fit_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/schedule/row_allocation.h"
#include "compiler/target/tpu_v1/choose/cut_network.h"
#include "compiler/target/tpu_v1/choose/strips.h"
#include "compiler/target/tpu_v1/cost/cost.h"
#include "compiler/target/tpu_v1/cost/layer_costs.h"
#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"
#include "compiler/target/tpu_v1/schedule/layer_plan.h"
#include "compiler/target/tpu_v1/schedule/memory_plan.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "hw/timing/activation_unit.h"
#include "hw/timing/transfers.h"

namespace systole::tpu_v1 {
namespace {

using Kind = StripStep::Kind;

/// Layers of a run, at most: longer runs compute ever more lines again.
constexpr std::uint32_t longest_run = 24;
/// Networks with more layers are divided in a few attempts: many tensors are spilled in each, and none is
/// brought back. Where a layer fits whole, it is a run by itself.
constexpr std::size_t most_layers_compared = 1024;

/// The cycles of a layer for one image.
struct LayerCycles {
    double work = 0;                 ///< of all lines
    double weights = 0;              ///< of fetching each of its tiles once
    std::uint32_t block_height = 1;  ///< lines of the output that are computed together
};

/// The cycles of vector work on an image.
Cycle vector_cycles(const LayerCosts& costs, std::uint32_t layer) {
    const Work& work = costs.network().layers[layer].work;
    const Tensor& output = costs.network().tensors[costs.network().layers[layer].output];
    if (std::holds_alternative<Pooling>(work)) {
        return costs.vector_cycles(layer, 0, output.shape.height);
    }
    if (!std::holds_alternative<Elementwise>(work)) return 0;  // mostly written in place
    const std::uint64_t rows = image_rows(output, costs.target().geometry.rows);
    return costs.vector_cycles(layer, 0, static_cast<std::uint32_t>(rows));
}

std::vector<LayerCycles> cycles_of_layers(const LayerCosts& costs, const std::vector<LayerPlan>& plans) {
    const machine::MachineConfig& machine = costs.machine();
    std::vector<LayerCycles> cycles;
    for (std::uint32_t l = 0; l < plans.size(); ++l) {
        LayerCycles& of_layer = cycles.emplace_back();
        if (!std::holds_alternative<MatrixProduct>(costs.network().layers[l].work)) {
            of_layer.work = static_cast<double>(vector_cycles(costs, l));
            continue;
        }
        // The program of a layer that the machine cannot compute is refused with its instruction.
        if (!costs.supports(l)) continue;
        of_layer.block_height = plans[l].parts.front().block.height;
        of_layer.work = static_cast<double>(costs.product_cycles(l, plans[l], 1));
        const std::uint64_t bytes = costs.tile_bytes(l, plans[l].tiling.tiles);
        of_layer.weights = static_cast<double>(plans[l].spilled ? timing::host_read_cycles(bytes, machine)
                                                                : timing::weight_read_cycles(bytes, machine));
    }
    return cycles;
}

/// A number of strips for a run of layers.
struct TriedRun {
    bool is_possible = false;         ///< of the strips that were planned
    std::vector<std::uint64_t> rows;  ///< by layer, besides resident tensors
    double cycles = 0;

    std::uint64_t most_rows() const { return *std::ranges::max_element(rows); }
};

/// Divides the layers into runs.
class Division {
public:
    Division(const AnalysedNetwork& analysed, const machine::MachineConfig& machine,
             std::vector<LayerCycles> cycles)
        : analysed_(analysed),
          network_(analysed.network()),
          machine_(machine),
          cycles_(std::move(cycles)),
          spilled_(network_.tensors.size(), false),
          homes_(homes_of(analysed, spilled_)) {
        find_residents();
    }

    /// Finds the runs with the fewest cycles that fit `rows` rows, spilling as few tensors as it can. Throws
    /// ModelError with what a layer needs, besides `constant_rows` rows, if one does not fit.
    std::vector<LayerRun> choose(std::uint64_t rows, std::uint64_t constant_rows) {
        rows_ = rows;
        std::optional<double> cycles = divide();
        for (std::size_t count = 1; !cycles; count *= is_large_ ? 2 : 1) {
            const std::vector<TensorId> victims = cheapest_victims(count);
            if (victims.empty()) reject(constant_rows);
            for (const TensorId victim : victims) spilled_[victim] = true;
            update(victims);
            cycles = divide();
        }
        for (TensorId id = 0; id < spilled_.size() && !is_large_; ++id) {
            if (!spilled_[id]) continue;
            set_spilled(id, false);
            const std::optional<double> without = divide();
            if (without && *without <= *cycles) {
                cycles = without;
            } else {
                set_spilled(id, true);
            }
        }
        divide();
        std::vector<LayerRun> runs;
        for (std::uint32_t end = layer_count(); end > 0; end = best_[end].run.first) {
            runs.push_back(best_[end].run);
        }
        std::ranges::reverse(runs);
        return runs;
    }

    /// Of the chosen runs.
    double cycles() const { return best_.back().cycles; }
    const Homes& homes() const { return homes_; }
    const std::vector<bool>& spilled() const { return spilled_; }

private:
    /// The division of the layers up to some layer.
    struct Best {
        double cycles = std::numeric_limits<double>::infinity();
        LayerRun run;  ///< the last
    };

    std::uint32_t layer_count() const { return static_cast<std::uint32_t>(network_.layers.size()); }
    const Layer& layer(std::uint32_t number) const { return network_.layers[number]; }

    void set_spilled(TensorId id, bool spilled) {
        spilled_[id] = spilled;
        update({&id, 1});
    }

    /// Takes note of tensors whose place has changed.
    void update(std::span<const TensorId> changed) {
        homes_ = homes_of(analysed_, spilled_);
        find_residents();
        // Runs that neither make nor read such a tensor stay as they are.
        std::vector<std::uint32_t> touched(layer_count() + std::size_t{1}, 0);  // layers before each that do
        for (const TensorId id : changed) {
            const mapping::TensorUse& use = analysed_.uses[id];
            if (use.maker) touched[*use.maker + std::size_t{1}] = 1;
            for (const std::uint32_t reader : use.chip_readers) touched[reader + std::size_t{1}] = 1;
        }
        std::partial_sum(touched.begin(), touched.end(), touched.begin());
        std::erase_if(
            tried_, [&](const auto& tried) { return touched[tried.first.end] > touched[tried.first.first]; });
    }

    /// The fewest cycles of all layers; absent if there is no division that fits.
    std::optional<double> divide() {
        best_.assign(layer_count() + 1, {});
        best_[0].cycles = 0;
        std::vector<bool> layer_fits;
        for (std::uint32_t l = 0; l < layer_count(); ++l) {
            layer_fits.push_back(fits_whole({.first = l, .end = l + 1}));
        }
        for (std::uint32_t first = 0; first < layer_count(); ++first) {
            if (best_[first].cycles == std::numeric_limits<double>::infinity()) continue;
            bool needs_strips = false;
            bool takes_strips = true;
            for (std::uint32_t end = first + 1; end <= std::min(layer_count(), first + longest_run); ++end) {
                if (runs_on_host(layer(end - 1)) && end > first + 1) break;
                needs_strips = needs_strips || !layer_fits[end - 1];
                takes_strips = takes_strips && can_be_cut(analysed_, end - 1);
                const LayerRun whole{.first = first, .end = end};
                if ((!is_large_ || end == first + 1) && fits_whole(whole)) consider(whole);
                if (runs_on_host(layer(first))) break;
                if (!needs_strips || !takes_strips) continue;
                if (const auto run = in_fewest_strips(first, end)) consider(*run);
            }
        }
        const double cycles = best_.back().cycles;
        return cycles == std::numeric_limits<double>::infinity() ? std::nullopt : std::optional(cycles);
    }

    void consider(const LayerRun& run) {
        const double cycles = best_[run.first].cycles + tried(run).cycles;
        if (cycles < best_[run.end].cycles) best_[run.end] = {.cycles = cycles, .run = run};
    }

    /// The run with the fewest strips that fit.
    std::optional<LayerRun> in_fewest_strips(std::uint32_t first, std::uint32_t end) {
        const std::uint32_t lines = network_.tensors[layer(end - 1).output].shape.height;
        LayerRun most{.first = first, .end = end, .strips = lines};
        const std::uint64_t residents = rows_of_residents(first, end, false);
        if (lines < 2 || !strips_fit(most, residents)) return std::nullopt;
        std::uint32_t too_few = 1;
        while (most.strips - too_few > 1) {
            LayerRun middle = most;
            middle.strips = too_few + (most.strips - too_few) / 2;
            if (strips_fit(middle, residents)) {
                most = middle;
            } else {
                too_few = middle.strips;
            }
        }
        for (std::uint32_t number = 0; number < most.strips; ++number) {
            if (!plan_strip(analysed_, homes_, most, number)) return std::nullopt;
        }
        return most;
    }

    bool fits_whole(const LayerRun& run) {
        const TriedRun& result = tried(run);
        for (std::uint32_t l = run.first; l < run.end; ++l) {
            if (result.rows[l - run.first] + rows_on_chip_[l] > rows_) return false;
        }
        return result.is_possible;
    }

    /// Whether the strips fit beside the rows of the tensors that are on the chip all the time.
    bool strips_fit(const LayerRun& run, std::uint64_t resident_rows) {
        const TriedRun& result = tried(run);
        return result.is_possible && result.most_rows() + resident_rows <= rows_;
    }

    /// A tensor that is on the chip from its first layer to its last.
    struct Resident {
        TensorId with_rows = 0;
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };

    /// The rows of the tensors that are on the chip during one of these layers or more, with or without those
    /// that are there during these layers only.
    std::uint64_t rows_of_residents(std::uint32_t first, std::uint32_t end, bool with_inside) const {
        std::uint64_t rows = 0;
        std::vector<bool> counted(network_.tensors.size(), false);
        for (const Resident& resident : residents_) {
            const bool is_there = resident.first < end && resident.last >= first;
            const bool is_inside = resident.first >= first && resident.last < end;
            if (!is_there || (is_inside && !with_inside)) continue;
            if (counted[resident.with_rows]) continue;
            counted[resident.with_rows] = true;
            rows += analysed_.own_rows[resident.with_rows];
        }
        return rows;
    }

    void find_residents() {
        residents_.clear();
        for (TensorId id = 0; id < homes_.on_chip.size(); ++id) {
            if (!homes_.on_chip[id] || lies_in_parent(id)) continue;
            residents_.push_back({.with_rows = with_rows(analysed_, id),
                                  .first = first_layer(analysed_, id),
                                  .last = last_layers_[id]});
        }
        // Rows that several tensors have together count once. The sums are first those of the changes from
        // one layer to the next.
        std::vector<Resident> sorted = residents_;
        std::ranges::sort(sorted, {},
                          [](const Resident& each) { return std::pair(each.with_rows, each.first); });
        rows_on_chip_.assign(layer_count() + std::size_t{1}, 0);
        for (auto next = sorted.begin(); next != sorted.end();) {
            Resident together = *next;
            for (++next; next != sorted.end() && next->with_rows == together.with_rows &&
                         next->first <= together.last + 1;
                 ++next) {
                together.last = std::max(together.last, next->last);
            }
            const std::uint64_t rows = analysed_.own_rows[together.with_rows];
            rows_on_chip_[together.first] += rows;
            rows_on_chip_[together.last + std::size_t{1}] -= rows;
        }
        std::partial_sum(rows_on_chip_.begin(), rows_on_chip_.end(), rows_on_chip_.begin());
        rows_on_chip_.pop_back();
    }

    /// Whether the tensor is a slice of one on the chip.
    bool lies_in_parent(TensorId id) const {
        const Layer& maker = layer(first_layer(analysed_, id));
        return std::holds_alternative<Slice>(maker.work) && homes_.on_chip[maker.inputs[0]];
    }

    const TriedRun& tried(const LayerRun& run) {
        const auto [entry, is_new] = tried_.try_emplace(run);
        if (is_new) entry->second = try_run(run);
        return entry->second;
    }

    /// Plans some strips of the run; the others are like the one in the middle.
    TriedRun try_run(const LayerRun& run) const {
        TriedRun result{.is_possible = true, .rows = std::vector<std::uint64_t>(run.end - run.first, 0)};
        const std::uint32_t last = run.strips - 1;
        std::uint32_t before = 0;  // strips that are counted
        for (const std::uint32_t number : {0U, std::min(1U, last), run.strips / 2, last}) {
            if (number < before) continue;
            const std::optional<Strip> strip = plan_strip(analysed_, homes_, run, number);
            if (!strip) {
                result.is_possible = false;
                return result;
            }
            const std::vector<std::uint64_t> rows = rows_of_strip(analysed_, run, *strip);
            for (std::size_t l = 0; l < rows.size(); ++l) result.rows[l] = std::max(result.rows[l], rows[l]);
            const std::uint32_t alike = number + 1 - before;
            result.cycles += alike * cycles_of(*strip);
            before = number + 1;
        }
        return result;
    }

    /// Work and transfers, one after the other.
    double cycles_of(const Strip& strip) const {
        std::uint64_t read = 0;
        std::uint64_t written = 0;
        double cycles = 0;
        for (const StripStep& step : strip.steps) {
            if (step.kind == Kind::Fetch) {
                read += bytes_of_piece(strip.pieces[step.output]);
            } else if (step.kind == Kind::Send) {
                written += bytes_of_piece(strip.pieces[step.inputs[0]]);
            } else if (step.kind == Kind::Compute && !runs_on_host(layer(step.layer))) {
                const StripPiece& output = strip.pieces[step.output];
                const LayerCycles& of_layer = cycles_[step.layer];
                const auto blocks = [&](std::uint32_t lines) {
                    return static_cast<double>(divide_up(lines, of_layer.block_height));
                };
                const double share =
                    blocks(output.lines.count()) / blocks(network_.tensors[output.tensor].shape.height);
                cycles += std::max(share * of_layer.work, of_layer.weights);
            }
        }
        return cycles + static_cast<double>(timing::host_read_cycles(read, machine_) +
                                            timing::host_write_cycles(written, machine_));
    }

    std::uint64_t bytes_of_piece(const StripPiece& piece) const {
        return piece.lines.count() * line_bytes(analysed_.network().tensors[piece.tensor]);
    }

    /// The layer behind the longest division that there is.
    std::uint32_t first_that_does_not_fit() const {
        std::uint32_t reached = 0;
        for (std::uint32_t l = 0; l < best_.size(); ++l) {
            if (best_[l].cycles < std::numeric_limits<double>::infinity()) reached = l;
        }
        return reached;
    }

    /// Of the tensors on the chip during the layer that does not fit, those whose transfers take the fewest
    /// cycles for each row and each layer until it is needed again: at most `count`, the cheapest first.
    std::vector<TensorId> cheapest_victims(std::size_t count) const {
        const std::uint32_t at = first_that_does_not_fit();
        std::vector<std::pair<double, TensorId>> victims;
        for (TensorId id = 0; id < homes_.on_chip.size(); ++id) {
            const mapping::TensorUse& use = analysed_.uses[id];
            if (!homes_.on_chip[id] || analysed_.own_rows[id] == 0 || use.chip_readers.empty()) continue;
            if (first_layer(analysed_, id) > at || last_layers_[id] < at) continue;
            const std::uint64_t bytes = image_bytes(network_.tensors[id]);
            const auto next =
                std::ranges::find_if(use.chip_readers, [&](std::uint32_t reader) { return reader > at; });
            const std::uint32_t distance = next == use.chip_readers.end() ? 0 : *next - at;
            const auto cycles =
                static_cast<double>(timing::host_write_cycles(bytes, machine_) +
                                    use.chip_readers.size() * timing::host_read_cycles(bytes, machine_));
            victims.emplace_back(cycles / (static_cast<double>(analysed_.own_rows[id]) * (distance + 1)), id);
        }
        const auto end = victims.begin() + static_cast<std::ptrdiff_t>(std::min(count, victims.size()));
        std::ranges::partial_sort(victims, end);
        std::vector<TensorId> cheapest;
        for (auto victim = victims.begin(); victim != end; ++victim) cheapest.push_back(victim->second);
        return cheapest;
    }

    [[noreturn]] void reject(std::uint64_t constant_rows) {
        const std::uint32_t at = first_that_does_not_fit();
        const bool cuts = can_be_cut(analysed_, at);
        const LayerRun run{
            .first = at, .end = at + 1, .strips = cuts ? network_.tensors[layer(at).output].shape.height : 1};
        const std::uint64_t rows =
            tried(run).most_rows() + rows_of_residents(at, at + 1, !cuts) + constant_rows;
        throw ModelError(fmt::format(
            "{}: layer \"{}\": {} of its output, what it is computed from, and the parameters and tables of "
            "all layers need {} bytes of unified buffer; the machine has {}",
            network_.name, layer(at).name, cuts ? "one line" : "one image", rows * analysed_.row_bytes,
            (rows_ + constant_rows) * analysed_.row_bytes));
    }

    const AnalysedNetwork& analysed_;
    const Network& network_;
    const machine::MachineConfig& machine_;
    const std::vector<LayerCycles> cycles_;
    const bool is_large_ = network_.layers.size() > most_layers_compared;
    const std::vector<std::uint32_t> last_layers_ = [this] {
        std::vector<std::uint32_t> last;
        for (TensorId id = 0; id < network_.tensors.size(); ++id) last.push_back(last_layer(analysed_, id));
        return last;
    }();
    std::vector<bool> spilled_;
    Homes homes_;
    std::uint64_t rows_ = 0;
    std::vector<Resident> residents_;
    std::vector<std::uint64_t> rows_on_chip_;  ///< by layer: of all residents
    std::vector<Best> best_;                   ///< by number of layers
    std::map<LayerRun, TriedRun> tried_;
};

/// The blocks of the layers that the parts belong to.
std::vector<PixelBlock> blocks_of_parts(const Choices& choices,
                                        const std::vector<std::uint32_t>& whole_layers) {
    if (choices.blocks.empty()) return {};
    std::vector<PixelBlock> blocks;
    blocks.reserve(whole_layers.size());
    for (const std::uint32_t whole : whole_layers) blocks.push_back(block_of(choices, whole));
    return blocks;
}

machine::CutImages fit_of(const AnalysedNetwork& analysed, const std::vector<bool>& spilled,
                          const CutNetwork& cut) {
    machine::CutImages fit;
    const Network& whole = analysed.network();
    for (TensorId id = 0; id < spilled.size(); ++id) {
        if (spilled[id]) fit.spilled.push_back(whole.tensors[id].name);
    }
    const auto moved = [&](TensorId host, TensorId on_chip, bool is_there_anyway) {
        if (!is_there_anyway && host < spilled.size() && spilled[host]) {
            fit.spilled_bytes += image_bytes(cut.network.tensors[on_chip]);
        }
    };
    std::vector<std::int64_t> lines(whole.layers.size());
    for (std::size_t l = 0; l < cut.network.layers.size(); ++l) {
        const Layer& layer = cut.network.layers[l];
        const std::uint32_t of = cut.whole_layers[l];
        if (std::holds_alternative<Fetch>(layer.work)) {
            moved(layer.inputs[0], layer.output, analysed.uses[layer.inputs[0]].begins_in_host);
        } else if (std::holds_alternative<Send>(layer.work)) {
            moved(layer.output, layer.inputs[0], ends_in_host(analysed.uses[layer.output]));
        } else if (layer.part_of && layer.work.index() == whole.layers[of].work.index() &&
                   !std::holds_alternative<Slice>(layer.work)) {
            lines[of] += cut.network.tensors[layer.output].shape.height;
            ++fit.strips;
            if (layer.part_of == l) ++fit.cut_layers;
        }
    }
    for (std::size_t l = 0; l < lines.size(); ++l) {
        const std::int64_t height = whole.tensors[whole.layers[l].output].shape.height;
        if (lines[l] == 0) continue;  // not cut
        fit.extra_macs += static_cast<std::int64_t>(whole.layers[l].macs) / height * (lines[l] - height);
    }
    return fit;
}

std::uint64_t rows_of_one_image(const AnalysedNetwork& analysed, const Target& target) {
    return schedule::allocate_rows(tensor_lifetimes(analysed, target, false)).rows;
}

bool image_fits(const AnalysedNetwork& analysed, const Target& target) {
    try {
        std::vector<LayerPlan> plans = plan_layers(analysed, target);
        const std::uint32_t constant_rows = lay_out_constants(analysed.network(), target, plans);
        return rows_of_one_image(analysed, target) <= rows_for_tensors(target, constant_rows);
    } catch (const ModelError&) {
        return false;  // cut_to_fit throws it again
    }
}

/// The target without joined layers and without channels that have blocks of their own: their layers' blocks
/// may be too large for all channels.
Target with_layers_apart(Target target) {
    Choices& choices = target.choices;
    for (std::size_t l = 0; l < choices.blocks.size(); ++l) {
        if (rest_of(choices, l).first_channel > 0) choices.blocks[l] = {};
    }
    choices.rests.clear();
    choices.joins.clear();
    target.mapping.join_convolutions = false;
    return target;
}

/// A cut network and its predicted cycles.
struct PricedNetwork {
    FittedNetwork fitted;
    double cycles = 0;
};

/// `analysed` has no joined layers.
PricedNetwork cut_to_fit(const AnalysedNetwork& analysed, const Target& target,
                         const machine::MachineConfig& machine) {
    const Target apart = with_layers_apart(target);
    std::vector<LayerPlan> plans = plan_layers(analysed, apart);
    const std::uint32_t constant_rows = lay_out_constants(analysed.network(), apart, plans);
    const std::uint64_t available = rows_for_tensors(target, constant_rows);
    const std::vector<LayerCycles> cycles = cycles_of_layers({analysed, apart, machine}, plans);
    // Rows lie between tensors that do not fit there, so the division may have to do with fewer than there
    // are: with ever fewer, until they can be allocated.
    std::uint64_t held_back = 0;
    while (true) {
        Division division(analysed, machine, cycles);
        const auto runs = division.choose(available - held_back, constant_rows + held_back);
        CutNetwork cut = cut_network(analysed, division.homes(), runs);
        Target fitting = apart;
        fitting.choices.blocks = blocks_of_parts(apart.choices, cut.whole_layers);
        AnalysedNetwork analysed_cut(cut.network, analysed.row_bytes);
        const std::uint64_t needed = rows_of_one_image(analysed_cut, fitting);
        if (needed <= available) {
            return {.fitted = {.analysed = std::move(analysed_cut),
                               .target = std::move(fitting),
                               .fit = fit_of(analysed, division.spilled(), cut)},
                    .cycles = division.cycles()};
        }
        if (held_back == available) plan_schedule(analysed_cut, fitting, {});  // throws the sizes
        held_back = std::min(2 * held_back + needed - available, available);
    }
}

}  // namespace

FittedNetwork fit_memory(const AnalysedNetwork& analysed, const Target& target,
                         const machine::MachineConfig& machine) {
    if (image_fits(analysed, target)) return {.analysed = analysed, .target = target, .fit = {}};
    const AnalysedNetwork apart(analysed.network(), analysed.row_bytes);
    if (target.choices.blocks.empty()) return cut_to_fit(apart, target, machine).fitted;
    // The parameters of blocks take rows that those of single pixels do not.
    Target single = target;
    single.choices.blocks.clear();
    single.choices.rests.clear();
    if (image_fits(analysed, single)) return {.analysed = analysed, .target = single, .fit = {}};
    PricedNetwork without_blocks = cut_to_fit(apart, single, machine);
    try {
        PricedNetwork with_blocks = cut_to_fit(apart, target, machine);
        if (with_blocks.cycles <= without_blocks.cycles) return std::move(with_blocks.fitted);
    } catch (const ModelError&) {
        // There are too few rows for the parameters of blocks.
    }
    return std::move(without_blocks.fitted);
}

std::string to_text(const machine::CutImages& fit) {
    std::string text = "an image does not fit the unified buffer\n";
    if (fit.cut_layers > 0) {
        text += fmt::format("  {} {} computed in {} strips of lines, with {} {} MACs an image\n",
                            fit.cut_layers, fit.cut_layers == 1 ? "layer is" : "layers are", fit.strips,
                            fit.extra_macs < 0 ? -fit.extra_macs : fit.extra_macs,
                            fit.extra_macs < 0 ? "fewer" : "more");
    }
    if (!fit.spilled.empty()) {
        text += fmt::format("  {} {} through host memory, {} bytes an image:", fit.spilled.size(),
                            fit.spilled.size() == 1 ? "tensor goes" : "tensors go", fit.spilled_bytes);
        for (const std::string& tensor : fit.spilled) text += fmt::format(" {:?}", tensor);
        text += '\n';
    }
    if (fit.cut_layers == 0 && fit.spilled.empty()) {
        text += "  inputs and outputs move directly before and behind the layers that need and make them\n";
    }
    return text;
}

}  // namespace systole::tpu_v1
