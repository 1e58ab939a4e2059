#pragma once

#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "compiler/frontend/keras/hdf5_file.h"

namespace systole::tests {

/// The ways in which a file stores its texts; h5py writes both.
enum class TextKind : std::uint8_t { Fixed, Variable };

/// A file that exists until the test ends.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& name)
        : directory_(std::filesystem::temp_directory_path() / ("systole_test_" + std::to_string(getpid()))),
          path_(directory_ / name) {
        std::filesystem::create_directories(directory_);
    }
    ~TemporaryFile() {
        std::filesystem::remove_all(path_);
        std::error_code others_are_there;
        std::filesystem::remove(directory_, others_are_there);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void write(const std::string& bytes) const {
        std::filesystem::create_directories(directory_);
        std::ofstream(path_, std::ios::binary) << bytes;
    }
    std::string bytes() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

private:
    std::filesystem::path directory_;
    std::filesystem::path path_;
};

/// A weight as it goes into a file.
struct StoredWeight {
    std::string name;  ///< "conv2d/kernel:0"
    std::vector<hsize_t> shape;
    std::vector<double> values;
    hid_t type = H5T_IEEE_F32LE;
    bool packed = false;  ///< compressed
};

/// A Keras model in an HDF5 file.
struct KerasFile {
    std::string model_config;
    std::map<std::string, std::vector<StoredWeight>> layers;
    TextKind texts = TextKind::Fixed;
    /// Texts beside the model: keras_version, backend.
    std::map<std::string, std::string> about = {};
    /// Largest number of names in a list attribute; longer lists are split into name0, name1, ...
    std::size_t names_per_attribute = 1000;

    void write(const std::filesystem::path& path) const {
        const frontend::SilencedHdf5 silenced;
        const frontend::Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                                        H5Fclose);
        if (!model_config.empty()) write_texts(file.get(), "model_config", {model_config}, true);
        for (const auto& [name, text] : about) write_texts(file.get(), name, {text}, true);
        const frontend::Hdf5Handle group(create_group(file.get(), "model_weights"), H5Gclose);
        std::vector<std::string> names;
        for (const auto& [layer, weights] : layers) {
            names.push_back(layer);
            const frontend::Hdf5Handle layer_group(create_group(group.get(), layer), H5Gclose);
            std::vector<std::string> weight_names;
            for (const StoredWeight& weight : weights) {
                weight_names.push_back(weight.name);
                write_weight(layer_group.get(), weight);
            }
            write_names(layer_group.get(), "weight_names", weight_names);
        }
        write_names(group.get(), "layer_names", names);
    }

    static void write_weight(hid_t group, const StoredWeight& weight) {
        const auto rank = static_cast<int>(weight.shape.size());
        const frontend::Hdf5Handle space(H5Screate_simple(rank, weight.shape.data(), nullptr), H5Sclose);
        const frontend::Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
        H5Pset_create_intermediate_group(links.get(), 1);
        const frontend::Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        constexpr unsigned compression = 6;
        if (weight.packed) {
            std::vector<hsize_t> chunk = weight.shape;
            for (hsize_t& extent : chunk) extent = std::min<hsize_t>(extent, 16);
            H5Pset_chunk(creation.get(), rank, chunk.data());
            H5Pset_deflate(creation.get(), compression);
        }
        const frontend::Hdf5Handle dataset(H5Dcreate2(group, weight.name.c_str(), weight.type, space.get(),
                                                      links.get(), creation.get(), H5P_DEFAULT),
                                           H5Dclose);
        if (!weight.values.empty()) {
            H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, weight.values.data());
        }
    }

private:
    static hid_t create_group(hid_t parent, const std::string& name) {
        return H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    }

    void write_names(hid_t group, const std::string& attribute, const std::vector<std::string>& names) const {
        if (names.size() <= names_per_attribute) return write_texts(group, attribute, names, false);
        for (std::size_t i = 0; i * names_per_attribute < names.size(); ++i) {
            const auto first = names.begin() + static_cast<std::ptrdiff_t>(i * names_per_attribute);
            const std::size_t count = std::min(names_per_attribute, names.size() - i * names_per_attribute);
            write_texts(group, attribute + std::to_string(i),
                        {first, first + static_cast<std::ptrdiff_t>(count)}, false);
        }
    }

    void write_texts(hid_t object, const std::string& attribute, const std::vector<std::string>& values,
                     bool scalar) const {
        const hsize_t count = values.size();
        const frontend::Hdf5Handle space(
            scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr), H5Sclose);
        const frontend::Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
        std::size_t length = 1;
        for (const std::string& value : values) length = std::max(length, value.size());
        H5Tset_size(type.get(), texts == TextKind::Variable ? H5T_VARIABLE : length);
        H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
        const frontend::Hdf5Handle handle(
            H5Acreate2(object, attribute.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
            H5Aclose);
        if (values.empty()) return;
        if (texts == TextKind::Variable) {
            std::vector<const char*> pointers;
            for (const std::string& value : values) pointers.push_back(value.c_str());
            H5Awrite(handle.get(), type.get(), pointers.data());
            return;
        }
        std::string bytes;
        for (const std::string& value : values) bytes += value + std::string(length - value.size(), '\0');
        H5Awrite(handle.get(), type.get(), bytes.data());
    }
};

/// The bytes of an HDF5 file with these weights, whose names are their places: "layers/dense/vars/0".
inline std::string checkpoint(const std::vector<StoredWeight>& weights) {
    const frontend::SilencedHdf5 silenced;
    const TemporaryFile temporary("checkpoint.h5");
    {
        const frontend::Hdf5Handle file(
            H5Fcreate(temporary.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        for (const StoredWeight& weight : weights) KerasFile::write_weight(file.get(), weight);
    }
    return temporary.bytes();
}

}  // namespace systole::tests
