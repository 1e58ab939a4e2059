// Convolutions of images along any axes, with kernels that may be computed: one product, or one for each set
// of images, group of channels, and phase of windows between whose taps zeros are left out; then the results
// go to their places.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/tap_phases.h"
#include "compiler/target/tensor_core/constant_words.h"
#include "compiler/target/tensor_core/network_builder.h"
#include "compiler/target/tensor_core/phase_windows.h"

namespace systole::tensor_core {
namespace {

using ir::NodeView;
using ir::Value;
using ir::ValueId;

constexpr std::size_t image_set_axes = 4;  // images, height, width, channels

/// Rows of a tensor along three axes, in their order.
struct RowGrid {
    std::uint64_t first = 0;
    std::array<std::uint64_t, 3> extents{};
    std::array<std::uint64_t, 3> apart{};

    std::uint64_t count() const { return extents[0] * extents[1] * extents[2]; }
    void for_each(const auto& visit) const {
        for (std::uint64_t x = 0; x < extents[0]; ++x) {
            for (std::uint64_t y = 0; y < extents[1]; ++y) {
                for (std::uint64_t z = 0; z < extents[2]; ++z)
                    visit(first + x * apart[0] + y * apart[1] + z * apart[2]);
            }
        }
    }
};

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
        const operators::SpreadWindows rows{.pixels = image_.height,
                                            .spread = spread("spread_y"),
                                            .kernel = window_.kernel_height,
                                            .stride = window_.stride_y,
                                            .pad = window_.pad_top,
                                            .dilation = window_.dilation_y,
                                            .outputs = output_.height};
        const operators::SpreadWindows pixels{.pixels = image_.width,
                                              .spread = spread("spread_x"),
                                              .kernel = window_.kernel_width,
                                              .stride = window_.stride_x,
                                              .pad = window_.pad_left,
                                              .dilation = window_.dilation_x,
                                              .outputs = output_.width};
        check_parts(operators::phase_count(rows) * operators::phase_count(pixels));
        const std::vector<PhaseWindows> lines = phase_windows(rows);
        const std::vector<PhaseWindows> columns = phase_windows(pixels);
        const bool is_whole = image_sets.size() == 1 && groups_ == 1 && lines.size() == 1 &&
                              columns.size() == 1 && lines[0].taps.size() == window_.kernel_height &&
                              columns[0].taps.size() == window_.kernel_width && lines[0].skipped == 0 &&
                              columns[0].skipped == 0;
        if (is_whole) {
            // Whether a row of the source is a line of pixels.
            const std::optional<TensorId> by_lines = source_by_lines(lines[0], columns[0]);
            Step step =
                product(by_lines ? *by_lines : builder_.tensor_of(view_.node().inputs[0]),
                        builder_.weights_of(view_.node().inputs[1], passes_), lines[0], columns[0], image_);
            step.reads_lines = by_lines.has_value();
            if (by_lines) builder_.tensor(step.source).is_moved = true;
            take_by_depth(step);
            step.result = builder_.new_tensor(view_.node().output());
            builder_.set_value(view_.node().output(), std::move(step));
            return;
        }
        for (std::size_t set = 0; set < image_sets.size(); ++set) {
            for (const PhaseWindows& line : lines) {
                for (const PhaseWindows& column : columns) {
                    add_part({image_sets[set], kernels[set], set}, line, column);
                }
            }
        }
        const TensorId result = builder_.new_tensor(view_.node().output());
        builder_.add_movement(parts_, std::move(movement_), result);
        builder_.set_value(view_.node().output(), result);
    }

private:
    /// Windows that meet other taps of the kernel are a part of their own: a product, or zeros. A million
    /// parts are listed in seconds, and no network is known that has a thousandth of them.
    static void check_parts(std::uint64_t parts) {
        constexpr std::uint64_t most_parts = std::uint64_t{1} << 20;
        if (parts <= most_parts) return;
        throw ModelError(fmt::format(
            "the zeros between the pixels of its image make {} parts of its result on a tensor core, each of "
            "windows that meet other taps; at most {} are possible",
            parts, most_parts));
    }

    /// Which images meet which kernel, and where the result belongs.
    struct ImageSet {
        std::size_t images = 0;
        std::size_t kernel = 0;
        std::size_t result = 0;
    };

    std::uint32_t group_channels() const { return image_.channels / groups_; }
    std::uint32_t group_filters() const { return output_.channels / groups_; }
    bool is_shared() const { return !view_.output().has_batch(); }

