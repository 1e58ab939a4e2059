#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace systole::frontend {

/// A step of a decoder with a cache of keys and values: it takes some new tokens, behind those whose keys and
/// values it has.
struct DecoderStep {
    std::uint32_t new_tokens = 1;     ///< at least 1
    std::uint32_t cached_tokens = 0;  ///< 0: the cache is empty
};

/// What an exporter says of a dimension that it leaves open behind the first one, the batch.
struct OpenDimension {
    std::string_view input;  ///< its name in the file
    std::size_t rank = 0;    ///< of the input
    std::string_view name;   ///< of the dimension; may be empty
};

/// The size of a dimension in a step. A cache has more than two dimensions, and "past" or "cache" in its
/// name; a mask is over all tokens; other inputs are of new tokens, unless the dimension's name says
/// otherwise. These are the conventions of the exporters of transformers (docs/decoding.md). Absent where the
/// names are of something else: of a batch, heads, an encoder or pictures.
std::optional<std::uint32_t> size_in(const DecoderStep& step, const OpenDimension& dimension);

}  // namespace systole::frontend
