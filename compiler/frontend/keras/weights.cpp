#include "compiler/frontend/keras/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"

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

/// "dense/kernel:0" and "dense/kernel" are kernels; so is TensorFlow 1's "dense/kernel_1:0".
std::string_view role_of(std::string_view weight_name) {
    std::string_view role = weight_name.substr(weight_name.rfind('/') + 1);
    role = role.substr(0, role.find(':'));
    const std::size_t end = role.find_last_not_of("0123456789");
    const bool numbered = end != std::string_view::npos && end + 1 < role.size() && role[end] == '_';
    return numbered ? role.substr(0, end) : role;
}

}  // namespace

Hdf5Weights::Hdf5Weights(const Hdf5File& file) : file_(file) {
    if (!file.has_group(weights_group)) throw ModelError(fmt::format("it has no group {}", weights_group));
    for (std::string& name : name_list(file, weights_group, "layer_names")) layers_.insert(std::move(name));
}

std::vector<float> Hdf5Weights::read(const std::string& layer, const std::vector<std::string_view>& roles,
                                     const std::vector<std::uint64_t>& shape) const {
    const std::string_view wanted = roles.front();
    if (!layers_.contains(layer)) {
        throw ModelError(fmt::format("layer {}: the file has no weights for it", ir::quoted(layer)));
    }
    const std::string group = fmt::format("{}/{}", weights_group, layer);
    for (const std::string& name : name_list(file_, group, "weight_names")) {
        if (std::ranges::find(roles, role_of(name)) == roles.end()) continue;
        Array array = file_.read_floats(fmt::format("{}/{}", group, name));
        if (array.shape != shape) {
            throw ModelError(fmt::format("layer {}: its {} is [{}]; by its configuration it must be [{}]",
                                         ir::quoted(layer), wanted, ir::joined(array.shape),
                                         ir::joined(shape)));
        }
        return std::move(array.values);
    }
    throw ModelError(fmt::format("layer {}: the file has no {} for it", ir::quoted(layer), wanted));
}

}  // namespace systole::frontend
