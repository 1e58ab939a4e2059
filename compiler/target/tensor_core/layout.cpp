#include "compiler/target/tensor_core/layout.h"

#include <stdexcept>

#include "base/arithmetic.h"

namespace systole::tensor_core {

std::uint64_t bytes_of(Element element) {
    switch (element) {
        case Element::Word:
        case Element::Truth:
            return 4;
        case Element::Bfloat16:
            return 2;
    }
    throw std::logic_error("an element that does not exist");
}

Sides tile_of(std::uint64_t rows, std::uint64_t lanes) {
    constexpr std::uint64_t sublanes = 8;
    if (rows <= sublanes / 4) return {sublanes / 4, lanes};
    if (rows <= sublanes / 2) return {sublanes / 2, lanes};
    return {sublanes, lanes};
}

PaddedTensor padded(std::span<const std::uint64_t> extents, Element element, std::uint64_t lanes) {
    PaddedTensor tensor;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        const std::size_t behind = extents.size() - 1 - axis;
        if (behind == 0) {
            tensor.columns = extents[axis];
        } else if (behind == 1) {
            tensor.rows = extents[axis];
        } else {
            tensor.matrices *= extents[axis];
        }
    }
    const auto [rows, columns] = tile_of(tensor.rows, lanes);
    tensor.rows = round_up(tensor.rows, rows);
    tensor.columns = round_up(tensor.columns, columns);
    tensor.bytes = tensor.matrices * tensor.rows * tensor.columns * bytes_of(element);
    return tensor;
}

std::uint64_t index_in_tiles(Sides element, Sides matrix, std::span<const Sides> tiles) {
    if (tiles.empty()) return element[0] * matrix[1] + element[1];
    const auto [rows, columns] = tiles.front();
    const std::uint64_t number = element[0] / rows * divide_up(matrix[1], columns) + element[1] / columns;
    return number * rows * columns +
           index_in_tiles({element[0] % rows, element[1] % columns}, tiles.front(), tiles.subspan(1));
}

}  // namespace systole::tensor_core
