#include "compiler/target/tpu_v1/choose/strips.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/arithmetic.h"
#include "compiler/target/tpu_v1/network/chunking.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/schedule/memory_plan.h"

namespace systole::tpu_v1 {
namespace {

using Kind = StripStep::Kind;

Lines hull(const Lines& a, const Lines& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    return {std::min(a.first, b.first), std::max(a.end, b.end)};
}

bool contains(const Lines& outer, const Lines& inner) {
    return outer.first <= inner.first && inner.end <= outer.end;
}

/// The lines from the first to the last element of a window.
std::uint32_t covered_lines(const ir::Window& window) {
    return static_cast<std::uint32_t>(ir::covered_extent(window.kernel_height, window.dilation_y));
}

/// The window that the layer moves over its input, if it does.
const ir::Window* window_of(const Layer& layer) {
    if (const auto* const product = std::get_if<MatrixProduct>(&layer.work)) {
        return product->window ? &*product->window : nullptr;
    }
    const auto* const pooling = std::get_if<Pooling>(&layer.work);
    return pooling == nullptr ? nullptr : &pooling->window;
}

/// The lines from which a row of the unified buffer begins again, of a tensor whose first line begins one.
std::uint64_t lines_between_rows(const AnalysedNetwork& analysed, TensorId id) {
    return analysed.row_bytes /
           std::gcd(std::uint64_t{analysed.row_bytes}, line_bytes(analysed.network().tensors[id]));
}

/// Whether lines from `first` on begin at a row where lines from `origin` on do.
bool begins_row(const AnalysedNetwork& analysed, TensorId id, std::uint32_t origin, std::uint32_t first) {
    return (first - origin) % lines_between_rows(analysed, id) == 0;
}

/// The lines of the last layer's output that a strip computes; those of a tensor that stays on the chip begin
/// at rows, if there are enough.
Lines lines_of_strip(const AnalysedNetwork& analysed, const Homes& homes, const LayerRun& run,
                     std::uint32_t number) {
    const TensorId id = analysed.network().layers[run.end - 1].output;
    const std::uint32_t height = analysed.network().tensors[id].shape.height;
    std::uint64_t unit = leaves_on_chip(analysed, homes, run, id) ? lines_between_rows(analysed, id) : 1;
    if (divide_up(std::uint64_t{height}, unit) < run.strips) unit = 1;
    const auto units = static_cast<std::uint32_t>(divide_up(std::uint64_t{height}, unit));
    const std::uint32_t larger = units % run.strips;  // as cut_evenly does
    const auto bound = [&](std::uint32_t strip) {
        const std::uint64_t before = std::uint64_t{strip} * (units / run.strips) + std::min(strip, larger);
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(before * unit, height));
    };
    return {bound(number), bound(number + 1)};
}

/// Plans a strip: first the lines that each layer computes, from the last layer to the first, then the steps.
class StripPlanner {
public:
    StripPlanner(const AnalysedNetwork& analysed, const Homes& homes, const LayerRun& run,
                 std::uint32_t number)
        : analysed_(analysed),
          network_(analysed.network()),
          homes_(homes),
          run_(run),
          number_(number),
          made_(run.end - run.first) {
        const TensorId last = network_.layers[run.end - 1].output;
        const Lines strip = run.strips == 1 ? whole(last) : lines_of_strip(analysed, homes, run, number);
        const std::uint32_t height = network_.tensors[last].shape.height;
        for (std::uint32_t l = run.first; l < run.end; ++l) {
            const TensorId id = network_.layers[l].output;
            const std::uint64_t own = network_.tensors[id].shape.height;
            own_.push_back(run.strips == 1 ? whole(id)
                                           : Lines{static_cast<std::uint32_t>(strip.first * own / height),
                                                   static_cast<std::uint32_t>(strip.end * own / height)});
        }
    }

