#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/frontend/keras/hdf5_file.h"
#include "compiler/frontend/keras/model_config.h"
#include "compiler/frontend/keras/names_in_file.h"

namespace systole::frontend {

/// A weight that a layer wants.
struct WantedWeight {
    /// The names that it may have: "kernel", "bias", ...; versions of Keras use different ones.
    const std::vector<std::string_view>& roles;
    std::size_t number = 0;  ///< among the weights of its owner, in the order in which Keras makes them
    const std::vector<std::uint64_t>& shape;
    /// The names that the part of the layer may have to which it belongs; none: the layer itself.
    std::vector<std::string_view> owner = {};
};

/// The source of the layers' weights.
class WeightSource {
public:
    virtual ~WeightSource() = default;

    /// A weight of this shape. Throws ModelError.
    virtual std::vector<float> read(const KerasLayer& layer, const WantedWeight& wanted) const = 0;
};

/// The weights in the group model_weights of a Keras .h5 file. An attribute lists the model's own layers, and
/// an attribute of each layer's group lists its weights, or those of all layers of a nested model.
class Hdf5Weights final : public WeightSource {
public:
    /// The file must outlive this object.
    explicit Hdf5Weights(const Hdf5File& file);

    std::vector<float> read(const KerasLayer& layer, const WantedWeight& wanted) const override;

private:
    std::string find(const KerasLayer& layer, const std::vector<std::string_view>& roles,
                     const std::vector<std::string_view>& owner) const;

    const Hdf5File& file_;
    std::set<std::string, std::less<>> layers_;
    bool is_keras_1_ = false;
    bool kernels_are_flipped_ = false;
};

/// The weights of a .keras file, in groups by class: the second Conv2D of a list of layers is in
/// layers/conv2d_1/vars, whatever its name, and its weights are 0, 1, ... there.
class CheckpointWeights final : public WeightSource {
public:
    /// The file must outlive this object.
    explicit CheckpointWeights(const Hdf5File& file) : file_(file), names_(file) {}

    std::vector<float> read(const KerasLayer& layer, const WantedWeight& wanted) const override;

private:
    /// Groups of a file in the order of their numbers: NAME, NAME_1, NAME_2, ..., of which some versions skip
    /// numbers.
    using Numbered = std::vector<std::pair<std::uint64_t, std::string>>;

    std::string group_of(const KerasLayer& layer, const std::vector<std::string_view>& owner) const;
    /// The groups in another one by NAME. Those of a file are asked for by each weight.
    const std::map<std::string, Numbered, std::less<>>& groups_in(const std::string& parent) const;

    const Hdf5File& file_;
    NamesInFile names_;
    mutable std::map<std::string, std::map<std::string, Numbered, std::less<>>> groups_;  ///< by parent
};

}  // namespace systole::frontend
