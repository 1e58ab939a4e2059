#include "sim/run/shapes_of_data.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "compiler/ir/shape.h"
#include "sim/run/input/array_file.h"
#include "sim/run/input/formats.h"

namespace systole::run {
namespace {

void add_shape(std::string input, std::vector<std::uint32_t> extents, std::vector<InputShape>& shapes) {
    const bool has_size = std::ranges::count(extents, 0U) == 0;
    if (extents.size() < 2 || extents.size() > ir::Shape::most_extents || !has_size) return;
    if (std::ranges::find(shapes, input, &InputShape::input) != shapes.end()) return;
    extents.front() = 1;
    shapes.push_back({.input = std::move(input), .extents = std::move(extents)});
}

}  // namespace

std::vector<InputShape> shapes_of_data(const std::vector<InputFile>& files) {
    std::vector<InputShape> shapes;
    for (const InputFile& file : files) {
        const std::filesystem::path path = file.content.path.text;
        if (path.extension() != input::npy_extension && path.extension() != ".npz") continue;
        try {
            const input::ArrayFile arrays(path);
            if (!arrays.is_archive()) {
                add_shape(file.input, arrays.shape(""), shapes);
                continue;
            }
            // The only array is for the only input, whatever its name.
            const bool is_alone = arrays.names().size() == 1 && files.size() == 1;
            for (const std::string& name : arrays.names())
                add_shape(is_alone ? file.input : name, arrays.shape(name), shapes);
        } catch (const input::InputError&) {
            // What is wrong with the file is said where its numbers are read.
        }
    }
    return shapes;
}

}  // namespace systole::run
