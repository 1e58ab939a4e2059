#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/input/images.h"
#include "sim/run/record/spec.h"

namespace systole::input {

/// Throws InputError for images of a size that the network does not take. It is asked before their pixels are
/// read, which a small file may have gigabytes of.
using SizeCheck = std::function<void(const Images& without_values, std::string_view file)>;

/// The network's input that files are read for, and what the run asks for. All of it may be unknown.
struct ReadOptions {
    std::string input = {};  ///< its name, which chooses among the arrays of an .npz file
    /// Whether files can only be for this input. Else they are .npz files with an array of its name.
    bool is_only_input = true;
    std::vector<std::uint32_t> shape = {};  ///< of one inference, in the order of the graph
    /// From the graph's order to that of the network's file (see axes.h); empty if they are the same.
    std::vector<std::uint32_t> file_axes = {};
    run::Layout layout = run::Layout::File;
    std::optional<run::ImageSize> resize = {};
    std::optional<run::ImageSize> crop = {};
    SizeCheck check_size = {};      ///< of images that are neither resized nor cropped; empty: any size
    bool reverse_channels = false;  ///< red, green, blue become blue, green, red
};

}  // namespace systole::input
