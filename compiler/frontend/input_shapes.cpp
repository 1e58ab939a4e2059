#include "compiler/frontend/input_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/message_text.h"
#include "base/name_pattern.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

/// As ?x?x?x3.
std::string open_text(FileExtents extents) {
    std::string text;
    for (const auto& extent : extents) {
        if (!text.empty()) text += "x";
        text += extent ? std::to_string(*extent) : "?";
    }
    return text;
}

/// Whether data of this shape can be an input with these extents, whatever their first, the batch.
bool fits(const ir::Shape& data, FileExtents extents) {
    if (data.rank() != extents.size()) return false;
    for (std::size_t axis = 1; axis < extents.size(); ++axis) {
        if (extents[axis].value_or(data[axis]) != data[axis]) return false;
    }
    return true;
}

}  // namespace

void check_given_shapes(const NamedShapes& given, std::span<const std::string> inputs) {
    for (const auto& [name, shape] : given) {
        if (name.empty() && inputs.size() > 1) {
            throw ModelError(
                fmt::format("the shape of its only input is given, but it has {} inputs; the shape needs "
                            "the name of one, as in --input-shape {}=...",
                            inputs.size(), inputs.front()));
        }
        const auto fits_input = [&given_name = name](const std::string& input) {
            return fits_pattern(input, given_name);
        };
        if (name.empty() || std::ranges::any_of(inputs, fits_input)) continue;
        throw ModelError(
            fmt::format("the shape of {} is given, but it has no input of this name", in_quotes(name)));
    }
    for (const std::string& input : inputs) {
        if (given.contains(input)) continue;
        const auto fits = [&](const auto& shape) { return fits_pattern(input, shape.first); };
        const auto first = std::ranges::find_if(given, fits);
        if (first == given.end()) continue;
        const auto second = std::find_if(std::next(first), given.end(), fits);
        if (second == given.end()) continue;
        throw ModelError(fmt::format("the shape of input {} is given twice, by {} and {}", in_quotes(input),
                                     in_quotes(first->first), in_quotes(second->first)));
    }
    if (given.size() > 1 && given.contains("")) {
        throw ModelError("the shape of its only input is given twice, with its name and without");
    }
}

const ir::Shape* shape_for(const NamedShapes& shapes, std::string_view input) {
    auto found = shapes.find(input);
    const auto fits_input = [&](const auto& shape) {
        return shape.first.find('*') != std::string::npos && fits_pattern(input, shape.first);
    };
    if (found == shapes.end()) found = std::ranges::find_if(shapes, fits_input);
    if (found == shapes.end()) found = shapes.find("");
    return found == shapes.end() ? nullptr : &found->second;
}

std::optional<ir::Shape> known_shape(const InputShapes& shapes, std::string_view input, FileExtents extents) {
    if (const ir::Shape* const given = shape_for(shapes.given, input)) return *given;
    const bool is_open = std::ranges::count(extents.subspan(std::min<std::size_t>(extents.size(), 1)),
                                            std::optional<std::uint32_t>()) > 0;
    const ir::Shape* const data = is_open ? shape_for(shapes.of_data, input) : nullptr;
    if (data == nullptr || !fits(*data, extents)) return std::nullopt;
    std::vector<std::uint32_t> known(data->extents().begin(), data->extents().end());
    known.front() = extents.front().value_or(1);
    return ir::Shape(known);
}

ir::Shape closed_shape(FileExtents extents, const std::optional<ir::Shape>& known) {
    if (known && known->rank() != extents.size()) {
        throw ModelError(fmt::format("its shape is given as {}; in the file it is {}", to_text(*known),
                                     open_text(extents)));
    }
    std::vector<std::uint32_t> closed;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        if (known && extents[axis].value_or((*known)[axis]) != (*known)[axis]) {
            throw ModelError(fmt::format("its dimension {} is given as {}; in the file it is {}", axis,
                                         (*known)[axis], *extents[axis]));
        }
        if (known && (*known)[axis] == 0)
            throw ModelError(fmt::format("its dimension {} is given as 0; it must be at least 1", axis));
        if (!known && !extents[axis] && axis > 0) {
            throw ModelError(fmt::format("its dimension {} is open in {}; the input's shape {}", axis,
                                         open_text(extents), must_be_given));
        }
        closed.push_back(known ? (*known)[axis] : extents[axis].value_or(1));
    }
    return ir::Shape(closed);
}

}  // namespace systole::frontend