    std::optional<Strip> plan() {
        find_lines();
        for (std::uint32_t l = run_.first; l < run_.end; ++l) {
            if (computed(l).empty()) continue;
            if (!add_layer(l)) return std::nullopt;
        }
        return std::move(strip_);
    }

private:
    Lines whole(TensorId id) const { return {0, network_.tensors[id].shape.height}; }
    Lines& computed(std::uint32_t layer) { return made_[layer - run_.first]; }
    std::uint64_t line_elements(TensorId id) const {
        const ir::FeatureMap& shape = network_.tensors[id].shape;
        return std::uint64_t{shape.width} * shape.channels;
    }

    bool is_made_here(TensorId id) const {
        const auto maker = analysed_.uses[id].maker;
        return maker && *maker >= run_.first && *maker < run_.end;
    }

    void find_lines() {
        for (std::uint32_t l = run_.end; l-- > run_.first;) {
            const TensorId id = network_.layers[l].output;
            const bool is_wanted = run_.strips == 1 || analysed_.uses[id].chip_readers.empty() ||
                                   leaves_on_chip(analysed_, homes_, run_, id) ||
                                   leaves_in_host(analysed_, homes_, run_, id);
            if (is_wanted) computed(l) = hull(computed(l), own_[l - run_.first]);
            // Reports list the layers in the order of their first strips.
            if (computed(l).empty() && number_ == 0) computed(l) = {0, 1};
            if (computed(l).empty()) continue;
            for (std::size_t i = 0; i < network_.layers[l].inputs.size(); ++i) {
                const TensorId input = network_.layers[l].inputs[i];
                const Lines lines = read(l, i);
                if (is_made_here(input)) {
                    Lines& of_maker = computed(*analysed_.uses[input].maker);
                    of_maker = hull(of_maker, lines);
                } else {
                    fetched_[input].push_back(lines);
                }
            }
        }
    }

    Lines read(std::uint32_t layer, std::size_t input) {
        if (run_.strips == 1) return whole(network_.layers[layer].inputs[input]);
        return lines_read(analysed_, layer, input, computed(layer));
    }

    std::size_t add_piece(StripPiece piece) {
        strip_.pieces.push_back(piece);
        return strip_.pieces.size() - 1;
    }

    /// A piece with exactly these lines of another.
    std::optional<std::size_t> view(std::size_t piece, const Lines& lines, std::uint32_t layer) {
        const StripPiece from = strip_.pieces[piece];
        if (from.lines == lines) return piece;
        if (!begins_row(analysed_, from.tensor, from.lines.first, lines.first)) return std::nullopt;
        const std::size_t made = add_piece({.tensor = from.tensor, .lines = lines, .view_of = piece});
        strip_.steps.push_back(
            {.kind = Kind::View,
             .layer = layer,
             .inputs = {piece},
             .output = made,
             .first_element = (lines.first - from.lines.first) * line_elements(from.tensor)});
        return made;
    }

    std::size_t fetch(TensorId id, const Lines& lines, std::uint32_t layer) {
        const std::size_t piece = add_piece({.tensor = id, .lines = lines});
        strip_.steps.push_back({.kind = Kind::Fetch,
                                .layer = layer,
                                .output = piece,
                                .host_tensor = id,
                                .first_element = lines.first * line_elements(id)});
        return piece;
    }

    /// Fetches all lines that the run reads of the tensor, if they can be read from there; else these.
    std::size_t fetch_shared(TensorId id, const Lines& lines, std::uint32_t layer) {
        Lines all = lines;
        for (const Lines& other : fetched_[id]) all = hull(all, other);
        const bool can_share = std::ranges::all_of(fetched_[id], [&](const Lines& other) {
            return begins_row(analysed_, id, all.first, other.first);
        });
        return fetch(id, can_share ? all : lines, layer);
    }

