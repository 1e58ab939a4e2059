// Writes a graph as text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <type_traits>

#include "base/conversion.h"
#include "base/message_text.h"
#include "compiler/ir/text.h"

namespace systole::ir {
namespace {

constexpr std::size_t most_listed = 16;  ///< elements of a constant that are written as numbers

template <typename Number>
std::string listed(const Constant& constant) {
    std::string text;
    for (const Number number : constant.values<Number>()) {
        text += text.empty() ? "" : ", ";
        if constexpr (std::is_floating_point_v<Number>) {
            text += real_text(number);
        } else {
            text += fmt::format("{}", static_cast<std::int32_t>(number));
        }
    }
    return "[" + text + "]";
}

/// Written in place: a constant of a host segment may have a hundred million bytes.
void add_hexadecimal(std::span<const std::uint8_t> bytes, std::string& text) {
    static constexpr std::array<std::array<char, 2>, 256> pairs = [] {
        constexpr std::string_view digits = "0123456789abcdef";
        std::array<std::array<char, 2>, 256> made{};
        for (std::size_t byte = 0; byte < made.size(); ++byte)
            made[byte] = {digits[byte >> 4U], digits[byte & 15U]};
        return made;
    }();
    text += "bytes ";
    const std::size_t begin = text.size();
    text.resize(begin + 2 * bytes.size());
    char* to = text.data() + begin;
    for (const std::uint8_t byte : bytes) to = std::ranges::copy(pairs[byte], to).out;
}

/// The few elements of a constant; nullopt if their bits are written instead.
std::optional<std::string> list_of(const Value& value) {
    const Constant& constant = *value.constant;
    if (value.shape.elements() > most_listed) return std::nullopt;
    switch (value.type) {
        case DataType::Uint8:
            return listed<std::uint8_t>(constant);
        case DataType::Int8:
            return listed<std::int8_t>(constant);
        case DataType::Int16:
            return listed<std::int16_t>(constant);
        case DataType::Int32:
            return listed<std::int32_t>(constant);
        case DataType::Float32: {
            // Decimal numbers do not preserve the bits of NaN.
            for (const float number : constant.values<float>()) {
                if (!(number == number)) return std::nullopt;
            }
            return listed<float>(constant);
        }
        case DataType::Uint16:
        case DataType::Bfloat16:
        case DataType::Uint32:
        case DataType::Float16:
        case DataType::Bool:
            break;
    }
    return std::nullopt;
}

void add_contents(const Value& value, std::string& text) {
    if (!value.constant->is_known()) {
        text += "unknown";
    } else if (const auto list = list_of(value)) {
        text += *list;
    } else {
        add_hexadecimal(value.constant->bytes(), text);
    }
}

std::string text_of(const Quantization& quantization) {
    if (!quantization.axis) {
        return fmt::format(" scale {} zero {}", real_text(quantization.scales.front()),
                           quantization.zero_points.front());
    }
    std::string scales;
    for (const double scale : quantization.scales) scales += (scales.empty() ? "" : ", ") + real_text(scale);
    return fmt::format(" axis {} scales [{}] zeros [{}]", *quantization.axis, scales,
                       joined(quantization.zero_points));
}

class Printer {
public:
    Printer(const Graph& graph, bool with_contents) : graph_(graph), with_contents_(with_contents) {}

    std::string print() {
        add("graph {}{}\n", escaped(graph_.name), graph_.has_weights ? "" : " without weights");
        if (graph_.replicas != 1) add("replicas {}\n", graph_.replicas);
        for (const std::string& name : graph_.repeated) add("repeated {}\n", escaped(name));
        add("inputs {}\n", joined(graph_.inputs, "%"));
        add("outputs {}\n", joined(graph_.outputs, "%"));
        for (const Graph::State& state : graph_.state) {
            add("state %{} -> %{}\n", graph_.inputs[state.input], graph_.outputs[state.output]);
        }
        for (const Graph::Cache& cache : graph_.caches) {
            const std::string before =
                cache.input ? fmt::format("%{}", graph_.inputs[*cache.input]) : "nothing";
            add("cache {} -> %{}\n", before, graph_.outputs[cache.output]);
        }
        for (ValueId id = 0; id < graph_.values.size(); ++id) print_value(id, graph_.values[id]);
        for (const Node& node : graph_.nodes) print_node(node);
        return std::move(text_);
    }

private:
    template <typename... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    }

    void print_value(ValueId id, const Value& value) {
        add("%{} {} {} {}", id, name_of(value.type), to_text(value.shape), escaped(value.name));
        if (value.stored_as != DataType::Uint8) add(" stored {}", name_of(value.stored_as));
        if (!value.file_axes.empty()) add(" axes [{}]", joined(value.file_axes));
        if (value.file_type) add(" file {}", name_of(*value.file_type));
        if (value.split_axis) add(" split {}", *value.split_axis);
        if (value.range) {
            add(" range {} {}", real_text(value.range->minimum), real_text(value.range->maximum));
        }
        if (value.quantization) text_ += text_of(*value.quantization);
        if (value.conversion != Conversion::Nearest) add(" conversion {}", name_of(value.conversion));
        // Of results it follows from the node.
        if (value.is_shared && is_input(graph_, id)) text_ += " shared";
        if (value.constant) {
            if (with_contents_) {
                text_ += " = ";
                add_contents(value, text_);
            } else {
                text_ += value.constant->is_known() ? " = constant" : " = unknown";
            }
        }
        text_ += '\n';
    }

    void print_node(const Node& node) {
        add("{} = {}({}) {}", joined(node.outputs, "%"), node.op->name(), inputs_of(node),
            escaped(node.name));
        const std::vector<AttributeDeclaration>& declarations = node.op->attributes();
        std::string attributes;
        for (std::size_t i = 0; i < declarations.size(); ++i) {
            if (!declarations[i].is_required && node.attributes[i] == declarations[i].absent) continue;
            attributes += fmt::format("{}{} {}", attributes.empty() ? "" : ", ", declarations[i].name,
                                      to_text(node.attributes[i]));
        }
        if (!attributes.empty()) add(" {{{}}}", attributes);
        text_ += '\n';
    }

    static std::string inputs_of(const Node& node) {
        if (!node.stated_data) return joined(node.inputs, "%");
        const auto data =
            node.inputs.begin() + std::min<std::ptrdiff_t>(*node.stated_data, std::ssize(node.inputs));
        return fmt::format("{}; {}", joined(std::vector(node.inputs.begin(), data), "%"),
                           joined(std::vector(data, node.inputs.end()), "%"));
    }

    const Graph& graph_;
    bool with_contents_;
    std::string text_;
};

}  // namespace

std::string to_text(const Graph& graph) {
    return Printer(graph, true).print();
}

std::string summary_of(const Graph& graph) {
    return Printer(graph, false).print();
}

}  // namespace systole::ir