    /// Whether each output is made of the pixel at its place.
    bool is_every_pixel(const PhaseWindows& lines, const PhaseWindows& columns,
                        const ir::FeatureMap& image) const {
        return window_of(lines, columns) == ir::Window{} && lines.outputs.size() == image.height &&
               columns.outputs.size() == image.width;
    }
    static ir::Window window_of(const PhaseWindows& lines, const PhaseWindows& columns) {
        return {.kernel_height = static_cast<std::uint32_t>(lines.taps.size()),
                .kernel_width = static_cast<std::uint32_t>(columns.taps.size()),
                .stride_y = lines.stride,
                .stride_x = columns.stride,
                .pad_top = lines.pad,
                .pad_left = columns.pad,
                .dilation_y = lines.dilation,
                .dilation_x = columns.dilation};
    }

    /// The images as lines of pixels, if they lie so and windows read them.
    std::optional<TensorId> source_by_lines(const PhaseWindows& lines, const PhaseWindows& columns) const {
        if (image_.width == 1 || is_every_pixel(lines, columns, image_) || data_.has_batch() == is_shared())
            return std::nullopt;
        return builder_.reshaped_from(
            view_.node().inputs[0], {images_ * image_.height, std::uint64_t{image_.width} * image_.channels});
    }

    /// Windows of a phase over an image, without a result.
    Step product(TensorId source, TensorId weights, const PhaseWindows& lines, const PhaseWindows& columns,
                 const ir::FeatureMap& image) const {
        Step step{.kind = StepKind::Product, .source = source, .weights = weights};
        step.passes = passes_;
        if (is_every_pixel(lines, columns, image)) return step;
        const ir::Window window = window_of(lines, columns);
        const ir::FeatureMap output{static_cast<std::uint32_t>(lines.outputs.size()),
                                    static_cast<std::uint32_t>(columns.outputs.size()), group_filters()};
        step.window = window;
        step.inner_images = images_;
        step.image = image;
        step.output = output;
        return step;
    }

    /// A kernel that is larger than the result comes in line by line, if cuts of the sums do not cross lines,
    /// and there is room for a line and the sums of an image. Lines of images are then read from
    /// high-bandwidth memory.
    void take_by_depth(Step& step) const {
        if (!step.window || step.reads_lines || kernel_.constant) return;
        const ir::Window& window = *step.window;
        const std::uint64_t line_depth = window.kernel_width * std::uint64_t{step.image.channels};
        if (window.kernel_height <= step.output.height || line_depth % builder_.array_rows() != 0) return;
        const std::uint64_t lines = std::min<std::uint64_t>(
            (step.output.height - 1) * std::uint64_t{window.stride_y} + 1, step.image.height);
        const std::uint64_t pixels = std::uint64_t{step.output.height} * step.output.width;
        // Words beside packed rows; and sums, what a chain reads with them, and the packed result.
        const std::uint64_t of_line = 2 * lines * step.image.width * builder_.panels(step.image.channels) +
                                      line_depth * builder_.panels(step.output.channels);
        const std::uint64_t of_sums = 3 * pixels * builder_.panels(step.output.channels);
        step.by_depth = of_line + of_sums <= builder_.vector_rows() / 4 * 3;
        if (step.by_depth) builder_.tensor(step.source).is_moved = true;
    }

    /// The outputs of one phase in each direction, of all groups.
    void add_part(const ImageSet& set, const PhaseWindows& lines, const PhaseWindows& columns) {
        const std::uint64_t height = lines.outputs.size();
        const std::uint64_t width = columns.outputs.size();
        const std::uint64_t rows = images_ * height * width;
        RowBox box{.row = (set.result * images_ * output_.height + lines.outputs.front()) * output_.width +
                          columns.outputs.front(),
                   .extents = {images_, height, width},
                   .apart = {std::uint64_t{output_.height} * output_.width,
                             apart_in(lines.outputs) * output_.width, apart_in(columns.outputs)}};
        if (lines.taps.empty() || columns.taps.empty()) {
            box.columns.push_back({.count = output_.channels});
            movement_.boxes.push_back(std::move(box));
            return;
        }
        for (std::uint32_t group = 0; group < groups_; ++group) {
            const ir::FeatureMap image{image_.height - lines.skipped, image_.width - columns.skipped,
                                       group_channels()};
            Step step = product(images_of(set.images, group, lines.skipped, columns.skipped),
                                weights_of(set.kernel, group, lines, columns), lines, columns, image);
            take_by_depth(step);
            step.result = builder_.new_tensor(view_.node().name, {rows, group_filters()}, is_shared());
            box.columns.push_back({.to = std::uint64_t{group} * group_filters(),
                                   .count = group_filters(),
                                   .source = static_cast<std::uint32_t>(parts_.size()),
                                   .apart = signed_numbers({height * width, width, 1})});
            parts_.push_back(step.result);
            builder_.add_step(std::move(step));
        }
        movement_.boxes.push_back(std::move(box));
    }

