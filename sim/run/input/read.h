#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/run/input/images.h"

namespace systole::input {

/// All images of the files in `paths`, in that order, as one batch. The first bytes of a file, not its name,
/// determine its format: IDX or NPY (gzip or not) or PNG. A directory stands for the PNG files in it, sorted
/// by name as text ("10.png" before "2.png"). Names that begin with a dot are ignored, and any other file in
/// it is an error. All images must have the same size and the same kind of value. `values` is the number of
/// values that the network takes, if known: read_npy_images describes its effect.
///
/// Throws InputError: one line that names file, place, value and rule.
Images read_images(std::span<const std::filesystem::path> paths,
                   std::optional<std::uint64_t> values = std::nullopt);

/// The class numbers in an IDX or NPY file (gzip or not), one an image.
std::vector<std::uint32_t> read_labels(const std::filesystem::path& path);

/// The same for bytes in memory; `file` begins each error message.
Images parse_images(std::span<const std::uint8_t> bytes, std::string_view file,
                    std::optional<std::uint64_t> values = std::nullopt);
std::vector<std::uint32_t> parse_labels(std::span<const std::uint8_t> bytes, std::string_view file);

}  // namespace systole::input
