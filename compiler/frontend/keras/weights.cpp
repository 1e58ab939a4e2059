#include "compiler/frontend/keras/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/message_text.h"
#include "compiler/frontend/keras/quantized_kernel.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

constexpr const char* weights_group = "model_weights";

/// Reads a list of names; lists too long for one attribute are split into name0, name1, ...
std::vector<std::string> name_list(const Hdf5File& file, const std::string& group,
                                   const std::string& attribute) {
    if (!file.has_attribute(group, attribute + "0")) return file.text_list_attribute(group, attribute);
    std::vector<std::string> names;
    for (std::size_t i = 0; file.has_attribute(group, fmt::format("{}{}", attribute, i)); ++i) {
        const auto part = file.text_list_attribute(group, fmt::format("{}{}", attribute, i));
        names.insert(names.end(), part.begin(), part.end());
    }
    return names;
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// TensorFlow 1 adds numbers to names that are taken: "kernel_1" is a kernel.
std::string_view without_number(std::string_view name) {
    const std::size_t end = name.find_last_of('_');
    return end != std::string_view::npos && end > 0 && is_number(name.substr(end + 1)) ? name.substr(0, end)
                                                                                       : name;
}

/// "model/dense/kernel:0" in two: the layer, with the models around it, and the role.
struct WeightName {
    explicit WeightName(std::string_view name) {
        role = name.substr(0, name.rfind(':'));
        const std::size_t end = role.rfind('/');
        if (end == std::string_view::npos) return;
        layer = role.substr(0, end);
        role.remove_prefix(end + 1);
    }

    std::string_view layer;
    std::string_view role;
};

/// What Keras 1 writes for a role behind the layer's name: "convolution2d_1_W".
std::string_view keras_1_role(std::string_view role) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> names{
        {{"kernel", "W"},
         {"bias", "b"},
         {"moving_mean", "running_mean"},
         // It holds the variance, whatever its name.
         {"moving_variance", "running_std"},
         {"alpha", "alphas"}}};
    const auto* const found =
        std::ranges::find(names, role, &std::pair<std::string_view, std::string_view>::first);
    return found == names.end() ? role : found->second;
}

bool has_role(std::string_view name, std::string_view role) {
    if (without_number(name) == role) return true;
    const std::string_view former = keras_1_role(role);
    return name.size() > former.size() && name.ends_with(former) &&
           name[name.size() - former.size() - 1] == '_';
}

/// How well a weight's name fits the place of its layer in a nested model: 0 if not at all, and more for each
/// name of a model around the layer that it has.
std::size_t fit_of(const WeightName& name, const std::vector<LayerStep>& steps) {
    // Keras 1: "dense_1_W".
    if (name.layer.empty()) return name.role.starts_with(steps.back().name + "_") ? 1 : 0;
    std::size_t fit = 0;
    std::string place;
    for (std::size_t i = 1; i <= steps.size(); ++i) {
        if (!place.empty()) place.insert(0, "/");
        place.insert(0, steps[steps.size() - i].name);
        if (name.layer == place) return 2 * i + 1;
        if (name.layer.ends_with("/" + place)) fit = 2 * i;
    }
    return fit;
}

/// The same for a layer that TimeDistributed applies: Keras 2 leaves its name out.
std::size_t fit_with_wrappers(const WeightName& name, const std::vector<LayerStep>& steps) {
    std::vector<LayerStep> outer;
    for (const LayerStep& step : steps) {
        if (step.group.empty()) outer.push_back(step);
    }
    const std::size_t fit = fit_of(name, steps);
    return outer.size() == steps.size() ? fit : std::max(fit, fit_of(name, outer));
}

/// Takes the owner of a weight off the end of the layer that its name has: "attention/query" becomes
/// "attention". False if it has another owner.
bool take_owner(WeightName& name, const std::vector<std::string_view>& owner) {
    if (owner.empty()) return true;
    const std::size_t end = name.layer.rfind('/');
    const std::string_view last = name.layer.substr(end == std::string_view::npos ? 0 : end + 1);
    const auto is_named = [&](std::string_view one) { return one == last || one == without_number(last); };
    if (std::ranges::none_of(owner, is_named)) return std::ranges::count(owner, std::string_view()) > 0;
    name.layer = name.layer.substr(0, end == std::string_view::npos ? 0 : end);
    return true;
}

void check_shape(const KerasLayer& layer, const WantedWeight& wanted,
                 const std::vector<std::uint64_t>& shape) {
    if (shape == wanted.shape) return;
    fail(layer, fmt::format("its {} is [{}]; by its configuration it must be [{}]", wanted.roles.front(),
                            joined(shape), joined(wanted.shape)));
}

