#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/frontend/decoder_step.h"
#include "compiler/ir/shape.h"

namespace systole::frontend {

/// Shapes of a network's inputs by their names, with the batch, for files that leave sizes open. The empty
/// name means the only input; in a name that no input has, `*` stands for any text.
using NamedShapes = std::map<std::string, ir::Shape, std::less<>>;

struct InputShapes {
    NamedShapes given = {};
    /// Those of the data, of one inference: they close what the file leaves open of an input that no shape is
    /// given for, if they fit it.
    NamedShapes of_data = {};
    /// Closes what the file leaves open of all other inputs; their names say what it is.
    std::optional<DecoderStep> step = {};
};

/// The extents of an input in its file, each nullopt where the file leaves it open.
using FileExtents = std::span<const std::optional<std::uint32_t>>;

/// The end of the message for an input whose file leaves a size open, if no shape is known.
inline constexpr std::string_view must_be_given = "must be given with --input-shape";

/// Throws ModelError for given shapes that belong to none of these inputs.
void check_given_shapes(const NamedShapes& given, std::span<const std::string> inputs);

/// The shape of this name, or else of a pattern that it fits, or else that of the only input; null if there
/// is none.
const ir::Shape* shape_for(const NamedShapes& shapes, std::string_view input);

/// The shape that is known for an input with these extents: the given one, or else, if the file leaves an
/// extent behind the first open, that of the data with the file's first extent. nullopt if none is.
std::optional<ir::Shape> known_shape(const InputShapes& shapes, std::string_view input, FileExtents extents);

/// The shape of an input with these extents: it is the known one, or 1 if it is the first, the batch. Throws
/// ModelError, without the input's name, if an extent has no size or is given otherwise than in the file.
ir::Shape closed_shape(FileExtents extents, const std::optional<ir::Shape>& known);

}  // namespace systole::frontend
