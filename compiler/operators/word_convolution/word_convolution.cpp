// Convolutions of floats, of which image and kernel may be computed, with the sums of a matrix unit; zeros
// between the pixels of the image are left out.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/tap_phases.h"
#include "compiler/operators/weighted.h"
#include "compiler/operators/words.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

constexpr std::size_t image_set_axes = 4;  // images, height, width, channels

/// What a node computes on each of its sets of images.
struct WordConvolutionWork {
    SpreadWindows rows;
    SpreadWindows columns;
    std::size_t images = 0;
    std::size_t channels = 0;
    std::size_t filters = 0;
    std::size_t groups = 1;

    std::size_t group_channels() const { return channels / groups; }
    std::size_t group_filters() const { return filters / groups; }
    std::size_t image_elements() const { return std::size_t{rows.pixels} * columns.pixels * channels; }
    std::size_t kernel_elements() const {
        return std::size_t{rows.kernel} * columns.kernel * group_channels() * filters;
    }
    std::size_t result_elements() const { return images * rows.outputs * columns.outputs * filters; }
};

/// An extent with zeros between its elements.
std::uint32_t spread_extent(const char* name, std::uint32_t extent, std::int64_t spread) {
    const std::uint64_t pixels = (std::uint64_t{extent} - 1) * static_cast<std::uint64_t>(spread) + 1;
    if (pixels <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(pixels);
    throw ModelError(fmt::format("the {} of its image is {} with its spread of {}; it may be at most {}",
                                 name, pixels, spread, std::numeric_limits<std::uint32_t>::max()));
}

/// The last four extents.
std::array<std::uint32_t, image_set_axes> image_set_extents(const ir::Shape& shape) {
    std::array<std::uint32_t, image_set_axes> extents{};
    std::ranges::copy(shape.extents().last(image_set_axes), extents.begin());
    return extents;
}

/// Throws ModelError if the inputs, which have four axes or more, and the attributes do not fit.
WordConvolutionWork convolution_work(const ir::NodeView& view) {
    const ir::Node& node = view.node();
    const auto [images, height, width, channels] = image_set_extents(view.input(0).shape);
    const auto kernel = image_set_extents(view.input(1).shape);
    const ir::Window window = ir::window_of(node);
    if (kernel[0] != window.kernel_height || kernel[1] != window.kernel_width) {
        throw ModelError(fmt::format("its kernel is {}; its window has a {}", to_text(view.input(1).shape),
                                     to_text(window)));
    }
    const auto groups = static_cast<std::uint64_t>(node.integer("groups"));
    if (channels != groups * kernel[2]) {
        throw ModelError(fmt::format("its input has {} channels; its kernel is for {} in {} groups", channels,
                                     groups * kernel[2], groups));
    }
    if (kernel[3] % groups != 0) {
        throw ModelError(
            fmt::format("it has {} filters in {} groups; each group must have as many", kernel[3], groups));
    }
    const std::int64_t spread_y = node.integer("spread_y");
    const std::int64_t spread_x = node.integer("spread_x");
    const ir::FeatureMap spread{spread_extent("height", height, spread_y),
                                spread_extent("width", width, spread_x), channels};
    const ir::FeatureMap result = window_output(spread, window, kernel[3]);
    return {.rows = {.pixels = height,
                     .spread = static_cast<std::uint32_t>(spread_y),
                     .kernel = window.kernel_height,
                     .stride = window.stride_y,
                     .pad = window.pad_top,
                     .dilation = window.dilation_y,
                     .outputs = result.height},
            .columns = {.pixels = width,
                        .spread = static_cast<std::uint32_t>(spread_x),
                        .kernel = window.kernel_width,
                        .stride = window.stride_x,
                        .pad = window.pad_left,
                        .dilation = window.dilation_x,
                        .outputs = result.width},
            .images = images,
            .channels = channels,
            .filters = kernel[3],
            .groups = groups};
}

/// The windows that meet the same taps, for one group of channels and filters.
class PhaseProduct {
public:
    PhaseProduct(const WordConvolutionWork& work, const TapPhase& rows, const TapPhase& columns,
                 std::size_t group)
        : work_(work), rows_(rows), columns_(columns), group_(group) {}

    void compute(const float* images, const float* kernel, const SumOrder& order, float* to) const {
        // Many rows for each reading of the weights, within reason.
        constexpr std::size_t most_elements = std::size_t{1} << 20;
        constexpr std::size_t least_rows = 16;
        const std::size_t depth = rows_.taps.size() * columns_.taps.size() * work_.group_channels();
        const std::vector<float> own_kernel = gathered_kernel(kernel);
        const OrderedWeights weights(own_kernel.data(), depth, work_.group_filters(), order);
        const std::size_t windows = work_.images * rows_.outputs.size() * columns_.outputs.size();
        const std::size_t piece =
            std::min(windows, std::max(least_rows, most_elements / std::max<std::size_t>(depth, 1)));
        std::vector<float> elements(piece * depth);
        std::vector<float> sums(piece * work_.group_filters());
        for (std::size_t first = 0; first < windows; first += piece) {
            const std::size_t count = std::min(piece, windows - first);
            for (std::size_t i = 0; i < count; ++i) gather(images, first + i, elements.data() + i * depth);
            weights.multiply(elements.data(), sums.data(), count);
            for (std::size_t i = 0; i < count; ++i) {
                std::copy_n(sums.data() + i * work_.group_filters(), work_.group_filters(),
                            to + result_offset(first + i));
            }
        }
    }

private:
    /// The place of a window: its image, and its row and column in the result.
    struct WindowPlace {
        std::size_t image = 0;
        std::uint32_t row = 0;
        std::uint32_t column = 0;
    };
    WindowPlace place_of(std::size_t window) const {
        const std::size_t line = window / columns_.outputs.size();
        return {line / rows_.outputs.size(), rows_.outputs[line % rows_.outputs.size()],
                columns_.outputs[window % columns_.outputs.size()]};
    }

    std::vector<float> gathered_kernel(const float* kernel) const {
        std::vector<float> own;
        for (const std::uint32_t row : rows_.taps) {
            for (const std::uint32_t column : columns_.taps) {
                const std::size_t tap = std::size_t{row} * work_.columns.kernel + column;
                for (std::size_t c = 0; c < work_.group_channels(); ++c) {
                    const float* const from = kernel + (tap * work_.group_channels() + c) * work_.filters +
                                              group_ * work_.group_filters();
                    own.insert(own.end(), from, from + work_.group_filters());
                }
            }
        }
        return own;
    }

    /// Writes the elements under the taps of a window; those outside the image are 0.
    void gather(const float* images, std::size_t window, float* to) const {
        const std::size_t channels = work_.group_channels();
        const WindowPlace place = place_of(window);
        const float* const image = images + place.image * work_.image_elements() + group_ * channels;
        for (const std::uint32_t row_tap : rows_.taps) {
            const std::int64_t y = work_.rows.place_of(place.row, row_tap) / work_.rows.spread;
            for (const std::uint32_t column_tap : columns_.taps) {
                const std::int64_t x =
                    work_.columns.place_of(place.column, column_tap) / work_.columns.spread;
                const bool is_inside = y >= 0 && y < work_.rows.pixels && x >= 0 && x < work_.columns.pixels;
                if (is_inside) {
                    const auto pixel = static_cast<std::size_t>(y * work_.columns.pixels + x);
                    std::copy_n(image + pixel * work_.channels, channels, to);
                } else {
                    std::fill_n(to, channels, 0.0F);
                }
                to += channels;
            }
        }
    }

    std::size_t result_offset(std::size_t window) const {
        const WindowPlace place = place_of(window);
        const std::size_t pixel = std::size_t{place.row} * work_.columns.outputs + place.column;
        const std::size_t pixels = std::size_t{work_.rows.outputs} * work_.columns.outputs;
        return (place.image * pixels + pixel) * work_.filters + group_ * work_.group_filters();
    }

    const WordConvolutionWork& work_;
    const TapPhase& rows_;
    const TapPhase& columns_;
    std::size_t group_;
};

ir::AttributeDeclaration spread_attribute(const char* name, const char* meaning) {
    return {.name = name,
            .meaning = meaning,
            .absent = std::int64_t{1},
            .minimum = 1,
            .maximum = std::numeric_limits<std::uint32_t>::max()};
}

class WordConvolution final : public Operator {
public:
    std::string_view name() const override { return "word_convolution"; }
    std::string_view summary() const override {
        return "The two-dimensional convolution of images [image][height][width][channel] with a kernel "
               "[height][width][channel of the group][filter]; axes before these are broadcast by NumPy's "
               "rule. Both inputs may be computed or constants. A sum adds its products by line and column "
               "of "
               "the kernel, then channel. Elements outside the image are 0, and are multiplied as such; "
               "zeros "
               "that `spread_y` and `spread_x` put between pixels are left out of the sums.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = [] {
            std::vector<ir::AttributeDeclaration> list = ir::window_attributes();
            list.push_back({.name = "groups",
                            .meaning = "groups of channels; those of the result are the groups' in order",
                            .absent = std::int64_t{1},
                            .minimum = 1,
                            .maximum = std::numeric_limits<std::uint32_t>::max()});
            list.push_back(spread_attribute(
                "spread_y", "rows from one pixel to the next; between them, the image has rows of zeros"));
            list.push_back(spread_attribute(
                "spread_x",
                "columns from one pixel to the next; between them, the image has columns of zeros"));
            list.push_back(sum_tile_attribute());
            list.push_back(precision_attribute());
            return list;
        }();
        return declarations;
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const ir::Shape leading = broadcast_leading_axes(node, 2, image_set_axes);
        const WordConvolutionWork work = convolution_work(node);
        const std::array extents{static_cast<std::uint32_t>(work.images), work.rows.outputs,
                                 work.columns.outputs, static_cast<std::uint32_t>(work.filters)};
        return {with_leading_axes(leading, extents)};
    }
    DataType result_type(const ir::NodeView& /*node*/) const override { return DataType::Float32; }
    Placement placement() const override {
        return {.where = "matrix unit of a tensor core",
                .formats = "float32 and bfloat16; sums and results are float32"};
    }
    std::uint64_t macs(const ir::NodeView& node) const override {
        const WordConvolutionWork work = convolution_work(node);
        const std::uint64_t sets = node.output().shape.elements() / work.result_elements();
        return sets * work.images * met_taps(work.rows) * met_taps(work.columns) * work.group_channels() *
               work.filters;
    }

    bool takes_words() const override { return true; }
    void check_types(const ir::NodeView& node) const override { check_product_types(node); }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        copy_with_order(node, builder);
    }
    void compute(const TensorCall& call) const override { compute_on_words(*this, call); }
    void evaluate(const FloatCall& call) const override {
        const ir::NodeView& node = call.node;
        require_known_constants(node);
        const WordConvolutionWork work = convolution_work(node);
        const SumOrder order = sum_order(node.node());
        const std::vector<TapPhase> row_phases = phases_of(work.rows);
        const std::vector<TapPhase> column_phases = phases_of(work.columns);
        const std::vector<std::size_t> image_sets = leading_blocks(node, 0, image_set_axes);
        const std::vector<std::size_t> kernels = leading_blocks(node, 1, image_set_axes);
        float* to = call.output;
        for (std::uint32_t inference = 0; inference < call.batch; ++inference) {
            for (std::size_t i = 0; i < kernels.size(); ++i, to += work.result_elements()) {
                const float* const images = input_of_inference(call, 0, inference) +
                                            image_sets[i] * work.images * work.image_elements();
                const float* const kernel =
                    input_of_inference(call, 1, inference) + kernels[i] * work.kernel_elements();
                for (std::size_t group = 0; group < work.groups; ++group) {
                    for (const TapPhase& rows : row_phases) {
                        for (const TapPhase& columns : column_phases) {
                            PhaseProduct(work, rows, columns, group).compute(images, kernel, order, to);
                        }
                    }
                }
            }
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_word_convolution() {
    return std::make_unique<WordConvolution>();
}

}  // namespace systole::operators