    /// How far equally distant numbers are apart.
    static std::uint64_t apart_in(const std::vector<std::uint32_t>& numbers) {
        return numbers.size() < 2 ? 1 : numbers[1] - numbers[0];
    }
    static std::vector<std::int64_t> signed_numbers(std::initializer_list<std::uint64_t> numbers) {
        return {numbers.begin(), numbers.end()};
    }

    /// The channels of a group of a set of images, without the first lines and columns of pixels.
    TensorId images_of(std::size_t set, std::uint32_t group, std::uint32_t lines, std::uint32_t columns) {
        const TensorId all = builder_.tensor_of(view_.node().inputs[0]);
        const std::uint64_t all_rows = builder_.tensor(all).rows;
        const std::uint64_t set_rows = images_ * image_.height * image_.width;
        if (all_rows == set_rows && groups_ == 1 && lines == 0 && columns == 0) return all;
        const auto [found, is_new] = cut_images_.try_emplace({set, group, lines, columns}, TensorId{});
        if (!is_new) return found->second;
        const std::uint64_t image_rows = std::uint64_t{image_.height} * image_.width;
        found->second = columns_of(all,
                                   {.first = set * set_rows + std::uint64_t{lines} * image_.width + columns,
                                    .extents = {images_, image_.height - lines, image_.width - columns},
                                    .apart = {image_rows, image_.width, 1}},
                                   std::uint64_t{group} * group_channels(), group_channels());
        return found->second;
    }

    /// The taps of a phase, for the filters of a group.
    TensorId weights_of(std::size_t kernel, std::uint32_t group, const PhaseWindows& lines,
                        const PhaseWindows& columns) {
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
        const std::uint64_t line_rows = std::uint64_t{window_.kernel_width} * group_channels();
        const RowGrid rows{
            .first = kernel * kernel_rows + lines.taps.front() * line_rows +
                     std::uint64_t{columns.taps.front()} * group_channels(),
            .extents = {lines.taps.size(), columns.taps.size(), group_channels()},
            .apart = {apart_in(lines.taps) * line_rows, apart_in(columns.taps) * group_channels(), 1}};
        const std::uint64_t first = std::uint64_t{group} * group_filters();
        if (!kernel_.constant) {
            found->second = columns_of(builder_.tensor_of(id), rows, first, group_filters());
            return found->second;
        }
        std::vector<std::uint32_t> words;
        if (const std::vector<std::uint32_t> known = words_of(kernel_); !known.empty()) {
            words.reserve(rows.count() * group_filters());
            rows.for_each([&](std::uint64_t row) {
                const auto begin = known.begin() + static_cast<std::ptrdiff_t>(row * all.columns + first);
                words.insert(words.end(), begin, begin + group_filters());
            });
        }
        found->second =
            builder_.new_constant(kernel_.name, {rows.count(), group_filters()}, std::move(words));
        builder_.tensor(found->second).is_weights = true;
        return found->second;
    }

    /// Some columns of some rows of a tensor, which follow each other in the result.
    TensorId columns_of(TensorId source, const RowGrid& rows, std::uint64_t first, std::uint64_t count) {
        const TensorId made = builder_.new_tensor(builder_.tensor(source).name, {rows.count(), count},
                                                  builder_.tensor(source).is_shared);
        const auto [images, lines, columns] = rows.extents;
        RowBox box{.extents = {images, lines, columns}, .apart = {lines * columns, columns, 1}};
        box.columns.push_back({.count = count,
                               .source = 0,
                               .from = first,
                               .row = rows.first,
                               .apart = {rows.apart.begin(), rows.apart.end()}});
        builder_.add_movement({source}, {.boxes = {std::move(box)}}, made);
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
    Movement movement_;
};

}  // namespace

void add_word_convolution(NetworkBuilder& builder, const ir::NodeView& view) {
    ConvolutionBuilder(builder, view).build();
}

