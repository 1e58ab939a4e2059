#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "sim/run/input/formats.h"
#include "sim/run/input/images.h"
#include "sim/run/input/read_options.h"

namespace systole::input {

/// All images of the files in `paths`, in that order, as one batch. The first bytes of a file, not its name,
/// determine its format: IDX or NPY (gzip or not), NPZ, PNG, JPEG or BMP. A directory stands for the PNG,
/// JPEG and BMP files in it, sorted by name as text ("10.png" before "2.png"). Names that begin with a dot
/// are ignored, and any other file in it is an error. The images of each file are resized, then cropped, as
/// the options ask. After that, all must have the same size and the same kind of value.
///
/// Throws InputError: one line that names file, place, value and rule.
Images read_images(std::span<const std::filesystem::path> paths, const ReadOptions& options = {});

/// Reads the images of several inputs. An .npz file, which may hold the arrays of all of them, is read and
/// unpacked once; its arrays stay in memory as long as this does.
class InputReader {
public:
    Images read(std::span<const std::filesystem::path> paths, const ReadOptions& options);

private:
    /// The images of one file, as they are in it.
    Images read_file(const std::filesystem::path& path, const ReadOptions& options);

    std::map<std::filesystem::path, NpzArrays> archives_;
};

/// The class numbers in an IDX or NPY file (gzip or not), one an image.
std::vector<std::uint32_t> read_labels(const std::filesystem::path& path);

/// The names of classes, a line for each; spaces around them do not count, nor do empty lines at the end.
std::vector<std::string> read_label_names(const std::filesystem::path& path);

/// The same for bytes in memory; `file` begins each error message.
Images parse_images(std::span<const std::uint8_t> bytes, std::string_view file,
                    const ReadOptions& options = {});
std::vector<std::uint32_t> parse_labels(std::span<const std::uint8_t> bytes, std::string_view file);

}  // namespace systole::input
