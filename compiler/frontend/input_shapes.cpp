#include "compiler/frontend/input_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

/// As ?x?x?x3.
std::string open_text(std::span<const std::optional<std::uint32_t>> extents) {
    std::string text;
    for (const auto& extent : extents) {
        if (!text.empty()) text += "x";
        text += extent ? std::to_string(*extent) : "?";
    }
    return text;
}

}  // namespace

void check_given_shapes(const InputShapes& shapes, std::span<const std::string> inputs) {
    for (const auto& [name, shape] : shapes) {
        if (name.empty() && inputs.size() > 1) {
            throw ModelError(
                fmt::format("the shape of its only input is given, but it has {} inputs; the shape needs "
                            "the name of one, as in --input-shape {}=...",
                            inputs.size(), inputs.front()));
        }
        if (name.empty() || std::ranges::find(inputs, name) != inputs.end()) continue;
        throw ModelError(
            fmt::format("the shape of {} is given, but it has no input of this name", in_quotes(name)));
    }
    if (shapes.size() > 1 && shapes.contains("")) {
        throw ModelError("the shape of its only input is given twice, with its name and without");
    }
}

const ir::Shape* given_shape(const InputShapes& shapes, std::string_view input) {
    auto given = shapes.find(input);
    if (given == shapes.end()) given = shapes.find("");
    return given == shapes.end() ? nullptr : &given->second;
}

ir::Shape closed_shape(std::span<const std::optional<std::uint32_t>> extents, const ir::Shape* given) {
    if (given != nullptr && given->rank() != extents.size()) {
        throw ModelError(fmt::format("its shape is given as {}; in the file it is {}", to_text(*given),
                                     open_text(extents)));
    }
    std::vector<std::uint32_t> closed;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        if (given != nullptr && extents[axis].value_or((*given)[axis]) != (*given)[axis]) {
            throw ModelError(fmt::format("its dimension {} is given as {}; in the file it is {}", axis,
                                         (*given)[axis], *extents[axis]));
        }
        if (given == nullptr && !extents[axis] && axis > 0) {
            throw ModelError(fmt::format("its dimension {} is open in {}; the input's shape {}", axis,
                                         open_text(extents), must_be_given));
        }
        closed.push_back(given != nullptr ? (*given)[axis] : extents[axis].value_or(1));
    }
    return ir::Shape(closed);
}

}  // namespace systole::frontend