/// A kernel [filter][input][place] as [place][input][filter].
void reverse_axes(Array& kernel, std::uint64_t places, std::uint64_t channels, std::uint64_t filters) {
    std::vector<float> values(kernel.values.size());
    const float* from = kernel.values.data();
    for (std::uint64_t filter = 0; filter < filters; ++filter) {
        for (std::uint64_t channel = 0; channel < channels; ++channel) {
            for (std::uint64_t place = 0; place < places; ++place) {
                values[(place * channels + channel) * filters + filter] = *from++;
            }
        }
    }
    kernel.values = std::move(values);
}

/// Keras 1 has a fourth axis of 1 in the kernels of one-dimensional convolutions: [length][1][input][filter],
/// or, in its first versions, [filter][input][length][1].
void modernize_kernel_1d(Array& kernel, const std::vector<std::uint64_t>& shape) {
    using Shape = std::vector<std::uint64_t>;
    if (shape.size() != 3) return;
    const std::uint64_t length = shape[0];
    const std::uint64_t channels = shape[1];
    const std::uint64_t filters = shape[2];
    if (kernel.shape == Shape{filters, channels, length, 1}) {
        reverse_axes(kernel, length, channels, filters);
    } else if (kernel.shape != Shape{length, 1, channels, filters}) {
        return;
    }
    kernel.shape = shape;
}

/// Keras 1 has the kernels of convolutions on [channels, height, width] as [filter][input][row][column].
void modernize_kernel_2d(Array& kernel, const std::vector<std::uint64_t>& shape) {
    if (shape.size() != 4) return;
    if (kernel.shape != std::vector<std::uint64_t>{shape[3], shape[2], shape[0], shape[1]}) return;
    reverse_axes(kernel, shape[0] * shape[1], shape[2], shape[3]);
    kernel.shape = shape;
}

bool is_channels_first(const KerasLayer& layer) {
    const auto format = layer.config.find("data_format");
    return format != layer.config.end() && *format == "channels_first";
}

/// Turns each window of a kernel by 180 degrees.
void flip_kernel(Array& kernel) {
    const std::size_t rank = kernel.shape.size();
    if (rank < 3) return;
    const std::uint64_t block = kernel.shape[rank - 1] * kernel.shape[rank - 2];
    if (block == 0) return;
    const std::uint64_t blocks = kernel.values.size() / block;
    for (std::uint64_t i = 0; i < blocks / 2; ++i) {
        std::swap_ranges(kernel.values.begin() + static_cast<std::ptrdiff_t>(i * block),
                         kernel.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * block),
                         kernel.values.begin() + static_cast<std::ptrdiff_t>((blocks - 1 - i) * block));
    }
}

/// Keras' own rule: "DepthwiseConv2D" becomes "depthwise_conv2d".
std::string snake_case(std::string_view class_name) {
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    // First a line before each capital that a small letter follows, then between small letter and capital.
    std::string words;
    for (std::size_t i = 0; i < class_name.size();) {
        const bool begins =
            i > 0 && i + 1 < class_name.size() && is_upper(class_name[i]) && is_lower(class_name[i + 1]);
        if (begins) words += '_';
        words += class_name[i++];
    }
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0 && is_lower(words[i - 1]) && is_upper(words[i])) text += '_';
        text += is_upper(words[i]) ? static_cast<char>(words[i] - 'A' + 'a') : words[i];
    }
    return text;
}

}  // namespace

Hdf5Weights::Hdf5Weights(const Hdf5File& file) : file_(file) {
    if (!file.has_group(weights_group)) throw ModelError(fmt::format("it has no group {}", weights_group));
    for (std::string& name : name_list(file, weights_group, "layer_names")) layers_.insert(std::move(name));
    is_keras_1_ = !file.has_attribute("/", "keras_version") ||
                  file.text_attribute("/", "keras_version").starts_with("1.");
    // Theano turns the kernel of a convolution, all other backends do not.
    kernels_are_flipped_ =
        file.has_attribute("/", "backend") && file.text_attribute("/", "backend") == "theano";
}

std::string Hdf5Weights::find(const KerasLayer& layer, const std::vector<std::string_view>& roles,
                              const std::vector<std::string_view>& owner) const {
    const std::string& own = layer.steps.front().name;
    if (!layers_.contains(own)) fail(layer, "the file has no weights for it");
    const std::string group = fmt::format("{}/{}", weights_group, own);
    const bool is_nested = layer.steps.size() > 1;
    std::optional<std::string> best;
    std::size_t best_fit = 0;
    bool is_clear = true;
    for (const std::string& text : name_list(file_, group, "weight_names")) {
        WeightName name(text);
        const auto matches = [&](std::string_view role) { return has_role(name.role, role); };
        if (std::ranges::none_of(roles, matches) || !take_owner(name, owner)) continue;
        const std::size_t fit = is_nested ? fit_with_wrappers(name, layer.steps) : 0;
        if (best && fit == best_fit && is_nested) is_clear = false;
        if (best && fit <= best_fit) continue;
        if (is_nested && fit == 0) continue;
        best = fmt::format("{}/{}", group, text);
        best_fit = fit;
        is_clear = true;
    }
    if (!best) fail(layer, fmt::format("the file has no {} for it", roles.front()));
    if (!is_clear) {
        fail(layer, fmt::format("the file has several weights that may be its {}", roles.front()));
    }
    return *best;
}