    /// A piece with these lines of an input of a layer.
    std::optional<std::size_t> provide(TensorId id, const Lines& lines, std::uint32_t layer) {
        std::vector<std::size_t>& pieces = pieces_[id];
        const bool from_chip =
            is_made_here(id) || (homes_.on_chip[id] && (run_.strips == 1 || !homes_.in_host[id]));
        if (from_chip && pieces.empty()) {
            pieces.push_back(add_piece({.tensor = id, .lines = whole(id), .is_resident = true}));
        }
        for (const std::size_t piece : pieces) {
            if (!contains(strip_.pieces[piece].lines, lines)) continue;
            if (const auto viewed = view(piece, lines, layer)) return viewed;
        }
        if (from_chip) return std::nullopt;
        pieces.push_back(fetch_shared(id, lines, layer));
        return view(pieces.back(), lines, layer);
    }

    /// Fetches a slice of a tensor in host memory.
    bool fetch_slice(std::uint32_t layer, const Slice& slice) {
        const TensorId id = network_.layers[layer].output;
        const std::size_t piece = add_piece({.tensor = id, .lines = whole(id), .is_resident = stays(id)});
        strip_.steps.push_back({.kind = Kind::Fetch,
                                .layer = layer,
                                .output = piece,
                                .host_tensor = network_.layers[layer].inputs[0],
                                .first_element = slice.first_element});
        return leave(layer, piece);
    }

    bool add_layer(std::uint32_t layer) {
        const Layer& work = network_.layers[layer];
        if (runs_on_host(work)) {
            strip_.steps.push_back({.kind = Kind::Compute, .layer = layer});
            return true;
        }
        const auto* const slice = std::get_if<Slice>(&work.work);
        if (slice != nullptr && !is_made_here(work.inputs[0]) && !homes_.on_chip[work.inputs[0]]) {
            return fetch_slice(layer, *slice);
        }
        StripStep step{.kind = Kind::Compute, .layer = layer};
        for (std::size_t i = 0; i < work.inputs.size(); ++i) {
            const auto piece = provide(work.inputs[i], read(layer, i), layer);
            if (!piece) return false;
            step.inputs.push_back(*piece);
        }
        StripPiece made{.tensor = work.output, .lines = computed(layer), .is_resident = stays(work.output)};
        if (slice != nullptr) made.view_of = step.inputs[0];
        step.output = add_piece(made);
        strip_.steps.push_back(step);
        return leave(layer, step.output);
    }

    /// Whether a whole tensor is made in its place on the chip.
    bool stays(TensorId id) const { return run_.strips == 1 && homes_.on_chip[id]; }

    /// Brings what a layer has made to where later runs and the host look for it.
    bool leave(std::uint32_t layer, std::size_t piece) {
        const TensorId id = strip_.pieces[piece].tensor;
        pieces_[id].push_back(piece);
        const Lines& own = own_[layer - run_.first];
        if (leaves_in_host(analysed_, homes_, run_, id)) {
            // Of lines that begin inside a row, also those before them, again.
            const std::size_t sent = own.empty() ? piece : view(piece, own, layer).value_or(piece);
            strip_.steps.push_back({.kind = Kind::Send,
                                    .layer = layer,
                                    .inputs = {sent},
                                    .host_tensor = id,
                                    .first_element = strip_.pieces[sent].lines.first * line_elements(id)});
        }
        if (run_.strips == 1 || !leaves_on_chip(analysed_, homes_, run_, id) || own.empty()) return true;
        const auto kept = view(piece, own, layer);
        if (!kept) return false;
        strip_.kept.push_back(*kept);
        return true;
    }

    const AnalysedNetwork& analysed_;
    const Network& network_;
    const Homes& homes_;
    const LayerRun& run_;
    const std::uint32_t number_;
    std::vector<Lines> own_;   ///< by layer of the run: the strip's share of its output
    std::vector<Lines> made_;  ///< by layer of the run: the lines that the strip computes
    std::map<TensorId, std::vector<Lines>>
        fetched_;  ///< that the strip's layers read, of other runs' tensors
    std::map<TensorId, std::vector<std::size_t>> pieces_;  ///< that layers of the strip may read
    Strip strip_;
};

}  // namespace

