// Convolutions of images along any axes, with kernels that may be computed: one product, or one for each set
// of images, group of channels, and phase of windows between whose taps zeros are left out; then the results
// go to their places.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "compiler/ir/window.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/target/tensor_core/constant_words.h"
#include "compiler/target/tensor_core/network_builder.h"
#include "compiler/target/tensor_core/pixel_windows.h"

namespace systole::tensor_core {
namespace {

constexpr std::size_t image_set_axes = 4;  // images, height, width, channels

class ConvolutionBuilder {
public:
    ConvolutionBuilder(NetworkBuilder& builder, const ir::NodeView& view)
        : builder_(builder),
          view_(view),
          data_(view.input(0)),
          kernel_(view.input(1)),
          image_(operators::last_image(data_.shape)),
          output_(operators::last_image(view.output().shape)),
          images_(data_.shape[data_.shape.rank() - image_set_axes]),
          window_(ir::window_of(view.node())),
          groups_(static_cast<std::uint32_t>(view.node().integer("groups"))),
          passes_(builder.passes_of(view.node())) {}

    void build() {
        const std::vector<std::size_t> image_sets = operators::leading_blocks(view_, 0, image_set_axes);
        const std::vector<std::size_t> kernels = operators::leading_blocks(view_, 1, image_set_axes);
        const auto spread = [&](const char* name) {
            return static_cast<std::uint32_t>(view_.node().integer(name));
        };
        const std::vector<PixelWindows> lines = pixel_windows({.pixels = image_.height,
                                                               .spread = spread("spread_y"),
                                                               .kernel = window_.kernel_height,
                                                               .stride = window_.stride_y,
                                                               .pad = window_.pad_top,
                                                               .dilation = window_.dilation_y,
                                                               .outputs = output_.height});
        const std::vector<PixelWindows> columns = pixel_windows({.pixels = image_.width,
                                                                 .spread = spread("spread_x"),
                                                                 .kernel = window_.kernel_width,
                                                                 .stride = window_.stride_x,
                                                                 .pad = window_.pad_left,
                                                                 .dilation = window_.dilation_x,
                                                                 .outputs = output_.width});
        const bool is_whole = image_sets.size() == 1 && groups_ == 1 && lines.size() == 1 &&
                              columns.size() == 1 && lines[0].taps.size() == window_.kernel_height &&
                              columns[0].taps.size() == window_.kernel_width && lines[0].skipped == 0 &&
                              columns[0].skipped == 0;
        if (is_whole) {
            Step step =
                product(builder_.tensor_of(view_.node().inputs[0]),
                        builder_.weights_of(view_.node().inputs[1], passes_), lines[0], columns[0], image_);
            step.result = builder_.new_tensor(view_.node().output());
            builder_.set_value(view_.node().output(), std::move(step));
            return;
        }
        for (std::size_t set = 0; set < image_sets.size(); ++set) {
            for (const PixelWindows& line : lines) {
                for (const PixelWindows& column : columns) {
                    add_part({image_sets[set], kernels[set], set}, line, column);
                }
            }
        }
        const TensorId result = builder_.new_tensor(view_.node().output());
        builder_.add_move(parts_, std::move(moves_), result);
        builder_.set_value(view_.node().output(), result);
    }

private:
    /// Which images meet which kernel, and where the result belongs.
    struct ImageSet {
        std::size_t images = 0;
        std::size_t kernel = 0;
        std::size_t result = 0;
    };

    std::uint32_t group_channels() const { return image_.channels / groups_; }
    std::uint32_t group_filters() const { return output_.channels / groups_; }
    bool is_shared() const { return !view_.output().has_batch(); }

    /// Windows of a phase over an image, without a result.
    Step product(TensorId source, TensorId weights, const PixelWindows& lines, const PixelWindows& columns,
                 const ir::FeatureMap& image) const {
        Step step{.kind = StepKind::Product, .source = source, .weights = weights};
        step.passes = passes_;
        const ir::Window window{.kernel_height = static_cast<std::uint32_t>(lines.taps.size()),
                                .kernel_width = static_cast<std::uint32_t>(columns.taps.size()),
                                .stride_y = lines.stride,
                                .stride_x = columns.stride,
                                .pad_top = lines.pad,
                                .pad_left = columns.pad,
                                .dilation_y = lines.dilation,
                                .dilation_x = columns.dilation};
        const ir::FeatureMap output{static_cast<std::uint32_t>(lines.outputs.size()),
                                    static_cast<std::uint32_t>(columns.outputs.size()), group_filters()};
        const bool is_every_pixel =
            window == ir::Window{} && output.height == image.height && output.width == image.width;
        if (is_every_pixel) return step;
        step.window = window;
        step.inner_images = images_;
        step.image = image;
        step.output = output;
        return step;
    }