std::vector<float> Hdf5Weights::read(const KerasLayer& layer, const WantedWeight& wanted) const {
    if (wanted.number == 0 && !quantization_mode(layer).empty()) {
        return read_quantized_kernel(file_, layer, wanted,
                                     [&](std::string_view role, std::size_t /*number*/) {
                                         return std::optional(find(layer, {role}, wanted.owner));
                                     });
    }
    Array array = file_.read_floats(find(layer, wanted.roles, wanted.owner));
    const std::string_view class_name = layer.class_name;
    const bool is_kernel = wanted.roles.front() == "kernel";
    if (is_keras_1_ && is_kernel && class_name == "Conv1D") modernize_kernel_1d(array, wanted.shape);
    if (is_keras_1_ && is_kernel && class_name == "Conv2D" && is_channels_first(layer)) {
        modernize_kernel_2d(array, wanted.shape);
    }
    check_shape(layer, wanted, array.shape);
    const bool is_convolution =
        class_name == "Conv1D" || class_name == "Conv2D" || class_name == "Conv2DTranspose";
    if (kernels_are_flipped_ && is_kernel && is_convolution) flip_kernel(array);
    return std::move(array.values);
}

const std::map<std::string, CheckpointWeights::Numbered, std::less<>>& CheckpointWeights::groups_in(
    const std::string& parent) const {
    const auto [entry, is_new] = groups_.try_emplace(parent);
    if (!is_new) return entry->second;
    for (const std::string& child : names_.children(parent)) {
        entry->second[child].emplace_back(0, child);
        const std::string_view name = without_number(child);
        if (name == child) continue;
        constexpr std::size_t most_digits = 9;
        const std::string_view number = std::string_view(child).substr(name.size() + 1);
        if (number.size() > most_digits) continue;
        entry->second[std::string(name)].emplace_back(std::stoul(std::string(number)), child);
    }
    for (auto& [name, groups] : entry->second) std::ranges::sort(groups);
    return entry->second;
}

std::string CheckpointWeights::group_of(const KerasLayer& layer,
                                        const std::vector<std::string_view>& owner) const {
    std::string group;
    for (const LayerStep& step : layer.steps) {
        if (!step.group.empty()) {
            group += step.group + "/";
            continue;
        }
        const bool has_other_name = step.class_name == "GroupQueryAttention";
        const std::string name = snake_case(has_other_name ? "GroupedQueryAttention" : step.class_name);
        std::optional<std::string> found;
        for (const char* const list : {"layers", "_layer_checkpoint_dependencies"}) {
            const std::string parent = group + list;
            const auto& groups = groups_in(parent);
            const auto of_class = groups.find(name);
            if (of_class == groups.end() || of_class->second.size() != step.count) continue;
            found = fmt::format("{}/{}", parent, of_class->second[step.position].second);
            break;
        }
        if (!found) fail(layer, "the file has no weights for it");
        group = *found + "/";
    }
    for (const std::string_view name : owner) {
        std::string variables = fmt::format("{}{}{}vars", group, name, name.empty() ? "" : "/");
        if (!names_.children(variables).empty()) return variables;
    }
    if (!owner.empty()) fail(layer, fmt::format("the file has no weights for its {}", owner.front()));
    return group + "vars";
}

std::vector<float> CheckpointWeights::read(const KerasLayer& layer, const WantedWeight& wanted) const {
    const std::string group = group_of(layer, wanted.owner);
    const auto variable = [&](std::size_t number) {
        return names_.dataset(fmt::format("{}/{}", group, number));
    };
    if (wanted.number == 0 && !quantization_mode(layer).empty()) {
        return read_quantized_kernel(
            file_, layer, wanted,
            [&](std::string_view /*role*/, std::size_t number) { return variable(number); });
    }
    const std::optional<std::string> dataset = variable(wanted.number);
    if (!dataset) fail(layer, fmt::format("the file has no {} for it", wanted.roles.front()));
    Array array = file_.read_floats(*dataset);
    check_shape(layer, wanted, array.shape);
    return std::move(array.values);
}

}  // namespace systole::frontend