std::uint32_t first_layer(const AnalysedNetwork& analysed, TensorId id) {
    return analysed.uses[id].maker.value_or(0);
}

std::uint32_t last_layer(const AnalysedNetwork& analysed, TensorId id) {
    std::uint32_t last = first_layer(analysed, id);
    for (const std::uint32_t reader : analysed.uses[id].chip_readers) {
        const Layer& layer = analysed.network().layers[reader];
        const bool is_slice = std::holds_alternative<Slice>(layer.work);
        last = std::max(last, is_slice ? last_layer(analysed, layer.output) : reader);
    }
    return last;
}

TensorId with_rows(const AnalysedNetwork& analysed, TensorId id) {
    const TensorPart& part = analysed.parts[id];
    return part.is_slice ? id : part.whole;
}

bool ends_in_host(const mapping::TensorUse& use) {
    return use.is_output || use.first_segment.has_value();
}

std::uint64_t line_bytes(const Tensor& tensor) {
    return std::uint64_t{tensor.shape.width} * tensor.shape.channels * bytes_of(tensor.type);
}

Homes homes_of(const AnalysedNetwork& analysed, const std::vector<bool>& spilled) {
    Homes homes;
    for (std::size_t id = 0; id < analysed.uses.size(); ++id) {
        const mapping::TensorUse& use = analysed.uses[id];
        homes.on_chip.push_back(!use.begins_in_host && !spilled[id]);
        homes.in_host.push_back(use.begins_in_host || ends_in_host(use) || spilled[id]);
    }
    return homes;
}

bool can_be_cut(const AnalysedNetwork& analysed, std::uint32_t layer) {
    const Layer& work = analysed.network().layers[layer];
    const auto* const product = std::get_if<MatrixProduct>(&work.work);
    if (product != nullptr && writes_weights(*product)) return false;
    if (window_of(work) != nullptr) return true;
    if (const auto* const concatenation = std::get_if<Concatenation>(&work.work)) {
        return concatenation->axis == Concatenation::Axis::Channels;
    }
    if (!std::holds_alternative<Elementwise>(work.work)) return false;
    const ir::FeatureMap& output = analysed.network().tensors[work.output].shape;
    return std::ranges::all_of(
        work.inputs, [&](TensorId input) { return analysed.network().tensors[input].shape == output; });
}

bool leaves_on_chip(const AnalysedNetwork& analysed, const Homes& homes, const LayerRun& run, TensorId id) {
    return homes.on_chip[id] && last_layer(analysed, id) >= run.end;
}

bool leaves_in_host(const AnalysedNetwork& analysed, const Homes& homes, const LayerRun& run, TensorId id) {
    return ends_in_host(analysed.uses[id]) || (homes.in_host[id] && last_layer(analysed, id) >= run.end);
}

Lines lines_read(const AnalysedNetwork& analysed, std::uint32_t layer, std::size_t input,
                 const Lines& output) {
    const Layer& work = analysed.network().layers[layer];
    const ir::Window* const window = window_of(work);
    if (window == nullptr) return output;
    const std::int64_t height = analysed.network().tensors[work.inputs[input]].shape.height;
    const std::int64_t first = std::int64_t{output.first} * window->stride_y - window->pad_top;
    const std::int64_t end =
        std::int64_t{output.end - 1} * window->stride_y - window->pad_top + covered_lines(*window);
    // At least one line, although windows may lie wholly in the padding.
    const std::int64_t from = std::clamp<std::int64_t>(first, 0, height - 1);
    return {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(std::clamp(end, from + 1, height))};
}

ir::Window window_of_strip(const ir::Window& window, const Lines& input, const Lines& output,
                           std::uint32_t input_height) {
    ir::Window own = window;
    const std::int64_t begin = std::int64_t{output.first} * window.stride_y - window.pad_top;
    const std::uint32_t covered = (output.count() - 1) * window.stride_y + covered_lines(window);
    // Windows below the image see padding alone, as those above it do.
    own.pad_top = begin >= input_height ? covered : static_cast<std::uint32_t>(input.first - begin);
    const std::uint32_t above = own.pad_top + input.count();
    own.pad_bottom = covered > above ? covered - above : 0;
    return own;
}