    /// The outputs of one phase in each direction, of all groups.
    void add_part(const ImageSet& set, const PixelWindows& lines, const PixelWindows& columns) {
        const std::uint64_t rows = images_ * lines.outputs.size() * columns.outputs.size();
        MovedRows moved;
        moved.rows.reserve(rows);
        for (std::uint64_t image = 0; image < images_; ++image) {
            for (const std::uint32_t y : lines.outputs) {
                for (const std::uint32_t x : columns.outputs) {
                    const std::uint64_t line = (set.result * images_ + image) * output_.height + y;
                    moved.rows.push_back(line * output_.width + x);
                }
            }
        }
        if (lines.taps.empty() || columns.taps.empty()) {
            moved.columns.push_back({.to = 0, .count = output_.channels, .source = Origin::none, .from = 0});
            moves_.push_back(std::move(moved));
            return;
        }
        for (std::uint32_t group = 0; group < groups_; ++group) {
            const ir::FeatureMap image{image_.height - lines.skipped, image_.width - columns.skipped,
                                       group_channels()};
            Step step = product(images_of(set.images, group, lines.skipped, columns.skipped),
                                weights_of(set.kernel, group, lines, columns), lines, columns, image);
            step.result = builder_.new_tensor(view_.node().name, {rows, group_filters()}, is_shared());
            moved.columns.push_back({.to = std::uint64_t{group} * group_filters(),
                                     .count = group_filters(),
                                     .source = static_cast<std::uint32_t>(parts_.size()),
                                     .from = 0,
                                     .rows = counted_rows(rows)});
            parts_.push_back(step.result);
            builder_.add_step(std::move(step));
        }
        moves_.push_back(std::move(moved));
    }

    /// The channels of a group of a set of images, without the first lines and columns of pixels.
    TensorId images_of(std::size_t set, std::uint32_t group, std::uint32_t lines, std::uint32_t columns) {
        const TensorId all = builder_.tensor_of(view_.node().inputs[0]);
        const std::uint64_t all_rows = builder_.tensor(all).rows;
        const std::uint64_t set_rows = images_ * image_.height * image_.width;
        if (all_rows == set_rows && groups_ == 1 && lines == 0 && columns == 0) return all;
        const auto [found, is_new] = cut_images_.try_emplace({set, group, lines, columns}, TensorId{});
        if (!is_new) return found->second;
        std::vector<std::uint64_t> from;
        for (std::uint64_t image = 0; image < images_; ++image) {
            for (std::uint32_t y = lines; y < image_.height; ++y) {
                for (std::uint32_t x = columns; x < image_.width; ++x)
                    from.push_back(((set * images_ + image) * image_.height + y) * image_.width + x);
            }
        }
        found->second =
            columns_of(all, std::move(from), std::uint64_t{group} * group_channels(), group_channels());
        return found->second;
    }

    /// The taps of a phase, for the filters of a group.
    TensorId weights_of(std::size_t kernel, std::uint32_t group, const PixelWindows& lines,
                        const PixelWindows& columns) {
        const bool has_all_taps =
            lines.taps.size() == window_.kernel_height && columns.taps.size() == window_.kernel_width;
        const std::uint64_t kernel_rows =
            std::uint64_t{window_.kernel_height} * window_.kernel_width * group_channels();
        const MatrixShape all = matrix_of(kernel_.shape);
        const ir::ValueId id = view_.node().inputs[1];
        if (has_all_taps && groups_ == 1 && all.rows == kernel_rows) return builder_.weights_of(id, passes_);
        const auto [found, is_new] =
            cut_kernels_.try_emplace({kernel, group, lines.taps.front(), columns.taps.front()}, TensorId{});
        if (!is_new) return found->second;
        std::vector<std::uint64_t> rows;
        for (const std::uint32_t y : lines.taps) {
            for (const std::uint32_t x : columns.taps) {
                const std::uint64_t tap = std::uint64_t{y} * window_.kernel_width + x;
                for (std::uint32_t channel = 0; channel < group_channels(); ++channel)
                    rows.push_back(kernel * kernel_rows + tap * group_channels() + channel);
            }
        }
        const std::uint64_t first = std::uint64_t{group} * group_filters();
        if (!kernel_.constant) {
            found->second = columns_of(builder_.tensor_of(id), std::move(rows), first, group_filters());
            return found->second;
        }
        std::vector<std::uint32_t> words;
        if (const std::vector<std::uint32_t> known = words_of(kernel_); !known.empty()) {
            words.reserve(rows.size() * group_filters());
            for (const std::uint64_t row : rows) {
                const auto begin = known.begin() + static_cast<std::ptrdiff_t>(row * all.columns + first);
                words.insert(words.end(), begin, begin + group_filters());
            }
        }
        found->second = builder_.new_constant(kernel_.name, {rows.size(), group_filters()}, std::move(words));
        builder_.tensor(found->second).is_weights = true;
        return found->second;
    }

    /// Some columns of some rows of a tensor.
    TensorId columns_of(TensorId source, std::vector<std::uint64_t> rows, std::uint64_t first,
                        std::uint64_t count) {
        const TensorId made = builder_.new_tensor(builder_.tensor(source).name, {rows.size(), count},
                                                  builder_.tensor(source).is_shared);
        MovedRows moved{.rows = counted_rows(rows.size()), .columns = {}};
        moved.columns.push_back(
            {.to = 0, .count = count, .source = 0, .from = first, .rows = std::move(rows)});
        builder_.add_move({source}, std::vector{std::move(moved)}, made);
        return made;
    }

    NetworkBuilder& builder_;
    const ir::NodeView& view_;
    const ir::Value& data_;
    const ir::Value& kernel_;
    const ir::FeatureMap image_;
    const ir::FeatureMap output_;
    const std::uint64_t images_;  ///< of a set
    const ir::Window window_;
    const std::uint32_t groups_;
    const std::vector<ProductPass> passes_;
    std::map<std::array<std::size_t, 4>, TensorId> cut_images_;
    std::map<std::array<std::size_t, 4>, TensorId> cut_kernels_;
    std::vector<TensorId> parts_;
    std::vector<MovedRows> moves_;
};

}  // namespace

void add_word_convolution(NetworkBuilder& builder, const ir::NodeView& view) {
    ConvolutionBuilder(builder, view).build();
}

}  // namespace systole::tensor_core
