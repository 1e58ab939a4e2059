#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/shape.h"

namespace systole::frontend {

/// Shapes of a network's inputs by their names, with the batch, for files that leave sizes open. The empty
/// name means the only input.
struct InputShapes : std::map<std::string, ir::Shape, std::less<>> {
    using std::map<std::string, ir::Shape, std::less<>>::map;

    /// They are those of the data, whose first axis has the inferences: an open first axis counts as the
    /// batch.
    bool are_of_data = false;
};

/// The end of the message for an input whose file leaves a size open, if no shape is given.
inline constexpr std::string_view must_be_given = "must be given with --input-shape";

/// In the messages for shapes that are given otherwise than in the file, or for no input of it.
inline constexpr std::string_view is_given = " is given";

/// Throws ModelError for given shapes that belong to none of these inputs.
void check_given_shapes(const InputShapes& shapes, std::span<const std::string> inputs);

/// The shape that is given for an input; null if none is.
const ir::Shape* given_shape(const InputShapes& shapes, std::string_view input);

/// The shape of an input with these extents in its file, each nullopt where the file leaves it open: it is
/// the given one, or 1 if it is the first, the batch. Throws ModelError, without the input's name, if an
/// extent has no size or is given otherwise than in the file.
ir::Shape closed_shape(std::span<const std::optional<std::uint32_t>> extents, const ir::Shape* given);

}  // namespace systole::frontend
