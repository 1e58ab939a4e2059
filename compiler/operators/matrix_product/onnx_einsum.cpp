#include "compiler/operators/matrix_product/onnx_einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/operators/dense/row_product.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/matrix_product/matrix_product.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

/// The name of an axis: a letter, or one of the axes of "...", which are numbered from the last one on, below
/// 0.
using Label = int;
using Labels = std::vector<Label>;

bool has(const Labels& labels, Label label) {
    return std::ranges::find(labels, label) != labels.end();
}

/// A tensor, and the names of its axes.
struct Operand {
    ir::ValueId value = 0;
    Labels labels;
};

/// The terms of an equation, as text.
struct Terms {
    std::vector<std::string> inputs;
    std::optional<std::string> output;
};

Terms terms_of(const ir::LayerReader& layer, const std::string& equation) {
    std::string text = equation;
    std::erase(text, ' ');
    Terms terms;
    constexpr std::string_view arrow = "->";
    if (const std::size_t place = text.find(arrow); place != std::string::npos) {
        terms.output = text.substr(place + arrow.size());
        text.resize(place);
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        terms.inputs.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    if (terms.inputs.size() != layer.inputs().size()) {
        layer.fail("equation", fmt::format("{} has {} for {}; it must have one for each input",
                                           in_quotes(equation), counted(terms.inputs.size(), "term"),
                                           counted(layer.inputs().size(), "input")));
    }
    return terms;
}

constexpr std::string_view ellipsis = "...";

/// The labels of a term; its "..." stands for `others` axes.
Labels labels_of(const ir::LayerReader& layer, std::string_view term, std::size_t others) {
    Labels labels;
    bool has_ellipsis = false;
    for (std::size_t i = 0; i < term.size(); ++i) {
        if (!has_ellipsis && term.substr(i).starts_with(ellipsis)) {
            has_ellipsis = true;
            for (std::size_t axis = others; axis > 0; --axis) labels.push_back(-static_cast<Label>(axis));
            i += ellipsis.size() - 1;
        } else if (std::isalpha(static_cast<unsigned char>(term[i])) != 0) {
            labels.push_back(static_cast<unsigned char>(term[i]));
        } else {
            layer.fail("equation", fmt::format("its term {} must be of letters and at most one \"...\"",
                                               in_quotes(std::string(term))));
        }
    }
    return labels;
}

/// An einsum while it is read.
class Einsum {
public:
    explicit Einsum(ir::LayerReader& layer) : layer_(layer) {
        const Terms terms = terms_of(layer, layer.text("equation", ""));
        for (std::size_t i = 0; i < terms.inputs.size(); ++i) add_operand(i, terms.inputs[i]);
        output_ = terms.output ? labels_of(layer, *terms.output, most_others_) : implied_output();
        check_output();
    }

    ir::ValueId append() {
        for (Operand& operand : operands_) operand = with_single_labels(std::move(operand));
        Operand result = std::move(operands_.front());
        operands_.erase(operands_.begin());
        result = summed(std::move(result));
        while (!operands_.empty()) {
            Operand next = std::move(operands_.front());
            operands_.erase(operands_.begin());
            result = summed(combined(result, summed(std::move(next), result.labels)));
        }
        // What a term of the output has in another order. An ellipsis that no input has the axes of is gone.
        return transposed(result, output_).value;
    }

private:
    void add_operand(std::size_t index, std::string_view term) {
        const ir::ValueId value = input_of(layer_, index);
        const std::size_t rank = layer_.value(value).shape.rank();
        const bool has_ellipsis = term.find(ellipsis) != std::string_view::npos;
        const std::size_t letters = term.size() - (has_ellipsis ? ellipsis.size() : 0);
        if (has_ellipsis ? letters > rank : letters != rank) {
            layer_.fail("equation",
                        fmt::format("its term {} names {}; input {} is {}", in_quotes(std::string(term)),
                                    counted(letters, "letter"), index, to_text(layer_.value(value).shape)));
        }
        const std::size_t others = has_ellipsis ? rank - letters : 0;
        most_others_ = std::max(most_others_, others);
        operands_.push_back({value, labels_of(layer_, term, others)});
        for (std::size_t axis = 0; axis < rank; ++axis) note_extent(operands_.back(), axis);
    }

    /// Extents of 1 are repeated.
    void note_extent(const Operand& operand, std::size_t axis) {
        const std::uint32_t given = layer_.value(operand.value).shape[axis];
        const Label label = operand.labels[axis];
        std::uint32_t& extent = extents_.try_emplace(label, given).first->second;
        if (extent == 1) extent = given;
        if (given == extent || given == 1) return;
        const std::string name = label < 0 ? "..." : std::string(1, static_cast<char>(label));
        layer_.fail("equation", fmt::format("its axis {} is of {} and of {} elements; these must be as many",
                                            in_quotes(name), extent, given));
    }

    /// The axes of "...", then the letters that occur once, in their order.
    Labels implied_output() const {
        std::map<Label, int> count;
        for (const Operand& operand : operands_) {
            for (const Label label : operand.labels) ++count[label];
        }
        Labels labels;
        for (const auto& [label, times] : count) {
            if (label < 0 || times == 1) labels.push_back(label);
        }
        return labels;
    }

    void check_output() const {
        Labels sorted = output_;
        std::ranges::sort(sorted);
        const bool is_new =
            std::ranges::any_of(output_, [&](Label each) { return !extents_.contains(each); });
        if (is_new || std::ranges::adjacent_find(sorted) != sorted.end()) {
            layer_.fail("equation", "each axis of its result must be one of an input, and occur once");
        }
    }

    Integers extents(const Operand& operand) const { return extents_of(layer_.value(operand.value).shape); }

    Operand reshaped_to(const Operand& operand, Labels labels, const Integers& shape) {
        return {reshaped(layer_, operand.value, shape), std::move(labels)};
    }

    /// With the axes in this order, which are all it has.
    Operand transposed(const Operand& operand, const Labels& labels) {
        if (operand.labels == labels) return operand;
        Integers permutation;
        for (const Label label : labels) {
            permutation.push_back(std::ranges::find(operand.labels, label) - operand.labels.begin());
        }
        return {append_same(layer_, "transpose", {{"permutation", permutation}}, {operand.value}), labels};
    }

    /// The diagonals along axes of the same name.
    Operand with_single_labels(Operand operand) {
        for (std::size_t i = 0; i < operand.labels.size();) {
            const Label label = operand.labels[i];
            const auto again = std::find(operand.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                         operand.labels.end(), label);
            if (again == operand.labels.end()) {
                ++i;
                continue;
            }
            operand = diagonal(operand, i, static_cast<std::size_t>(again - operand.labels.begin()));
        }
        return operand;
    }

    /// Elements i, i of two axes of one name: each (n + 1)th one of n * n.
    Operand diagonal(const Operand& operand, std::size_t first, std::size_t second) {
        const Integers shape = extents(operand);
        if (shape[first] != shape[second]) {
            layer_.fail("equation", "the two axes of a diagonal must have as many elements");
        }
        Labels order = operand.labels;
        Integers permutation;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            if (axis != first && axis != second) permutation.push_back(static_cast<std::int64_t>(axis));
        }
        Labels labels;
        Integers outer;
        for (const std::int64_t axis : permutation) {
            labels.push_back(order[static_cast<std::size_t>(axis)]);
            outer.push_back(shape[static_cast<std::size_t>(axis)]);
        }
        permutation.push_back(static_cast<std::int64_t>(first));
        permutation.push_back(static_cast<std::int64_t>(second));
        labels.push_back(order[first]);
        const std::int64_t count = shape[first];
        ir::ValueId value = append_same(layer_, "transpose", {{"permutation", permutation}}, {operand.value});
        outer.push_back(count * count);
        value = reshaped(layer_, value, outer);
        Integers step(outer.size(), 1);
        step.back() = count + 1;
        const Integers begin(outer.size(), 0);
        outer.back() = count;
        value = append_same(layer_, "strided_slice", {{"first", begin}, {"step", step}, {"count", outer}},
                            {value});
        return {value, labels};
    }

    /// The sums along the axes that neither the result nor another operand has.
    Operand summed(Operand operand, const Labels& of_other = {}) {
        Labels kept;
        Integers axes;
        for (std::size_t axis = 0; axis < operand.labels.size(); ++axis) {
            const Label label = operand.labels[axis];
            if (has(of_other, label) || is_needed(label)) {
                kept.push_back(label);
            } else {
                axes.push_back(static_cast<std::int64_t>(axis));
            }
        }
        if (axes.empty()) return operand;
        return {layer_.append("reduce_sum", {{"axes", axes}}, {operand.value}), std::move(kept)};
    }

    /// By the result, or by an operand that is still to come.
    bool is_needed(Label label) const {
        return has(output_, label) ||
               std::ranges::any_of(operands_, [&](const Operand& each) { return has(each.labels, label); });
    }

    std::int64_t extent_in(const Operand& operand, Label label) const {
        const auto axis = std::ranges::find(operand.labels, label) - operand.labels.begin();
        return layer_.value(operand.value).shape[static_cast<std::size_t>(axis)];
    }

    /// The product of two operands, summed along the axes that nothing needs behind it.
    Operand combined(const Operand& a, const Operand& b) {
        Labels batch;
        Labels of_a;
        Labels of_b;
        Labels summed_over;
        for (const Label label : a.labels) {
            const bool is_shared = has(b.labels, label);
            (!is_shared ? of_a : is_needed(label) ? batch : summed_over).push_back(label);
        }
        for (const Label label : b.labels) {
            if (!has(a.labels, label)) of_b.push_back(label);
        }
        // A sum of what one operand repeats is no product of matrices.
        const bool repeats = std::ranges::any_of(
            summed_over, [&](Label label) { return extent_in(a, label) != extent_in(b, label); });
        if (summed_over.empty() || repeats) return multiplied(a, b, joined({batch, of_a, of_b, summed_over}));
        return product(a, b, {batch, of_a, of_b, summed_over});
    }

    static Labels joined(const std::vector<Labels>& parts) {
        Labels labels;
        for (const Labels& part : parts) labels.insert(labels.end(), part.begin(), part.end());
        return labels;
    }

    /// Element by element; each operand is repeated along the axes that it does not have.
    Operand multiplied(const Operand& a, const Operand& b, const Labels& labels) {
        const auto spread = [&](const Operand& operand) {
            Labels own;
            Integers shape;
            for (const Label label : labels) {
                const bool is_own = has(operand.labels, label);
                if (is_own) own.push_back(label);
                shape.push_back(is_own ? extent_in(operand, label) : 1);
            }
            return reshaped(layer_, transposed(operand, own).value, shape);
        };
        return {layer_.append("multiply", {}, {spread(a), spread(b)}), labels};
    }

    /// The axes of two operands by their part in a product of matrices.
    struct Parts {
        Labels batch;
        Labels of_a;
        Labels of_b;
        Labels summed_over;
    };

    /// A product of matrices, for each index of the axes that both operands and the result have.
    Operand product(const Operand& a, const Operand& b, const Parts& parts) {
        const auto elements = [&](const Operand& operand, const Labels& labels) {
            std::int64_t count = 1;
            for (const Label label : labels) count *= extent_in(operand, label);
            return count;
        };
        const auto matrices = [&](const Operand& operand, const Labels& rows, const Labels& columns) {
            Integers shape;
            for (const Label label : parts.batch) shape.push_back(extent_in(operand, label));
            shape.push_back(elements(operand, rows));
            shape.push_back(elements(operand, columns));
            const Operand ordered = transposed(operand, joined({parts.batch, rows, columns}));
            return reshaped(layer_, ordered.value, shape);
        };
        const bool is_known = layer_.value(a.value).constant.has_value();
        const bool is_b_known = layer_.value(b.value).constant.has_value();
        // A layer has its weights as second factor.
        if (is_known && !is_b_known) {
            return product(b, a, {parts.batch, parts.of_b, parts.of_a, parts.summed_over});
        }
        const ir::ValueId rows = matrices(a, parts.of_a, parts.summed_over);
        const ir::ValueId columns = matrices(b, parts.summed_over, parts.of_b);
        const bool has_weights = is_b_known && !is_known && parts.batch.empty();
        const ir::ValueId result = has_weights ? append_row_product(layer_, {rows, columns})
                                               : append_matrix_product(layer_, {rows, columns});
        Integers shape = extents_of(layer_.value(result).shape);
        shape.resize(parts.batch.size());
        for (const Label label : parts.of_a) shape.push_back(extent_in(a, label));
        for (const Label label : parts.of_b) shape.push_back(extent_in(b, label));
        return {reshaped(layer_, result, shape), joined({parts.batch, parts.of_a, parts.of_b})};
    }

    ir::LayerReader& layer_;
    std::vector<Operand> operands_;  ///< that are still to be combined
    std::size_t most_others_ = 0;    ///< axes of "..."
    std::map<Label, std::uint32_t> extents_;
    Labels output_;
};

ir::Results read_einsum(ir::LayerReader& layer) {
    if (layer.inputs().empty()) layer.fail("it has no input; it must have at least one");
    return Einsum(layer).append();
}

}  // namespace

ir::LayerKind onnx_einsum() {
    return {.format = ir::Format::Onnx,
            .name = "Einsum",
            .keys = {{"equation", "the axes that are multiplied and summed, as `bij,bjk->bik`"}},
            .build = read_einsum};
}

}  // namespace systole::operators
