#pragma once

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "hw/math/floats/word_values.h"
#include "tests/unit/compiler/frontend/hlo/hlo_builder.h"

/// HLO modules made in tests, mapped to graphs and run by the reference.
namespace systole::tests {

using Words = std::vector<std::uint32_t>;
using Extents = std::vector<std::int64_t>;

/// An array in a test: its elements are words, row-major.
struct Plain {
    Extents dimensions{};
    Words words{};

    std::size_t place(const Extents& index) const {
        std::size_t offset = 0;
        for (std::size_t axis = 0; axis < dimensions.size(); ++axis)
            offset =
                offset * static_cast<std::size_t>(dimensions[axis]) + static_cast<std::size_t>(index[axis]);
        return offset;
    }
    std::uint32_t at(const Extents& index) const { return words.at(place(index)); }
    std::uint32_t& at(const Extents& index) { return words.at(place(index)); }
};

inline std::size_t elements_of(const Extents& dimensions) {
    std::size_t elements = 1;
    for (const std::int64_t dimension : dimensions) elements *= static_cast<std::size_t>(dimension);
    return elements;
}

/// Calls for each index of an array, row-major.
inline void for_each_index(const Extents& dimensions, const std::function<void(const Extents&)>& call) {
    if (elements_of(dimensions) == 0) return;
    Extents index(dimensions.size(), 0);
    while (true) {
        call(index);
        std::size_t axis = dimensions.size();
        while (axis > 0 && ++index[axis - 1] == dimensions[axis - 1]) index[--axis] = 0;
        if (axis == 0) return;
    }
}

inline Plain plain(const Extents& dimensions, const std::function<std::uint32_t(const Extents&)>& element) {
    Plain made{.dimensions = dimensions, .words = {}};
    for_each_index(dimensions, [&](const Extents& index) { made.words.push_back(element(index)); });
    return made;
}

inline std::string shape_text(const std::string& type, const Extents& dimensions) {
    std::string text;
    for (const std::int64_t dimension : dimensions)
        text += (text.empty() ? "" : ",") + std::to_string(dimension);
    return type + "[" + text + "]";
}

inline Words words_of(const std::vector<float>& numbers) {
    Words words;
    for (const float number : numbers) words.push_back(std::bit_cast<std::uint32_t>(number));
    return words;
}

/// Appends a constant of f32, pred, or integers.
inline std::int64_t add_constant(HloComputation& computation, const std::string& shape,
                                 const std::vector<std::int64_t>& numbers) {
    const std::int64_t id = computation.add("constant", shape);
    hlo_proto::LiteralProto& literal = *computation.last().mutable_literal();
    *literal.mutable_shape() = shape_proto(shape);
    const std::string type = shape.substr(0, shape.find('['));
    std::string bytes;
    for (const std::int64_t number : numbers) {
        if (type == "f32") literal.add_f32s(static_cast<float>(number));
        if (type == "pred") literal.add_preds(number != 0);
        if (type == "s32") literal.add_s32s(static_cast<std::int32_t>(number));
        if (type == "u32") literal.add_u32s(static_cast<std::uint32_t>(number));
        if (type == "s64") literal.add_s64s(number);
        if (type == "u64") literal.add_u64s(static_cast<std::uint64_t>(number));
        bytes += static_cast<char>(number & 0xFF);
        if (type == "s16" || type == "u16") bytes += static_cast<char>(number >> 8 & 0xFF);
    }
    if (type == "s8") literal.set_s8s(bytes);
    if (type == "u8") literal.set_u8s(bytes);
    if (type == "s16") literal.set_s16s(bytes);
    if (type == "u16") literal.set_u16s(bytes);
    return id;
}

inline ir::Graph graph_of(const HloModule& module) {
    ir::Graph graph = hlo::to_graph(module.read(), operators::registry());
    CHECK(ir::find_fault(graph) == std::nullopt);
    return graph;
}

/// Why a module is not compiled; empty if it is.
inline std::string refusal(const HloModule& module) {
    const hlo::Module read = module.read();
    try {
        const ir::Graph graph = hlo::to_graph(read, operators::registry());
        CHECK(ir::find_fault(graph) == std::nullopt);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

/// The elements of an input or output in the order of its file's axes, or back from it.
inline Words in_file_order(const ir::Value& value, const Words& words, bool is_back) {
    if (value.file_axes.empty()) return words;
    const Extents extents(value.shape.extents().begin(), value.shape.extents().end());
    Extents of_file;
    for (const std::uint32_t axis : value.file_axes) of_file.push_back(extents[axis]);
    const std::size_t elements = elements_of(extents);
    Words moved(words.size());
    for (std::size_t image = 0; image < words.size(); image += elements) {
        for_each_index(of_file, [&](const Extents& index) {
            Extents own(index.size());
            for (std::size_t i = 0; i < index.size(); ++i) own[value.file_axes[i]] = index[i];
            const std::size_t in_file = image + Plain{of_file}.place(index);
            const std::size_t in_graph = image + Plain{extents}.place(own);
            if (is_back) {
                moved[in_graph] = words[in_file];
            } else {
                moved[in_file] = words[in_graph];
            }
        });
    }
    return moved;
}

/// The computed outputs for inputs of `batch` replicas, one after the other, as words.
inline std::vector<Words> run(const HloModule& module, const std::vector<Words>& inputs,
                              std::uint32_t batch = 1) {
    ir::Graph graph = graph_of(module);
    graph.state.clear();
    graph = passes::prepare_in_words(graph, {}, {});
    REQUIRE(graph.inputs.size() == inputs.size());
    std::vector<std::vector<std::uint8_t>> bytes;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const ir::Value& value = graph.values[graph.inputs[i]];
        REQUIRE(inputs[i].size() == value.shape.elements() * batch);
        bytes.emplace_back(inputs[i].size() * bytes_of(value.type));
        math::from_words(in_file_order(value, inputs[i], true), value.type, bytes.back().data());
    }
    const std::vector<std::span<const std::uint8_t>> spans(bytes.begin(), bytes.end());
    const auto outputs = reference::run(graph, spans, batch);
    std::vector<Words> words;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ir::Value& value = graph.values[graph.outputs[i]];
        Words own(outputs[i].size() / bytes_of(value.type));
        math::to_words(outputs[i].data(), value.type, own);
        words.push_back(in_file_order(value, own, false));
    }
    return words;
}

}  // namespace systole::tests