std::optional<Strip> plan_strip(const AnalysedNetwork& analysed, const Homes& homes, const LayerRun& run,
                                std::uint32_t number) {
    return StripPlanner(analysed, homes, run, number).plan();
}

std::vector<std::uint64_t> rows_of_strip(const AnalysedNetwork& analysed, const LayerRun& run,
                                         const Strip& strip) {
    struct Life {
        std::size_t first = 0, last = 0, root = 0;
        std::uint32_t readers = 0;
        std::uint64_t rows = 0;
        bool writes_among_channels = false;
    };
    std::vector<Life> lives(strip.pieces.size());
    for (std::size_t p = 0; p < lives.size(); ++p) {
        const StripPiece& piece = strip.pieces[p];
        lives[p].root = piece.view_of ? lives[*piece.view_of].root : p;
        if (piece.is_resident || piece.view_of) continue;
        const bool is_whole = piece.lines.count() == analysed.network().tensors[piece.tensor].shape.height;
        lives[p].rows =
            is_whole ? analysed.own_rows[piece.tensor]
                     : divide_up(piece.lines.count() * line_bytes(analysed.network().tensors[piece.tensor]),
                                 std::uint64_t{analysed.row_bytes});
    }
    for (std::size_t s = 0; s < strip.steps.size(); ++s) {
        const StripStep& step = strip.steps[s];
        for (const std::size_t input : step.inputs) {
            ++lives[input].readers;
            lives[lives[input].root].last = s;
        }
        if (step.kind == Kind::Send || strip.pieces.empty()) continue;
        lives[step.output].first = s;
        lives[lives[step.output].root].last = std::max(lives[lives[step.output].root].last, s);
        const Work& work = analysed.network().layers[step.layer].work;
        lives[step.output].writes_among_channels = step.kind == Kind::Compute &&
                                                   !std::holds_alternative<Elementwise>(work) &&
                                                   !std::holds_alternative<Slice>(work);
    }
    for (const std::size_t piece : strip.kept) {
        ++lives[piece].readers;
        Life& life = lives[lives[piece].root];
        life.last = strip.steps.size() - 1;
        // The lines are written into the whole tensor.
        const StripPiece& kept = strip.pieces[piece];
        if (lives[piece].readers == 1 && !kept.view_of &&
            begins_row(analysed, kept.tensor, 0, kept.lines.first)) {
            life.rows = 0;
        }
    }
    // Parts of a concatenation that are written in place.
    for (std::size_t s = strip.steps.size(); s-- > 0;) {
        const StripStep& step = strip.steps[s];
        if (step.kind != Kind::Compute ||
            !std::holds_alternative<Concatenation>(analysed.network().layers[step.layer].work)) {
            continue;
        }
        for (const std::size_t input : step.inputs) {
            Life& part = lives[input];
            const StripPiece& piece = strip.pieces[input];
            if (piece.is_resident && !piece.view_of) {
                const TensorId output = strip.pieces[step.output].tensor;
                if (with_rows(analysed, piece.tensor) == with_rows(analysed, output))
                    lives[step.output].rows = 0;
                continue;
            }
            if (part.readers != 1 || !part.writes_among_channels) continue;
            part.rows = 0;
            lives[step.output].first = std::min(lives[step.output].first, part.first);
        }
    }
    std::vector<std::uint64_t> rows(run.end - run.first, 0);
    for (std::size_t s = 0; s < strip.steps.size(); ++s) {
        std::uint64_t sum = 0;
        for (const Life& life : lives) {
            if (life.first <= s && s <= life.last) sum += life.rows;
        }
        std::uint64_t& of_layer = rows[strip.steps[s].layer - run.first];
        of_layer = std::max(of_layer, sum);
    }
    return rows;
}

}  // namespace systole::tpu_v1
