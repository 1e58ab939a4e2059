#include "compiler/target/tensor_core/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tensor_core/constant_words.h"
#include "compiler/target/tensor_core/layout.h"
#include "hw/math/floats/float_values.h"

namespace systole::tensor_core {
namespace {

/// From a step to another.
struct Lifetime {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

/// Rows that are taken while some steps run.
struct Taken {
    Lifetime life = {};
    std::uint64_t row = 0;
    std::uint64_t end = 0;
};

/// The first rows from `begin` on that are free while the steps run.
std::uint64_t first_free(const std::vector<Taken>& all, const Lifetime& life, std::uint64_t rows,
                         std::uint64_t begin) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> busy;
    for (const Taken& each : all) {
        if (each.life.first <= life.last && life.first <= each.life.last)
            busy.emplace_back(each.row, each.end);
    }
    std::ranges::sort(busy);
    std::uint64_t row = begin;
    for (const auto& [first, end] : busy) {
        if (first >= row + rows) break;
        row = std::max(row, end);
    }
    return row;
}

std::uint64_t panels_of(const Tensor& tensor, std::uint64_t lanes) {
    return divide_up(tensor.columns, lanes);
}

/// The words of a constant; empty if they are unknown.
std::vector<std::uint32_t> words_of_tensor(const Network& network, const Tensor& tensor) {
    if (tensor.is_constant) return tensor.words;
    return words_of(network.graph->values[*tensor.constant]);
}

class RowWriter {
public:
    RowWriter(std::uint64_t rows, std::uint64_t lanes) : lanes_(lanes), words_(rows * lanes) {}

    std::uint32_t& word(std::uint64_t row, std::uint64_t lane) { return words_[row * lanes_ + lane]; }
    std::vector<std::uint8_t> bytes() const {
        std::vector<std::uint8_t> bytes(words_.size() * sizeof(std::uint32_t));
        std::memcpy(bytes.data(), words_.data(), bytes.size());
        return bytes;
    }

private:
    std::uint64_t lanes_;
    std::vector<std::uint32_t> words_;
};

std::vector<std::uint8_t> panel_bytes(const Tensor& tensor, std::span<const std::uint32_t> words,
                                      std::uint64_t lanes) {
    RowWriter writer(panels_of(tensor, lanes) * tensor.rows, lanes);
    for (std::uint64_t row = 0; row < tensor.rows; ++row) {
        for (std::uint64_t column = 0; column < tensor.columns; ++column) {
            writer.word(column / lanes * tensor.rows + row, column % lanes) =
                words[row * tensor.columns + column];
        }
    }
    return writer.bytes();
}

std::vector<std::uint8_t> tile_bytes(const Tensor& tensor, std::span<const std::uint32_t> words,
                                     const WeightTiles& tiles, std::uint64_t array_rows,
                                     std::uint64_t lanes) {
    RowWriter writer(tiles.rows(), lanes);
    for (std::uint64_t row = 0; row < tensor.rows; ++row) {
        const std::uint64_t inside = row % array_rows;
        for (std::uint64_t column = 0; column < tensor.columns; ++column) {
            const std::uint64_t tile = column / lanes * tiles.cuts + row / array_rows;
            const std::uint32_t word = words[row * tensor.columns + column];
            const std::uint64_t first = tile * tiles.tile_rows;
            if (!tiles.packed) {
                writer.word(first + inside, column % lanes) = word;
                continue;
            }
            const std::uint32_t half = math::bfloat16_bits(std::bit_cast<float>(word));
            writer.word(first + inside / 2, column % lanes) |= half << (inside % 2 * 16);
        }
    }
    return writer.bytes();
}

class Placing {
public:
    Placing(Network& network, const machine::MachineConfig& machine)
        : network_(network), machine_(machine), lanes_(machine.vector_unit.lanes) {}