void NetworkBuilder::add_convolution(const NodeView& view) {
    const ir::Node& node = view.node();
    if (node.integer("groups") > 1) return add_groups(view);
    Step step;
    step.source = tensor_of(node.inputs[0]);
    const ir::Window window = ir::window_of(node);
    if (window != ir::Window{}) {
        step.window = window;
        step.reads_lines = side_by_side_.contains(node.inputs[0]);
        step.image = view.input_map();
        step.output = view.output_map();
    }
    add_product(view, std::move(step));
}

void NetworkBuilder::add_groups(const NodeView& view) {
    const ir::Node& node = view.node();
    const auto groups = static_cast<std::uint64_t>(node.integer("groups"));
    const ir::FeatureMap image = view.input_map();
    const ir::FeatureMap output = view.output_map();
    const Value* const weights = view.constant(0);
    if (view.parameter(1) != nullptr) throw std::logic_error("a product with a bias");
    const std::uint64_t channels = image.channels / groups;
    const std::uint64_t filters = output.channels / groups;
    const MatrixShape all = matrix_of(weights->shape);
    const std::vector<std::uint32_t> all_words = words_of(*weights);
    const TensorId source = tensor_of(node.inputs[0]);
    const bool is_shared = !view.output().has_batch();
    std::vector<TensorId> results;
    const std::uint64_t rows = matrix_of(view.output().shape).rows;
    RowBox joined = all_rows(rows);
    for (std::uint64_t group = 0; group < groups; ++group) {
        Step step{.kind = StepKind::Product};
        step.source = columns_of(source, group * channels, channels);
        std::vector<std::uint32_t> words;
        if (!all_words.empty()) {
            for (std::uint64_t row = 0; row < all.rows; ++row) {
                const auto first =
                    all_words.begin() + static_cast<std::ptrdiff_t>(row * all.columns + group * filters);
                words.insert(words.end(), first, first + static_cast<std::ptrdiff_t>(filters));
            }
        }
        step.weights = new_constant(weights->name, {all.rows, filters}, std::move(words));
        tensor(step.weights).is_weights = true;
        step.passes = passes_of(node);
        step.window = ir::window_of(node);
        step.image = {image.height, image.width, static_cast<std::uint32_t>(channels)};
        step.output = {output.height, output.width, static_cast<std::uint32_t>(filters)};
        step.result = new_tensor(node.name, {rows, filters}, is_shared);
        results.push_back(step.result);
        add_step(std::move(step));
        joined.columns.push_back({.to = group * filters,
                                  .count = filters,
                                  .source = static_cast<std::uint32_t>(group),
                                  .apart = {1}});
    }
    const TensorId made = new_tensor(node.output());
    add_movement(results, {.boxes = {std::move(joined)}}, made);
    tensors_.emplace(node.output(), made);
}

void NetworkBuilder::add_depthwise(const NodeView& view) {
    const ir::Node& node = view.node();
    if (node.integer("in_order") == 0) throw std::logic_error("a depthwise convolution in any order");
    if (view.parameter(1) != nullptr) throw std::logic_error("a product with a bias");
    Step step{.kind = StepKind::Depthwise};
    step.window = ir::window_of(node);
    step.image = view.input_map();
    step.output = view.output_map();
    step.source = tensor_of(node.inputs[0]);
    const std::uint32_t multiplier = step.output.channels / step.image.channels;
    if (multiplier > 1) step.source = repeated_channels(step.source, multiplier);
    step.image.channels = step.output.channels;
    static_cast<void>(view.constant(0));  // throws if a layer computes the weights
    step.weights = tensor_of(node.inputs[view.data_inputs()]);
    step.result = new_tensor(node.output());
    tensors_.emplace(node.output(), step.result);
    finish_value(node.output(), std::move(step));
}

TensorId NetworkBuilder::repeated_channels(TensorId source, std::uint32_t times) {
    const std::uint64_t columns = tensor(source).columns * times;
    const TensorId made =
        new_tensor(tensor(source).name, {tensor(source).rows, columns}, tensor(source).is_shared);
    RowBox box = all_rows(tensor(source).rows);
    for (std::uint64_t column = 0; column < columns; ++column)
        box.columns.push_back({.to = column, .source = 0, .from = column / times, .apart = {1}});
    add_movement({source}, {.boxes = {std::move(box)}}, made);
    return made;
}

}  // namespace systole::tensor_core
