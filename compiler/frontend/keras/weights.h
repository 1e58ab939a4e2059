#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/keras/hdf5_file.h"

namespace systole::frontend {

/// The source of the layers' weights.
class WeightSource {
public:
    virtual ~WeightSource() = default;

    /// The weight of a layer with one of these roles ("kernel", "bias", ...; versions of Keras use different
    /// names). It must have this shape. Throws ModelError.
    virtual std::vector<float> read(const std::string& layer, const std::vector<std::string_view>& roles,
                                    const std::vector<std::uint64_t>& shape) const = 0;
};

/// The weights in the group model_weights of a Keras HDF5 file. An attribute lists the layers, and an
/// attribute of each layer's group lists its weights.
class Hdf5Weights final : public WeightSource {
public:
    /// The file must outlive this object.
    explicit Hdf5Weights(const Hdf5File& file);

    std::vector<float> read(const std::string& layer, const std::vector<std::string_view>& roles,
                            const std::vector<std::uint64_t>& shape) const override;

private:
    const Hdf5File& file_;
    std::set<std::string> layers_;
};

}  // namespace systole::frontend
