#include "compiler/target/tensor_core/tiles.h"

#include <algorithm>

#include "base/arithmetic.h"

namespace systole::tensor_core {
namespace {

bool has_windows(const Step& step) {
    return step.window.has_value();
}

/// Outputs along one axis for which an offset into the windows is inside the image.
struct Span {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t source = 0;
};
Span span_of(std::int64_t offset, std::int64_t stride, std::int64_t size, std::int64_t begin,
             std::int64_t end) {
    // The image's element is output * stride + offset.
    const std::int64_t first = std::max(begin, offset >= 0 ? 0 : (-offset + stride - 1) / stride);
    const std::int64_t last = std::min(end, size - 1 - offset < 0 ? 0 : (size - 1 - offset) / stride + 1);
    if (first >= last) return {};
    return {.first = static_cast<std::uint64_t>(first),
            .count = static_cast<std::uint64_t>(last - first),
            .source = static_cast<std::uint64_t>(first * stride + offset)};
}

/// The lines of the image that windows cover; at least one.
Span lines_of_windows(const Step& step, const Tile& windows) {
    if (windows.lines == 0) return {.count = 1};
    const ir::Window& window = *step.window;
    const auto top = [&](std::uint64_t line) {
        return static_cast<std::int64_t>(line * window.stride_y) - std::int64_t{window.pad_top};
    };
    const auto covered =
        static_cast<std::int64_t>(ir::covered_extent(window.kernel_height, window.dilation_y));
    const std::int64_t first = std::max<std::int64_t>(top(windows.line), 0);
    const std::int64_t end =
        std::min<std::int64_t>(top(windows.line + windows.lines - 1) + covered, step.image.height);
    return {.first = static_cast<std::uint64_t>(first), .count = static_cast<std::uint64_t>(end - first)};
}

}  // namespace

bool differs_by_image(const Network& network, const Operand& operand) {
    if (operand.kind == OperandKind::ImageRow) return true;
    if (operand.kind == OperandKind::Number) return !network.tensors[operand.tensor].is_shared;
    const bool has_rows = operand.kind == OperandKind::Rows || operand.kind == OperandKind::Column;
    return has_rows && network.tensors[operand.tensor].is_shared;
}

ResultRows result_rows(const Network& network, const Step& step, std::uint64_t images) {
    const Tensor& result = network.tensors[step.result];
    if (result.is_shared) images = 1;
    ResultRows rows{.images = images, .lines = result.rows, .width = 1};
    if (const std::uint64_t matrices = step.matrices.count(); matrices > 1) {
        return {.images = images * matrices,
                .lines = step.matrices.rows,
                .width = 1,
                .inner = matrices,
                .together = 1};
    }
    bool by_image = false;
    std::vector<const ChainUse*> chains = chains_of(step);
    for (const ChainUse& chain : step.before) chains.push_back(&chain);
    for (const ChainUse* const chain : chains) {
        for (const Operand& operand : chain->operands)
            by_image |= !result.is_shared && differs_by_image(network, operand);
    }
    bool one_image = false;
    if (!result.is_shared) {
        const bool reads_source = step.kind != StepKind::Chain;
        const bool has_weights = step.kind == StepKind::Product;
        one_image |= reads_source && network.tensors[step.source].is_shared;
        one_image |= step.kind == StepKind::SelectAndScatter && network.tensors[step.scattered].is_shared;
        one_image |= has_weights && !network.tensors[step.weights].is_shared && images > 1;
        one_image |= step.source_transposed;
        one_image |= !reads_source && !step.sums.empty();
    }
    if (has_windows(step)) {
        rows.inner = step.inner_images;
        rows.images = images * step.inner_images;
        const ir::FeatureMap& map = step.kind == StepKind::SelectAndScatter ? step.image : step.output;
        rows.lines = map.height;
        rows.width = map.width;
        if (one_image || ((by_image || step.reads_lines) && rows.inner > 1)) rows.together = rows.inner;
        return rows;
    }
    if (one_image) rows.together = 1;
    if (!by_image && !one_image) rows = {.images = 1, .lines = images * result.rows, .width = 1};
    return rows;
}

SourceRows source_rows(const Network& network, const Step& step, const ResultRows& of, const Tile& tile) {
    const bool is_shared = network.tensors[step.source].is_shared && !network.tensors[step.result].is_shared;
    const std::uint64_t image = is_shared ? tile.image % of.inner : tile.image;
    if (step.kind == StepKind::ReduceRows) {
        return {.first = (image * of.lines + tile.line) * of.width * step.reduced_rows,
                .count = tile.rows(of) * step.reduced_rows};
    }
    if (step.matrices.count() > 1) {
        const std::uint64_t whole = is_shared ? 0 : tile.graph_image(of) * network.tensors[step.source].rows;
        return {.first = whole + step.matrices.sources[tile.image % of.inner] + tile.line,
                .count = tile.rows(of)};
    }
    if (!has_windows(step)) {
        return {.first = (image * of.lines + tile.line) * of.width, .count = tile.rows(of)};
    }
    const std::uint64_t pixels = std::uint64_t{step.image.height} * step.image.width;
    const ir::Window& window = *step.window;
    SourceRows rows{.line = 0, .lines = step.image.height, .lines_above = window.pad_top};
    if (step.kind == StepKind::SelectAndScatter) {
        if (tile.lines < of.lines) {
            const Span lines = lines_of_windows(step, windows_of_tile(step, tile).tile);
            rows.line = lines.first;
            rows.lines = lines.count;
        }
        rows.first = image * pixels + rows.line * step.image.width;
        rows.count = tile.images * rows.lines * step.image.width;
        return rows;
    }
    if (tile.lines < of.lines) {
        const auto stride = static_cast<std::int64_t>(window.stride_y);
        const std::int64_t top = static_cast<std::int64_t>(tile.line) * stride - window.pad_top;
        const std::int64_t reach =
            static_cast<std::int64_t>(tile.lines - 1) * stride +
            static_cast<std::int64_t>(ir::covered_extent(window.kernel_height, window.dilation_y));
        const std::int64_t first = std::max<std::int64_t>(top, 0);
        const std::int64_t end = std::min<std::int64_t>(top + reach, step.image.height);
        if (first < end) {
            rows.line = static_cast<std::uint64_t>(first);
            rows.lines = static_cast<std::uint64_t>(end - first);
            rows.lines_above = static_cast<std::uint64_t>(first - top);
        } else {
            // No window has an element of the image, as if it lay below all of them.
            rows.lines = 1;
            rows.lines_above = static_cast<std::uint64_t>(reach);
        }
    }
    rows.first = image * pixels + rows.line * step.image.width;
    rows.count = tile.images * rows.lines * step.image.width;
    return rows;
}

TapOutputs outputs_of_tap(const Step& step, const Tile& tile, std::uint32_t kernel_line,
                          std::uint32_t kernel_column) {
    const ir::Window& window = *step.window;
    const auto offset = [](std::uint32_t element, std::uint32_t dilation, std::uint32_t pad) {
        return static_cast<std::int64_t>(std::uint64_t{element} * dilation) - static_cast<std::int64_t>(pad);
    };
    const Span lines =
        span_of(offset(kernel_line, window.dilation_y, window.pad_top), window.stride_y, step.image.height,
                static_cast<std::int64_t>(tile.line), static_cast<std::int64_t>(tile.line + tile.lines));
    const Span columns = span_of(offset(kernel_column, window.dilation_x, window.pad_left), window.stride_x,
                                 step.image.width, 0, step.output.width);
    return {.line = lines.first,
            .lines = lines.count,
            .column = columns.first,
            .columns = columns.count,
            .source_line = lines.source,
            .source_column = columns.source};
}

TileWindows windows_of_tile(const Step& step, const Tile& tile) {
    const ir::Window& window = *step.window;
    TileWindows windows{.tile = tile};
    if (tile.lines == step.image.height) {
        windows.tile.lines = step.output.height;
    } else {
        // From the first window that ends behind the first line to the last one that begins in the tile.
        const std::uint64_t covered = ir::covered_extent(window.kernel_height, window.dilation_y);
        const std::uint64_t behind = tile.line + window.pad_top + 1;
        const std::uint64_t first =
            behind <= covered ? 0 : divide_up(behind - covered, std::uint64_t{window.stride_y});
        const std::uint64_t last = (tile.line + tile.lines - 1 + window.pad_top) / window.stride_y;
        const std::uint64_t end = std::min<std::uint64_t>(last + 1, step.output.height);
        windows.tile.line = std::min(first, end);
        windows.tile.lines = end - windows.tile.line;
    }
    windows.rows = tile.images * windows.tile.lines * step.output.width;
    return windows;
}

TapOutputs lines_inside(const Step& step, const Tile& tile, const TapOutputs& outputs) {
    const std::uint64_t stride = step.window->stride_y;
    const std::uint64_t end = tile.line + tile.lines;
    TapOutputs inside = outputs;
    if (outputs.source_line < tile.line) {
        const std::uint64_t above =
            std::min(divide_up(tile.line - outputs.source_line, stride), outputs.lines);
        inside.line += above;
        inside.lines -= above;
        inside.source_line += above * stride;
    }
    if (inside.source_line >= end) {
        inside.lines = 0;
    } else {
        inside.lines = std::min(inside.lines, (end - 1 - inside.source_line) / stride + 1);
    }
    return inside;
}

std::vector<Tile> tiles_of(const ResultRows& of, std::uint64_t images, std::uint64_t lines) {
    std::vector<Tile> tiles;
    const std::uint64_t together = of.together == 0 ? of.images : of.together;
    for (std::uint64_t begin = 0; begin < of.images; begin += together) {
        const std::uint64_t end = std::min(begin + together, of.images);
        for (std::uint64_t image = begin; image < end; image += images) {
            const std::uint64_t some = std::min(images, end - image);
            for (std::uint64_t line = 0; line < of.lines; line += lines) {
                tiles.push_back({.image = image,
                                 .images = some,
                                 .line = line,
                                 .lines = std::min(lines, of.lines - line)});
            }
        }
    }
    return tiles;
}

}  // namespace systole::tensor_core