    MemoryPlan place(const PlanNeeds& needs) {
        find_segments();
        place_constants(needs.constants);
        keep_tensors(needs.kept_share);
        place_others(needs.alternates);
        check_size();
        return std::move(plan_);
    }

private:
    bool is_constant(const Tensor& tensor) const { return tensor.constant || tensor.is_constant; }

    void place_constants(bool with_contents) {
        std::set<TensorId> placed;
        for (const Step& step : network_.steps) {
            for (const TensorId id : read_by(step)) {
                Tensor& tensor = network_.tensors[id];
                if (!is_constant(tensor) || !placed.insert(id).second) continue;
                const WeightTiles tiles =
                    tensor.is_weights ? weight_tiles(tensor, step, machine_) : WeightTiles{};
                const std::uint64_t rows =
                    tensor.is_weights ? tiles.rows() : panels_of(tensor, lanes_) * tensor.rows;
                tensor.row = end_;
                tensor.panel_rows = tensor.rows;
                end_ += rows;
                if (!with_contents) continue;
                const std::vector<std::uint32_t> words = words_of_tensor(network_, tensor);
                if (words.empty()) continue;
                plan_.constants.push_back(
                    {.first_row = tensor.row,
                     .values = tensor.is_weights
                                   ? tile_bytes(tensor, words, tiles, machine_.matrix_unit.rows, lanes_)
                                   : panel_bytes(tensor, words, lanes_)});
            }
        }
    }

    /// Tensors of one segment have rows for the images that go through it together. Others are there as long
    /// as any step of theirs may run.
    void find_segments() {
        const std::vector<Segment> segments = network_.all_segments();
        const auto end = static_cast<std::uint32_t>(network_.steps.size());
        const auto segment_of = [&](std::uint32_t step) {
            const auto holds = [&](const Segment& each) { return step < each.end; };
            return std::ranges::find_if(segments, holds);
        };
        for (Tensor& tensor : network_.tensors) {
            Lifetime& life = lifetimes_.emplace_back(Lifetime{tensor.first, tensor.last});
            tensor.images = tensor.is_shared ? 1 : network_.images;
            tensor.image_rows = tensor.memory_rows(tensor.rows);
            tensor.is_in_segment = false;
            tensor.next_row.reset();
            if (tensor.first >= end) continue;
            const auto first = segment_of(tensor.first);
            const auto last = segment_of(tensor.last);
            const bool is_border = is_at_border(tensor);
            if (first == last && last != segments.end() && !is_border) {
                tensor.is_in_segment = true;
                if (!tensor.is_shared) tensor.images = first->images;
                continue;
            }
            life.first = first->first;
            if (last != segments.end()) life.last = last->end - 1;
        }
    }
    bool is_at_border(const Tensor& tensor) const {
        const auto id = static_cast<TensorId>(&tensor - network_.tensors.data());
        return std::ranges::count(network_.inputs, id) + std::ranges::count(network_.outputs, id) > 0;
    }
    const Lifetime& life_of(const Tensor& tensor) const {
        return lifetimes_[static_cast<std::size_t>(&tensor - network_.tensors.data())];
    }

    /// Tensors that only units of the chip read and write stay where these are: at the end of vector memory.
    void keep_tensors(double share) {
        const std::uint64_t rows = machine_.vector_memory.rows;
        const auto most = static_cast<std::uint64_t>(static_cast<double>(rows) * share);
        plan_.tile_rows.assign(network_.steps.size(), rows);
        std::vector<Taken> taken;  // counted from the end
        // Those that save many transfers for the steps for which they take room come first.
        std::vector<std::uint64_t> uses(network_.tensors.size());
        for (const Step& step : network_.steps) {
            for (const TensorId read : read_by(step)) ++uses[read];
            for (const TensorId written : written_by(step)) ++uses[written];
        }
        std::vector<Tensor*> tensors;
        for (Tensor& tensor : network_.tensors) {
            if (is_used(tensor)) tensors.push_back(&tensor);
        }
        std::ranges::stable_sort(tensors, {}, [&](const Tensor* tensor) {
            const Lifetime& life = life_of(*tensor);
            return static_cast<double>(life.last - life.first + 1) /
                   static_cast<double>(uses[static_cast<std::size_t>(tensor - network_.tensors.data())]);
        });
        for (Tensor* const place : tensors) {
            Tensor& tensor = *place;
            if (is_constant(tensor) || tensor.is_moved || !tensor.may_stay) continue;
            const std::uint64_t each = tensor.image_rows * tensor.images;
            const std::uint64_t all = each * panels_of(tensor, lanes_);
            const Lifetime& life = life_of(tensor);
            const std::uint64_t behind = first_free(taken, life, all, 0);
            if (behind + all > most) continue;
            tensor.home = Home::VectorMemory;
            tensor.row = rows - behind - all;
            tensor.panel_rows = each;
            taken.push_back({.life = life, .row = behind, .end = behind + all});
            for (std::size_t step = life.first; step < plan_.tile_rows.size() && step <= life.last; ++step)
                plan_.tile_rows[step] = std::min(plan_.tile_rows[step], rows - behind - all);
        }
    }

    bool is_used(const Tensor& tensor) const { return tensor.first < network_.steps.size(); }

    void place_others(bool alternates) {
        std::vector<Taken> taken;
        const std::uint64_t begin = end_;
        // Large ones come first: small ones find room between them.
        std::vector<Tensor*> tensors;
        for (Tensor& tensor : network_.tensors) tensors.push_back(&tensor);
        std::ranges::stable_sort(tensors, std::greater<>(), [&](const Tensor* tensor) {
            return tensor->image_rows * tensor->images * panels_of(*tensor, lanes_);
        });
        for (Tensor* const place : tensors) {
            Tensor& tensor = *place;
            if (is_constant(tensor) || tensor.home == Home::VectorMemory) continue;
            if (lies_in_another(tensor)) continue;
            if (!is_used(tensor) && !tensor.is_moved) continue;
            const auto id = static_cast<TensorId>(&tensor - network_.tensors.data());
            const StateTensors* const state = state_of(id);
            if (state != nullptr && state->input != id) continue;  // its place is that of the next input
            const std::uint64_t rows = tensor.image_rows * tensor.images;
            tensor.panel_rows = round_up(rows, tile_of(rows, lanes_)[0]);
            std::uint64_t all = tensor.panel_rows * panels_of(tensor, lanes_);
            Lifetime life = life_of(tensor);
            if (state == nullptr && std::ranges::count(network_.inputs, id) > 0 && only_lines_are_read(id)) {
                // So a transfer of one image touches no rows of the others.
                tensor.panel_rows = tensor.rows;
                tensor.image_rows = tensor.rows * panels_of(tensor, lanes_);
                all = tensor.image_rows * tensor.images;
            }
            const std::uint64_t of_turn = all;
            const bool is_input = std::ranges::count(network_.inputs, id) > 0;
            const bool is_replaced = state != nullptr && state->output != id;
            const bool takes_turns = state != nullptr ? is_replaced : is_input && alternates;
            if (takes_turns) all *= 2;
            // One place is written while others are read, by any step.
            if (takes_turns || state != nullptr)
                life = {0, static_cast<std::uint32_t>(network_.steps.size())};
            tensor.row = first_free(taken, life, all, begin);
            if (takes_turns) tensor.next_row = tensor.row + of_turn;
            if (is_replaced) {
                Tensor& next = network_.tensors[state->output];
                next.row = *tensor.next_row;
                next.next_row = tensor.row;
                next.panel_rows = tensor.panel_rows;
            }
            taken.push_back({.life = life, .row = tensor.row, .end = tensor.row + all});
            end_ = std::max(end_, tensor.row + all);
        }
    }

    bool lies_in_another(const Tensor& tensor) const {
        const auto id = static_cast<TensorId>(&tensor - network_.tensors.data());
        return std::ranges::any_of(network_.caches, [&](const CacheTensors& cache) {
            return cache.input == id && cache.place.has_value();
        });
    }

    /// Null for tensors that are no state.
    const StateTensors* state_of(TensorId id) const {
        const auto found = std::ranges::find_if(
            network_.state, [&](const StateTensors& each) { return each.input == id || each.output == id; });
        return found == network_.state.end() ? nullptr : &*found;
    }

    bool only_lines_are_read(TensorId id) const {
        if (std::ranges::count(network_.outputs, id) > 0) return false;
        bool is_read = false;
        for (const Step& step : network_.steps) {
            if (std::ranges::count(read_by(step), id) == 0) continue;
            if (!step.reads_lines || step.source != id || step.weights == id) return false;
            is_read = true;
        }
        return is_read;
    }

    void check_size() const {
        const std::uint64_t rows = machine_.hbm_rows_of_core();
        if (end_ <= rows) return;
        throw ModelError(
            fmt::format("{}: {} image{} at a time, the network needs {} bytes of high-bandwidth memory; "
                        "machine {} has {}{}",
                        network_.graph->name, network_.images, network_.images == 1 ? "" : "s",
                        end_ * machine_.vector_row_bytes(), machine_.name, rows * machine_.vector_row_bytes(),
                        machine_.system.cores > 1 ? " for each core" : ""));
    }

    Network& network_;
    const machine::MachineConfig& machine_;
    const std::uint64_t lanes_;
    std::vector<Lifetime> lifetimes_;  ///< by tensor
    std::uint64_t end_ = 0;            ///< of what is taken of high-bandwidth memory
    MemoryPlan plan_;
};

}  // namespace

WeightTiles weight_tiles(const Tensor& weights, const Step& step, const machine::MachineConfig& machine) {
    const std::uint64_t rows = machine.matrix_unit.rows;
    const bool packed = weights.is_weights && is_packed(step.passes);
    return {.depth = weights.rows,
            .cuts = divide_up(weights.rows, rows),
            .panels = divide_up(weights.columns, std::uint64_t{machine.vector_unit.lanes}),
            .tile_rows = packed ? divide_up(rows, std::uint64_t{2}) : rows,
            .packed = packed};
}

MemoryPlan place_tensors(Network& network, const machine::MachineConfig& machine, const PlanNeeds& needs) {
    for (Tensor& tensor : network.tensors) tensor.home = Home::Hbm;
    return Placing(network, machine).place(needs);
}

void TilePool::resize(std::uint64_t rows) {
    if (!taken_.empty()) throw std::logic_error("a tile of another step is under way");
    rows_ = rows;
    if (next_ >= rows) next_ = 0;
}

std::optional<std::uint64_t> TilePool::take(std::uint64_t rows) {
    rows = std::max<std::uint64_t>(rows, 1);
    const auto fits = [&](std::uint64_t row) { return end_of_gap(row) >= row + rows; };
    std::vector<std::uint64_t> begins{next_};
    for (const auto& [first, end] : taken_) {
        if (end > next_) begins.push_back(end);
    }
    begins.push_back(0);
    for (const auto& [first, end] : taken_) begins.push_back(end);
    for (const std::uint64_t row : begins) {
        if (!fits(row)) continue;
        taken_.emplace(row, row + rows);
        next_ = row + rows;
        return row;
    }
    return std::nullopt;
}

void TilePool::give_back(std::uint64_t first) {
    taken_.erase(first);
}

std::uint64_t TilePool::largest_gap() const {
    std::uint64_t largest = 0;
    std::uint64_t begin = 0;
    for (const auto& [first, end] : taken_) {
        largest = std::max(largest, first - begin);
        begin = end;
    }
    return std::max(largest, rows_ - begin);
}

std::uint64_t TilePool::end_of_gap(std::uint64_t row) const {
    const auto behind = taken_.upper_bound(row);
    if (behind != taken_.begin() && std::prev(behind)->second > row) return row;
    return behind == taken_.end() ? rows_ : behind->first;
}

}  // namespace systole::tensor_core
